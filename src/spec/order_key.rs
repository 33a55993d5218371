//! A key of ORDER BY.

use arrow_schema::SortOptions;

/// A column to order by. A bare name is ascending, nulls first.
///
/// ```
/// use windrow::OrderKey;
/// assert_eq!(OrderKey::from("id"), OrderKey::asc("id"));
/// assert!(!OrderKey::asc("id").nulls_first(false).options.nulls_first);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OrderKey {
    /// The column's name.
    pub column: String,
    /// The direction, and whether nulls come before all values, independent of the direction.
    pub options: SortOptions,
}

impl OrderKey {
    /// Ascending, nulls first: Spark's default.
    pub fn asc(column: impl Into<String>) -> Self {
        Self { column: column.into(), options: SortOptions::default() }
    }

    /// Descending, nulls last: Spark's default for DESC.
    pub fn desc(column: impl Into<String>) -> Self {
        Self { column: column.into(), options: SortOptions::new(true, false) }
    }

    /// Sets whether nulls come first.
    #[must_use]
    pub fn nulls_first(mut self, nulls_first: bool) -> Self {
        self.options.nulls_first = nulls_first;
        self
    }
}

impl From<&str> for OrderKey {
    fn from(column: &str) -> Self {
        Self::asc(column)
    }
}

impl From<String> for OrderKey {
    fn from(column: String) -> Self {
        Self::asc(column)
    }
}
