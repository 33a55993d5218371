//! One buffer assembled from chunks that several threads write.
//!
//! ```text
//!   free     [ . . . . . . . . . . . ]      one allocation, not yet touched
//!   taken    [ . . . ] v v v v [ . . . ]    a writer splits off its range and fills it without a lock
//!   filled   [ v v v v v v v v v v v ]      adjacent ranges are joined without a copy
//! ```
//!
//! Cost: one copy of each chunk, while it is in the cache. No byte is zeroed first or written twice.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_buffer::Buffer;
use bytes::BytesMut;

use crate::error::{Error, Result};
use crate::util::reserve;
use crate::util::streaming_store::StoreMode;

/// A buffer that is filled chunk by chunk.
#[derive(Debug)]
pub(crate) struct OrderedBuffer {
    length: usize,
    writes: StoreMode,
    parts: Mutex<Parts>,
}

/// Ranges of the buffer by their start.
#[derive(Debug, Default)]
struct Parts {
    free: BTreeMap<usize, BytesMut>,
    filled: BTreeMap<usize, BytesMut>,
}

impl OrderedBuffer {
    /// A buffer of `length` bytes, written in the mode `writes`.
    ///
    /// # Errors
    /// The memory is not available.
    pub(crate) fn new(length: usize, writes: StoreMode) -> Result<Self> {
        reserve::probe(length)?;
        let parts = Parts { free: BTreeMap::from([(0, BytesMut::with_capacity(length))]), ..Parts::default() };
        Ok(Self { length, writes, parts: Mutex::new(parts) })
    }

    /// Writes `bytes` at `begin`.
    ///
    /// # Errors
    /// Part of the range is already written or out of bounds, an internal error.
    pub(crate) fn write(&self, begin: usize, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut part = self.lock().take(begin, bytes.len())?;
        self.writes.append(&mut part, bytes);
        self.lock().filled.insert(begin, part);
        Ok(())
    }

    /// The finished buffer.
    ///
    /// # Errors
    /// Part of it is not written, an internal error.
    pub(crate) fn finish(self) -> Result<Buffer> {
        let Parts { filled, .. } = self.parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut all = BytesMut::new();
        for piece in filled.into_values() {
            all.unsplit(piece);
        }
        if all.len() != self.length {
            return Err(Error::internal(format!("pieces of {} bytes for {}", all.len(), self.length)));
        }
        Ok(Buffer::from(all.freeze()))
    }

    fn lock(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Parts {
    /// Splits off the free range of `length` bytes at `begin`; the free parts before and after it stay.
    fn take(&mut self, begin: usize, length: usize) -> Result<BytesMut> {
        let around = self.free.range_mut(..=begin).next_back();
        let around = around.filter(|(first, part)| begin + length <= *first + part.capacity());
        let Some((&first, before)) = around else {
            return Err(Error::internal(format!("no room for {length} bytes at {begin}")));
        };
        let mut part = before.split_off(begin - first);
        if first == begin {
            self.free.remove(&first);
        }
        let after = part.split_off(length);
        if after.capacity() > 0 {
            self.free.insert(begin + length, after);
        }
        Ok(part)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::util::streaming_store::BOTH_MODES;

    /// Chunks in any order, from several threads, in both store modes.
    #[test]
    fn chunks_make_the_buffer() {
        let bytes: Vec<u8> = (0..1000_u32).map(|at| (at % 251) as u8).collect();
        let cuts = [0, 1, 1, 8, 72, 400, 401, 999, 1000];
        let ranges: Vec<_> = cuts.windows(2).map(|cut| cut[0]..cut[1]).collect();
        for (step, writes) in [1, 3, 5, 7].into_iter().flat_map(|step| BOTH_MODES.map(|writes| (step, writes))) {
            let pieces = OrderedBuffer::new(bytes.len(), writes).unwrap();
            let at = |number: usize| &ranges[number * step % ranges.len()];
            std::thread::scope(|scope| {
                for thread in 0..2 {
                    let (pieces, bytes) = (&pieces, &bytes);
                    scope.spawn(move || {
                        for range in (thread..8).step_by(2).map(at) {
                            pieces.write(range.start, &bytes[range.clone()]).unwrap();
                        }
                    });
                }
            });
            assert_eq!(pieces.finish().unwrap().as_slice(), bytes);
        }
    }

    #[test]
    fn overlaps_and_gaps_are_errors() {
        let pieces = OrderedBuffer::new(10, BOTH_MODES[0]).unwrap();
        pieces.write(2, &[1; 5]).unwrap();
        for (begin, length) in [(2, 1), (0, 3), (6, 1), (6, 4), (8, 3), (11, 1)] {
            assert!(pieces.write(begin, &vec![2; length]).is_err(), "{begin}, {length}");
        }
        assert!(pieces.finish().is_err());
        assert!(OrderedBuffer::new(0, BOTH_MODES[0]).unwrap().finish().unwrap().is_empty());
    }
}
