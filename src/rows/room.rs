//! Room for values that several threads fill, chunk by chunk.
//!
//! Memory has to be written before it is read, with zeros at least. One thread would write them all before the others begin,
//! and by the time they come no cache has them any more; here each writes those of the chunk that it is about to fill.
//! Cost: a write of each value, by the thread that has its chunk. Eight calls over a million rows in any order took 95 ms with
//! one thread and 55 with two; 80 and 46 once their columns were zeroed so, and 88 and 49 where pieces were copied to their
//! place instead.

#![allow(unsafe_code)] // memory that nobody has written yet; figures above

use std::mem::MaybeUninit;

use crate::error::Result;
use crate::parallel::Threads;

/// A vector of so many values: `work` is given each chunk of it, zeroed, with its number.
///
/// # Errors
/// The first error of `work`.
pub(super) fn in_chunks<T: Copy + Default + Send>(
    values: usize,
    chunk: usize,
    threads: &Threads,
    work: impl Fn(usize, &mut [T]) -> Result<()> + Send + Sync,
) -> Result<Vec<T>> {
    let mut filled = Vec::with_capacity(values);
    let room = &mut filled.spare_capacity_mut()[..values];
    threads.map(room.chunks_mut(chunk.max(1)).enumerate().collect(), |(number, room)| {
        room.fill(MaybeUninit::new(T::default()));
        // SAFETY: all of it has just been written.
        let values = unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast::<T>(), room.len()) };
        work(number, values)
    })?;
    // SAFETY: there is room for as many, and without an error all chunks, which are all of it, have been written.
    unsafe { filled.set_len(values) };
    Ok(filled)
}

/// As many zeros.
///
/// # Errors
/// The system has no threads left.
pub(super) fn zeros<T: Copy + Default + Send>(values: usize, threads: &Threads) -> Result<Vec<T>> {
    in_chunks(values, threads.share(values), threads, |_, _| Ok(()))
}
