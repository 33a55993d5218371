//! The frames of one section.

use std::ops::Range;
use std::sync::Arc;

use super::block::Bounds;
use super::offset_column::SectionOffsets;
use super::range_key::SectionKey;
use super::range_offset::{Edge, FrameSide, RangeOffset};
use super::resolve::{FramePlan, ResolvedBound};
use super::{groups, range, rows};
use crate::error::{Error, Result};
use crate::model::section::Section;
use crate::util::run_index::RunIndex;
use crate::util::simd::with_widest_vectors;

/// A [`FramePlan`] bound to one [`Section`]; it owns cheap clones of what it needs.
#[derive(Debug, Clone)]
pub struct Frames {
    plan: FramePlan,
    own: Range<usize>,
    rows: usize,
    open: bool,
    /// The row of UNBOUNDED PRECEDING in the partition that holds row 0.
    base: usize,
    partitions: RunIndex,
    peers: Option<RunIndex>,
    key: Option<SectionKey>,
    start: OffsetSource,
    end: OffsetSource,
}

/// The additional input of one bound, besides boundaries and key.
#[derive(Debug, Clone)]
enum OffsetSource {
    Nothing,
    /// An offset per row.
    Offsets(SectionOffsets),
    /// The bound of each row, computed in advance.
    Precomputed(Arc<[u32]>),
}

impl Frames {
    /// Binds the frames to `section`. If its first partition began in an earlier section, frames from UNBOUNDED
    /// PRECEDING begin at row `base` in it.
    ///
    /// # Errors
    /// A column that the section lacks, or whose values cannot be offsets.
    pub fn new(plan: &FramePlan, section: &Section, base: usize) -> Result<Self> {
        let key = plan.key.as_ref().map(|key| SectionKey::new(key, section)).transpose()?;
        let partitions = RunIndex::new(&section.partitions);
        let given = |bound: &ResolvedBound, edge: Edge| match (bound, plan.key.as_ref().zip(key.as_ref())) {
            (ResolvedBound::Key(RangeOffset::Calendar(step)), Some((plan, key))) => {
                range::positions(plan, key, *step, edge, &partitions, section.rows).map(OffsetSource::Precomputed)
            }
            _ => bound
                .offset_column()
                .map_or(Ok(OffsetSource::Nothing), |column| column.values(section).map(OffsetSource::Offsets)),
        };
        let (start, end) =
            (given(&plan.start, plan.edge(FrameSide::Start))?, given(&plan.end, plan.edge(FrameSide::End))?);
        Ok(Self {
            own: section.own.clone(),
            rows: section.rows,
            open: section.open,
            base: if section.continues() { base } else { 0 },
            peers: plan.needs_peers().then(|| RunIndex::new(&section.peers)),
            plan: plan.clone(),
            partitions,
            key,
            start,
            end,
        })
    }

    /// Writes the frames of `rows` to `out`. Depends on no earlier call; consecutive rows cost amortised O(1) each.
    ///
    /// # Errors
    /// A per-row offset is NULL or NaN.
    pub fn fill(&self, rows: Range<usize>, out: &mut Bounds) -> Result<()> {
        out.begin.resize(rows.len(), 0);
        out.end.resize(rows.len(), 0);
        self.fill_bound(FrameSide::Start, rows.clone(), &mut out.begin)?;
        self.fill_bound(FrameSide::End, rows.clone(), &mut out.end)?;
        with_widest_vectors(
            #[inline(always)]
            || out.begin.iter().zip(&mut out.end).for_each(|(begin, end)| *end = (*end).max(*begin)),
        );
        out.peer_begin.clear();
        out.peer_end.clear();
        if let (Some(peers), true) = (&self.peers, self.plan.excludes_peers()) {
            out.peer_begin.resize(rows.len(), 0);
            out.peer_end.resize(rows.len(), 0);
            peers.map_run_starts(rows.clone(), &mut out.peer_begin, keep_run_bound);
            peers.map_run_ends(rows.clone(), &mut out.peer_end, keep_run_bound);
        }
        out.exclude = self.plan.frame().exclude;
        out.rows = rows;
        Ok(())
    }

