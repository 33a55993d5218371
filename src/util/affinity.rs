//! Processor affinity: which processors helper threads may run on.
//!
//! A Linux kernel may place a thread that is started or woken on the processor of the thread that started it, and leave
//! it there for milliseconds although another processor is idle. The two threads then run one after the other. With
//! `Options::spread_threads` helper threads therefore avoid the caller's processor, but only if no other thread runs on
//! the machine: otherwise the kernel's choice is better.

#[cfg(target_os = "linux")]
pub(crate) use linux::Processor;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::Processor;

#[cfg(target_os = "linux")]
mod linux {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

    /// The number of a processor.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Processor(usize);

    impl Processor {
        /// The processor this thread runs on now.
        pub(crate) fn current() -> Self {
            Self(sched_getcpu())
        }

        /// Whether this thread is the only one running on the machine. Reads a file of `/proc`.
        pub(crate) fn is_only_busy_thread() -> bool {
            // Format: `0.20 0.18 0.12 1/80 11206`. The fourth field counts the runnable threads, the fifth all threads.
            let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
            let running = load.split([' ', '/']).nth(3).and_then(|running| running.parse::<usize>().ok());
            running.is_some_and(|running| running <= 1)
        }

        /// Restricts this thread to its other allowed processors until the returned guard is dropped. `None` if there
        /// are no others, or if the system refuses.
        pub(crate) fn avoid(self) -> Option<impl Drop> {
            let allowed = sched_getaffinity(None).ok().filter(|_| self.0 < CpuSet::MAX_CPU)?;
            let mut others = allowed;
            others.unset(self.0);
            sched_setaffinity(None, &others).is_ok().then_some(AvoidGuard { allowed })
        }
    }

    struct AvoidGuard {
        allowed: CpuSet,
    }

    impl Drop for AvoidGuard {
        fn drop(&mut self) {
            // If this is refused, the thread stays restricted, which is harmless.
            let _ = sched_setaffinity(None, &self.allowed);
        }
    }

    #[cfg(test)]
    mod tests {
        #![allow(clippy::unwrap_used)]
        use super::*;

        #[test]
        fn guard_keeps_thread_off_the_processor() {
            let allowed = sched_getaffinity(None).unwrap();
            let own = Processor::current();
            let avoided = own.avoid();
            if allowed.count() > 1 {
                assert!(avoided.is_some());
                let left = sched_getaffinity(None).unwrap();
                assert_eq!((left.count(), left.is_set(own.0)), (allowed.count() - 1, false));
                assert_ne!(Processor::current().0, own.0);
            }
            drop(avoided);
            assert_eq!(sched_getaffinity(None).unwrap(), allowed);
        }

        /// Having no other processor is not an error.
        #[test]
        fn single_processor_is_not_avoided() {
            let own = Processor::current();
            let mut only = CpuSet::new();
            only.set(own.0);
            sched_setaffinity(None, &only).unwrap();
            assert!(own.avoid().is_none());
            assert_eq!(sched_getaffinity(None).unwrap(), only);
        }

        /// The number of runnable threads according to the kernel, parsed differently from the tested code.
        fn running_threads() -> usize {
            let load = std::fs::read_to_string("/proc/loadavg").unwrap();
            let (running, _) = load.split_whitespace().find_map(|word| word.split_once('/')).unwrap();
            running.parse().unwrap()
        }

        /// Compares the answer with the kernel's count, in rounds where the count is the same before and after the
        /// call.
        fn agrees(times: usize) -> bool {
            let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
            let mut seen = 0;
            while seen < times && std::time::Instant::now() < until {
                let (before, answer, after) = (running_threads(), Processor::is_only_busy_thread(), running_threads());
                if before == after {
                    assert_eq!(answer, before == 1, "{before} threads run");
                    seen += 1;
                }
            }
            seen == times
        }

        #[test]
        fn busy_threads_are_counted() {
            assert!(agrees(20));
            let (go, going) = std::sync::mpsc::channel::<()>();
            std::thread::scope(|scope| {
                scope.spawn(move || while going.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {});
                let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
                while Processor::is_only_busy_thread() && std::time::Instant::now() < until {}
                assert!(!Processor::is_only_busy_thread());
                assert!(agrees(20));
                drop(go);
            });
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    /// On other systems threads are placed by the system.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Processor;

    impl Processor {
        pub(crate) fn current() -> Self {
            Self
        }

        pub(crate) fn is_only_busy_thread() -> bool {
            false
        }

        pub(crate) fn avoid(self) -> Option<()> {
            None
        }
    }
}
