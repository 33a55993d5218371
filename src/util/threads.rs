//! Threads: work is cut into items, which threads take one by one.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::affinity::Processor;
use super::cancel::Cancel;
use super::reserve;
use crate::error::{Error, Remedy, Result};

/// With fewer rows per thread, starting a thread takes longer than the work.
const MIN_ROWS_PER_THREAD: usize = 32 * 1024;

/// The size of a thread's stack and of its other allocations.
const STACK_BYTES: usize = 4 << 20;

/// The threads of one computation: the caller's own, and helpers that are started when first needed. Helpers end with
/// the computation, so that none exists when the process forks later.
#[derive(Debug, Clone)]
pub struct Threads {
    count: usize,
    /// Whether helpers avoid the caller's processor, if the machine is otherwise idle.
    spread: bool,
    cancel: Cancel,
    helpers: Arc<OnceLock<std::result::Result<Helpers, String>>>,
}

/// The helper threads.
#[derive(Debug)]
struct Helpers {
    pool: ThreadPool,
    /// Whether they avoid the caller's processor.
    avoid_caller: bool,
}

impl Threads {
    /// `asked` threads, or as many as the machine has processors if 0. Work stops once `cancel` is set; while the
    /// caller's thread waits for helpers it keeps polling `cancel`.
    #[must_use]
    pub fn new(asked: usize, cancel: &Cancel) -> Self {
        Self { count: Self::count(asked), spread: false, cancel: cancel.clone(), helpers: Arc::default() }
    }

    /// The same threads, whose helpers avoid the caller's processor if `spread` is set and no other thread runs on the
    /// machine when they start.
    #[must_use]
    pub(crate) fn with_spread(self, spread: bool) -> Self {
        Self { spread, ..self }
    }

    /// The number of threads for a request of `asked`: the number itself, or that of available processors if 0.
    #[must_use]
    pub fn count(asked: usize) -> usize {
        // Cached, because asking reads files, which takes as long as a small computation. 0: not yet asked. An atomic,
        // not a lock: a process forked while another thread holds a lock would deadlock.
        static AVAILABLE: AtomicUsize = AtomicUsize::new(0);
        if asked > 0 {
            return asked;
        }
        match AVAILABLE.load(Ordering::Relaxed) {
            0 => {
                let all = std::thread::available_parallelism().map_or(1, usize::from);
                AVAILABLE.store(all, Ordering::Relaxed);
                all
            }
            all => all,
        }
    }

    /// At most as many threads as pay for `rows` rows.
    #[must_use]
    pub(crate) fn limited_to_rows(self, rows: usize) -> Self {
        Self { count: self.count.min(rows / MIN_ROWS_PER_THREAD).max(1), ..self }
    }

    /// The same threads, or only the caller's own if `rows` is too small for a second one.
    pub(crate) fn for_rows(&self, rows: usize) -> Self {
        if rows < 2 * MIN_ROWS_PER_THREAD { self.single() } else { self.clone() }
    }

    /// Only the caller's own thread.
    pub(crate) fn single(&self) -> Self {
        Self { count: 1, ..self.clone() }
    }

    /// The cancellation flag.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// `rows` cut into ranges of about equal length, one per thread that pays.
    #[must_use]
    pub(crate) fn ranges(&self, rows: &Range<usize>) -> Vec<Range<usize>> {
        let pieces = self.count.min(rows.len() / MIN_ROWS_PER_THREAD).max(1);
        let at = |piece: usize| rows.start + rows.len() * piece / pieces;
        (0..pieces).map(|piece| at(piece)..at(piece + 1)).collect()
    }

    /// The rows per thread where each thread writes its own slice of `rows` rows; at least 1.
    #[must_use]
    pub(crate) fn chunk_rows(&self, rows: usize) -> usize {
        rows.div_ceil(self.ranges(&(0..rows)).len()).max(1)
    }

    /// Calls `work` on each item and returns the results in the order of the items. The caller's thread takes items as
    /// the helpers do, in order; after an error no further item is begun.
    ///
    /// # Errors
    /// The error of the first item that failed; no thread could be started. Without an error there are as many results
    /// as items.
    pub(crate) fn map<I: Send, T: Send>(
        &self,
        items: Vec<I>,
        work: impl Fn(I) -> Result<T> + Send + Sync,
    ) -> Result<Vec<T>> {
        let others = self.count.min(items.len()).saturating_sub(1);
        if others == 0 {
            return items.into_iter().map(work).collect();
        }
        let helpers = self.helpers()?;
        let count = items.len();
        let mut results: Vec<_> = items.iter().map(|_| None).collect();
        let left = Mutex::new(items.into_iter().zip(&mut results));
        let take = || {
            while let Some((item, result)) = next_item(&left) {
                let answer = work(item);
                if answer.is_err() {
                    while next_item(&left).is_some() {}
                }
                *result = Some(answer);
            }
        };
        self.run_on_helpers(helpers, others, &take);
        // Items are begun in order, so all items before the first error have a result.
        let answers = results.into_iter().flatten().collect::<Result<Vec<_>>>()?;
        if answers.len() == count { Ok(answers) } else { Err(Error::internal("an item was not answered")) }
    }

