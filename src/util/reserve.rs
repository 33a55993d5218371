//! Checked allocation: allocations that grow with the number of rows fail with an error instead of ending the process.
//!
//! A large allocation is made only if [`SLACK_BYTES`] more bytes remain available: small allocations, and those of
//! libraries, which cannot be checked, use that slack. Before a library makes a large allocation of known size,
//! [`probe`] checks for it.
//!
//! Cost: two system calls per allocation of [`LARGE_ALLOCATION_BYTES`] bytes or more, which causes far more page
//! faults.

use arrow_array::Array;

use crate::error::{Error, Remedy, Result};

/// Allocations of this size or larger are made only if [`SLACK_BYTES`] remain available.
const LARGE_ALLOCATION_BYTES: usize = 1 << 20;

/// Bytes that a large allocation leaves available: this many, or this fraction of its own size if that is more, because
/// related allocations, such as validity bits of the same rows, are proportional to it.
const SLACK_BYTES: usize = 16 << 20;
const SLACK_FRACTION: usize = 4;

/// Allocations of this size or larger are compared with the memory that the system reports as available, because the
/// system may grant more than it has.
const AVAILABLE_CHECK_BYTES: usize = 256 << 20;

/// Whether the process could allocate `bytes` more now. Touches no page.
///
/// Asks the system first. If it refuses, asks the program's allocator, which may release memory that it keeps.
fn can_allocate(bytes: usize) -> bool {
    #[cfg(target_os = "linux")]
    if can_map(bytes) {
        return true;
    }
    let mut vector = Vec::<u8>::new();
    let had = vector.try_reserve_exact(bytes).is_ok();
    // Without this the compiler may remove the unused allocation.
    std::hint::black_box(vector.as_ptr());
    had
}

/// Whether the system would map `bytes`. Not done through the allocator, which might keep the mapping.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // mmap has no safe interface
fn can_map(bytes: usize) -> bool {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

    // SAFETY: a new anonymous mapping at an address that the system chooses overlaps no other. It is unmapped here as a
    // whole, and no reference to it is made.
    unsafe {
        let all = mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        all.is_ok_and(|all| munmap(all, bytes).is_ok())
    }
}

/// The error for `bytes` that cannot be allocated.
fn out_of_memory(bytes: usize) -> Error {
    Error::memory_limit(format!(
        "{} MiB more could not be allocated; give the process more memory, pass fewer rows at once",
        bytes.div_ceil(1 << 20)
    ))
    .with_remedy(Remedy::Spill)
}

/// The bytes that must remain available after an allocation of `bytes`.
fn slack(bytes: usize) -> usize {
    SLACK_BYTES.max(bytes / SLACK_FRACTION)
}

/// Fails unless `bytes` could be allocated now. For use before an allocation that cannot report failure itself.
///
/// # Errors
/// The memory is not available.
pub(crate) fn probe(bytes: usize) -> Result<()> {
    if bytes < LARGE_ALLOCATION_BYTES {
        return Ok(());
    }
    can_allocate(bytes.saturating_add(slack(bytes))).then_some(()).ok_or_else(|| out_of_memory(bytes))
}

/// As [`probe`], for the start of a computation over `rows` rows: checks for the slack that its small allocations use.
/// Does nothing for few rows.
///
/// # Errors
/// The memory is not available.
pub(crate) fn probe_start(rows: usize) -> Result<()> {
    if rows < LARGE_ALLOCATION_BYTES / size_of::<u64>() { Ok(()) } else { probe(LARGE_ALLOCATION_BYTES) }
}

/// As [`probe`], for a copy of `rows` values of a column.
///
/// # Errors
/// The memory is not available.
pub(crate) fn probe_rows(column: &dyn Array, rows: usize) -> Result<()> {
    let width = column.data_type().primitive_width().unwrap_or_else(|| mean_bytes(column));
    probe(rows.saturating_mul(width))
}

/// The mean size of a column's values in bytes.
pub(crate) fn mean_bytes(column: &dyn Array) -> usize {
    column.to_data().get_slice_memory_size().unwrap_or(0).div_ceil(column.len().max(1))
}

/// As [`probe`], for the concatenation of columns.
///
/// # Errors
/// The memory is not available.
pub(crate) fn probe_concat(columns: &[&dyn Array]) -> Result<()> {
    probe(columns.iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum())
}

/// Fails unless the slack for a large allocation is available.
fn check_slack(bytes: usize) -> Result<()> {
    if bytes < LARGE_ALLOCATION_BYTES {
        return Ok(());
    }
    can_allocate(slack(bytes)).then_some(()).ok_or_else(|| out_of_memory(bytes))
}

/// An empty vector with capacity for `values` values.
///
/// # Errors
/// The memory is not available.
pub(crate) fn with_capacity<T>(values: usize) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    reserve(&mut vector, values)?;
    Ok(vector)
}

