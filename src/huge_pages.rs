//! An allocator that asks the system for huge pages where much memory is wanted at once.
//!
//! A column of results is memory nobody has touched yet, and the system hands that out page by page: a fault per 4 KiB,
//! which may cost more than all that is computed. Linux has pages of 2 MiB for whoever asks (`madvise`), as numpy does
//! for its arrays. Everything else, and every other system, goes to the system's allocator as it is.
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: windrow::HugePages = windrow::HugePages;
//!
//! let column = vec![1_i64; 1 << 20];
//! assert_eq!(column.iter().sum::<i64>(), 1 << 20);
//! ```
//!
//! The Python package is built with it. Cost: three system calls per allocation of 2 MiB or more, and no memory beyond
//! its size. `benches/stages.rs` measures the difference: fresh memory costs a tenth with it.

#![allow(unsafe_code)] // see DESIGN.md: "Memory"

use std::alloc::{GlobalAlloc, Layout, System};

/// The size of a huge page on x86-64, and on aarch64 with pages of 4 KiB.
const PAGE: usize = 2 << 20;

/// The system's allocator, with huge pages for allocations of 2 MiB or more on Linux.
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

/// Memory is mapped in multiples of this, which the pages of every Linux divide.
#[cfg(target_os = "linux")]
const GRAIN: usize = 64 << 10;

/// Mapped memory of its own for large allocations. No other kind is: `None`.
#[cfg(target_os = "linux")]
fn mapped_size(layout: Layout) -> Option<usize> {
    (layout.size() >= PAGE && layout.align() <= PAGE).then(|| layout.size().checked_next_multiple_of(GRAIN)).flatten()
}

/// `size` zeroed bytes that begin on a huge page, or null.
#[cfg(target_os = "linux")]
fn map(size: usize) -> *mut u8 {
    let Some(reserved) = size.checked_add(PAGE) else { return std::ptr::null_mut() };
    // SAFETY: a new mapping where the system likes it takes nothing from anyone. What is unmapped lies within it, before
    // and behind the `size` bytes that are handed out; all ends are multiples of a page. Advice changes how memory is
    // backed and nothing that can be read in it; where it is not taken, nothing happens.
    unsafe {
        let all = libc::mmap(
            std::ptr::null_mut(),
            reserved,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if all == libc::MAP_FAILED {
            return std::ptr::null_mut();
        }
        let before = all.align_offset(PAGE);
        let memory = all.byte_add(before);
        if before > 0 {
            libc::munmap(all, before);
        }
        libc::munmap(memory.byte_add(size), reserved - before - size);
        // The rest of the last page is not ours: it stays in small pages.
        libc::madvise(memory, size / PAGE * PAGE, libc::MADV_HUGEPAGE);
        memory.cast()
    }
}

#[cfg(not(target_os = "linux"))]
fn mapped_size(_: Layout) -> Option<usize> {
    None
}

#[cfg(not(target_os = "linux"))]
fn map(_: usize) -> *mut u8 {
    std::ptr::null_mut()
}

// SAFETY: what is large depends on the layout alone, so memory goes back to where it came from: to `System`, or by its
// whole mapping. Mapped memory is zeroed, of at least the size, and on a boundary of 2 MiB, which no large layout exceeds.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match mapped_size(layout) {
            None => unsafe { System.alloc(layout) },
            Some(size) => map(size),
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match mapped_size(layout) {
            None => unsafe { System.dealloc(memory, layout) },
            #[cfg(target_os = "linux")]
            Some(size) => unsafe {
                libc::munmap(memory.cast(), size);
            },
            #[cfg(not(target_os = "linux"))]
            Some(_) => {}
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match mapped_size(layout) {
            None => unsafe { System.alloc_zeroed(layout) },
            Some(size) => map(size),
        }
    }

    // `realloc` is the provided one: a new allocation, a copy, and the old one given back.
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn large_and_small_come_and_go() {
        for size in [1, 4096, PAGE - 1, PAGE, PAGE + 1, 5 * PAGE + 123] {
            for align in [1, 8, 64, 2 * PAGE] {
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
