//! `bit_and`, `bit_or`, `bit_xor` of integers of any width.
//!
//! Narrow integers are extended to 64 bits, by sign or zeros, and the results fit the narrow type again. `bit_xor` is
//! its own inverse, so rows are retracted by applying them once more.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;

use super::accumulator::{Accumulated, PrimitiveReader, PrimitiveResult};
use crate::error::Result;
use crate::functions::native::{for_each_value, to_primitive, with_type};
use crate::functions::saved_state::{SavedValue, saved_row, saved_value};
use crate::model::aggregate::{Accumulator, Retractable};
use crate::model::row_mask::RowMask;

/// A bitwise operation, associative and commutative.
pub trait BitwiseOperation: Send + Sync {
    /// The identity element.
    const IDENTITY: i64;

    /// The operation.
    fn apply(left: i64, right: i64) -> i64;
}

/// AND.
#[derive(Debug, Clone, Copy)]
pub struct And;

/// OR.
#[derive(Debug, Clone, Copy)]
pub struct Or;

/// XOR.
#[derive(Debug, Clone, Copy)]
pub struct Xor;

impl BitwiseOperation for And {
    const IDENTITY: i64 = !0;

    #[inline]
    fn apply(left: i64, right: i64) -> i64 {
        left & right
    }
}

impl BitwiseOperation for Or {
    const IDENTITY: i64 = 0;

    #[inline]
    fn apply(left: i64, right: i64) -> i64 {
        left | right
    }
}

impl BitwiseOperation for Xor {
    const IDENTITY: i64 = 0;

    #[inline]
    fn apply(left: i64, right: i64) -> i64 {
        left ^ right
    }
}

/// The combined bits of values, and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitwiseState {
    /// The operation applied to the values.
    pub bits: i64,
    /// The number of values.
    pub count: u64,
}

/// Combines a column of integers.
#[derive(Debug, Clone)]
pub struct BitwiseAccumulator<O> {
    values: ScalarBuffer<i64>,
    inclusion: RowMask,
    operation: PhantomData<O>,
}

impl<O: BitwiseOperation> Accumulator for BitwiseAccumulator<O> {
    type State = BitwiseState;

    #[inline]
    fn init(&self) -> BitwiseState {
        BitwiseState { bits: O::IDENTITY, count: 0 }
    }

    #[inline]
    fn update(&self, state: &mut BitwiseState, rows: Range<usize>) -> Result<()> {
        for_each_value(&self.values, &self.inclusion, rows, |value| {
            state.bits = O::apply(state.bits, value);
            state.count += 1;
        });
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut BitwiseState, right: &BitwiseState) -> Result<()> {
        left.bits = O::apply(left.bits, right.bits);
        left.count += right.count;
        Ok(())
    }

    fn save(&self, state: &BitwiseState) -> Result<RecordBatch> {
        saved_row([("bits", state.bits.write()?), ("count", state.count.write()?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<BitwiseState> {
        Ok(BitwiseState { bits: saved_value(saved, "bits")?, count: saved_value(saved, "count")? })
    }
}

impl Retractable for BitwiseAccumulator<Xor> {
    #[inline]
    fn retract(&self, state: &mut BitwiseState, gone: &BitwiseState) {
        state.bits ^= gone.bits;
        state.count -= gone.count;
    }
}

/// Returns the bits as an integer.
#[derive(Debug, Clone)]
pub struct BitwiseResult {
    output: DataType,
}

impl BitwiseResult {
    /// The operation over a column of integers.
    ///
    /// # Errors
    /// The column has another type.
    pub fn over<O: BitwiseOperation>(
        values: &dyn Array,
        inclusion: RowMask,
    ) -> Result<Accumulated<BitwiseAccumulator<O>, PrimitiveResult<Self>>> {
        let output = values.data_type().clone();
        let values = match values.as_primitive_opt::<UInt64Type>() {
            // Reinterprets the bits; a cast would fail for values with the highest bit set.
            Some(values) => ScalarBuffer::from(values.values().inner().clone()),
            None => to_primitive::<Int64Type>(values)?.values().clone(),
        };
        Ok(Accumulated::new(BitwiseAccumulator { values, inclusion, operation: PhantomData }, Self { output }))
    }
}

impl PrimitiveReader<BitwiseState> for BitwiseResult {
    type Type = Int64Type;

    #[inline]
    fn read(&self, state: &BitwiseState) -> Result<Option<i64>> {
        Ok((state.count > 0).then_some(state.bits))
    }

    fn with_type(&self, bits: PrimitiveArray<Int64Type>) -> Result<ArrayRef> {
        match &self.output {
            DataType::UInt64 => Ok(Arc::new(bits.unary::<_, UInt64Type>(i64::cast_unsigned))),
            output => with_type(&bits, output),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::types::{ArrowPrimitiveType, Int8Type, UInt8Type};
    use arrow_array::{Int8Array, UInt8Array, UInt64Array};

    use super::*;
    use crate::functions::aggregate::accumulator::results;

    /// `bit_and`, `bit_or`, `bit_xor` of all values, or of none.
    fn answers<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>) -> [T::Native; 3] {
        fn answer<O: BitwiseOperation, T: ArrowPrimitiveType>(column: &PrimitiveArray<T>) -> T::Native {
            let bits = BitwiseResult::over::<O>(column, RowMask::All).unwrap();
            let found = results(&bits, &[0..column.len(), 0..0]).unwrap();
            assert!(found.is_null(1));
            found.as_primitive::<T>().value(0)
        }
        [answer::<And, T>(column), answer::<Or, T>(column), answer::<Xor, T>(column)]
    }

    #[test]
    fn all_widths_keep_their_sign() {
        assert_eq!(answers::<Int8Type>(&Int8Array::from(vec![-1, 5])), [5, -1, -6]);
        assert_eq!(answers::<Int8Type>(&Int8Array::from(vec![-128, -128])), [-128, -128, 0]);
        assert_eq!(answers::<UInt8Type>(&UInt8Array::from(vec![0xF0, 0x3C])), [0x30, 0xFC, 0xCC]);
        assert_eq!(answers::<UInt64Type>(&UInt64Array::from(vec![u64::MAX, 1])), [1, u64::MAX, u64::MAX - 1]);
    }
}
