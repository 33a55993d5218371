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
//! static ALLOCATOR: windrow::HugePages = windrow::HugePages;
//!
//! let column = vec![1_i64; 1 << 20];
//! assert_eq!(column.iter().sum::<i64>(), 1 << 20);
//! ```
//!
//! The Python package is built with it. Cost: some system calls per allocation that nothing kept fits, and up to an eighth of
//! address space more than was asked for, which is memory only once it is written. `benches/stages.rs` shows what it saves.

#![allow(unsafe_code)] // an allocator is nothing else; DESIGN.md, "Memory", has what it brings

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator; on Linux with huge pages for allocations of 2 MiB or more, and some of 64 KiB or more kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

impl HugePages {
    /// Keeps no more than so many bytes for the next time, from now on and for the whole process: for whoever has little
    /// memory to stay within. What was kept beyond goes back to the system at once. It never raises what is kept.
    pub fn keep_at_most(bytes: usize) {
        mapped::keep_at_most(bytes);
    }
}

#[cfg(target_os = "linux")]
mod mapped {
    use std::alloc::Layout;
    use std::ptr::null_mut;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

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
        let keep = if size < PAGE { keep().min(KEPT_SMALL) } else { keep() };
        if size <= keep
            && let Ok(mut back) = back(size).try_lock()
        {
            // Of a size that nobody asked for lately there may be no more need.
            while back.count == PIECES || back.bytes + size > keep {
                back.unmap_oldest();
            }
            if size >= PAGE {
                // SAFETY: nobody reads what is in it any more; if the system takes it, zeros come in its place when it is
                // written again.
                unsafe {
                    libc::madvise(memory.cast(), size, libc::MADV_FREE);
                }
            }
            let count = back.count;
            back.pieces[count] = (memory.expose_provenance(), size);
            back.count += 1;
            back.bytes += size;
            return;
        }
        // SAFETY: the whole mapping, which nobody uses any more.
        unsafe {
            libc::munmap(memory.cast(), size);
        }
    }

    /// See [`super::HugePages::keep_at_most`].
    pub(super) fn keep_at_most(bytes: usize) {
        KEEP.store(keep().min(bytes.max(1)), Ordering::Relaxed);
        let_go_beyond(bytes);
    }

    /// Gives to the system what is kept of each kind beyond so many bytes.
    pub(super) fn let_go_beyond(bytes: usize) {
        for back in [&BACK, &SMALL_BACK] {
            let Ok(mut back) = back.try_lock() else { continue };
            while back.bytes > bytes {
                back.unmap_oldest();
            }
        }
    }

    /// The most bytes to keep; 0: nobody has asked yet.
    static KEEP: AtomicUsize = AtomicUsize::new(0);

    fn keep() -> usize {
        match KEEP.load(Ordering::Relaxed) {
            0 => {
                let keep = (memory().min(address_space()) / SHARE).clamp(PAGE, KEPT);
                KEEP.store(keep, Ordering::Relaxed);
                keep
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

        fn unmap_oldest(&mut self) {
            let (memory, size) = self.remove(0);
            // SAFETY: the whole mapping, which nobody uses any more.
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

    /// Whether so many bytes can be mapped.
    pub(super) fn can_be_had(bytes: usize) -> bool {
        // SAFETY: a new mapping where the system likes it takes nothing from anyone, and goes at once.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let all = libc::mmap(null_mut(), bytes, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
            all != libc::MAP_FAILED && libc::munmap(all, bytes) == 0
        }
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

    pub(super) fn can_be_had(bytes: usize) -> bool {
        let mut vector = Vec::<u8>::new();
        let had = vector.try_reserve_exact(bytes).is_ok();
        // The compiler may leave out an allocation that nobody looks at.
        std::hint::black_box(vector.as_ptr());
        had
    }

    pub(super) fn keep_at_most(_: usize) {}

    pub(super) fn let_go_beyond(_: usize) {}
}

/// Whether the process may have so many bytes more at this moment; where it may not, what is kept goes and it is asked again.
/// None are kept, and no page is touched.
pub(crate) fn can_be_had(bytes: usize) -> bool {
    mapped::can_be_had(bytes) || {
        mapped::let_go_beyond(0);
        mapped::can_be_had(bytes)
    }
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
            None => unsafe { System.alloc(layout) },
            Some(size) => mapped::get(size).0,
        })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match mapped::size(layout) {
            None => unsafe { System.dealloc(memory, layout) },
            Some(size) => unsafe { mapped::give_back(memory, size) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        or_let_go(|| match mapped::size(layout) {
            None => unsafe { System.alloc_zeroed(layout) },
            Some(size) => {
                let (memory, zeroed) = mapped::get(size);
                if !zeroed {
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
            return or_let_go(|| unsafe { System.realloc(memory, layout, new_size) });
        }
        let moved = unsafe { self.alloc(new) };
        if !moved.is_null() {
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
}
