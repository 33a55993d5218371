//! Stores that bypass the caches (non-temporal stores).
//!
//! A normal store to memory that is not cached first reads the line, which is then overwritten, and evicts another
//! line. Non-temporal stores of whole lines (`movnt` on x86-64) go to memory directly. The written data is not cached
//! afterwards, which for columns larger than the cache it would not be anyway.
//!
//! On other processors, for partial lines, and for small writes, normal stores are used.

#![allow(unsafe_code)] // instructions without a safe interface; measured in docs/performance.md

use std::mem::MaybeUninit;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_buffer::{ArrowNativeType, ToByteSlice};
use bytes::BytesMut;

/// The size of a cache line.
const LINE_BYTES: usize = 64;

/// A slot for a cache line, aligned to one.
#[repr(C, align(64))]
struct CacheLine([MaybeUninit<u8>; LINE_BYTES]);

/// Writes larger than this fraction of the last-level cache bypass it: the call also reads keys and values, so their
/// end would not be cached when the call returns.
const CACHE_FRACTION: usize = 4;

/// Writes larger than this bypass any cache. A larger cache is shared by many processors, whose other programs fill it.
/// The value was chosen by measurement, see docs/performance.md.
const MAX_CACHED_BYTES: usize = 24 << 20;

/// The assumed size of the last-level cache if the system does not report it.
const DEFAULT_CACHE_BYTES: usize = 32 << 20;

/// How to store the values of a write of known total size: past the caches if it is a large part of the last-level
/// cache, or more than 24 MiB, else through them.
///
/// Cost: that of a copy.
///
/// ```
/// use std::mem::MaybeUninit;
/// use windrow::internals::StoreMode;
///
/// let values: Vec<i64> = (0..1000).collect();
/// for bytes in [size_of_val(&*values), usize::MAX] {
///     let mut places = [MaybeUninit::new(0); 1000];
///     StoreMode::for_bytes(bytes).copy(&values, &mut places);
///     // SAFETY: all of them have been written.
///     assert!(values.iter().zip(places).all(|(&value, place)| unsafe { place.assume_init() } == value));
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct StoreMode {
    streaming: bool,
}

impl StoreMode {
    /// The mode for writes of `bytes` bytes in total.
    #[must_use]
    pub fn for_bytes(bytes: usize) -> Self {
        Self { streaming: cfg!(target_arch = "x86_64") && bytes > streaming_threshold() }
    }

    /// Whether stores bypass the caches.
    pub(crate) fn is_streaming(self) -> bool {
        self.streaming
    }

    /// Writes `values` to `to`.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    #[inline]
    pub fn copy<T: ArrowNativeType>(self, values: &[T], to: &mut [MaybeUninit<T>]) {
        assert_eq!(values.len(), to.len());
        let bytes = values.to_byte_slice();
        // SAFETY: `bytes` has the size in bytes of `values`, and so of `to` (same length, checked above): this is the
        // same memory, byte by byte, borrowed as `to` is. Only the bytes of values are written to it, so every slot
        // written holds a valid value.
        let to = unsafe { slice::from_raw_parts_mut(to.as_mut_ptr().cast::<MaybeUninit<u8>>(), bytes.len()) };
        if !self.streaming {
            return copy_bytes(bytes, to);
        }
        // SAFETY: a `CacheLine` consists of `LINE_BYTES` bytes that need not be initialised; `align_to_mut` ensures its
        // alignment.
        let (to_head, to_lines, to_tail) = unsafe { to.align_to_mut() };
        // `align_to_mut` may return a shorter middle than possible; all lengths below come from it.
        let (head, bytes) = bytes.split_at(to_head.len());
        let (lines, tail) = bytes.split_at(to_lines.len() * LINE_BYTES);
        let (lines, _) = lines.as_chunks();
        copy_bytes(head, to_head);
        store_lines(lines, to_lines);
        copy_bytes(tail, to_tail);
    }

    /// Appends bytes to a buffer with spare capacity for them.
    ///
    /// # Panics
    ///
    /// If the capacity does not suffice.
    #[inline]
    pub(crate) fn append(self, room: &mut BytesMut, bytes: &[u8]) {
        let length = room.len() + bytes.len();
        self.copy(bytes, &mut room.spare_capacity_mut()[..bytes.len()]);
        // SAFETY: the capacity suffices, or the slice above would have panicked, and `copy` has written all of it.
        unsafe { room.set_len(length) };
    }
}

