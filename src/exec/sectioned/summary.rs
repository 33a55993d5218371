//! What sections of a sorted input tell each other.

use arrow_array::RecordBatch;

use crate::exec::halo::Halo;
use crate::model::carry::Carry;

/// What other sections may need of one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Summary {
    /// How many rows it has.
    pub rows: usize,
    /// They are all of one partition.
    pub single: bool,
    /// The columns read of the first rows, so many as frames of the row before may reach, at least one.
    pub head: RecordBatch,
    /// What those behind may need.
    pub before: Before,
    /// Per pass what the other rows of the first partition came to, where frames reach to the end of theirs.
    pub after: Vec<Option<RecordBatch>>,
}

/// The end of what lies before a section.
#[derive(Debug, Clone)]
pub struct Before {
    /// The columns read of the last rows, all of one partition.
    pub rows: RecordBatch,
    /// That partition has rows before these, for which the carries stand.
    pub continues: bool,
    /// Per pass the state of the rows before `base`, one of `rows`.
    pub carries: Vec<Carry>,
}

/// What lies around a section.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Neighbourhood {
    /// `None`: a partition begins with the section.
    pub before: Option<Before>,
    /// The columns read of the rows behind that frames reach.
    pub behind: RecordBatch,
    /// Per pass the state of all rows behind these that are of the section's last partition.
    pub after: Vec<Option<RecordBatch>>,
}

impl Before {
    /// What a halo says of rows.
    pub(crate) fn new(rows: &RecordBatch, halo: Halo) -> Self {
        let Halo { from, continues, carries } = halo;
        Self { rows: rows.slice(from, rows.num_rows() - from), continues, carries }
    }
}
