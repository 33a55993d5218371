//! `row_number`, `rank`, `percent_rank`, `cume_dist`, `ntile` by an argument order: the rank of a row among its frame's
//! rows.
//!
//! ```text
//!   frame            7  3  7  .  5  9          the current row is the 7 on the left
//!   row_number       3                          rows before it (ties in the window's order) plus one
//!   rank             3                          rows before its peers plus one
//!   percent_rank     2 / 4                      (rank - 1) / (rows - 1), 0 for at most one row
//!   cume_dist        4 / 5                      rows up to its last peer / rows, 0 for an empty frame
//!   ntile(2)         1                          the row's bucket of n by row_number, NULL for an empty frame
//! ```
//!
//! As in `DuckDB`, the row itself need not be in its frame: it then ranks where it would be inserted; after the last
//! row it belongs to the last bucket, and its `percent_rank` may exceed 1. Cost: O(log m) per row, m rows in the
//! partition.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array};

use crate::error::{Error, Result};
use crate::evaluate::order_statistics::frame_order::{FrameOrderFunction, FrameView, RankBound};
use crate::functions::positional::rank::{Buckets, RankKind};
use crate::functions::positional::rank_with::{Place, RankBy};
use crate::model::row_mask::RowMask;

/// An integer rank within the frame: INT, NULL for a bucket of an empty frame.
#[derive(Debug)]
pub(crate) struct RankInFrame(pub(crate) RankKind);

/// A rank within the frame as a fraction of its rows: DOUBLE.
#[derive(Debug)]
pub(crate) struct RelativeRank(pub(crate) RankKind);

impl FrameOrderFunction for RankInFrame {
    type Builder = Vec<Option<i32>>;

    fn builder(&self, rows: usize) -> Self::Builder {
        Vec::with_capacity(rows)
    }

    fn evaluate(&self, row: usize, view: &mut FrameView, answers: &mut Self::Builder) -> Result<()> {
        let rows = view.len() as u64;
        let before = match self.0 {
            RankKind::Rank => view.count(row, RankBound::BeforePeers)?,
            RankKind::Ntile(_) if rows == 0 => {
                answers.push(None);
                return Ok(());
            }
            _ => view.count(row, RankBound::Before)?,
        } as u64;
        let place = match self.0 {
            RankKind::Ntile(buckets) => Buckets::new(rows, buckets).of(before.min(rows - 1)),
            _ => before + 1,
        };
        let place = i32::try_from(place).map_err(|_| {
            Error::overflow(format!("a place is an INT, and a frame has more than {} rows; narrow the frame", i32::MAX))
        })?;
        answers.push(Some(place));
        Ok(())
    }

    fn finish(&self, answers: Self::Builder) -> Result<ArrayRef> {
        Ok(Arc::new(Int32Array::from(answers)))
    }
}

/// A rank within the frame by a method for ties, NULL for a row that has none.
#[derive(Debug)]
pub(crate) struct RankWithInFrame {
    pub(crate) by: RankBy,
    pub(crate) ranked: RowMask,
}

impl FrameOrderFunction for RankWithInFrame {
    type Builder = Vec<Option<f64>>;

    fn builder(&self, rows: usize) -> Self::Builder {
        Vec::with_capacity(rows)
    }

    fn evaluate(&self, row: usize, view: &mut FrameView, answers: &mut Self::Builder) -> Result<()> {
        if !self.ranked.includes(row) {
            answers.push(None);
            return Ok(());
        }
        let mut before = |bound| view.count(row, bound);
        let (before_peers, through) = (before(RankBound::BeforePeers)?, before(RankBound::ThroughPeers)?);
        let place = Place {
            before_peers,
            before: before(RankBound::Before)?,
            through,
            groups_before: 0,
            rows: view.len(),
            groups: 0,
        };
        answers.push(Some(self.by.rank(place)));
        Ok(())
    }

    fn finish(&self, answers: Self::Builder) -> Result<ArrayRef> {
        self.by.finish(answers)
    }
}

impl FrameOrderFunction for RelativeRank {
    type Builder = Vec<f64>;

    fn builder(&self, rows: usize) -> Self::Builder {
        Vec::with_capacity(rows)
    }

    fn evaluate(&self, row: usize, view: &mut FrameView, answers: &mut Self::Builder) -> Result<()> {
        let rows = view.len();
        answers.push(match (self.0, rows) {
            (RankKind::CumeDist, 0) | (RankKind::PercentRank, 0 | 1) => 0.0,
            (RankKind::CumeDist, rows) => view.count(row, RankBound::ThroughPeers)? as f64 / rows as f64,
            (_, rows) => view.count(row, RankBound::BeforePeers)? as f64 / (rows - 1) as f64,
        });
        Ok(())
    }

    fn finish(&self, answers: Self::Builder) -> Result<ArrayRef> {
        Ok(Arc::new(Float64Array::from(answers)))
    }
}
