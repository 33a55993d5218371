//! How far from its row a call reads.

/// The rows before or after a row's section that a call reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// None.
    Nothing,
    /// At most this many rows.
    Rows(u64),
    /// At most this many peer groups.
    Groups(u64),
    /// Rows within a distance of the order key.
    Within,
    /// A state of bounded size, which represents all of them.
    State,
    /// All of the partition.
    Everything,
}
