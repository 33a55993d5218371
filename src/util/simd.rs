//! Loops compiled twice: for any processor, and for those with AVX2.
//!
//! x86-64 as such compares no 64-bit integers several at once, and knows no least of unsigned ones. Most processors in use
//! do, but a wheel must run on all of them. So a loop over values is handed to [`with_widest_vectors`], which has it compiled for both and
//! chooses when it runs. The results are the same bits: no instruction among them rounds in another way.
//! A million row numbers of rows in order took 2.2 ms without and 1.65 with it (whole call, one thread), a moving sum 6.6 and
//! 5.6, `last_value(x) IGNORE NULLS` 7.1 and 6.2.
//!
//! Cost: a test and a call, some 2 ns. The loop itself has to be inlined into it (`#[inline(always)]`, closures too): what is
//! called from there stays as it is.

#![allow(unsafe_code)] // the call of a function for some processors only; figures above

/// What `work` returns, by the widest vectors that the processor has.
#[inline]
pub(crate) fn with_widest_vectors<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: `has_avx2` has asked the processor for all features that `with_avx2` is compiled for.
        return unsafe { x86::with_avx2(work) };
    }
    work()
}

/// What `work` returns; `None` where the processor has no AVX2 though its kind may: the caller has another, slower way then.
///
/// For loops that are compiled for each aggregate anew: of these there is one copy, where [`with_widest_vectors`] makes two.
#[inline]
pub(crate) fn with_avx2_only<R>(work: impl FnOnce() -> R) -> Option<R> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `has_avx2` has asked the processor for all features that `with_avx2` is compiled for.
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

    /// Whether the processor has all that [`with_avx2`] asks for; every one since Haswell and Zen does.
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

    /// What the processor was found to have. No lock: a process that is forked while another thread holds one waits for ever.
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

/// What `work` returns in either way: as it is compiled for any processor, and for this one.
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

    /// Which way was taken shows in [`with_avx2_only`], which asks as [`with_widest_vectors`] does.
    #[test]
    fn simd_and_portable_are_both_tested() {
        #[cfg(target_arch = "x86_64")]
        let ways = {
            use std::arch::is_x86_feature_detected;
            // Processors that have these two have the rest as well.
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