/// Copies byte by byte, so that the compiler recognises one copy of memory.
#[inline]
fn copy_bytes(bytes: &[u8], to: &mut [MaybeUninit<u8>]) {
    for (to, &byte) in to.iter_mut().zip(bytes) {
        to.write(byte);
    }
}

/// Writes lines past the caches.
///
/// A load waits for an earlier store if the lowest twelve bits of their addresses are equal (4 KiB aliasing). So a line
/// is loaded completely before it is stored, and if the target lies shortly after the source modulo the page size,
/// lines are copied from the last to the first.
#[cfg(target_arch = "x86_64")]
fn store_lines(lines: &[[u8; LINE_BYTES]], to: &mut [CacheLine]) {
    use std::arch::x86_64::{__m128i, _mm_sfence, _mm_stream_si128};
    use std::array::from_fn;
    use std::ptr::from_mut;

    const PAGE_BYTES: usize = 1 << 12;
    const VECTORS_PER_LINE: usize = LINE_BYTES / size_of::<__m128i>();
    let write = |(line, to): (&[u8; LINE_BYTES], &mut CacheLine)| {
        let (line, to) = (line.as_ptr(), from_mut(to).cast::<__m128i>());
        // SAFETY: all parts lie within their line. `to` is borrowed mutably and aligned to 64 bytes by its type, where
        // the instruction requires 16. Every x86-64 processor has the instruction.
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
    // SAFETY: every x86-64 processor has the instruction. It orders the non-temporal stores before later stores, as
    // seen by other threads.
    unsafe { _mm_sfence() };
}

/// Writes lines by normal stores.
#[cfg(not(target_arch = "x86_64"))]
fn store_lines(lines: &[[u8; LINE_BYTES]], to: &mut [CacheLine]) {
    lines.iter().zip(to).for_each(|(line, to)| copy_bytes(line, &mut to.0));
}

/// Both modes.
#[cfg(test)]
pub(crate) const BOTH_MODES: [StoreMode; 2] = [StoreMode { streaming: false }, StoreMode { streaming: true }];

/// The size in bytes from which writes bypass the caches.
fn streaming_threshold() -> usize {
    // 0: not yet computed. An atomic, not a lock: a process forked while another thread holds a lock would deadlock.
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

/// The size from which writes bypass the caches, given the size of the last-level cache.
fn threshold_for(last_cache: Option<usize>) -> usize {
    (last_cache.unwrap_or(DEFAULT_CACHE_BYTES) / CACHE_FRACTION).min(MAX_CACHED_BYTES)
}

/// The size of the last-level cache, if Linux reports it. In unit tests a small one, so that test data exceeds it.
fn last_cache_bytes() -> Option<usize> {
    if cfg!(test) {
        return Some(1 << 14);
    }
    let size = |index: u32| std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size"));
    parse_size(&size(3).or_else(|_| size(2)).ok()?)
}

/// Parses a size such as `8192K`.
fn parse_size(size: &str) -> Option<usize> {
    let kibibytes: usize = size.trim().strip_suffix('K')?.parse().ok()?;
    (kibibytes > 0).then_some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use arrow_buffer::i256;

    use super::*;

    /// Any begin and end; bytes around the target stay unchanged.
    #[test]
    fn copy_writes_only_the_target() {
        fn written<T: ArrowNativeType>(value: impl Fn(usize) -> T) {
            let values: Vec<T> = (0..400).map(value).collect();
            for (begin, from) in [0, 1, 2, 3, 5, 8, 15, 16, 17, 63].into_iter().zip([9, 1, 0, 4, 8, 3, 7, 64, 2, 5]) {
                for length in [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 300] {
                    for writes in BOTH_MODES {
                        let mut places = [MaybeUninit::new(values[399]); 400];
                        writes.copy(&values[from..from + length], &mut places[begin..begin + length]);
                        // SAFETY: all slots were initialised before the copy.
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
        assert!(!StoreMode::for_bytes(1000).is_streaming());
        assert_eq!(StoreMode::for_bytes(usize::MAX).is_streaming(), cfg!(target_arch = "x86_64"));
        // A quarter of the last-level cache, limited because a large cache is shared.
        assert_eq!([Some(8 << 20), Some(480 << 20), None].map(threshold_for), [2 << 20, 24 << 20, 8 << 20]);
        assert_eq!(
            ["8192K\n", "16K", "0K", "", "8M"].map(parse_size),
            [Some(8 << 20), Some(1 << 14), None, None, None]
        );
    }
}
