//! Decimal results: computed in 256 bits, checked against their precision, stored in their width.

use arrow_array::types::{Decimal128Type, Decimal256Type};
use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, i256};
use arrow_schema::DataType;

use super::native::with_type;
use crate::error::{Error, Result};

/// Unscaled values of decimals, whose sums and averages have the same width.
pub trait Unscaled: ArrowNativeType {
    /// The decimal type.
    type Decimal: ArrowPrimitiveType<Native = Self>;

    /// The number in this width; it must fit.
    fn narrowed(number: i256) -> Self;
}

impl Unscaled for i128 {
    type Decimal = Decimal128Type;

    #[inline]
    fn narrowed(number: i256) -> Self {
        number.as_i128()
    }
}

impl Unscaled for i256 {
    type Decimal = Decimal256Type;

    #[inline]
    fn narrowed(number: i256) -> Self {
        number
    }
}

/// A decimal result type with its largest value.
#[derive(Debug, Clone)]
pub(super) struct DecimalColumn {
    pub(super) output: DataType,
    limit: i256,
}

impl DecimalColumn {
    /// # Errors
    /// `output` is not a decimal of `N`'s width.
    pub(super) fn new<N: Unscaled>(output: DataType) -> Result<Self> {
        let (DataType::Decimal128(precision, _) | DataType::Decimal256(precision, _)) = output else {
            return Err(Error::internal(format!("a decimal result of type {output}")));
        };
        if output.primitive_width() != Some(size_of::<N>()) {
            return Err(Error::internal(format!("a decimal result of type {output} from values of another width")));
        }
        let limit = i256::from_i128(10).wrapping_pow(u32::from(precision));
        Ok(Self { output, limit })
    }

    /// The value, if it does not exceed the precision.
    #[inline]
    pub(super) fn checked<N: Unscaled>(&self, value: Option<i256>) -> Option<N> {
        value.filter(|value| *value < self.limit && *value > self.limit.wrapping_neg()).map(N::narrowed)
    }

    pub(super) fn with_type<N: Unscaled>(&self, results: &PrimitiveArray<N::Decimal>) -> Result<ArrayRef> {
        with_type(results, &self.output)
    }
}
