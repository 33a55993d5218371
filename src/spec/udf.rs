//! User-defined functions: aggregates, functions of frames and of partitions, implemented in the host's language.
//!
//! A user-defined aggregate is an [`Aggregate`](crate::model::aggregate::Aggregate) like any other. [`UserAggregate`]
//! is a form of that trait without type parameters, which a binding can implement at run time;
//! `functions/aggregate/udf.rs` adapts it for the strategies.
//!
//! Cost: that of the user's methods. Which of them exist determines the number of calls: with `merge` or `retract`,
//! moving frames cost O(1) amortised calls per row; with neither, a moving frame of W rows calls `update` W times.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::DataType;

use crate::error::{Error, Result};

/// A user-defined function. Clones share it; it equals only itself and its clones.
#[derive(Debug, Clone)]
pub enum UserFunction {
    /// Folds the rows of frames.
    Aggregate(Arc<dyn UserAggregate>),
    /// Evaluates a block of frames at once.
    Frames(Arc<dyn UserFrames>),
    /// Evaluates whole partitions.
    Partitions(Arc<dyn UserPartitions>),
}

impl UserFunction {
    /// The type of the results.
    #[must_use]
    pub fn output(&self) -> &DataType {
        match self {
            Self::Aggregate(aggregate) => aggregate.output(),
            Self::Frames(function) => function.output(),
            Self::Partitions(function) => function.output(),
        }
    }

    /// Runs `work`, which will call the function often, as [`UserAggregate::within`] describes.
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

/// A state of a user-defined aggregate. Clones share it: implementations copy a shared state before they change it.
pub type UserState = Arc<dyn Any + Send + Sync>;

/// A user-defined aggregate, not yet bound to columns.
pub trait UserAggregate: fmt::Debug + Send + Sync {
    /// The type of the results.
    fn output(&self) -> &DataType;

    /// Whether `merge` is supported.
    fn merges(&self) -> bool;

    /// Whether `retract` is supported.
    fn retracts(&self) -> bool;

    /// Binds the aggregate to the columns of a section, one per argument, all of the same length.
    ///
    /// # Errors
    /// Values that cannot be converted to the host's language; the user's own errors.
    fn bind(&self, args: &[ArrayRef]) -> Result<Box<dyn BoundAggregate>>;

    /// Runs `work`, during which methods are called many times: a lock that each of them needs can be taken once.
    fn within(&self, work: &mut dyn FnMut()) {
        work();
    }
}

/// A user-defined aggregate bound to the columns of a section. `rows` are rows of the section and never empty.
///
/// # Errors
/// Each method: the user's own error, as [`crate::ErrorKind::User`].
#[expect(clippy::missing_errors_doc, reason = "said of all methods at once")]
pub trait BoundAggregate: Send + Sync {
    /// The state of no rows.
    fn initial(&self) -> UserState;
    /// Adds `rows`, which follow those of `state`.
    fn update(&self, state: &mut UserState, rows: Range<usize>) -> Result<()>;
    /// Adds the rows of `right`, which follow those of `left`. Does not change `right`.
    fn merge(&self, left: &mut UserState, right: &UserState) -> Result<()>;
    /// Removes `rows`, which are the first rows of `state`.
    fn retract(&self, state: &mut UserState, rows: Range<usize>) -> Result<()>;
    /// A builder of results.
    fn results(&self, capacity: usize) -> Box<dyn UserResults>;
    /// The state as bytes.
    fn save(&self, state: &UserState) -> Result<Vec<u8>>;
    /// Restores a state from what `save` wrote.
    fn load(&self, bytes: &[u8]) -> Result<UserState>;
}

/// A builder of the results of a user-defined aggregate.
pub trait UserResults: Send {
    /// Appends the result of `state`.
    ///
    /// # Errors
    /// The user's own error.
    fn push(&mut self, state: &UserState) -> Result<()>;

    /// The results as a column of the function's type.
    ///
    /// # Errors
    /// A result that does not fit the type.
    fn finish(self: Box<Self>) -> Result<ArrayRef>;
}

/// A user-defined function that evaluates a block of frames at once.
pub trait UserFrames: fmt::Debug + Send + Sync {
    /// The type of the results.
    fn output(&self) -> &DataType;

    /// One result for each of the frames `begin..end`, which are positions in `args`.
    ///
    /// # Errors
    /// The user's own error; a wrong number of results, or results of another type.
    fn evaluate(&self, args: &[ArrayRef], begin: Int64Array, end: Int64Array) -> Result<ArrayRef>;
}

/// A user-defined function that evaluates whole partitions.
pub trait UserPartitions: fmt::Debug + Send + Sync {
    /// The type of the results.
    fn output(&self) -> &DataType;

    /// The results of all rows of `partitions`, which are adjacent ranges of rows of `args`, in order.
    ///
    /// # Errors
    /// As for [`UserFrames::evaluate`].
    fn evaluate(&self, args: &[ArrayRef], partitions: &[Range<usize>]) -> Result<ArrayRef>;
}
