//! The frames of one section.

use std::ops::Range;
use std::sync::Arc;

use super::block::Bounds;
use super::offset_column::PerRowValues;
use super::range_key::Key;
use super::range_offset::{Offset, Side};
use super::resolve::{Edge, FramePlan};
use super::{groups, range, rows};
use crate::error::{Error, Result};
use crate::model::section::Section;
use crate::util::run_index::Runs;
use crate::util::simd::widest;

/// A [`FramePlan`] over one [`Section`]; it owns cheap clones of what it needs.
#[derive(Debug, Clone)]
pub struct Frames {
    plan: FramePlan,
    own: Range<usize>,
    rows: usize,
    open: bool,
    /// Where UNBOUNDED PRECEDING is in the partition that holds row 0.
    base: usize,
    partitions: Runs,
    peers: Option<Runs>,
    key: Option<Key>,
    start: Given,
    end: Given,
}

/// What one end needs of the section besides its edges and key.
#[derive(Debug, Clone)]
enum Given {
    Nothing,
    /// Each row's own offset.
    Offsets(PerRowValues),
    /// Each row's end itself.
    Found(Arc<[u32]>),
}

impl Frames {
    /// The frames of `section`. In its first partition, if that began in an earlier section, a frame that begins
    /// at UNBOUNDED PRECEDING begins at row `base`.
    ///
    /// # Errors
    /// A column the section does not hold, or one whose values cannot be offsets.
    pub fn new(plan: &FramePlan, section: &Section, base: usize) -> Result<Self> {
        let key = plan.key.as_ref().map(|key| Key::new(key, section)).transpose()?;
        let partitions = Runs::new(&section.partitions);
        let given = |edge: &Edge, side: Side| match (edge, plan.key.as_ref().zip(key.as_ref())) {
            (Edge::Key(Offset::Calendar(step)), Some((plan, key))) => {
                range::positions(plan, key, *step, side, &partitions, section.rows).map(Given::Found)
            }
            _ => edge.per_row().map_or(Ok(Given::Nothing), |column| column.values(section).map(Given::Offsets)),
        };
        let (start, end) = (given(&plan.start, Side::Start)?, given(&plan.end, Side::End)?);
        Ok(Self {
            own: section.own.clone(),
            rows: section.rows,
            open: section.open,
            base: if section.continues() { base } else { 0 },
            peers: plan.needs_peers().then(|| Runs::new(&section.peers)),
            plan: plan.clone(),
            partitions,
            key,
            start,
            end,
        })
    }

    /// The frames of `rows` into `out`. Pure in `rows`; consecutive rows cost O(1) each, amortised.
    ///
    /// # Errors
    /// A per-row offset is NULL or NaN.
    pub fn fill(&self, rows: Range<usize>, out: &mut Bounds) -> Result<()> {
        out.begin.resize(rows.len(), 0);
        out.end.resize(rows.len(), 0);
        self.edge(Side::Start, rows.clone(), &mut out.begin)?;
        self.edge(Side::End, rows.clone(), &mut out.end)?;
        widest(
            #[inline(always)]
            || out.begin.iter().zip(&mut out.end).for_each(|(begin, end)| *end = (*end).max(*begin)),
        );
        out.peer_begin.clear();
        out.peer_end.clear();
        if let (Some(peers), true) = (&self.peers, self.plan.excludes_peers()) {
            out.peer_begin.resize(rows.len(), 0);
            out.peer_end.resize(rows.len(), 0);
            peers.begins(rows.clone(), &mut out.peer_begin, own);
            peers.ends(rows.clone(), &mut out.peer_end, own);
        }
        out.exclude = self.plan.frame().exclude;
        out.rows = rows;
        Ok(())
    }

