//! The one error type. A message names the call as the user wrote it, the column, its type, and what to do instead.

use std::fmt;
use std::sync::Arc;

use arrow_schema::ArrowError;

/// The result type of this crate's fallible functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The category of an error; a host maps it to its own exception types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The query is invalid: an unknown column or function, an invalid frame, a type that the function does not accept.
    Spec,
    /// The query is valid but not supported by this version.
    Unsupported,
    /// A result does not fit its type, and ANSI mode is on.
    Overflow,
    /// Rows arrived out of the declared order.
    Order,
    /// A value cannot be read as the type a function needs, such as `'x'` as a double.
    Data,
    /// A user's function failed; its error is this error's source.
    User,
    /// The memory limit would be exceeded, or an allocation failed.
    MemoryLimit,
    /// Rows could not be spilled to disk or read back.
    Spill,
    /// The caller cancelled the computation.
    Cancelled,
    /// A defect of this crate, or invalid input data.
    Internal,
}

/// A setting that avoids an error. Each host has its own spelling of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// Turn ANSI mode off.
    AnsiOff,
    /// Sort the input first.
    SortInput,
    /// Raise the memory limit.
    MoreMemory,
    /// Set a memory limit and spill the rest to disk.
    Spill,
    /// Use another spill directory.
    SpillDirectory,
    /// Use one thread.
    OneThread,
    /// Pass the rows batch by batch, as a stream.
    Stream,
}

impl Remedy {
    /// The remedy in the terms of the Rust interface: the end of a sentence in the message.
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

/// An error: its kind and a message for the user.
///
/// One pointer wide, so that `Result<()>` is cheap to return from inner loops.
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
    /// Whether the message already starts with the call.
    of_call: bool,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of `kind` with `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), remedy: None, of_call: false, source: None }))
    }

    /// An error of kind [`ErrorKind::Spec`].
    pub fn spec(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Spec, message)
    }

    /// An error of kind [`ErrorKind::Unsupported`].
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// An error of kind [`ErrorKind::Overflow`].
    pub fn overflow(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Overflow, message)
    }

    /// An error of kind [`ErrorKind::Order`].
    pub fn order(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Order, message)
    }

    /// An error of kind [`ErrorKind::Data`].
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// An error of kind [`ErrorKind::MemoryLimit`].
    pub fn memory_limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::MemoryLimit, message)
    }

    /// An error of kind [`ErrorKind::Spill`].
    pub fn spill(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Spill, message)
    }

    /// An error of kind [`ErrorKind::Internal`], for conditions that should never occur.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// An error of kind [`ErrorKind::User`]: a user's function failed with `source`.
    pub fn user(message: impl Into<String>, source: Option<Arc<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(Box::new(Inner { kind: ErrorKind::User, message: message.into(), remedy: None, of_call: false, source }))
    }

    /// An error of kind [`ErrorKind::Cancelled`].
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the computation was cancelled")
    }

    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message, without the remedy.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The setting that avoids the error, if there is one.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        self.0.remedy
    }

    /// The same error with a setting that avoids it; the displayed message ends with the remedy.
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.0.remedy = Some(remedy);
        self
    }

    /// The same error, its message prefixed with `call` as the user wrote it, unless it names a call already.
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

/// Allows `?` on windrow's results in code that returns [`ArrowError`]; converting back gives the same error.
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
