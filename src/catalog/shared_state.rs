//! Which state a function's results are read off, where several functions share one.

/// What results are read off; functions of one kind can share a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedState {
    /// How many values there are; read off any state that counts them.
    Count,
    /// Sums and how many values they have.
    Totals,
    /// Two moments.
    Moments,
    /// Four.
    Shape,
    /// The moments of pairs.
    Pairs,
}

impl SharedState {
    /// Whether the state knows how many values of one column it has.
    #[must_use]
    pub(crate) const fn counts(self) -> bool {
        matches!(self, Self::Totals | Self::Moments)
    }
}
