//! An allocator that asks the system for huge pages where much memory is wanted at once, and keeps some for the next time.
//!
//! A column of results is memory nobody has touched yet, and the system hands that out page by page: a fault per 4 KiB,
//! which may cost more than all that is computed. Linux has pages of 2 MiB for whoever asks (`madvise`), as numpy does
//! for its arrays. What is given back is kept, up to a sixteenth of the machine's memory and 2 GiB, since a computation
//! soon wants as much again; the system may take it meanwhile, what came back longest ago makes room for what comes, and all of
//! it goes where the process may have no more.
//! Columns of a block of rows are smaller, come and go by the hundred, and the system's allocator gives each back to the
//! system; of 64 KiB and more some are kept too, on pages as they are.
//! Everything else, and every other system, goes to the system's allocator as it is.
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: windrow_allocator::HugePages = windrow_allocator::HugePages;
//!
//! let column = vec![1_i64; 1 << 20];
//! assert_eq!(column.iter().sum::<i64>(), 1 << 20);
//! ```
//!
//! windrow's Python package is built with it; the crate `windrow` leaves the choice of an allocator to its user. Cost: some system calls per allocation that nothing kept fits, and up to an eighth of
//! address space more than was asked for, which is memory only once it is written. `benches/stages.rs` shows what it saves.

#![allow(unsafe_code)] // an allocator is nothing else; docs/performance.md, "Memory and caches", has what it brings

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator; on Linux with huge pages for allocations of 2 MiB or more, and some of 64 KiB or more kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

impl HugePages {
    /// Keeps no more than so many bytes, of huge pages and of others each, for the next time, from now on and for the whole process: for whoever has little
    /// memory to stay within. What was kept beyond goes back to the system at once. It never raises what is kept.
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

    /// The least that is mapped, and on which boundary if it is no huge page.
    const LEAST: usize = 64 << 10;
    const BOUNDARY: usize = 4 << 10;

    /// Sizes between two powers of two: what one computation gives back fits the next one of about as many rows.
    const STEPS: usize = 8;

    /// Memory kept for the next time: the share of the machine's, the most of it in bytes, that of less than a huge page,
    /// and the most of each in pieces.
    const SHARE: usize = 16;
    const KEPT: usize = 2 << 30;
    const KEPT_SMALL: usize = 16 << 20;
    const PIECES: usize = 64;

    /// How often a lock is asked for where what is kept must go.
    const TRIES: usize = 1000;

    /// Memory that was given back, the oldest first: where it is and how large. A lock that is taken is passed by, never
    /// waited for: in a process forked meanwhile nobody would ever let go of it.
    static BACK: Mutex<Back> = Mutex::new(Back::NOTHING);

    /// The same, of less than a huge page each.
    static SMALL_BACK: Mutex<Back> = Mutex::new(Back::NOTHING);

