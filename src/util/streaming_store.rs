//! Writes that go past the caches.
//!
//! A store to memory that no cache holds first has its line read, which is then overwritten, and puts another line out of the
//! cache. Stores of whole lines that say so (x86-64's `movnt`) go to memory as they are. What is written so is not in the cache
//! afterwards; of columns larger than the cache it would not be anyway.
//!
//! Cost, on an AMD EPYC: 80 MB filled by one thread in 3.1 ms instead of 10.7, by two in 2.9 instead of 6.9; 8 MB in 0.29
//! instead of 0.71. Other processors, ends of less than a line, and writes of few bytes in all are as ever.

#![allow(unsafe_code)] // instructions for which there is no safe name; figures above

use std::mem::MaybeUninit;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_buffer::{ArrowNativeType, ToByteSlice};
use bytes::BytesMut;

/// So many bytes are in the cache together.
const LINE_BYTES: usize = 64;

/// A place for as many, where the cache may have them together.
#[repr(C, align(64))]
struct CacheLine([MaybeUninit<u8>; LINE_BYTES]);

/// Of what is larger than this share of the last cache nothing is left there at a call's end, which has read keys and values as
/// well.
const CACHE_FRACTION: usize = 4;

/// What is larger than this goes past any cache: a large one is that of many processors, whose other programs fill it. On a
/// virtual machine that has two of them and is told of 480 MB, a total of eight million rows in order took 7.6 ms instead of
/// 9.9 and a moving sum 34 instead of 38; of four million 3.4 instead of 3.9, and 17 instead of 19; of two million the same,
/// but 5.0 instead of 3.7 in no order, which is why it is not less.
const MAX_CACHED_BYTES: usize = 24 << 20;

/// The last cache where the system does not say.
const DEFAULT_CACHE_BYTES: usize = 32 << 20;

/// Writes of so many bytes in all: past the caches where they are a large part of the last one, or more than 24 MiB, through
/// them otherwise.
///
/// Cost: that of a copy. Past the caches 8 MB took an AMD EPYC 0.3 ms instead of 0.7, and a Xeon whose last cache holds 480 MB
/// 0.5 instead of 0.3.
///
/// ```
/// use std::mem::MaybeUninit;
/// use windrow::internals::Writes;
///
/// let values: Vec<i64> = (0..1000).collect();
/// for bytes in [size_of_val(&*values), usize::MAX] {
///     let mut places = [MaybeUninit::new(0); 1000];
///     Writes::of(bytes).copy(&values, &mut places);
///     // SAFETY: all of them have been written.
///     assert!(values.iter().zip(places).all(|(&value, place)| unsafe { place.assume_init() } == value));
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct StoreMode {
    uncached: bool,
}

impl StoreMode {
    /// Those of so many bytes in all.
    #[must_use]
    pub fn for_bytes(bytes: usize) -> Self {
        Self { uncached: cfg!(target_arch = "x86_64") && bytes > streaming_threshold() }
    }

    /// Whether they go past the caches.
    pub(crate) fn is_uncached(self) -> bool {
        self.uncached
    }

    /// Writes `values` to as many places.
    ///
    /// # Panics
    ///
    /// Where there are more places or fewer.
    #[inline]
    pub fn copy<T: ArrowNativeType>(self, values: &[T], to: &mut [MaybeUninit<T>]) {
        assert_eq!(values.len(), to.len());
        let bytes = values.to_byte_slice();
        // SAFETY: `bytes` is as long as `values`, and so as `to`: these are the same places, byte by byte, borrowed as `to` is.
        // Bytes of values are written there and nothing else, so that a place that is written holds a value.
        let to = unsafe { slice::from_raw_parts_mut(to.as_mut_ptr().cast::<MaybeUninit<u8>>(), bytes.len()) };
        if !self.uncached {
            return copy_bytes(bytes, to);
        }
        // SAFETY: a `CacheLine` is so many bytes that need no values, on a boundary that `align_to_mut` sees to.
        let (to_head, to_lines, to_tail) = unsafe { to.align_to_mut() };
        // The middle may be shorter than it could be: what is written to it goes by its length.
        let (head, bytes) = bytes.split_at(to_head.len());
        let (lines, tail) = bytes.split_at(to_lines.len() * LINE_BYTES);
        let (lines, _) = lines.as_chunks();
        copy_bytes(head, to_head);
        store_lines(lines, to_lines);
        copy_bytes(tail, to_tail);
    }

    /// Appends bytes to a room that has place for them.
    #[inline]
    pub(crate) fn append(self, room: &mut BytesMut, bytes: &[u8]) {
        let length = room.len() + bytes.len();
        self.copy(bytes, &mut room.spare_capacity_mut()[..bytes.len()]);
        // SAFETY: there is room for as many, or the slice above would have panicked, and `copy` has written all of it.
        unsafe { room.set_len(length) };
    }
}

/// Writes byte by byte, of which compilers make one copy.
#[inline]
fn copy_bytes(bytes: &[u8], to: &mut [MaybeUninit<u8>]) {
    for (to, &byte) in to.iter_mut().zip(bytes) {
        to.write(byte);
    }
}

