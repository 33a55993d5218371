//! Loops compiled twice: for any processor, and for those with AVX2.
//!
//! Baseline x86-64 has no vector comparison of 64-bit integers and no vector minimum of unsigned ones. Most processors
//! have both, but a wheel must run on all of them. So a loop over values is passed to [`with_widest_vectors`], which
//! compiles it for both and chooses at run time. The results are bit-identical: none of the instructions rounds
//! differently.
//!
//! Cost: one test and one call. The loop must be inlined into it (`#[inline(always)]`, closures too): functions called
//! from there are compiled for the baseline only.

#![allow(unsafe_code)] // calls a function compiled for some processors only; measured in docs/performance.md

/// Runs `work`, compiled for the widest vectors that the processor has.
#[inline]
pub(crate) fn with_widest_vectors<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: `has_avx2` has checked that the processor has all features that `with_avx2` is compiled for.
        return unsafe { x86::with_avx2(work) };
    }
    work()
}

/// Runs `work` compiled for AVX2. `None` on an x86-64 processor without AVX2: the caller then takes a slower path.
///
/// For loops that are compiled once per aggregate: this makes one copy of the loop, [`with_widest_vectors`] two.
#[inline]
pub(crate) fn with_avx2_only<R>(work: impl FnOnce() -> R) -> Option<R> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `has_avx2` has checked that the processor has all features that `with_avx2` is compiled for.
    return has_avx2().then(|| unsafe { x86::with_avx2(work) });
    #[cfg(not(target_arch = "x86_64"))]
    Some(work())
}

#[cfg(target_arch = "x86_64")]
use x86::has_avx2;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::is_x86_feature_detected;
    use std::sync::atomic::{AtomicU8, Ordering};

    /// Whether the processor has all features of [`with_avx2`]; all since Haswell and Zen have.
    #[inline]
    pub(super) fn has_avx2() -> bool {
        #[cfg(test)]
        if super::PORTABLE.get() {
            return false;
        }
        match DETECTED.load(Ordering::Relaxed) {
            UNKNOWN => detect(),
            found => found == WITH_AVX2,
        }
    }

    /// The cached result of [`detect`]. An atomic, not a lock: a process forked while another thread holds a lock would
    /// deadlock.
    static DETECTED: AtomicU8 = AtomicU8::new(UNKNOWN);
    const UNKNOWN: u8 = 0;
    const WITHOUT_AVX2: u8 = 1;
    const WITH_AVX2: u8 = 2;

    #[cold]
    fn detect() -> bool {
        let has = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        DETECTED.store(if has { WITH_AVX2 } else { WITHOUT_AVX2 }, Ordering::Relaxed);
        has
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
}

#[cfg(test)]
thread_local! {
    static PORTABLE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The results of `work` compiled for any processor and for this one.
#[cfg(test)]
pub(crate) fn portable_and_widest<R>(work: impl Fn() -> R) -> [R; 2] {
    [true, false].map(|portable| {
        let before = PORTABLE.replace(portable);
        let answer = work();
        PORTABLE.set(before);
        answer
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [`with_avx2_only`] shows which variant ran; it tests the processor as [`with_widest_vectors`] does.
    #[test]
    fn simd_and_portable_are_both_tested() {
        #[cfg(target_arch = "x86_64")]
        let ways = {
            use std::arch::is_x86_feature_detected;
            // Processors with these two have the other features too.
            let able = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
            [None, able.then_some(7)]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let ways = [Some(7), Some(7)];
        assert_eq!(portable_and_widest(|| with_avx2_only(|| 7)), ways);
        assert_eq!(portable_and_widest(|| with_widest_vectors(|| 7)), [7, 7]);
        assert!(!PORTABLE.get());
    }
}
