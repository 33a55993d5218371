//! `product`, `geometric_mean`: computed from the product as a mantissa and a power of two.
//!
//! With a separate exponent a product neither overflows nor underflows on the way, so only the result of the frame
//! itself can be infinite or 0, in whatever order it was multiplied. The geometric mean is the n-th root: 0 if a value
//! is 0, NaN if one is negative or NaN.

use std::ops::Range;

use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use arrow_buffer::ScalarBuffer;

use super::accumulator::{Accumulated, PrimitiveReader, PrimitiveResult};
use crate::error::Result;
use crate::functions::native::{for_each_value, to_primitive};
use crate::functions::saved_state::{SavedValue, saved_row, saved_value};
use crate::model::aggregate::Accumulator;
use crate::model::row_mask::RowMask;

/// A product: `mantissa * 2^exponent`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaledProduct {
    /// 1 <= |mantissa| < 2; or 0, infinite or NaN.
    pub mantissa: f64,
    /// The power of two.
    pub exponent: i64,
    /// The number of values.
    pub count: u64,
}

/// Bits of a double's fraction; below it, the bias of its exponent.
const FRACTION_BITS: u32 = 52;
const EXPONENT_BIAS: i64 = 1023;

impl ScaledProduct {
    /// The empty product.
    pub const ONE: Self = Self { mantissa: 1.0, exponent: 0, count: 0 };

    /// Multiplies by one value.
    #[inline]
    fn multiply(&mut self, value: f64) {
        self.merge(&Self { mantissa: value, exponent: 0, count: 1 });
    }

    /// Multiplies by another product.
    #[inline]
    fn merge(&mut self, right: &Self) {
        // The left mantissa is below 2, and the right one at most the greatest double: their product may overflow.
        let (left, left_exponent) = split(self.mantissa);
        let (right_mantissa, right_exponent) = split(right.mantissa);
        let (mantissa, carry) = split(left * right_mantissa);
        self.mantissa = mantissa;
        self.exponent += right.exponent + left_exponent + right_exponent + carry;
        self.count += right.count;
    }

    /// The product as a double.
    #[must_use]
    pub fn value(&self) -> f64 {
        /// Beyond this exponent every product is infinite or 0; half of it is a valid exponent of a double.
        const MAX_EXPONENT: i64 = 2040;
        let exponent = self.exponent.clamp(-MAX_EXPONENT, MAX_EXPONENT) as i32;
        // In two steps, of which only the second can round.
        self.mantissa * 2_f64.powi(exponent / 2) * 2_f64.powi(exponent - exponent / 2)
    }

    /// The n-th root, n being the number of values.
    #[must_use]
    pub fn root(&self) -> f64 {
        let logarithm = self.mantissa.ln() + self.exponent as f64 * std::f64::consts::LN_2;
        (logarithm / self.count as f64).exp()
    }
}

/// The value's mantissa, in [1, 2), and its exponent; 0, infinities and NaN unchanged.
#[inline]
fn split(value: f64) -> (f64, i64) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0);
    }
    let (value, less) = if value.is_normal() { (value, 0) } else { (value * 2_f64.powi(64), 64) };
    let bits = value.to_bits();
    let exponent = ((bits >> FRACTION_BITS) & 0x7FF) as i64 - EXPONENT_BIAS;
    let mantissa = f64::from_bits(bits.wrapping_add_signed(-(exponent << FRACTION_BITS)));
    (mantissa, exponent - less)
}

/// Multiplies a column of doubles.
#[derive(Debug, Clone)]
pub struct ProductAccumulator {
    values: ScalarBuffer<f64>,
    inclusion: RowMask,
    which: Product,
}

impl Accumulator for ProductAccumulator {
    type State = ScaledProduct;

    #[inline]
    fn init(&self) -> ScaledProduct {
        ScaledProduct::ONE
    }

    #[inline]
    fn update(&self, state: &mut ScaledProduct, rows: Range<usize>) -> Result<()> {
        for_each_value(&self.values, &self.inclusion, rows, |value| {
            let rootless = self.which == Product::Root && value < 0.0;
            state.multiply(if rootless { f64::NAN } else { value });
        });
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut ScaledProduct, right: &ScaledProduct) -> Result<()> {
        left.merge(right);
        Ok(())
    }

