//! What the sections of a sorted input exchange.

use arrow_array::RecordBatch;

use crate::exec::halo::Halo;
use crate::model::carry::Carry;

/// What other sections may need of one section.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Summary {
    /// The number of its rows.
    pub rows: usize,
    /// Whether all of them belong to one partition.
    pub single: bool,
    /// The read columns of the first rows: as many as frames of the row before may reach, and at least one.
    pub head: RecordBatch,
    /// What the sections after it may need.
    pub before: Before,
    /// Per pass the state of the other rows of the first partition, where frames reach to the end of theirs.
    pub after: Vec<Option<RecordBatch>>,
}

/// The last rows before a section.
#[derive(Debug, Clone)]
pub struct Before {
    /// The read columns of the last rows, all of one partition.
    pub rows: RecordBatch,
    /// Whether that partition has rows before these, which the carries summarise.
    pub continues: bool,
    /// Per pass the state of the rows before `base`, an index in `rows`.
    pub carries: Vec<Carry>,
}

/// The surroundings of a section.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Neighbourhood {
    /// The rows before it; `None` if a partition begins with the section.
    pub before: Option<Before>,
    /// The read columns of the rows after it that frames reach.
    pub behind: RecordBatch,
    /// Per pass the state of all rows after `behind` that belong to the section's last partition.
    pub after: Vec<Option<RecordBatch>>,
}

impl Before {
    /// The rows of a halo and its carries.
    pub(crate) fn new(rows: &RecordBatch, halo: Halo) -> Self {
        let Halo { from, continues, carries } = halo;
        Self { rows: rows.slice(from, rows.num_rows() - from), continues, carries }
    }
}
