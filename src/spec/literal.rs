//! A constant of a query.

use std::time::Duration;

use arrow_buffer::i256;

/// A value written in the question; it takes the type that its place asks for.
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
    /// A whole number.
    Int(i64),
    /// A floating point number.
    Float(f64),
    /// `unscaled / 10^scale`
    Decimal {
        /// The digits.
        unscaled: i256,
        /// How many of them stand behind the point.
        scale: i8,
    },
    /// Text.
    Utf8(String),
    /// Bytes.
    Binary(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970-01-01T00:00:00, in UTC where zoned.
    Timestamp {
        /// Microseconds since the epoch.
        micros: i64,
        /// An instant rather than a wall clock's reading.
        zoned: bool,
    },
    /// Several values of one type, such as the shares of a percentile.
    List(Vec<Literal>),
    /// A calendar interval; as a RANGE offset its months and days are the calendar's.
    Interval {
        /// Calendar months.
        months: i32,
        /// Calendar days.
        days: i32,
        /// Microseconds on the clock.
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

/// Time on the clock, cut to microseconds; what passes 292 thousand years is as long as that.
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