    /// Calls `take` on this thread and on `others` helpers. Not generic, so that it is compiled once.
    fn run_on_helpers(&self, helpers: &Helpers, others: usize, take: &(dyn Fn() + Sync)) {
        let (done, waiting) = channel::<()>();
        let own = helpers.avoid_caller.then(Processor::current);
        helpers.pool.in_place_scope(|scope| {
            for _ in 0..others {
                let done = done.clone();
                scope.spawn(move |_| {
                    let apart = own.and_then(Processor::avoid);
                    take();
                    drop(apart);
                    drop(done);
                });
            }
            drop(done);
            if own.is_some() {
                // Lets a helper that was placed on this processor run and move away.
                std::thread::yield_now();
            }
            take();
            // Only the caller's own thread polls; a helper must not block here, it takes other helpers' work instead.
            while rayon::current_thread_index().is_none()
                && waiting.recv_timeout(Cancel::POLL_INTERVAL) == Err(RecvTimeoutError::Timeout)
                && self.cancel.check().is_ok()
            {}
        });
    }

    /// The helpers, started on the first call.
    fn helpers(&self) -> Result<&Helpers> {
        let start = || {
            // Rust aborts the process if a new thread cannot allocate its stacks.
            reserve::probe(self.count * STACK_BYTES).map_err(|error| error.message().to_string())?;
            let apart = self.spread && Processor::is_only_busy_thread();
            let name = |number| format!("windrow-{number}");
            let pool = ThreadPoolBuilder::new().num_threads(self.count - 1).thread_name(name).build();
            pool.map(|pool| Helpers { pool, avoid_caller: apart }).map_err(|error| error.to_string())
        };
        let helpers = self.helpers.get_or_init(start).as_ref();
        let refused = |error| {
            let message = format!("no threads could be started: {error}; end other processes");
            Error::memory_limit(message).with_remedy(Remedy::OneThread)
        };
        helpers.map_err(refused)
    }
}

/// The next item of an iterator that several threads share.
fn next_item<I: Iterator>(left: &Mutex<I>) -> Option<I::Item> {
    left.lock().unwrap_or_else(PoisonError::into_inner).next()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;
    use std::sync::atomic::Ordering::Relaxed;
    use std::time::Duration;

    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn few_rows_start_no_threads() {
        let threads = Threads::new(2, &Cancel::default());
        let places = |rows: usize| {
            let threads = threads.for_rows(rows);
            threads.map(vec![0, 1], |_| Ok(std::thread::current().id())).unwrap()
        };
        let own = std::thread::current().id();
        assert_eq!(places(2 * MIN_ROWS_PER_THREAD - 1), [own, own]);
        assert!(threads.helpers.get().is_none());
        places(2 * MIN_ROWS_PER_THREAD);
        assert!(threads.helpers.get().is_some());
        assert_eq!(threads.ranges(&(0..2 * MIN_ROWS_PER_THREAD)).len(), 2);
    }

    #[test]
    fn threads_are_not_pinned() {
        let threads = Threads::new(2, &Cancel::default());
        threads.map(vec![0, 1], Ok).unwrap();
        assert!(!threads.helpers().unwrap().avoid_caller);
    }

    #[test]
    fn threads_are_limited_by_rows() {
        let counted = |asked, rows| Threads::new(asked, &Cancel::default()).limited_to_rows(rows).count;
        assert_eq!(counted(1, 300_000), 1);
        assert_eq!(counted(4096, 300_000), 9);
        assert_eq!(counted(4096, 10), 1);
        assert_eq!(counted(0, 10), 1);
        assert_eq!(counted(3, 100 * MIN_ROWS_PER_THREAD), 3);
    }

    /// Two items wait for each other, so two threads must run them; each also runs a nested `map`.
    #[test]
    fn threads_run_concurrently() {
        let threads = Threads::new(3, &Cancel::default());
        let both = Barrier::new(2);
        let found = threads.map(vec![10, 20], |item| {
            both.wait();
            threads.map(vec![1, 2, 3], |inner| Ok(item + inner))
        });
        assert_eq!(found.unwrap(), [[11, 12, 13], [21, 22, 23]]);
    }

    #[test]
    fn map_returns_first_error() {
        let threads = Threads::new(2, &Cancel::default());
        let has_started = AtomicUsize::new(0);
        let found = threads.map((0..1000).collect(), |item: i32| {
            has_started.fetch_add(1, Relaxed);
            std::thread::sleep(Duration::from_millis(u64::from(item == 3) * 20));
            if item < 3 { Ok(()) } else { Err(Error::data(format!("item {item}"))) }
        });
        assert_eq!(found.unwrap_err().message(), "item 3");
        assert!(has_started.into_inner() < 10);
    }

    #[test]
    fn panics_reach_the_caller() {
        let threads = Threads::new(2, &Cancel::default());
        let work = || threads.map(vec![0, 1, 2, 3], |item| if item == 1 { panic!("item {item}") } else { Ok(item) });
        assert!(catch_unwind(AssertUnwindSafe(work)).is_err());
    }

    /// A caller that waits for a helper still notices cancellation.
    #[test]
    fn waiting_caller_sees_cancellation() {
        let own = std::thread::current().id();
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let cancel = Cancel::with_poll(move || {
            assert_eq!(std::thread::current().id(), own);
            count.fetch_add(1, Relaxed) == 1
        });
        let (threads, both) = (Threads::new(2, &cancel), Barrier::new(2));
        let found = threads.map(vec![0, 1], |_| {
            both.wait();
            while std::thread::current().id() != own {
                cancel.check()?;
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        });
        assert_eq!(found.unwrap_err().kind(), ErrorKind::Cancelled);
        assert_eq!(asked.load(Relaxed), 2);
    }
}
