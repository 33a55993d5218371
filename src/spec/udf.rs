//! What a host's user writes: aggregates, functions of frames and of partitions, in a language this crate knows not.
//!
//! A user's aggregate is an [`Aggregate`](crate::model::aggregate::Aggregate) like any other. [`UserAggregate`] is its
//! shape without types, so that a binding can supply it at run time; `functions/aggregate/udf.rs` gives it back the
//! shape that strategies take.
//!
//! Cost: what the user's methods cost, and which of them there are decides how often they are called: with `merge`,
//! moving frames call each O(1) times per row; with `retract`, too; with neither a moving frame of W rows calls
//! `update` W times.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::DataType;

use crate::error::{Error, Result};

/// A function of a user's; clones share it, and it equals only itself.
#[derive(Debug, Clone)]
pub enum UserFunction {
    /// Folds frames.
    Aggregate(Arc<dyn UserAggregate>),
    /// Answers blocks of frames at once.
    Frames(Arc<dyn UserFrames>),
    /// Answers whole partitions.
    Partitions(Arc<dyn UserPartitions>),
}

impl UserFunction {
    /// The type of its results.
    #[must_use]
    pub fn output(&self) -> &DataType {
        match self {
            Self::Aggregate(aggregate) => aggregate.output(),
            Self::Frames(function) => function.output(),
            Self::Partitions(function) => function.output(),
        }
    }

    /// Does `work`, which will call the function often, as [`UserAggregate::within`] says.
    ///
    /// # Errors
    /// Those of `work`.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let Self::Aggregate(aggregate) = self else {
            return work();
        };
        let (mut work, mut done) = (Some(work), None);
        aggregate.within(&mut || {
            done = work.take().map(|work| work());
        });
        done.unwrap_or_else(|| Err(Error::internal("the user's code was not let in")))
    }
}

impl PartialEq for UserFunction {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Aggregate(one), Self::Aggregate(other)) => Arc::ptr_eq(one, other),
            (Self::Frames(one), Self::Frames(other)) => Arc::ptr_eq(one, other),
            (Self::Partitions(one), Self::Partitions(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

/// A state of a user's aggregate. Clones share it: whoever changes one that is shared changes a copy.
pub type UserState = Arc<dyn Any + Send + Sync>;

/// An aggregate of a user's, not bound to columns yet.
pub trait UserAggregate: fmt::Debug + Send + Sync {
    /// The type of its results.
    fn output(&self) -> &DataType;

    /// Whether it has `merge`.
    fn merges(&self) -> bool;

    /// Whether it has `retract`.
    fn retracts(&self) -> bool;

    /// Binds it to the columns of a section, one per argument, all equally long.
    ///
    /// # Errors
    /// Values that have no form in the user's language; the user's own errors.
    fn bind(&self, args: &[ArrayRef]) -> Result<Box<dyn BoundAggregate>>;

    /// Calls `work`, in which methods will be called many times: a lock that each of them needs is taken once.
    fn within(&self, work: &mut dyn FnMut()) {
        work();
    }
}

/// A user's aggregate over the columns of a section. `rows` are section rows and never empty.
///
/// # Errors
/// Each method: the user's own, as [`crate::ErrorKind::User`].
#[expect(clippy::missing_errors_doc, reason = "said of all methods at once")]
pub trait BoundAggregate: Send + Sync {
    /// The state of no rows.
    fn initial(&self) -> UserState;
    /// Appends `rows` to the right of `state`.
    fn update(&self, state: &mut UserState, rows: Range<usize>) -> Result<()>;
    /// Appends `right` to `left`, and leaves `right` as it was.
    fn merge(&self, left: &mut UserState, right: &UserState) -> Result<()>;
    /// Takes `rows`, the first of `state`, out of it.
    fn retract(&self, state: &mut UserState, rows: Range<usize>) -> Result<()>;
    /// Where results gather.
    fn results(&self, capacity: usize) -> Box<dyn UserResults>;
    /// The state as bytes.
    fn save(&self, state: &UserState) -> Result<Vec<u8>>;
    /// The state that `save` wrote.
    fn load(&self, bytes: &[u8]) -> Result<UserState>;
}

/// Results of a user's aggregate.
pub trait UserResults: Send {
    /// Appends the result of `state`.
    ///
    /// # Errors
    /// The user's own.
    fn push(&mut self, state: &UserState) -> Result<()>;

    /// The results as a column of the function's type.
    ///
    /// # Errors
    /// A result that does not fit the type.
    fn finish(self: Box<Self>) -> Result<ArrayRef>;
}

/// A function of a user's that answers a block of frames at once.
pub trait UserFrames: fmt::Debug + Send + Sync {
    /// The type of its results.
    fn output(&self) -> &DataType;

    /// One result for each of the frames `begin..end`, positions in `args`.
    ///
    /// # Errors
    /// The user's own; another number of results, or results of another type.
    fn evaluate(&self, args: &[ArrayRef], begin: Int64Array, end: Int64Array) -> Result<ArrayRef>;
}

/// A function of a user's that answers whole partitions.
pub trait UserPartitions: fmt::Debug + Send + Sync {
    /// The type of its results.
    fn output(&self) -> &DataType;

    /// The results of the rows of `partitions`, adjacent runs of the rows of `args`, one after another.
    ///
    /// # Errors
    /// As for [`UserFrames::evaluate`].
    fn evaluate(&self, args: &[ArrayRef], partitions: &[Range<usize>]) -> Result<ArrayRef>;
}
