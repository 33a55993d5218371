//! An argument of a call: a column or a literal.

use std::time::Duration;

use super::literal::Literal;

/// An argument: a column, or one value for all rows.
///
/// A string is a column name; numbers, booleans and [`Duration`](std::time::Duration)s are literals; [`Arg::literal`]
/// also makes string literals.
///
/// ```
/// use windrow::{Arg, Literal};
/// assert_eq!(Arg::from("level"), Arg::column("level"));
/// assert_eq!(Arg::from(3), Arg::Literal(Literal::Int(3)));
/// assert_eq!(Arg::literal("a text"), Arg::Literal(Literal::Utf8("a text".into())));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    /// The column of this name.
    Column(String),
    /// The same value for all rows.
    Literal(Literal),
}

impl Arg {
    /// A column.
    pub fn column(name: impl Into<String>) -> Self {
        Self::Column(name.into())
    }

    /// The same value for all rows.
    pub fn literal(value: impl Into<Literal>) -> Self {
        Self::Literal(value.into())
    }
}

impl From<&str> for Arg {
    fn from(column: &str) -> Self {
        Self::column(column)
    }
}

impl From<String> for Arg {
    fn from(column: String) -> Self {
        Self::Column(column)
    }
}

/// Conversions of literal types to arguments.
macro_rules! literals {
    ($($value:ty),+) => {$(
        impl From<$value> for Arg {
            fn from(value: $value) -> Self {
                Self::literal(value)
            }
        }
    )+};
}

literals!(Literal, bool, i8, i16, i32, i64, u8, u16, u32, f32, f64, Duration);
