//! An allocator that uses huge pages for large allocations, and keeps freed memory for reuse.
//!
//! A result column is memory that is not yet backed by pages. The system provides it page by page, with a fault per 4
//! KiB, which may cost more than the computation. Linux provides pages of 2 MiB on request (`madvise`), as numpy does
//! for its arrays. Freed memory is kept, up to a sixteenth of the machine's memory and 2 GiB, because a computation
//! soon needs as much again. The system may reclaim it meanwhile; the oldest is released when new memory is kept, and
//! all of it when an allocation fails. Columns of a block of rows are smaller and are allocated and freed frequently,
//! and the system's allocator would return each to the system; allocations of 64 KiB and more are also kept, on normal
//! pages. Everything else, and every other operating system, uses the system's allocator directly.
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: windrow_allocator::HugePages = windrow_allocator::HugePages;
//!
//! let column = vec![1_i64; 1 << 20];
//! assert_eq!(column.iter().sum::<i64>(), 1 << 20);
//! ```
//!
//! windrow's Python package uses it; the crate `windrow` leaves the choice of an allocator to its user. Cost: some
//! system calls per allocation that no kept memory fits, and up to an eighth more address space than requested, which
//! takes memory only once it is written. Bench: `benches/stages.rs`.

#![allow(unsafe_code)] // an allocator is nothing else; docs/performance.md, "Memory and caches", has what it brings

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator; on Linux with huge pages for allocations of 2 MiB or more, and reuse from 64 KiB on.
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

impl HugePages {
    /// Limits the memory kept for reuse to `bytes`, for huge pages and for others each, from now on and for the whole
    /// process. Memory kept beyond that is released at once. The limit is never raised.
    pub fn keep_at_most(bytes: usize) {
        mapped::keep_at_most(bytes);
    }
}

