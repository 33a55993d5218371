//! The one error type. A message names the call as the user wrote it, the column, its type, and what to do instead.

use std::fmt;
use std::sync::Arc;

use arrow_schema::ArrowError;

/// What every fallible function of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Whose fault an error is, and so which exception a host raises for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The question is wrong: an unknown column or function, a bad frame, a type the function does not take.
    Spec,
    /// The question is sound, and this version has no answer to it.
    Unsupported,
    /// A result does not fit its type, and ANSI mode is on.
    Overflow,
    /// Rows arrived in another order than they were promised in.
    Order,
    /// A value cannot be read as the type a function needs, such as `'x'` as a double.
    Data,
    /// A user's own function failed: the cause is the error's source.
    User,
    /// The memory limit would be exceeded, or there is no memory for what must be held or answered.
    MemoryLimit,
    /// Rows that memory has no room for could not be written to disk, or read back.
    Spill,
    /// The caller asked the work to stop.
    Cancelled,
    /// A fault of this crate, or of the data handed to it.
    Internal,
}

/// A setting that avoids an error. Each host has its own spelling of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// Leave ANSI mode.
    AnsiOff,
    /// Have the input sorted first.
    SortInput,
    /// Raise the limit of the bytes to hold.
    MoreMemory,
    /// Hold no more than some bytes in memory, and the rest on disk.
    Spill,
    /// Spill to another directory.
    SpillDirectory,
    /// Use one thread.
    OneThread,
    /// Pass the rows batch by batch.
    Stream,
}

impl Remedy {
    /// As a Rust program spells it: the end of a sentence that begins with what else helps.
    fn in_rust(self) -> &'static str {
        match self {
            Self::AnsiOff => "set Options::ansi to false",
            Self::SortInput => "sort the rows by Stream::sort_keys first",
            Self::MoreMemory => "raise the limit",
            Self::Spill => "sort them on disk (ExternalSort) and stream them",
            Self::SpillDirectory => "spill to another directory",
            Self::OneThread => "set Options::threads to 1",
            Self::Stream => "push them into a Stream batch by batch",
        }
    }
}

/// An error with its kind and a message for a person.
///
/// One pointer wide, so that `Result<()>` costs a tight loop nothing.
///
/// ```
/// use windrow::{Error, ErrorKind, Remedy};
/// let error = Error::overflow("the sum does not fit Int64; use try_sum").with_remedy(Remedy::AnsiOff).of_call("sum(x)");
/// assert_eq!(error.kind(), ErrorKind::Overflow);
/// assert_eq!(error.to_string(), "sum(x): the sum does not fit Int64; use try_sum, or set Options::ansi to false");
/// assert_eq!(error.remedy(), Some(Remedy::AnsiOff)); // a host says it in its own words, after `message()`
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    remedy: Option<Remedy>,
    /// The message opens with the call it is about.
    of_call: bool,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of `kind` that says `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), remedy: None, of_call: false, source: None }))
    }

    /// The question is wrong.
    pub fn spec(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Spec, message)
    }

    /// The question is sound, and there is no answer to it yet.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// A result does not fit its type.
    pub fn overflow(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Overflow, message)
    }

    /// Rows out of order.
    pub fn order(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Order, message)
    }

    /// A value that cannot be read.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// Rows cannot be held within the memory limit.
    pub fn memory_limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::MemoryLimit, message)
    }

    /// A disk that takes no rows, or gives none back.
    pub fn spill(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Spill, message)
    }

    /// "Cannot happen".
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// A user's own function failed with `source`.
    pub fn user(message: impl Into<String>, source: Option<Arc<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(Box::new(Inner { kind: ErrorKind::User, message: message.into(), remedy: None, of_call: false, source }))
    }

    /// The caller asked the work to stop.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the computation was cancelled")
    }

    /// Whose fault it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What to tell the user, without the remedy.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The setting that avoids it.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        self.0.remedy
    }

    /// The same error, which a setting avoids; the message ends with what else helps.
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.0.remedy = Some(remedy);
        self
    }

    /// The same error, said of `call`, if it is not said of one: the message opens with the call as the user wrote it.
    #[must_use]
    pub fn of_call(mut self, call: &str) -> Self {
        if !self.0.of_call && !self.0.message.starts_with(call) {
            self.0.message = format!("{call}: {}", self.0.message);
        }
        self.0.of_call = true;
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        self.0.remedy.map_or(Ok(()), |remedy| write!(f, ", or {}", remedy.in_rust()))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}

/// So that code which returns [`ArrowError`] uses `?` on windrow's results; converting back gives the same error.
///
/// ```
/// use windrow::arrow_schema::ArrowError;
/// use windrow::{Error, ErrorKind};
/// let error = Error::from(ArrowError::from(Error::data("'x' is no number")));
/// assert_eq!((error.kind(), error.message()), (ErrorKind::Data, "'x' is no number"));
/// ```
impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        Self::ExternalError(Box::new(error))
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::ExternalError(source) => match source.downcast::<Self>() {
                Ok(error) => *error,
                Err(source) => Self::internal(source.to_string()),
            },
            ArrowError::CastError(message) | ArrowError::ParseError(message) => Self::data(message),
            ArrowError::ArithmeticOverflow(message) => Self::overflow(message),
            ArrowError::OffsetOverflowError(length) => Self::unsupported(format!(
                "text, bytes or lists of {length} in one column pass the 2 GiB that offsets of 32 bits reach: cast to a large \
                 or a view type"
            )),
            ArrowError::DictionaryKeyOverflowError => Self::unsupported(
                "the keys of a dictionary do not reach for the values of all batches together: cast the column to wider keys \
                 or to plain values",
            ),
            other => Self::internal(other.to_string()),
        }
    }
}
