//! Vectors that several threads fill, chunk by chunk.
//!
//! Memory must be initialised before it is read. If one thread zeroed it all, the zeros would have left the caches
//! before the others fill their chunks; here each thread initialises the chunk that it is about to fill. A chunk that
//! is written from its first value to its last is not zeroed at all, and vectors too large for the caches are written
//! past them (`streaming_store.rs`).
//!
//! Cost: one write per value, by the thread that has the chunk.

#![allow(unsafe_code)] // writes to uninitialised memory; measured in docs/performance.md

use std::mem::{MaybeUninit, take};

use arrow_buffer::ArrowNativeType;

use super::reserve;
use super::streaming_store::StoreMode;
use super::threads::Threads;
use crate::error::{Error, Result};

/// A chunk of a vector, filled from its first value to its last.
pub(crate) struct Chunk<'a, T> {
    target: &'a mut [MaybeUninit<T>],
    filled: usize,
    writes: StoreMode,
    /// Values not yet written, where stores bypass the caches; fewer than [`Chunk::STAGED_VALUES`].
    staged: Vec<T>,
}

impl<T: ArrowNativeType> Chunk<'_, T> {
    /// Values collected in the cache before a store that bypasses it.
    const STAGED_VALUES: usize = (32 << 10) / size_of::<T>();

    /// How many values are still to be appended.
    pub(crate) fn remaining(&self) -> usize {
        self.target.len() - self.filled - self.staged.len()
    }

    /// Appends `f` of each of `from`, at most [`Chunk::remaining`] values.
    #[inline]
    pub(crate) fn append<U>(&mut self, mut from: &[U], f: impl Fn(&U) -> T) {
        if !self.writes.is_streaming() {
            return self.fill_next(from.len(), |places| {
                places.iter_mut().zip(from).for_each(|(place, from)| *place = MaybeUninit::new(f(from)));
            });
        }
        while !from.is_empty() {
            let (now, later) = from.split_at(from.len().min(Self::STAGED_VALUES - self.staged.len()));
            self.staged.extend(now.iter().map(&f));
            if self.staged.len() == Self::STAGED_VALUES {
                self.flush_staged();
            }
            from = later;
        }
    }

    /// Appends `times` copies of `value`, at most [`Chunk::remaining`].
    #[inline]
    pub(crate) fn repeat(&mut self, value: T, times: usize) {
        if self.writes.is_streaming() {
            self.repeat_uncached(value, times);
        } else {
            self.fill_next(times, |places| places.fill(MaybeUninit::new(value)));
        }
    }

    #[inline(never)]
    fn repeat_uncached(&mut self, value: T, times: usize) {
        let first = times.min(Self::STAGED_VALUES - self.staged.len());
        self.staged.resize(self.staged.len() + first, value);
        if self.staged.len() == Self::STAGED_VALUES {
            self.flush_staged();
            self.staged.resize(Self::STAGED_VALUES.min(times - first), value);
            for _ in 0..(times - first) / Self::STAGED_VALUES {
                self.write_staged();
            }
            self.staged.truncate((times - first) % Self::STAGED_VALUES);
        }
    }

    /// Appends `values`, at most [`Chunk::remaining`].
    pub(crate) fn extend(&mut self, values: &[T]) {
        self.flush_staged();
        let writes = self.writes;
        self.fill_next(values.len(), |places| writes.copy(values, places));
    }

    /// Writes the staged values and clears them.
    fn flush_staged(&mut self) {
        self.write_staged();
        self.staged.clear();
    }

    /// Writes the staged values and keeps them staged.
    fn write_staged(&mut self) {
        let (writes, staged) = (self.writes, take(&mut self.staged));
        self.fill_next(staged.len(), |places| writes.copy(&staged, places));
        self.staged = staged;
    }

    /// Calls `write` with the next `places` slots, all of which it must write, and counts them as filled.
    #[inline(always)]
    fn fill_next(&mut self, places: usize, write: impl FnOnce(&mut [MaybeUninit<T>])) {
        let end = self.filled + places;
        write(&mut self.target[self.filled..end]);
        self.filled = end;
    }
}

/// A vector of `values` values in chunks of `chunk`. `work` gets a chunk's number and appends its values.
///
/// # Errors
/// The first error of `work`; a chunk that `work` did not fill.
pub(crate) fn fill_chunks<T: ArrowNativeType>(
    values: usize,
    chunk: usize,
    threads: &Threads,
    work: impl Fn(usize, &mut Chunk<T>) -> Result<()> + Send + Sync,
) -> Result<Vec<T>> {
    fill_sized_chunks(equal_chunks(values, chunk), threads, work).map(|(values, _)| values)
}

/// A vector of adjacent chunks of the given lengths. `work` gets a chunk's item, appends its values, and returns a
/// result; the results come back in the order of the chunks.
///
/// # Errors
/// The first error of `work`; a chunk that `work` did not fill.
pub(crate) fn fill_sized_chunks<T: ArrowNativeType, I: Send, R: Send>(
    chunks: Vec<(usize, I)>,
    threads: &Threads,
    work: impl Fn(I, &mut Chunk<T>) -> Result<R> + Send + Sync,
) -> Result<(Vec<T>, Vec<R>)> {
    let values = chunks.iter().map(|(length, _)| length).sum();
    let writes = StoreMode::for_bytes(size_of::<T>() * values);
    let work = |item, target: &mut [_]| {
        let mut chunk = Chunk { target, filled: 0, writes, staged: Vec::new() };
        let outputs = work(item, &mut chunk)?;
        chunk.flush_staged();
        if chunk.filled == chunk.target.len() { Ok(outputs) } else { Err(Error::internal("a chunk was not filled")) }
    };
    // SAFETY: `Chunk::fill_next` counts slots as filled only after its callers (`append`, `repeat`, `extend`) have
    // written all of them, from the first slot on. A chunk that is not filled to its end is an error.
    unsafe { write_chunks(values, chunks, threads, work) }
}

