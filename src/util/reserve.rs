//! Memory that may not be there: allocations whose size grows with the rows fail as errors, and do not end the process.
//!
//! A large allocation is made only where [`SLACK_BYTES`] bytes more could be had: what is small, and what libraries allocate
//! without asking, lives off them. Where a library makes a large one whose size is known, [`probe`] asks for it beforehand.
//!
//! Cost: two system calls per allocation of [`LARGE_ALLOCATION_BYTES`] bytes or more, which takes far more page faults.

use arrow_array::Array;

use crate::error::{Error, Remedy, Result};

/// Allocations of so many bytes or more are made only where [`SLACK_BYTES`] is left behind them.
const LARGE_ALLOCATION_BYTES: usize = 1 << 20;

/// Bytes that a large allocation leaves for small ones: so many, or this share of its own, as what goes with it, such as bits
/// of the same rows, is some share of it.
const SLACK_BYTES: usize = 16 << 20;
const SLACK_FRACTION: usize = 4;

/// So many bytes are held against the memory that the system has left: it may promise more than it has.
const AVAILABLE_CHECK_BYTES: usize = 256 << 20;

/// Whether the process may have so many bytes more at this moment; no page is touched.
///
/// The system is asked. Where it has not so many, the program's allocator is: it may let go of memory that it keeps.
fn can_allocate(bytes: usize) -> bool {
    #[cfg(target_os = "linux")]
    if can_map(bytes) {
        return true;
    }
    let mut vector = Vec::<u8>::new();
    let had = vector.try_reserve_exact(bytes).is_ok();
    // The compiler may leave out an allocation that nobody looks at.
    std::hint::black_box(vector.as_ptr());
    had
}

/// Whether the system maps so many bytes, which an allocator might keep.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // a mapping has no safe name
fn can_map(bytes: usize) -> bool {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

    // SAFETY: a new mapping where the system likes it takes nothing from anyone; nobody but this function knows of it, and
    // it goes at once, whole.
    unsafe {
        let all = mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        all.is_ok_and(|all| munmap(all, bytes).is_ok())
    }
}

/// `bytes` more could not be had.
fn out_of_memory(bytes: usize) -> Error {
    Error::memory_limit(format!(
        "{} MiB more could not be allocated; give the process more memory, pass fewer rows at once",
        bytes.div_ceil(1 << 20)
    ))
    .with_remedy(Remedy::Spill)
}

/// What an allocation of so many bytes leaves.
fn slack(bytes: usize) -> usize {
    SLACK_BYTES.max(bytes / SLACK_FRACTION)
}

/// Fails unless so many bytes could be allocated now, for an allocation that cannot fail itself.
///
/// # Errors
/// They could not.
pub(crate) fn probe(bytes: usize) -> Result<()> {
    if bytes < LARGE_ALLOCATION_BYTES {
        return Ok(());
    }
    can_allocate(bytes.saturating_add(slack(bytes))).then_some(()).ok_or_else(|| out_of_memory(bytes))
}

/// As [`probe`], for the start of a computation over so many rows: the allocations that are too small to be asked for
/// each have their [`SLACK_BYTES`]. Few rows need less, and nothing is asked.
///
/// # Errors
/// They have not.
pub(crate) fn probe_start(rows: usize) -> Result<()> {
    if rows < LARGE_ALLOCATION_BYTES / size_of::<u64>() { Ok(()) } else { probe(LARGE_ALLOCATION_BYTES) }
}

/// As [`probe`], for `rows` values of a column, copied.
///
/// # Errors
/// They could not be allocated.
pub(crate) fn probe_rows(column: &dyn Array, rows: usize) -> Result<()> {
    let width = column.data_type().primitive_width().unwrap_or_else(|| mean_bytes(column));
    probe(rows.saturating_mul(width))
}

/// The bytes that a value of a column takes, on average over its own.
pub(crate) fn mean_bytes(column: &dyn Array) -> usize {
    column.to_data().get_slice_memory_size().unwrap_or(0).div_ceil(column.len().max(1))
}

/// As [`probe`], for columns that are put one behind the other.
///
/// # Errors
/// They could not be allocated.
pub(crate) fn probe_concat(columns: &[&dyn Array]) -> Result<()> {
    probe(columns.iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum())
}

/// Fails unless there is some memory left behind a large allocation.
fn check_slack(bytes: usize) -> Result<()> {
    if bytes < LARGE_ALLOCATION_BYTES {
        return Ok(());
    }
    can_allocate(slack(bytes)).then_some(()).ok_or_else(|| out_of_memory(bytes))
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
    let bytes = vector.len().saturating_add(more).saturating_mul(size_of::<T>());
    vector.try_reserve_exact(more).map_err(|_| out_of_memory(bytes))?;
    check_slack(bytes)
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
    let bytes = vector.len().saturating_add(more).saturating_mul(size_of::<T>());
    vector.try_reserve(more).or_else(|_| vector.try_reserve_exact(more)).map_err(|_| out_of_memory(bytes))?;
    check_slack(vector.capacity() * size_of::<T>())
}

/// The vector becomes so many times `value`.
///
/// # Errors
/// There is no memory for it.
pub(crate) fn refill<T: Clone>(vector: &mut Vec<T>, times: usize, value: T) -> Result<()> {
    vector.clear();
    reserve(vector, times)?;
    vector.resize(times, value);
    Ok(())
}

/// So many times `value`.
///
/// # Errors
/// There is no memory for it.
pub(crate) fn repeated<T: Clone>(value: T, times: usize) -> Result<Vec<T>> {
    probe(times.saturating_mul(size_of::<T>()))?;
    // Zeros come from the system unwritten this way.
    Ok(vec![value; times])
}

/// The values of an iterator that knows how many they are.
///
/// # Errors
/// There is no memory for them.
pub(crate) fn collect<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut vector = with_capacity(values.len())?;
    vector.extend(values);
    Ok(vector)
}

/// Fails where the system says that it has not so many bytes left: it may promise more than it has. `what` is what they are
/// for.
///
/// # Errors
/// They are not left.
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

/// The bytes that the machine, or the process's group, has left; `None`: the system does not say.
fn available_bytes() -> Option<usize> {
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
