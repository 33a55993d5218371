//! Memory that may not be there: allocations whose size grows with the rows fail as errors, and do not end the process.
//!
//! A large allocation is made only where [`SLACK`] bytes more could be had: what is small, and what libraries allocate
//! without asking, lives off them. Where a library makes a large one whose size is known, [`probe`] asks for it beforehand.
//!
//! Cost: two system calls per allocation of [`LARGE`] bytes or more, which takes far more page faults.

#![allow(unsafe_code)] // zeroed memory comes from the system without a write, and `Vec` has no name for asking for it

use std::alloc::{Layout, alloc_zeroed};
use std::hint::black_box;

use arrow_buffer::ArrowNativeType;

use crate::error::{Error, Result};

/// Allocations of so many bytes or more are made only where [`SLACK`] is left behind them.
const LARGE: usize = 1 << 20;

/// Bytes that a large allocation leaves for small ones.
const SLACK: usize = 16 << 20;

/// So many bytes are held against the memory that the system has left: it may promise more than it has.
const PROMISED: usize = 256 << 20;

/// `bytes` more could not be had.
fn refused(bytes: usize) -> Error {
    Error::memory_limit(format!(
        "{} MiB more could not be allocated; give the process more memory, pass fewer rows at once, or set memory_limit, \
         so that rows go by way of the disk",
        bytes.div_ceil(1 << 20)
    ))
}

/// Fails unless so many bytes could be allocated now, for an allocation that cannot fail itself.
///
/// # Errors
/// They could not.
pub(crate) fn probe(bytes: usize) -> Result<()> {
    if bytes < LARGE {
        return Ok(());
    }
    can_be_had(bytes.saturating_add(SLACK)).then_some(()).ok_or_else(|| refused(bytes))
}

/// Whether so many bytes can be allocated, which then go back.
fn can_be_had(bytes: usize) -> bool {
    let mut vector = Vec::<u8>::new();
    let had = vector.try_reserve_exact(bytes).is_ok();
    // The compiler may leave out an allocation that nobody looks at.
    black_box(vector.as_ptr());
    had
}

/// Fails unless there is some memory left behind a large allocation.
fn keep_slack(bytes: usize) -> Result<()> {
    if bytes < LARGE {
        return Ok(());
    }
    can_be_had(SLACK).then_some(()).ok_or_else(|| refused(bytes))
}

/// An empty vector with room for so many values.
///
/// # Errors
/// There is no memory for it.
pub(crate) fn with_capacity<T>(values: usize) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    reserve(&mut vector, values)?;
    Ok(vector)
}

/// Makes room for exactly so many values more.
///
/// # Errors
/// There is no memory for it.
pub(crate) fn reserve<T>(vector: &mut Vec<T>, more: usize) -> Result<()> {
    if vector.capacity() - vector.len() >= more {
        return Ok(());
    }
    let bytes = (vector.len() + more).saturating_mul(size_of::<T>());
    vector.try_reserve_exact(more).map_err(|_| refused(bytes))?;
    keep_slack(bytes)
}

/// Makes room for so many values more, and for as many again where it grows.
///
/// # Errors
/// There is no memory for it.
#[inline]
pub(crate) fn grow<T>(vector: &mut Vec<T>, more: usize) -> Result<()> {
    if vector.capacity() - vector.len() >= more { Ok(()) } else { grow_now(vector, more) }
}

#[cold]
fn grow_now<T>(vector: &mut Vec<T>, more: usize) -> Result<()> {
    vector.try_reserve(more).map_err(|_| refused((vector.len() + more).saturating_mul(size_of::<T>())))?;
    keep_slack(vector.capacity() * size_of::<T>())
}

/// So many times `value`.
///
/// # Errors
/// There is no memory for it.
pub(crate) fn repeated<T: Clone>(value: T, times: usize) -> Result<Vec<T>> {
    let mut vector = with_capacity(times)?;
    vector.resize(times, value);
    Ok(vector)
}