/// A vector of `values` values in chunks of `chunk`, each zeroed before `work` gets it with its number.
///
/// # Errors
/// The first error of `work`.
pub(crate) fn fill_zeroed_chunks<T: Copy + Default + Send>(
    values: usize,
    chunk: usize,
    threads: &Threads,
    work: impl Fn(usize, &mut [T]) -> Result<()> + Send + Sync,
) -> Result<Vec<T>> {
    let work = |number, target: &mut [MaybeUninit<T>]| {
        target.fill(MaybeUninit::new(T::default()));
        // SAFETY: `fill` has just written every slot, and the slice borrows `target` for no longer than `work` runs.
        work(number, unsafe { std::slice::from_raw_parts_mut(target.as_mut_ptr().cast::<T>(), target.len()) })
    };
    // SAFETY: `work` initialises its whole chunk before anything else.
    unsafe { write_chunks(values, equal_chunks(values, chunk), threads, work) }.map(|(values, _)| values)
}

/// Chunks of `chunk` values (the last may be shorter) as pairs of length and number.
fn equal_chunks(values: usize, chunk: usize) -> Vec<(usize, usize)> {
    let chunk = chunk.max(1);
    (0..values).step_by(chunk).map(|begin| chunk.min(values - begin)).zip(0..).collect()
}

/// A vector of `values` values in adjacent chunks of the given lengths.
///
/// # Safety
/// If `work` returns without an error, it must have written every slot of its chunk.
unsafe fn write_chunks<T: Send, I: Send, R: Send>(
    values: usize,
    chunks: Vec<(usize, I)>,
    threads: &Threads,
    work: impl Fn(I, &mut [MaybeUninit<T>]) -> Result<R> + Send + Sync,
) -> Result<(Vec<T>, Vec<R>)> {
    let mut filled = reserve::with_capacity(values)?;
    let mut target = &mut filled.spare_capacity_mut()[..values];
    let with_room = |(length, item)| target.split_off_mut(..length).map(|target| (item, target));
    let chunks = chunks.into_iter().map(with_room).collect::<Option<Vec<_>>>();
    let chunks =
        chunks.filter(|_| target.is_empty()).ok_or_else(|| Error::internal("chunks are not all of a vector"))?;
    let count = chunks.len();
    let outputs = threads.map(chunks, |(item, target)| work(item, target))?;
    assert_eq!(outputs.len(), count, "chunks are written");
    // SAFETY: `with_capacity` allocated `values` slots, and the adjacent chunks cover all of them (checked above).
    // `work` returned without an error for each (the results are as many as the chunks), so by the contract every slot
    // is written.
    unsafe { filled.set_len(values) };
    Ok((filled, outputs))
}

/// `values` zeros, written by all threads.
///
/// # Errors
/// No thread could be started.
pub(crate) fn zeros<T: Copy + Default + Send>(values: usize, threads: &Threads) -> Result<Vec<T>> {
    fill_zeroed_chunks(values, threads.chunk_rows(values), threads, |_, _| Ok(()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::util::cancel::Cancel;
    use crate::util::streaming_store::BOTH_MODES;

    /// Short and long chunks, filled by single values, by copies and by slices.
    #[test]
    fn chunks_are_filled_in_order() {
        for writes in BOTH_MODES {
            let together = Chunk::<u32>::STAGED_VALUES;
            for step in [1, 3, 64, 1000, together, together + 1, 3 * together + 5] {
                let (mut expected, mut vector) = (Vec::<u32>::new(), Vec::<u32>::with_capacity(9 * step + 12));
                let target = vector.spare_capacity_mut();
                let mut chunk = Chunk { target, filled: 0, writes, staged: Vec::new() };
                for turn in 0..3_u32 {
                    let values: Vec<u32> = (0..step as u32).map(|at| at * 7 + turn).collect();
                    chunk.append(&values, |value| value + 1);
                    expected.extend(values.iter().map(|value| value + 1));
                    chunk.repeat(turn, step + 1);
                    expected.resize(expected.len() + step + 1, turn);
                    chunk.repeat(9, 3);
                    expected.resize(expected.len() + 3, 9);
                    if turn > 0 {
                        chunk.extend(&values);
                        expected.extend(&values);
                    }
                }
                chunk.flush_staged();
                assert_eq!(chunk.filled, expected.len(), "{step}, {writes:?}");
                // SAFETY: the first `expected.len()` values are written, as the assertion above checks.
                unsafe { vector.set_len(expected.len()) };
                assert!(vector == expected, "{step}, {writes:?}");
            }
        }
    }

    #[test]
    fn unfilled_chunk_is_an_error() {
        let threads = Threads::new(2, &Cancel::default());
        let fill = |less: usize| {
            fill_chunks::<u64>(100, 30, &threads, |number, chunk| {
                chunk.repeat(number as u64, (100 - number * 30).min(30) - if number == 2 { less } else { 0 });
                Ok(())
            })
        };
        let expected: Vec<u64> = (0..100).map(|at| at / 30).collect();
        assert_eq!(fill(0).unwrap(), expected);
        assert!(fill(1).is_err());
    }
}
