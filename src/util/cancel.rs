//! Cancellation of long computations.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// A flag that asks a long computation to stop. Clones share one flag.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Flag>);

#[derive(Default)]
struct Flag {
    stop: AtomicBool,
    poll: Option<Poll>,
}

/// A callback to poll, and when to poll it next, as the time since `started`.
struct Poll {
    stop: Box<dyn Fn() -> bool + Send + Sync>,
    started: Instant,
    next: Mutex<Duration>,
}

impl Cancel {
    /// The interval at which the callback of [`Cancel::with_poll`] is called.
    pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

    /// A flag that also polls `stop`, about twenty times a second while work is in progress. `stop` is called only on
    /// the thread that started the work, never on a helper thread.
    ///
    /// ```
    /// # use windrow::Cancel;
    /// let cancel = Cancel::with_poll(|| false);
    /// assert!(cancel.check().is_ok());
    /// cancel.cancel();
    /// assert!(cancel.check().is_err());
    /// ```
    pub fn with_poll(stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let poll = Poll { stop: Box::new(stop), started: Instant::now(), next: Mutex::new(Self::POLL_INTERVAL) };
        Self(Arc::new(Flag { stop: AtomicBool::new(false), poll: Some(poll) }))
    }

    /// Asks the work to stop at its next step.
    pub fn cancel(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// Fails if the computation is to stop.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Cancelled`] once asked to stop.
    pub fn check(&self) -> Result<()> {
        let Flag { stop, poll } = &*self.0;
        if let Some(poll) = poll
            && rayon::current_thread_index().is_none()
            && poll.should_stop()
        {
            self.cancel();
        }
        if stop.load(Ordering::Relaxed) { Err(Error::cancelled()) } else { Ok(()) }
    }
}

impl Poll {
    /// Polls the callback if the interval has passed. The callback may call this again: `try_lock` keeps that from
    /// deadlocking.
    fn should_stop(&self) -> bool {
        let now = self.started.elapsed();
        match self.next.try_lock() {
            Ok(mut next) if now >= *next => *next = now + Cancel::POLL_INTERVAL,
            _ => return false,
        }
        (self.stop)()
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.0.stop).finish()
    }
}