#[cfg(target_os = "linux")]
mod mapped {
    use std::alloc::Layout;
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, MutexGuard};

    /// The size of a huge page on x86-64, and on aarch64 with pages of 4 KiB.
    pub(super) const PAGE: usize = 2 << 20;

    /// The minimum size of a mapping, and the alignment of one smaller than a huge page.
    const LEAST: usize = 64 << 10;
    const BOUNDARY: usize = 4 << 10;

    /// The number of sizes between two powers of two: memory freed by one computation then fits the next one of similar
    /// size.
    const STEPS: usize = 8;

    /// Limits of the memory kept for reuse: the fraction of the machine's memory, the bytes of huge pages, the bytes of
    /// smaller mappings, and the number of mappings of each kind.
    const SHARE: usize = 16;
    const KEPT: usize = 2 << 30;
    const KEPT_SMALL: usize = 16 << 20;
    const PIECES: usize = 64;

    /// The number of attempts to take a lock when kept memory must be released.
    const TRIES: usize = 1000;

    /// Freed mappings, the oldest first, with address and size. The lock is only tried, never waited for: in a process
    /// forked while another thread held it, it is never released.
    static BACK: Mutex<Back> = Mutex::new(Back::NOTHING);

    /// The same for mappings smaller than a huge page.
    static SMALL_BACK: Mutex<Back> = Mutex::new(Back::NOTHING);

    /// The list for mappings of that size.
    fn back(size: usize) -> &'static Mutex<Back> {
        if size < PAGE { &SMALL_BACK } else { &BACK }
    }

    struct Back {
        pieces: [(usize, usize); PIECES],
        count: usize,
        bytes: usize,
    }

    /// The size of the mapping for `layout`; `None` if it is not mapped. It depends on the layout only.
    pub(super) fn size(layout: Layout) -> Option<usize> {
        let boundary = if layout.size() < PAGE { BOUNDARY } else { PAGE };
        if layout.size() < LEAST || layout.align() > boundary {
            return None;
        }
        let step = (1 << layout.size().ilog2()) / STEPS;
        layout.size().checked_next_multiple_of(step)
    }

    /// `size` bytes, aligned, and whether they are zeroed; or null.
    pub(super) fn get(size: usize) -> (*mut u8, bool) {
        match take_back(size) {
            Some(memory) => (memory, false),
            None => (map(size), true),
        }
    }

    /// Frees memory obtained from [`get`].
    ///
    /// # Safety
    /// `memory` is from `get(size)` and is not used afterwards.
    pub(super) unsafe fn give_back(memory: *mut u8, size: usize) {
        let most = || if size < PAGE { keep().min(KEPT_SMALL) } else { keep() };
        if size <= most()
            && let Ok(mut back) = back(size).try_lock()
        {
            // Checked again under the lock: a concurrent call that lowers the limit then releases everything beyond it.
            let keep = most();
            if size <= keep {
                // SAFETY: passes on the caller's promise.
                unsafe { back.put(memory, size, keep) };
                return;
            }
        }
        // SAFETY: by the caller's promise this is a whole mapping of [`map`], which is not used afterwards.
        unsafe {
            libc::munmap(memory.cast(), size);
        }
    }

    /// See [`super::HugePages::keep_at_most`].
    pub(super) fn keep_at_most(bytes: usize) {
        keep(); // so that the limit is set: 0 means unset and would win every minimum
        KEEP.fetch_min(bytes.max(1), Ordering::SeqCst);
        let_go_beyond(bytes);
    }

    /// Releases the memory of each kind kept beyond `bytes`.
    pub(super) fn let_go_beyond(bytes: usize) {
        for back in [&BACK, &SMALL_BACK] {
            let Some(mut back) = locked(back) else { continue };
            while back.bytes > bytes {
                back.unmap_oldest();
            }
        }
    }

    /// Takes the lock, which others hold for a system call or two; `None` if it stays locked, as in a process forked
    /// while another thread held it.
    fn locked(back: &Mutex<Back>) -> Option<MutexGuard<'_, Back>> {
        (0..TRIES).find_map(|_| {
            let lock = back.try_lock().ok();
            if lock.is_none() {
                std::thread::yield_now();
            }
            lock
        })
    }

    /// The bytes of huge pages kept for reuse.
    #[cfg(test)]
    pub(super) fn kept() -> usize {
        locked(&BACK).map_or(0, |back| back.bytes)
    }

    /// The maximum number of bytes to keep; 0 if not yet determined.
    static KEEP: AtomicUsize = AtomicUsize::new(0);

    fn keep() -> usize {
        match KEEP.load(Ordering::SeqCst) {
            0 => {
                let keep = (memory().min(address_space()) / SHARE).clamp(PAGE, KEPT);
                // Another thread may have set it, and lowered it since.
                match KEEP.compare_exchange(0, keep, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(_) => keep,
                    Err(keep) => keep,
                }
            }
            keep => keep,
        }
    }

    /// The machine's memory in bytes.
    fn memory() -> usize {
        // SAFETY: `sysconf` only returns a number.
        let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(page).unwrap_or(0))
    }

    /// The number of bytes the process may map, which Spark limits for Python workers
    /// (`spark.executor.pyspark.memory`).
    fn address_space() -> usize {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: writes to `limit` only; on failure it stays unchanged.
        unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
        usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX)
    }

    impl Back {
        const NOTHING: Self = Self { pieces: [(0, 0); PIECES], count: 0, bytes: 0 };

        /// Removes a mapping from the list; returns its address and size.
        fn remove(&mut self, place: usize) -> (usize, usize) {
            let piece = self.pieces[place];
            self.pieces.copy_within(place + 1..self.count, place);
            self.count -= 1;
            self.bytes -= piece.1;
            piece
        }

        /// Keeps a mapping; releases the oldest ones as needed to keep at most `keep` bytes.
        ///
        /// # Safety
        /// `memory` is from `get(size)` and is not used afterwards.
        unsafe fn put(&mut self, memory: *mut u8, size: usize, keep: usize) {
            // The oldest sizes are the least likely to be requested again.
            while self.count > 0 && (self.count == PIECES || self.bytes + size > keep) {
                self.unmap_oldest();
            }
            if size >= PAGE {
                // SAFETY: by the caller's promise this is a mapping whose contents are no longer read. If the system
                // reclaims a page, it is zero until written again.
                unsafe {
                    libc::madvise(memory.cast(), size, libc::MADV_FREE);
                }
            }
            self.pieces[self.count] = (memory.expose_provenance(), size);
            self.count += 1;
            self.bytes += size;
        }

        fn unmap_oldest(&mut self) {
            let (memory, size) = self.remove(0);
            // SAFETY: `put` keeps whole mappings of [`map`] that nobody uses, and this one has just been removed from
            // the list.
            unsafe {
                libc::munmap(std::ptr::with_exposed_provenance_mut(memory), size);
            }
        }
    }

    fn take_back(size: usize) -> Option<*mut u8> {
        let mut back = back(size).try_lock().ok()?;
        let found = back.pieces[..back.count].iter().rposition(|piece| piece.1 == size)?;
        let (memory, _) = back.remove(found);
        Some(std::ptr::with_exposed_provenance_mut(memory))
    }

    /// A new mapping, zeroed.
    fn map(size: usize) -> *mut u8 {
        let Some(reserved) = size.checked_add(if size < PAGE { 0 } else { PAGE }) else { return null_mut() };
        // SAFETY: a new mapping at an address that the system chooses overlaps no other. Only parts of it outside the
        // `size` bytes returned are unmapped: none for a small mapping, which is later unmapped from its start and as a
        // whole; for a large one, ranges whose ends are multiples of 256 KiB from a huge page's boundary, and so of any
        // page. Advice changes how memory is backed, not its contents; if it is refused, nothing happens.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let all = libc::mmap(null_mut(), reserved, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
            if all == libc::MAP_FAILED {
                return null_mut();
            }
            if size < PAGE {
                return all.cast();
            }
            let before = all.align_offset(PAGE);
            let memory = all.byte_add(before);
            if before > 0 {
                libc::munmap(all, before);
            }
            libc::munmap(memory.byte_add(size), reserved - before - size);
            libc::madvise(memory, size, libc::MADV_HUGEPAGE);
            memory.cast()
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod mapped {
    use std::alloc::Layout;

    pub(super) fn size(_: Layout) -> Option<usize> {
        None
    }

    pub(super) fn get(_: usize) -> (*mut u8, bool) {
        (std::ptr::null_mut(), true)
    }

    pub(super) unsafe fn give_back(_: *mut u8, _: usize) {}

    pub(super) fn keep_at_most(_: usize) {}

    pub(super) fn let_go_beyond(_: usize) {}
}

/// Allocates by `get`. If that fails, releases all kept memory and tries again.
fn or_let_go(get: impl Fn() -> *mut u8) -> *mut u8 {
    let memory = get();
    if !memory.is_null() {
        return memory;
    }
    mapped::let_go_beyond(0);
    get()
}

// SAFETY: whether and with which size memory is mapped depends on the layout only, so memory is freed by the allocator
// it came from, with the size it was allocated with. Mapped memory is aligned to 2 MiB, or to 4 KiB if it is smaller,
// which the alignment of mapped layouts never exceeds.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        or_let_go(|| match mapped::size(layout) {
            // SAFETY: passes on the caller's promises for the layout.
            None => unsafe { System.alloc(layout) },
            Some(size) => mapped::get(size).0,
        })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match mapped::size(layout) {
            // SAFETY: `alloc` got it from there for this layout, and the caller does not use it afterwards.
            None => unsafe { System.dealloc(memory, layout) },
            // SAFETY: `alloc` got it with the size of this layout, and the caller does not use it afterwards.
            Some(size) => unsafe { mapped::give_back(memory, size) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        or_let_go(|| match mapped::size(layout) {
            // SAFETY: passes on the caller's promises for the layout.
            None => unsafe { System.alloc_zeroed(layout) },
            Some(size) => {
                let (memory, zeroed) = mapped::get(size);
                if !zeroed {
                    // SAFETY: kept memory is not null, and a mapping is at least as long as its layout.
                    unsafe { memory.write_bytes(0, layout.size()) }
                }
                memory
            }
        })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: by the caller's promise the new size is not 0 and is valid for the alignment.
        let new = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        if mapped::size(layout).is_none() && mapped::size(new).is_none() {
            // SAFETY: the system's allocator allocated it with this layout; passes on the caller's promises for the new
            // size.
            return or_let_go(|| unsafe { System.realloc(memory, layout, new_size) });
        }
        // SAFETY: the new size is not 0.
        let moved = unsafe { self.alloc(new) };
        if !moved.is_null() {
            // SAFETY: both are at least as long as the smaller of the sizes, and new memory does not overlap the old.
            // The old memory is from this allocator, with this layout, and is not used afterwards.
            unsafe {
                moved.copy_from_nonoverlapping(memory, layout.size().min(new_size));
                self.dealloc(memory, layout);
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const PAGE: usize = 2 << 20;

    #[test]
    fn large_and_small_come_and_go() {
        for size in [1, 4096, 64 << 10, 100_000, PAGE / 2 + 1, PAGE - 1, PAGE, PAGE + 1, 5 * PAGE + 123] {
            for align in [1, 8, 64, 4096, 8192, 2 * PAGE] {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: the layout is not empty; the memory is used within its size and freed once.
                unsafe {
                    for zeroed in [false, true] {
                        let memory = if zeroed { HugePages.alloc_zeroed(layout) } else { HugePages.alloc(layout) };
                        assert_eq!(memory as usize % align, 0);
                        if zeroed {
                            assert!(std::slice::from_raw_parts(memory, size).iter().all(|&byte| byte == 0));
                        }
                        memory.write_bytes(7, size);
                        let more = Layout::from_size_align(2 * size, align).unwrap();
                        let memory = HugePages.realloc(memory, layout, more.size());
                        assert!(std::slice::from_raw_parts(memory, size).iter().all(|&byte| byte == 7));
                        HugePages.dealloc(memory, more);
                    }
                }
            }
        }
    }

    /// While other threads free memory, none of them leaves more than the limit kept.
    #[cfg(target_os = "linux")]
    #[test]
    fn no_more_is_kept_than_is_allowed() {
        let (size, limit) = (3 * PAGE, 7 * PAGE);
        let layout = Layout::from_size_align(size, 64).unwrap();
        let give_back = || {
            for _ in 0..30 {
                // SAFETY: the layout is not empty; the memory is freed once.
                let memory = [(); 12].map(|()| unsafe { HugePages.alloc(layout) });
                // SAFETY: as above.
                memory.into_iter().for_each(|memory| unsafe { HugePages.dealloc(memory, layout) });
            }
        };
        std::thread::scope(|scope| {
            (0..3).for_each(|_| drop(scope.spawn(give_back)));
            std::thread::sleep(std::time::Duration::from_millis(1));
            HugePages::keep_at_most(limit);
            assert!(mapped::kept() <= limit);
        });
        give_back();
        assert!((size..=limit).contains(&mapped::kept()));
    }
}
