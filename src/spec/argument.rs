//! An argument of a call: a column or a literal.

use super::literal::Literal;

/// An argument: a column, or one value for all rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    /// The column of this name.
    Column(String),
    /// The same value for each row.
    Literal(Literal),
}

impl Arg {
    /// A column.
    pub fn column(name: impl Into<String>) -> Self {
        Self::Column(name.into())
    }
}

impl From<Literal> for Arg {
    fn from(literal: Literal) -> Self {
        Self::Literal(literal)
    }
}

impl From<i64> for Arg {
    fn from(value: i64) -> Self {
        Self::Literal(Literal::Int(value))
    }
}
