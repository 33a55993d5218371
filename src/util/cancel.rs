//! Cancellation: how long work hears that it is to stop.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Asks long work to stop. Clones share one flag.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Flag>);

#[derive(Default)]
struct Flag {
    stop: AtomicBool,
    poll: Option<Poll>,
}

/// Whom to ask, and when next, in time since it began.
struct Poll {
    stop: Box<dyn Fn() -> bool + Send + Sync>,
    started: Instant,
    next: Mutex<Duration>,
}

impl Cancel {
    /// How long [`Cancel::asking`] goes without an answer.
    pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

    /// A flag that work in progress also asks `stop` about, some twenty times a second: on the thread that called for the
    /// work, never on one that was started for it.
    ///
    /// ```
    /// # use windrow::Cancel;
    /// let cancel = Cancel::asking(|| false);
    /// assert!(cancel.check().is_ok());
    /// cancel.cancel();
    /// assert!(cancel.check().is_err());
    /// ```
    pub fn with_poll(stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let asking = Poll { stop: Box::new(stop), started: Instant::now(), next: Mutex::new(Self::POLL_INTERVAL) };
        Self(Arc::new(Flag { stop: AtomicBool::new(false), poll: Some(asking) }))
    }

    /// Asks the work to stop at its next step.
    pub fn cancel(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Cancelled`] once asked to stop.
    pub fn check(&self) -> Result<()> {
        let Flag { stop, poll: asking } = &*self.0;
        if let Some(asking) = asking
            && rayon::current_thread_index().is_none()
            && asking.should_stop()
        {
            self.cancel();
        }
        if stop.load(Ordering::Relaxed) { Err(Error::cancelled()) } else { Ok(()) }
    }
}

impl Poll {
    /// Asks, if it is time. Whoever is asked may itself come here.
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
