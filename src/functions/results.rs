//! Results of native type with an optional validity bitmap.
//!
//! A block of results is written into preallocated slots, with one byte per result that says whether it is valid; the
//! bytes are packed into bits only if there is a NULL among them or was one before. A column without NULLs has no
//! bitmap.

use arrow_array::{ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};

use crate::error::Result;
use crate::util::bitmap::pack_booleans;

/// A result as value and validity.
///
/// Compilers keep the two in registers, whereas a `Result` of an `Option` has one tag for both, and its value goes
/// through memory (`benches/kernels.rs`).
#[inline(always)]
pub(super) fn in_slot<N: Default>(result: Option<N>) -> (N, bool) {
    let answered = result.is_some();
    (result.unwrap_or_default(), answered)
}

/// A builder of native results.
#[derive(Debug)]
pub struct PrimitiveResults<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    /// Allocated at the first NULL.
    valid: Option<BooleanBufferBuilder>,
    /// The validity of the current block's results.
    answered: Vec<bool>,
    /// The same as bits.
    packed: Vec<u8>,
}

impl<T: ArrowPrimitiveType> PrimitiveResults<T> {
    /// An empty builder for `capacity` results.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { values: Vec::with_capacity(capacity), valid: None, answered: Vec::new(), packed: Vec::new() }
    }

    /// Appends one result `times` times.
    #[inline]
    pub fn repeat(&mut self, result: Option<T::Native>, times: usize) {
        let known = self.values.len();
        self.values.resize(known + times, result.unwrap_or_default());
        if result.is_none() || self.valid.is_some() {
            self.bits(known).append_n(times, result.is_some());
        }
    }

    /// Appends a block of results, each a value (arbitrary if NULL) and its validity.
    ///
    /// # Errors
    /// The first error among them.
    #[inline(always)]
    pub fn extend(&mut self, results: impl ExactSizeIterator<Item = Result<(T::Native, bool)>>) -> Result<()> {
        let known = self.values.len();
        self.values.resize(known + results.len(), T::Native::default());
        let mut answered = std::mem::take(&mut self.answered);
        answered.resize(results.len(), false);
        for ((slot, answered), result) in self.values[known..].iter_mut().zip(&mut answered).zip(results) {
            (*slot, *answered) = result?;
        }
        // Checks all of them: stopping at the first NULL would prevent vectorisation.
        if self.valid.is_some() || !answered.iter().fold(true, |all, answered| all & answered) {
            let (mut bits, results) = (std::mem::take(&mut self.packed), answered.len());
            // Pads to a multiple of eight; padding is not valid and is not a result.
            answered.resize(results.next_multiple_of(8), false);
            bits.clear();
            bits.extend(answered.as_chunks().0.iter().map(pack_booleans));
            self.bits(known).append_packed_range(0..results, &bits);
            self.packed = bits;
        }
        self.answered = answered;
        Ok(())
    }

    /// The bitmap; the first `known` results are valid if it is new.
    fn bits(&mut self, known: usize) -> &mut BooleanBufferBuilder {
        let capacity = self.values.capacity();
        self.valid.get_or_insert_with(|| {
            let mut bits = BooleanBufferBuilder::new(capacity);
            bits.append_n(known, true);
            bits
        })
    }

    /// The results as an array.
    ///
    /// # Errors
    /// The bitmap's length differs from the number of values.
    pub fn finish(self) -> Result<PrimitiveArray<T>> {
        let nulls = self.valid.map(|mut bits| NullBuffer::new(bits.finish()));
        Ok(PrimitiveArray::try_new(self.values.into(), nulls)?)
    }
}
