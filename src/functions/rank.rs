//! `row_number`, `rank`, `dense_rank`, `percent_rank`, `cume_dist`, `ntile`: places within the partition.
use crate::error::{Error, Result};
use crate::evaluate::index::Runs;
use crate::section::Section;

/// Which place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// `row_number()`: the row's own place, from 1.
    RowNumber,
    /// `rank()`: the place of the row's first peer.
    Rank,
    /// `dense_rank()`: the place of the row's peer group among the groups.
    DenseRank,
    /// `percent_rank()`: (rank - 1) / (rows - 1), 0 for one row.
    PercentRank,
    /// `cume_dist()`: the part of the rows that is not after the row's peers.
    CumeDist,
    /// `ntile(n)`: the row's bucket of n of equal size, the first ones one row larger.
    Ntile(u64),
}

/// A ranking function.
#[derive(Debug)]
pub struct Rank {
    which: Which,
    partitions: Runs,
    peers: Runs,
    open: bool,
    naive: bool,
}

impl Rank {
    /// `which` place, over the section's partitions and peers. `naive` counts row by row.
    ///
    /// # Errors
    /// No buckets.
    pub fn new(section: &Section, which: Which, naive: bool) -> Result<Self> {
        if which == Which::Ntile(0) {
            return Err(Error::spec("ntile needs at least one bucket; got 0"));
        }
        let (partitions, peers) = (Runs::new(&section.partitions), Runs::new(&section.peers));
        Ok(Self { which, partitions, peers, open: section.open, naive })
    }
}