/// Writes lines past the caches, each to where one begins.
///
/// A load waits for a store before it whose address has the same last twelve bits. So a line is loaded before it is stored, and
/// where the lines' new places lie a little further on in a page than the old ones, the last line comes first: 80 MB took up
/// to 38 ms without either, and take 4 to 5.
#[cfg(target_arch = "x86_64")]
fn store_lines(lines: &[[u8; LINE_BYTES]], to: &mut [CacheLine]) {
    use std::arch::x86_64::{__m128i, _mm_sfence, _mm_stream_si128};
    use std::array::from_fn;
    use std::ptr::from_mut;

    const PAGE_BYTES: usize = 1 << 12;
    const VECTORS_PER_LINE: usize = LINE_BYTES / size_of::<__m128i>();
    let write = |(line, to): (&[u8; LINE_BYTES], &mut CacheLine)| {
        let (line, to) = (line.as_ptr(), from_mut(to).cast::<__m128i>());
        // SAFETY: the parts are all within their line; `to` is borrowed, and begins on a boundary of 64 bytes as its type has it,
        // where the instruction asks for one of 16. Every x86-64 has it.
        unsafe {
            let part = |part| line.add(part * LINE_BYTES / VECTORS_PER_LINE).cast::<__m128i>().read_unaligned();
            let parts: [_; VECTORS_PER_LINE] = from_fn(part);
            parts.into_iter().enumerate().for_each(|(part, bytes)| _mm_stream_si128(to.add(part), bytes));
        }
    };
    let ahead = to.as_ptr().addr().wrapping_sub(lines.as_ptr().addr()) % PAGE_BYTES;
    let pairs = lines.iter().zip(to);
    if ahead < PAGE_BYTES / 2 {
        pairs.rev().for_each(write);
    } else {
        pairs.for_each(write);
    }
    // SAFETY: every x86-64 has it. Without it others could see what is stored after this before what was stored so.
    unsafe { _mm_sfence() };
}

/// Writes lines; no other instruction is used for it.
#[cfg(not(target_arch = "x86_64"))]
fn past(lines: &[[u8; LINE_BYTES]], to: &mut [CacheLine]) {
    lines.iter().zip(to).for_each(|(line, to)| copy_bytes(line, &mut to.0));
}

/// Either way of writing.
#[cfg(test)]
pub(crate) const BOTH_MODES: [StoreMode; 2] = [StoreMode { uncached: false }, StoreMode { uncached: true }];

/// How many bytes go through the caches still.
fn streaming_threshold() -> usize {
    // 0: the system has not been asked yet. No lock: a process that is forked while another thread holds one waits for ever.
    static THRESHOLD: AtomicUsize = AtomicUsize::new(0);
    match THRESHOLD.load(Ordering::Relaxed) {
        0 => {
            let least = threshold_for(last_cache_bytes());
            THRESHOLD.store(least, Ordering::Relaxed);
            least
        }
        least => least,
    }
}

/// How many bytes go through the caches still, where the last one holds so many.
fn threshold_for(last_cache: Option<usize>) -> usize {
    (last_cache.unwrap_or(DEFAULT_CACHE_BYTES) / CACHE_FRACTION).min(MAX_CACHED_BYTES)
}

/// How many bytes the last cache holds, where Linux says so. That of unit tests is small, so that what they make is larger.
fn last_cache_bytes() -> Option<usize> {
    if cfg!(test) {
        return Some(1 << 14);
    }
    let size = |index: u32| std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size"));
    parse_size(&size(3).or_else(|_| size(2)).ok()?)
}

/// How many bytes `8192K` are.
fn parse_size(size: &str) -> Option<usize> {
    let kibibytes: usize = size.trim().strip_suffix('K')?.parse().ok()?;
    (kibibytes > 0).then_some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use arrow_buffer::i256;

    use super::*;

    /// Wherever they begin and end, and nothing beside them.
    #[test]
    fn copy_writes_only_the_target() {
        fn written<T: ArrowNativeType>(value: impl Fn(usize) -> T) {
            let values: Vec<T> = (0..400).map(value).collect();
            for (begin, from) in [0, 1, 2, 3, 5, 8, 15, 16, 17, 63].into_iter().zip([9, 1, 0, 4, 8, 3, 7, 64, 2, 5]) {
                for length in [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 300] {
                    for writes in BOTH_MODES {
                        let mut places = [MaybeUninit::new(values[399]); 400];
                        writes.copy(&values[from..from + length], &mut places[begin..begin + length]);
                        // SAFETY: all of them have a value.
                        let found: Vec<_> = places.iter().map(|place| unsafe { place.assume_init() }).collect();
                        let mut expected = vec![values[399]; 400];
                        expected[begin..begin + length].copy_from_slice(&values[from..from + length]);
                        assert!(found == expected, "{length} of {} bytes from {begin} on, {writes:?}", size_of::<T>());
                    }
                }
            }
        }
        written(|at| at as u8);
        written(|at| at as i16 * 3);
        written(|at| at as i32 * 1_000_003);
        written(|at| at as f64 / 3.0);
        written(|at| (at as i128) << 100);
        written(|at| i256::from_i128(at as i128 * 7));
    }

    #[test]
    fn append_writes_after_existing_bytes() {
        let values: Vec<u8> = (0..200).collect();
        for writes in BOTH_MODES {
            for before in [0, 1, 63, 64, 100] {
                let mut room = BytesMut::with_capacity(300);
                for part in [&values[..before], &values[3..], &values[..1]] {
                    writes.append(&mut room, part);
                }
                let expected = [&values[..before], &values[3..], &values[..1]].concat();
                assert_eq!(&room[..], &expected[..], "{before}, {writes:?}");
            }
        }
    }

    #[test]
    fn small_writes_are_cached() {
        assert!(!StoreMode::for_bytes(1000).is_uncached());
        assert_eq!(StoreMode::for_bytes(usize::MAX).is_uncached(), cfg!(target_arch = "x86_64"));
        // A quarter of the last cache, of which a large one is not one machine's alone.
        assert_eq!([Some(8 << 20), Some(480 << 20), None].map(threshold_for), [2 << 20, 24 << 20, 8 << 20]);
        assert_eq!(
            ["8192K\n", "16K", "0K", "", "8M"].map(parse_size),
            [Some(8 << 20), Some(1 << 14), None, None, None]
        );
    }
}