/// So many zeros, which nobody has written yet where the system gives zeroed memory.
///
/// # Errors
/// There is no memory for them.
pub(crate) fn zeros<T: ArrowNativeType>(values: usize) -> Result<Vec<T>> {
    let bytes = values.saturating_mul(size_of::<T>());
    let layout = Layout::array::<T>(values).map_err(|_| refused(bytes))?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout is not empty.
    let memory = unsafe { alloc_zeroed(layout) };
    if memory.is_null() {
        return Err(refused(bytes));
    }
    // SAFETY: the global allocator gave it by the layout of so many values, and zeros are values of Arrow's native types.
    let vector = unsafe { Vec::from_raw_parts(memory.cast::<T>(), values, values) };
    keep_slack(bytes)?;
    Ok(vector)
}

/// The values of an iterator that knows how many they are.
///
/// # Errors
/// There is no memory for them.
pub(crate) fn collected<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut vector = with_capacity(values.len())?;
    vector.extend(values);
    Ok(vector)
}

/// Fails where the system says that it has not so many bytes left: it may promise more than it has. `what` is what they are
/// for.
///
/// # Errors
/// They are not left.
pub(crate) fn check_left(bytes: usize, what: impl FnOnce() -> String) -> Result<()> {
    let Some(left) = (bytes >= PROMISED).then(available).flatten().filter(|&left| left < bytes) else { return Ok(()) };
    let mib = |bytes: usize| bytes.div_ceil(1 << 20);
    Err(Error::memory_limit(format!(
        "{}, which takes {} MiB, and {} MiB of memory are left; narrow the frame, or pass fewer rows at once",
        what(),
        mib(bytes),
        mib(left)
    )))
}

/// The bytes that the machine, or the process's group, has left; `None`: the system does not say.
fn available() -> Option<usize> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let field = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<usize>().ok()
    };
    let memory = read("/proc/meminfo")?;
    let machine = (field(&memory, "MemAvailable:")? + field(&memory, "SwapFree:").unwrap_or(0)) << 10;
    // Within a container, of either version of control groups; without a limit there is no number, or a huge one. Pages of
    // files that nobody reads count as used, and go where memory is wanted.
    let groups = [
        ("", "memory.max", "memory.current", "inactive_file"),
        ("memory/", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ];
    let left = groups.iter().filter_map(|&(folder, limit, used, files)| {
        let file = |name: &str| read(&format!("/sys/fs/cgroup/{folder}{name}"));
        let (limit, used) = (field(&file(limit)?, "")?, field(&file(used)?, "")?);
        let files = field(&file("memory.stat")?, files).unwrap_or(0);
        Some(limit.saturating_sub(used).saturating_add(files))
    });
    Some(left.fold(machine, usize::min))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn what_cannot_be_had_is_an_error() {
        let huge = usize::MAX / 16;
        let failures = [
            probe(huge).unwrap_err(),
            with_capacity::<u64>(huge).unwrap_err(),
            with_capacity::<u64>(usize::MAX).unwrap_err(),
            repeated(1_u8, huge).unwrap_err(),
            zeros::<i64>(huge).unwrap_err(),
            grow(&mut vec![1_u32], huge).unwrap_err(),
        ];
        assert!(failures.iter().all(|error| error.kind() == ErrorKind::MemoryLimit && error.message().contains("MiB")));
        let refused = check_left(huge, || "the lists are long".to_string());
        assert!(available().is_none() || refused.unwrap_err().message().starts_with("the lists are long, which takes"));
    }

    #[test]
    fn vectors_are_as_the_standard_librarys() {
        for values in [0, 1, 1000, LARGE, 5 * LARGE + 3] {
            assert_eq!(zeros::<u32>(values).unwrap(), vec![0; values]);
            assert_eq!(repeated(7_u8, values).unwrap(), vec![7; values]);
            assert_eq!(collected(0..values).unwrap(), (0..values).collect::<Vec<_>>());
            let mut vector = vec![1_u16];
            reserve(&mut vector, values).unwrap();
            assert!(vector.capacity() > values);
        }
        check_left(LARGE, String::new).unwrap();
    }
}