    fn save(&self, state: &ScaledProduct) -> Result<RecordBatch> {
        let ScaledProduct { mantissa, exponent, count } = *state;
        saved_row([("mantissa", mantissa.write()?), ("exponent", exponent.write()?), ("count", count.write()?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<ScaledProduct> {
        Ok(ScaledProduct {
            mantissa: saved_value(saved, "mantissa")?,
            exponent: saved_value(saved, "exponent")?,
            count: saved_value(saved, "count")?,
        })
    }
}

/// Which result is computed from a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// The product.
    Value,
    /// The n-th root: the geometric mean.
    Root,
}

impl Product {
    /// The aggregate over a column of doubles.
    ///
    /// # Errors
    /// The column has another type.
    pub fn over(
        self,
        values: &dyn Array,
        inclusion: RowMask,
    ) -> Result<Accumulated<ProductAccumulator, PrimitiveResult<Self>>> {
        let values = to_primitive::<Float64Type>(values)?.values().clone();
        Ok(Accumulated::new(ProductAccumulator { values, inclusion, which: self }, self))
    }
}

impl PrimitiveReader<ScaledProduct> for Product {
    type Type = Float64Type;

    #[inline]
    fn read(&self, state: &ScaledProduct) -> Result<Option<f64>> {
        Ok((state.count > 0).then(|| match self {
            Self::Value => state.value(),
            // A negative zero is not a negative value.
            Self::Root if state.mantissa == 0.0 => 0.0,
            Self::Root => state.root(),
        }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
    use arrow_array::Float64Array;
    use arrow_array::cast::AsArray;

    use super::*;
    use crate::functions::aggregate::accumulator::results;

    fn answer(which: Product, values: &[f64]) -> Option<f64> {
        let column = Float64Array::from(values.to_vec());
        let product = which.over(&column, RowMask::All).unwrap();
        results(&product, &[0..column.len()]).unwrap().as_primitive::<Float64Type>().iter().next().flatten()
    }

    #[test]
    fn every_double_round_trips() {
        let tiny = f64::from_bits(1);
        for value in [0.0, -0.0, 1.0, -1.5, 0.1, f64::MAX, f64::MIN, f64::MIN_POSITIVE, -tiny, tiny, f64::INFINITY] {
            assert_eq!(answer(Product::Value, &[value]).unwrap().to_bits(), value.to_bits());
        }
        assert!(answer(Product::Value, &[f64::NAN]).unwrap().is_nan());
        assert_eq!(answer(Product::Value, &[]), None);
    }

    #[test]
    fn intermediate_products_do_not_overflow() {
        assert_eq!(answer(Product::Value, &[1e-200, 1e-200, 1e200, 1e200]).map(f64::round), Some(1.0));
        assert_eq!(answer(Product::Value, &[f64::MAX, 2.0, 0.5]), Some(f64::MAX));
        assert_eq!(answer(Product::Value, &[f64::MAX, -2.0]), Some(f64::NEG_INFINITY));
        assert_eq!(answer(Product::Value, &[1e-300, 1e-300]), Some(0.0));
        assert!(answer(Product::Value, &[0.0, f64::INFINITY]).unwrap().is_nan());
        assert_eq!(answer(Product::Value, &[2.0, 3.0, -7.0]), Some(-42.0));
    }

    #[test]
    fn geometric_means() {
        assert_eq!(answer(Product::Root, &[1.0, 4.0]), Some(2.0));
        assert_eq!(answer(Product::Root, &[3.0, 0.0]), Some(0.0));
        assert_eq!(answer(Product::Root, &[3.0, -0.0]).unwrap().to_bits(), 0);
        assert!(answer(Product::Root, &[-1.0, -1.0]).unwrap().is_nan());
        assert_eq!(answer(Product::Root, &[]), None);
        let large = answer(Product::Root, &[1e300; 100]).unwrap();
        assert!((large / 1e300 - 1.0).abs() < 1e-12, "{large}");
    }
}
