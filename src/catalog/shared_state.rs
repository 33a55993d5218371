//! The state from which a function's result is computed, where several functions can share it.

/// A shareable state; calls with the same kind of state can be evaluated in one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedState {
    /// The number of values; available from any state that counts them.
    Count,
    /// The sum and the number of values.
    Totals,
    /// The first two moments.
    Moments,
    /// The first four moments.
    Shape,
    /// The moments of pairs.
    Pairs,
}

impl SharedState {
    /// Whether the state contains the number of values of one column.
    #[must_use]
    pub(crate) const fn counts(self) -> bool {
        matches!(self, Self::Totals | Self::Moments)
    }
}