    /// The first row whose frame may still change when more rows of an open section's last partition come.
    ///
    /// A frame is settled once a row behind it has been seen; with ROWS, once its last row has.
    #[must_use]
    pub fn settled(&self) -> usize {
        let Some(last) = self.rows.checked_sub(1).filter(|_| self.open) else {
            return self.own.end;
        };
        let first = self.partitions.begin(last).clamp(self.own.start, self.own.end);
        match &self.plan.end {
            Edge::Unbounded | Edge::RowsBy(_) | Edge::GroupsBy(_) | Edge::KeyBy(_) => first,
            Edge::Rows(by) => {
                let settled = (self.rows as i64 - by).clamp(first as i64, self.own.end as i64);
                settled as usize
            }
            Edge::Peers | Edge::Groups(_) | Edge::Key(_) => {
                let (mut low, mut high) = (first, self.own.end);
                while low < high {
                    let middle = low + (high - low) / 2;
                    if self.edge_of(Side::End, middle).is_some_and(|end| end < self.rows) {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                low
            }
        }
    }

    /// Whether the first frame begins in the section, which may go on.
    pub(crate) fn begun(&self) -> bool {
        self.edge_of(Side::Start, self.own.start).is_some_and(|begin| begin < self.rows)
    }

    /// The first row that must stay once the rows before `answered` have been answered: `answered` itself, or a
    /// row before it that a later frame needs. Where frames begin at UNBOUNDED PRECEDING a carry may stand for
    /// the rows before the result: they lie in every later frame, and EXCLUDE takes none of them out.
    #[must_use]
    pub fn release(&self, answered: usize) -> usize {
        let Some((last, partition)) = self.unfinished(answered) else {
            return answered;
        };
        let needed = match (&self.plan.start, &self.plan.end) {
            (start, _) if start.per_row().is_some() => Some(partition),
            (Edge::Unbounded, end) if end.per_row().is_some() => Some(partition),
            (Edge::Unbounded, _) => self.kept(Side::End, last, partition).map(|end| {
                let peers = self.peers.as_ref().filter(|_| self.plan.excludes_peers());
                peers.map_or(end, |peers| end.min(peers.begin(last)))
            }),
            _ => self.kept(Side::Start, last, partition),
        };
        needed.unwrap_or(partition).min(answered)
    }

    /// As [`Frames::release`], where no state can stand for rows: all that lie in later frames stay.
    #[must_use]
    pub fn release_without_carry(&self, answered: usize) -> usize {
        match self.unfinished(answered) {
            Some((_, partition)) if matches!(self.plan.start, Edge::Unbounded) => partition.min(answered),
            _ => self.release(answered),
        }
    }

    /// The last of the rows before `answered` and where its partition begins, if that goes on after it.
    fn unfinished(&self, answered: usize) -> Option<(usize, usize)> {
        let last = answered.checked_sub(1).filter(|last| *last < self.rows)?;
        let over = answered == self.rows && !self.open;
        if over || (answered < self.rows && self.partitions.begin(answered) == answered) {
            return None;
        }
        Some((last, self.partitions.begin(last)))
    }

    /// The first row that later frames need for where they begin or end.
    fn kept(&self, side: Side, last: usize, partition: usize) -> Option<usize> {
        let edge = self.edge_of(side, last)?;
        // By the calendar of a zone an end may owe its place to a row before: see `range::positions`.
        let found = |given: &Given| match given {
            Given::Found(found) => {
                let at = found[last];
                partition + found[partition..last].partition_point(|edge| *edge < at)
            }
            _ => edge,
        };
        Some(edge.min(found(&self.start)).min(found(&self.end)))
    }

    /// One end of one row's frame.
    fn edge_of(&self, side: Side, row: usize) -> Option<usize> {
        let mut out = [0];
        self.edge(side, row..row + 1, &mut out).ok()?;
        Some(out[0] as usize)
    }

    /// One end of the frames of `rows`.
    fn edge(&self, side: Side, rows: Range<usize>, out: &mut [u32]) -> Result<()> {
        let first = rows.start;
        let (edge, given) = match side {
            Side::Start => (&self.plan.start, &self.start),
            Side::End => (&self.plan.end, &self.end),
        };
        // Begins are a frame's first row, ends the row behind its last.
        let behind = i64::from(side == Side::End);
        let partitions = &self.partitions;
        match (edge, given, &self.peers, self.plan.key.as_ref().zip(self.key.as_ref())) {
            (Edge::Unbounded, ..) => match side {
                Side::Start => {
                    let base = self.base as u32;
                    partitions.begins(rows, out, move |_, begin| if begin == 0 { base } else { begin });
                }
                Side::End => partitions.ends(rows, out, own),
            },
            (Edge::Rows(by), ..) => rows::shift(partitions, rows, by + behind, out),
            (Edge::Peers, _, Some(peers), _) => match side {
                Side::Start => peers.begins(rows, out, own),
                Side::End => peers.ends(rows, out, own),
            },
            (Edge::Groups(by), _, Some(peers), _) => partitions.each(rows, |run, piece| {
                let out = &mut out[piece.start - first..piece.end - first];
                groups::shift(peers, &run, piece, by + behind, out);
            }),
            (Edge::Key(_), Given::Found(found), ..) => out.copy_from_slice(&found[rows]),
            (Edge::Key(by), _, _, Some((plan, key))) => range::shift(plan, key, by, side, partitions, rows, out),
            (Edge::RowsBy(_), Given::Offsets(offsets), ..) => {
                return each_row(partitions, rows, out, |run, row, _| {
                    Ok(rows::shift_one(row, offsets.count(row)?.saturating_add(behind), run))
                });
            }
            (Edge::GroupsBy(_), Given::Offsets(offsets), Some(peers), _) => {
                return each_row(partitions, rows, out, |run, row, _| {
                    let by = offsets.count(row)?.clamp(-rows::FAR, rows::FAR);
                    Ok(groups::shift_one(peers, run, row, by + behind))
                });
            }
            (Edge::KeyBy(_), Given::Offsets(offsets), _, Some((plan, key))) => {
                return each_row(partitions, rows, out, |run, row, hint| {
                    let by = offsets.offset(plan, row, side)?;
                    Ok(range::shift_one(plan, key, &by, side, run, row, hint))
                });
            }
            _ => {
                return Err(Error::internal("a frame's section lacks what its plan needs"));
            }
        }
        Ok(())
    }
}

/// The run's own edge, whichever the row.
#[inline(always)]
fn own(_: u32, edge: u32) -> u32 {
    edge
}

/// Writes `edge` of each of `rows`, given its partition, itself and the edge before.
fn each_row(
    partitions: &Runs,
    rows: Range<usize>,
    out: &mut [u32],
    mut edge: impl FnMut(&Range<usize>, usize, usize) -> Result<u32>,
) -> Result<()> {
    let first = rows.start;
    partitions.try_each(rows, |run, piece| {
        let mut hint = piece.start;
        for row in piece {
            let at = edge(&run, row, hint)?;
            out[row - first] = at;
            hint = at as usize;
        }
        Ok(())
    })
}
