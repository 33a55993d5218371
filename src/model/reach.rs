//! How far from its row a call looks.

/// How far a call's answer for a row looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Not past the row's own section.
    Nothing,
    /// So many rows.
    Rows(u64),
    /// So many peer groups.
    Groups(u64),
    /// A distance of the order key.
    Within,
    /// A state of bounded size stands for all rows there.
    State,
    /// All rows of the partition.
    Everything,
}