    /// Where memory of that size is kept.
    fn back(size: usize) -> &'static Mutex<Back> {
        if size < PAGE { &SMALL_BACK } else { &BACK }
    }

    struct Back {
        pieces: [(usize, usize); PIECES],
        count: usize,
        bytes: usize,
    }

    /// The size of the mapping for `layout`, if it is large enough for one. It depends on nothing else.
    pub(super) fn size(layout: Layout) -> Option<usize> {
        let boundary = if layout.size() < PAGE { BOUNDARY } else { PAGE };
        if layout.size() < LEAST || layout.align() > boundary {
            return None;
        }
        let step = (1 << layout.size().ilog2()) / STEPS;
        layout.size().checked_next_multiple_of(step)
    }

    /// `size` bytes on their boundary, and whether they are zeroed; or null.
    pub(super) fn get(size: usize) -> (*mut u8, bool) {
        match take_back(size) {
            Some(memory) => (memory, false),
            None => (map(size), true),
        }
    }

    /// Gives back what [`get`] gave.
    ///
    /// # Safety
    /// `memory` is from `get(size)` and is used no more.
    pub(super) unsafe fn give_back(memory: *mut u8, size: usize) {
        let most = || if size < PAGE { keep().min(KEPT_SMALL) } else { keep() };
        if size <= most()
            && let Ok(mut back) = back(size).try_lock()
        {
            // Asked again behind the lock: whoever lowers it then finds all that is kept beyond.
            let keep = most();
            if size <= keep {
                // SAFETY: as the caller promises.
                unsafe { back.put(memory, size, keep) };
                return;
            }
        }
        // SAFETY: a mapping of [`map`], whole, as the caller promises, which uses it no more.
        unsafe {
            libc::munmap(memory.cast(), size);
        }
    }

    /// See [`super::HugePages::keep_at_most`].
    pub(super) fn keep_at_most(bytes: usize) {
        keep(); // 0 is no limit yet, and less than any
        KEEP.fetch_min(bytes.max(1), Ordering::SeqCst);
        let_go_beyond(bytes);
    }

    /// Gives to the system what is kept of each kind beyond so many bytes.
    pub(super) fn let_go_beyond(bytes: usize) {
        for back in [&BACK, &SMALL_BACK] {
            let Some(mut back) = locked(back) else { continue };
            while back.bytes > bytes {
                back.unmap_oldest();
            }
        }
    }

    /// The lock, which others hold for a system call or two; `None` where it is held for longer, as in a process that was
    /// forked while another thread held it.
    fn locked(back: &Mutex<Back>) -> Option<MutexGuard<'_, Back>> {
        (0..TRIES).find_map(|_| {
            let lock = back.try_lock().ok();
            if lock.is_none() {
                std::thread::yield_now();
            }
            lock
        })
    }

    /// The bytes of huge pages that are kept.
    #[cfg(test)]
    pub(super) fn kept() -> usize {
        locked(&BACK).map_or(0, |back| back.bytes)
    }

    /// The most bytes to keep; 0: nobody has asked yet.
    static KEEP: AtomicUsize = AtomicUsize::new(0);

    fn keep() -> usize {
        match KEEP.load(Ordering::SeqCst) {
            0 => {
                let keep = (memory().min(address_space()) / SHARE).clamp(PAGE, KEPT);
                // Whoever was first may have lowered it since.
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
        // SAFETY: asks for two numbers.
        let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(page).unwrap_or(0))
    }

    /// How many bytes the process may map, as Spark limits it for Python workers (`spark.executor.pyspark.memory`).
    fn address_space() -> usize {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: writes two numbers; where it fails they stay.
        unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
        usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX)
    }

    impl Back {
        const NOTHING: Self = Self { pieces: [(0, 0); PIECES], count: 0, bytes: 0 };

        /// Takes out a piece: where it is and how large.
        fn remove(&mut self, place: usize) -> (usize, usize) {
            let piece = self.pieces[place];
            self.pieces.copy_within(place + 1..self.count, place);
            self.count -= 1;
            self.bytes -= piece.1;
            piece
        }

        /// Keeps a piece, in the place of the oldest where that is needed for no more than `keep` bytes.
        ///
        /// # Safety
        /// `memory` is from `get(size)` and is used no more.
        unsafe fn put(&mut self, memory: *mut u8, size: usize, keep: usize) {
            // Of a size that nobody asked for lately there may be no more need.
            while self.count > 0 && (self.count == PIECES || self.bytes + size > keep) {
                self.unmap_oldest();
            }
            if size >= PAGE {
                // SAFETY: a mapping, as the caller promises, of which nobody reads what is in it any more; if the system takes
                // it, zeros come in its place when it is written again.
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
            // SAFETY: `put` keeps whole mappings of [`map`] that nobody uses, and this one is kept no more.
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
        // SAFETY: a new mapping where the system likes it takes nothing from anyone. What is unmapped lies within it,
        // before and behind the `size` bytes that are handed out; sizes are multiples of 8 KiB and so of a page, and those
        // of huge pages multiples of 256 KiB. Advice changes how memory is backed and nothing that can be read in it; where
        // it is not taken, nothing happens.
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

/// What `get` gets. Where the process may have no more, what is kept goes first, and it is asked again.
fn or_let_go(get: impl Fn() -> *mut u8) -> *mut u8 {
    let memory = get();
    if !memory.is_null() {
        return memory;
    }
    mapped::let_go_beyond(0);
    get()
}

// SAFETY: what is mapped depends on the layout alone, so memory goes back to where it came from, and by the size it was
// taken with. Mapped memory is on a boundary of 2 MiB, or of 4 KiB if it is smaller, which no layout that is mapped exceeds.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        or_let_go(|| match mapped::size(layout) {
            // SAFETY: the caller's promises for the layout are the system's allocator's.
            None => unsafe { System.alloc(layout) },
            Some(size) => mapped::get(size).0,
        })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match mapped::size(layout) {
            // SAFETY: `alloc` took it from there for this layout, and the caller uses it no more.
            None => unsafe { System.dealloc(memory, layout) },
            // SAFETY: `alloc` got it for the size that this layout has, and the caller uses it no more.
            Some(size) => unsafe { mapped::give_back(memory, size) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        or_let_go(|| match mapped::size(layout) {
            // SAFETY: the caller's promises for the layout are the system's allocator's.
            None => unsafe { System.alloc_zeroed(layout) },
            Some(size) => {
                let (memory, zeroed) = mapped::get(size);
                if !zeroed {
                    // SAFETY: memory that was kept is not null, and a mapping is as long as its layout at least.
                    unsafe { memory.write_bytes(0, layout.size()) }
                }
                memory
            }
        })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller's: the new size is not 0 and fits the alignment.
        let new = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        if mapped::size(layout).is_none() && mapped::size(new).is_none() {
            // SAFETY: the system's allocator gave it for this layout; the caller's promises for the new size are its own.
            return or_let_go(|| unsafe { System.realloc(memory, layout, new_size) });
        }
        // SAFETY: the new size is not 0.
        let moved = unsafe { self.alloc(new) };
        if !moved.is_null() {
            // SAFETY: both are as long as the smaller of the sizes, and new memory lies nowhere in the old; which is this
            // allocator's, for this layout, and is used no more.
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
                // SAFETY: the layout is not empty; the memory is used within its size and given back once.
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

    /// While other threads give memory back, none of them leaves more than is to be kept.
    #[cfg(target_os = "linux")]
    #[test]
    fn no_more_is_kept_than_is_allowed() {
        let (size, limit) = (3 * PAGE, 7 * PAGE);
        let layout = Layout::from_size_align(size, 64).unwrap();
        let give_back = || {
            for _ in 0..30 {
                // SAFETY: the layout is not empty; the memory is given back once.
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
