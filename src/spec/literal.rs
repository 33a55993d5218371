//! A constant of a query.

use arrow_buffer::i256;

/// A value written in the question; it takes the type that its place asks for.
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
