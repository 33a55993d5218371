//! Constants in a window specification.

use std::time::Duration;

use arrow_buffer::i256;

/// A constant; it is cast to the type that its use requires.
///
/// ```
/// use std::time::Duration;
/// use windrow::Literal;
/// assert_eq!(Literal::from(2.5), Literal::Float(2.5));
/// assert_eq!(Literal::from("a text"), Literal::Utf8("a text".into()));
/// let minute = Literal::Interval { months: 0, days: 0, micros: 60_000_000 };
/// assert_eq!(Literal::from(Duration::from_secs(60)), minute);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Literal {
    /// NULL
    Null,
    /// TRUE or FALSE
    Boolean(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// `unscaled / 10^scale`
    Decimal {
        /// The value without its decimal point.
        unscaled: i256,
        /// The number of digits after the point.
        scale: i8,
    },
    /// A string.
    Utf8(String),
    /// Binary data.
    Binary(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970-01-01T00:00:00, in UTC if zoned.
    Timestamp {
        /// Microseconds since the epoch.
        micros: i64,
        /// Whether it is an instant, not a local time.
        zoned: bool,
    },
    /// Several values of one type, such as the fractions of a percentile.
    List(Vec<Literal>),
    /// A calendar interval; as a RANGE offset its months and days are calendar months and days.
    Interval {
        /// Calendar months.
        months: i32,
        /// Calendar days.
        days: i32,
        /// Microseconds of elapsed time.
        micros: i64,
    },
}

impl From<bool> for Literal {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<&str> for Literal {
    fn from(value: &str) -> Self {
        Self::Utf8(value.into())
    }
}

impl From<String> for Literal {
    fn from(value: String) -> Self {
        Self::Utf8(value)
    }
}

/// Elapsed time, truncated to microseconds and limited to the range of `i64`.
impl From<Duration> for Literal {
    fn from(value: Duration) -> Self {
        Self::Interval { months: 0, days: 0, micros: i64::try_from(value.as_micros()).unwrap_or(i64::MAX) }
    }
}

macro_rules! numbers {
    ($($value:ty),+ => $variant:ident) => {$(
        impl From<$value> for Literal {
            fn from(value: $value) -> Self {
                Self::$variant(value.into())
            }
        }
    )+};
}

numbers!(i8, i16, i32, i64, u8, u16, u32 => Int);
numbers!(f32, f64 => Float);