/// Reserves capacity for exactly `more` further values.
///
/// # Errors
/// The memory is not available.
pub(crate) fn reserve<T>(vector: &mut Vec<T>, more: usize) -> Result<()> {
    if vector.capacity() - vector.len() >= more {
        return Ok(());
    }
    let bytes = vector.len().saturating_add(more).saturating_mul(size_of::<T>());
    vector.try_reserve_exact(more).map_err(|_| out_of_memory(bytes))?;
    check_slack(bytes)
}

/// Reserves capacity for `more` further values, with amortised growth.
///
/// # Errors
/// The memory is not available.
#[inline]
pub(crate) fn grow<T>(vector: &mut Vec<T>, more: usize) -> Result<()> {
    if vector.capacity() - vector.len() >= more { Ok(()) } else { grow_now(vector, more) }
}

#[cold]
fn grow_now<T>(vector: &mut Vec<T>, more: usize) -> Result<()> {
    let bytes = vector.len().saturating_add(more).saturating_mul(size_of::<T>());
    vector.try_reserve(more).or_else(|_| vector.try_reserve_exact(more)).map_err(|_| out_of_memory(bytes))?;
    check_slack(vector.capacity() * size_of::<T>())
}

/// Replaces the contents of the vector by `times` copies of `value`.
///
/// # Errors
/// The memory is not available.
pub(crate) fn refill<T: Clone>(vector: &mut Vec<T>, times: usize, value: T) -> Result<()> {
    vector.clear();
    reserve(vector, times)?;
    vector.resize(times, value);
    Ok(())
}

/// A vector of `times` copies of `value`.
///
/// # Errors
/// The memory is not available.
pub(crate) fn repeated<T: Clone>(value: T, times: usize) -> Result<Vec<T>> {
    probe(times.saturating_mul(size_of::<T>()))?;
    // `vec!` gets zeros from the system without writing them.
    Ok(vec![value; times])
}

/// Collects an iterator of known length.
///
/// # Errors
/// The memory is not available.
pub(crate) fn collect<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut vector = with_capacity(values.len())?;
    vector.extend(values);
    Ok(vector)
}

/// Fails if the system reports fewer than `bytes` bytes available. `what` describes their use for the message.
///
/// # Errors
/// The memory is not available.
pub(crate) fn check_available(bytes: usize, what: impl FnOnce() -> String) -> Result<()> {
    let Some(left) = (bytes >= AVAILABLE_CHECK_BYTES).then(available_bytes).flatten().filter(|&left| left < bytes)
    else {
        return Ok(());
    };
    let mib = |bytes: usize| bytes.div_ceil(1 << 20);
    Err(Error::memory_limit(format!(
        "{}, which takes {} MiB, and {} MiB of memory are left; narrow the frame, or pass fewer rows at once",
        what(),
        mib(bytes),
        mib(left)
    )))
}

/// The available bytes of the machine or of the process's control group, whichever is less; `None` if the system does
/// not report them.
fn available_bytes() -> Option<usize> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let field = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<usize>().ok()
    };
    let memory = read("/proc/meminfo")?;
    let machine = (field(&memory, "MemAvailable:")? + field(&memory, "SwapFree:").unwrap_or(0)) << 10;
    // Limits of containers (control groups, version 2 and 1). Without a limit there is no number, or a huge one.
    // Inactive file pages count as used but can be reclaimed, so they are added.
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
    fn oversized_allocations_are_errors() {
        let huge = usize::MAX / 16;
        let failures = [
            probe(huge).unwrap_err(),
            with_capacity::<u64>(huge).unwrap_err(),
            with_capacity::<u64>(usize::MAX).unwrap_err(),
            repeated(1_u8, huge).unwrap_err(),
            refill(&mut vec![1_i64], huge, 0).unwrap_err(),
            grow(&mut vec![1_u32], huge).unwrap_err(),
        ];
        assert!(failures.iter().all(|error| error.kind() == ErrorKind::MemoryLimit && error.message().contains("MiB")));
        let refused = check_available(huge, || "the lists are long".to_string());
        assert!(
            available_bytes().is_none()
                || refused.unwrap_err().message().starts_with("the lists are long, which takes")
        );
    }

    #[test]
    fn vectors_match_std() {
        for values in [0, 1, 1000, LARGE_ALLOCATION_BYTES, 5 * LARGE_ALLOCATION_BYTES + 3] {
            assert_eq!(repeated(7_u8, values).unwrap(), vec![7; values]);
            assert_eq!(collect(0..values).unwrap(), (0..values).collect::<Vec<_>>());
            let mut vector = vec![1_u16];
            reserve(&mut vector, values).unwrap();
            assert!(vector.capacity() > values);
        }
        check_available(LARGE_ALLOCATION_BYTES, String::new).unwrap();
    }
}