    /// The first row whose frame may still change when more rows of an open section's last partition arrive.
    ///
    /// A frame is settled once a row after it is known; with ROWS, once its last row is known.
    #[must_use]
    pub fn first_unsettled(&self) -> usize {
        let Some(last) = self.rows.checked_sub(1).filter(|_| self.open) else {
            return self.own.end;
        };
        let first = self.partitions.run_start(last).clamp(self.own.start, self.own.end);
        match &self.plan.end {
            ResolvedBound::Unbounded
            | ResolvedBound::RowsBy(_)
            | ResolvedBound::GroupsBy(_)
            | ResolvedBound::KeyBy(_) => first,
            ResolvedBound::Rows(by) => {
                let settled = (self.rows as i64 - by).clamp(first as i64, self.own.end as i64);
                settled as usize
            }
            ResolvedBound::Peers | ResolvedBound::Groups(_) | ResolvedBound::Key(_) => {
                let (mut low, mut high) = (first, self.own.end);
                while low < high {
                    let middle = low + (high - low) / 2;
                    if self.bound_of_row(FrameSide::End, middle).is_some_and(|end| end < self.rows) {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                low
            }
        }
    }

    /// Whether the first frame begins within the section, which may be open.
    pub(crate) fn has_started(&self) -> bool {
        self.bound_of_row(FrameSide::Start, self.own.start).is_some_and(|begin| begin < self.rows)
    }

    /// The first row that must be kept once the rows before `answered` have been answered: `answered` itself, or an
    /// earlier row that a later frame needs. For frames from UNBOUNDED PRECEDING a carry may represent the rows before
    /// the result, because they lie in every later frame and EXCLUDE removes none of them.
    #[must_use]
    pub fn first_needed(&self, answered: usize) -> usize {
        let Some((last, partition)) = self.open_frames(answered) else {
            return answered;
        };
        let needed = match (&self.plan.start, &self.plan.end) {
            (start, _) if start.offset_column().is_some() => Some(partition),
            (ResolvedBound::Unbounded, end) if end.offset_column().is_some() => Some(partition),
            (ResolvedBound::Unbounded, _) => self.first_needed_by(FrameSide::End, last, partition).map(|end| {
                let peers = self.peers.as_ref().filter(|_| self.plan.excludes_peers());
                peers.map_or(end, |peers| end.min(peers.run_start(last)))
            }),
            _ => self.first_needed_by(FrameSide::Start, last, partition),
        };
        needed.unwrap_or(partition).min(answered)
    }

    /// As [`Frames::first_needed`], where no state can represent rows: all rows of later frames must be kept.
    #[must_use]
    pub fn first_needed_without_carry(&self, answered: usize) -> usize {
        match self.open_frames(answered) {
            Some((_, partition)) if matches!(self.plan.start, ResolvedBound::Unbounded) => partition.min(answered),
            _ => self.first_needed(answered),
        }
    }

    /// The last row before `answered` and the start of its partition, if that partition continues after the row.
    fn open_frames(&self, answered: usize) -> Option<(usize, usize)> {
        let last = answered.checked_sub(1).filter(|last| *last < self.rows)?;
        let over = answered == self.rows && !self.open;
        if over || (answered < self.rows && self.partitions.run_start(answered) == answered) {
            return None;
        }
        Some((last, self.partitions.run_start(last)))
    }

    /// The first row that later frames need for their start or end.
    fn first_needed_by(&self, side: FrameSide, last: usize, partition: usize) -> Option<usize> {
        let edge = self.bound_of_row(side, last)?;
        // With a time zone's calendar a bound may depend on an earlier row: see `range::positions`.
        let found = |given: &OffsetSource| match given {
            OffsetSource::Precomputed(found) => {
                let at = found[last];
                partition + found[partition..last].partition_point(|edge| *edge < at)
            }
            _ => edge,
        };
        Some(edge.min(found(&self.start)).min(found(&self.end)))
    }

    /// The start or end of one row's frame; `None` on an error.
    fn bound_of_row(&self, side: FrameSide, row: usize) -> Option<usize> {
        let mut out = [0];
        self.fill_bound(side, row..row + 1, &mut out).ok()?;
        Some(out[0] as usize)
    }

    /// Writes the starts or ends of the frames of `rows`.
    fn fill_bound(&self, side: FrameSide, rows: Range<usize>, out: &mut [u32]) -> Result<()> {
        let first = rows.start;
        let (edge, given) = match side {
            FrameSide::Start => (&self.plan.start, &self.start),
            FrameSide::End => (&self.plan.end, &self.end),
        };
        // Starts are inclusive, ends exclusive.
        let behind = i64::from(side == FrameSide::End);
        let partitions = &self.partitions;
        match (edge, given, &self.peers, self.plan.key.as_ref().zip(self.key.as_ref())) {
            (ResolvedBound::Unbounded, ..) => match side {
                FrameSide::Start => {
                    let base = self.base as u32;
                    partitions.map_run_starts(rows, out, move |_, begin| if begin == 0 { base } else { begin });
                }
                FrameSide::End => partitions.map_run_ends(rows, out, keep_run_bound),
            },
            (ResolvedBound::Rows(by), ..) => rows::shift(partitions, rows, by + behind, out),
            (ResolvedBound::Peers, _, Some(peers), _) => match side {
                FrameSide::Start => peers.map_run_starts(rows, out, keep_run_bound),
                FrameSide::End => peers.map_run_ends(rows, out, keep_run_bound),
            },
            (ResolvedBound::Groups(by), _, Some(peers), _) => partitions.for_each_run(rows, |run, piece| {
                let out = &mut out[piece.start - first..piece.end - first];
                groups::shift(peers, &run, piece, by + behind, out);
            }),
            (ResolvedBound::Key(_), OffsetSource::Precomputed(found), ..) => out.copy_from_slice(&found[rows]),
            (ResolvedBound::Key(by), _, _, Some((plan, key))) => {
                range::shift(plan, key, by, self.plan.edge(side), partitions, rows, out);
            }
            (ResolvedBound::RowsBy(_), OffsetSource::Offsets(offsets), ..) => {
                return for_each_row(partitions, rows, out, |run, row, _| {
                    Ok(rows::shift_one(row, offsets.count(row)?.saturating_add(behind), run))
                });
            }
            (ResolvedBound::GroupsBy(_), OffsetSource::Offsets(offsets), Some(peers), _) => {
                return for_each_row(partitions, rows, out, |run, row, _| {
                    let by = offsets.count(row)?.clamp(-rows::MAX_ROW_OFFSET, rows::MAX_ROW_OFFSET);
                    Ok(groups::shift_one(peers, run, row, by + behind))
                });
            }
            (ResolvedBound::KeyBy(_), OffsetSource::Offsets(offsets), _, Some((plan, key))) => {
                return for_each_row(partitions, rows, out, |run, row, hint| {
                    let edge = self.plan.edge(side);
                    let by = offsets.offset(plan, row, edge.search)?;
                    Ok(range::shift_one(plan, key, &by, edge, run, row, hint))
                });
            }
            _ => {
                return Err(Error::internal("a frame's section lacks what its plan needs"));
            }
        }
        Ok(())
    }
}

/// The start or end of the run, for any row.
#[inline(always)]
fn keep_run_bound(_: u32, edge: u32) -> u32 {
    edge
}

/// Writes `edge` for each of `rows`, given its partition, the row, and the previous result.
fn for_each_row(
    partitions: &RunIndex,
    rows: Range<usize>,
    out: &mut [u32],
    mut edge: impl FnMut(&Range<usize>, usize, usize) -> Result<u32>,
) -> Result<()> {
    let first = rows.start;
    partitions.try_for_each_run(rows, |run, piece| {
        let mut hint = piece.start;
        for row in piece {
            let at = edge(&run, row, hint)?;
            out[row - first] = at;
            hint = at as usize;
        }
        Ok(())
    })
}
