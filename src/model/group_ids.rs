//! The group number of each row.
//!
//! ```text
//!   rows    2 0 2 1 2           one number per row
//!   runs    [ 2: ..3 ][ 0: ..5 ]   rows 0 to 2 are of group 2, rows 3 and 4 of group 0
//! ```

use std::ops::Range;
use std::vec::IntoIter;

use crate::error::Result;
use crate::util::reserve;
use crate::util::simd::with_widest_vectors;
use crate::util::threads::Threads;

/// The minimum number of rows of a share, and the minimum per state that the share has.
const MIN_SHARE_ROWS: usize = 64 * 1024;
const SHARE_ROWS_PER_STATE: usize = 16;

/// The rows per state from which two shares pay off, if there are threads for them: merging costs one set of states.
/// The value was chosen by measurement, see docs/performance.md.
const TWO_SHARES_ROWS_PER_STATE: usize = 4;

/// With more shares, merging takes longer than it saves.
const MAX_SHARES: usize = 16;

/// Shares of sorted rows may have at most `1 / SHARED_GROUPS_FRACTION` of the groups in common.
const SHARED_GROUPS_FRACTION: usize = 8;

/// A share begins at a group's first row if there is one within this many rows: shares of sorted rows then have no
/// group in common.
const SPLIT_SEARCH_ROWS: usize = MIN_SHARE_ROWS / 16;

/// The partition number of each row.
#[derive(Debug)]
pub struct RowGroups {
    rows: usize,
    count: usize,
    of: GroupIds,
}

/// The representation of the numbers.
#[derive(Debug)]
pub(crate) enum GroupIds {
    /// A number per row.
    Rows(Vec<u32>),
    /// Runs of rows, from the first row to the last.
    Runs(Vec<GroupRun>),
}

/// Consecutive rows of one group, from the end of the previous run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupRun {
    /// The group's number.
    pub(crate) group: u32,
    /// The row after the last one.
    pub(crate) end: usize,
}

/// A share of the rows, and a range of groups that includes all groups of these rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupShare {
    pub(crate) rows: Range<usize>,
    pub(crate) groups: Range<usize>,
}

/// Merges the states of groups in later rows into those of the same groups in earlier rows, for the length of the first
/// argument.
type MergeGroups<'a, S> = &'a mut dyn FnMut(&mut [S], &mut IntoIter<S>) -> Result<()>;

impl RowGroups {
    /// The numbers.
    pub(crate) fn ids(&self) -> &GroupIds {
        &self.of
    }

    /// One number per row; all are below `count`.
    pub(crate) fn of_rows(of: Vec<u32>, count: usize) -> Self {
        Self { rows: of.len(), count, of: GroupIds::Rows(of) }
    }

    /// Runs, whose group numbers are below `count`.
    pub(crate) fn of_runs(runs: Vec<GroupRun>, count: usize) -> Self {
        Self { rows: runs.last().map_or(0, |run| run.end), count, of: GroupIds::Runs(runs) }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The number of groups: all group numbers are below it.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Whether the numbers are stored as runs.
    pub(crate) fn is_in_runs(&self) -> bool {
        matches!(self.of, GroupIds::Runs(_))
    }

    /// The number of rows of the largest group.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn largest_group(&self, threads: &Threads) -> Result<usize> {
        let count = |share: &GroupShare, counts: &mut [usize]| {
            threads.cancel().check()?;
            let (rows, first) = (share.rows.clone(), share.groups.start);
            match &self.of {
                GroupIds::Rows(of) => of[rows].iter().for_each(|&group| counts[group as usize - first] += 1),
                GroupIds::Runs(runs) => {
                    runs_within(runs, rows).for_each(|(group, run)| counts[group - first] += run.len());
                }
            }
            Ok(())
        };
        let mut add = |counts: &mut [usize], more: &mut IntoIter<usize>| {
            counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
            Ok(())
        };
        let counts = self.fold(self.shares(true, threads)?, &0, &count, &mut add, threads)?;
        Ok(counts.into_iter().max().unwrap_or(0))
    }

    /// Computes a state per group. `fill` adds a share of the rows to the states of its groups, `merge` adds states of
    /// later rows to those of earlier ones. Compiled once per type of state, not per function.
    ///
    /// # Errors
    /// The first error of `fill` or `merge`.
    pub(crate) fn fold<S: Clone + Send + Sync>(
        &self,
        shares: Vec<GroupShare>,
        init: &S,
        fill: &(dyn Fn(&GroupShare, &mut [S]) -> Result<()> + Send + Sync),
        merge: MergeGroups<S>,
        threads: &Threads,
    ) -> Result<Vec<S>> {
        let filled = threads.map(shares, |share: GroupShare| {
            let mut states = reserve::repeated(init.clone(), share.groups.len())?;
            fill(&share, &mut states)?;
            Ok((share.groups.start, states))
        })?;
        let mut all = Vec::new();
        for (first, states) in filled {
            if all.is_empty() && states.len() == self.count {
                all = states;
                continue;
            }
            let more = self.count - all.len();
            reserve::reserve(&mut all, more)?;
            if all.len() < first {
                all.resize(first, init.clone());
            }
            let mut states = states.into_iter();
            // The earlier state must be on the left. `merge` takes as many states as there already are; `extend`
            // appends the rest.
            merge(&mut all[first..], &mut states)?;
            all.extend(states);
        }
        let more = self.count - all.len();
        reserve::reserve(&mut all, more)?;
        all.resize(self.count, init.clone());
        Ok(all)
    }

    /// The shares, if no two have a group in common, with their group ranges extended to cover all groups, also those
    /// without rows.
    pub(crate) fn disjoint_shares(&self, shares: &[GroupShare]) -> Option<Vec<GroupShare>> {
        let mut end = 0;
        let mut disjoint = Vec::with_capacity(shares.len());
        for GroupShare { rows, groups } in shares {
            if groups.start < end {
                return None;
            }
            let last = disjoint.len() + 1 == shares.len();
            let groups = end..if last { self.count } else { groups.end };
            end = groups.end;
            disjoint.push(GroupShare { rows: rows.clone(), groups });
        }
        Some(disjoint)
    }

    /// Cuts the rows into as many shares as pay for states of their own. The cut depends on the rows and not on the
    /// number of threads, unless `exact`: merging then gives the same states for any cut.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn shares(&self, exact: bool, threads: &Threads) -> Result<Vec<GroupShare>> {
        let most = (self.rows / MIN_SHARE_ROWS).clamp(1, MAX_SHARES);
        // This many pay even if each share has states of all groups.
        let per_state = self.rows / self.count.max(1);
        let shares = (per_state / SHARE_ROWS_PER_STATE).clamp(1, most);
        let cut =
            |count: usize| (0..count).map(move |share| self.rows * share / count..self.rows * (share + 1) / count);
        if shares < most {
            let near = |Range { start, end }| self.next_group_start(start)..self.next_group_start(end);
            let found = threads.map(cut(most).map(near).collect(), |rows| {
                threads.cancel().check()?;
                Ok(GroupShare { groups: self.group_range(rows.clone()), rows })
            })?;
            if found.iter().map(|share| share.groups.len()).sum::<usize>()
                <= self.count + self.count / SHARED_GROUPS_FRACTION
            {
                return Ok(found);
            }
        }
        let shares = match threads.ranges(&(0..self.rows)).len() {
            _ if !exact => shares,
            1 => 1,
            _ if per_state < TWO_SHARES_ROWS_PER_STATE => shares,
            _ => shares.max(most.min(2)),
        };
        Ok(cut(shares).map(|rows| GroupShare { rows, groups: 0..self.count }).collect())
    }

    /// The next row at which a group begins, if it is near `row`, else `row`.
    fn next_group_start(&self, row: usize) -> usize {
        let Some(before) = row.checked_sub(1) else { return row };
        let same = match &self.of {
            GroupIds::Rows(of) => {
                of[row..].iter().take(SPLIT_SEARCH_ROWS).take_while(|&&group| group == of[before]).count()
            }
            GroupIds::Runs(runs) => runs[runs.partition_point(|run| run.end <= before)].end - row,
        };
        if same < SPLIT_SEARCH_ROWS { row + same } else { row }
    }

    /// The range of group numbers of `rows`.
    fn group_range(&self, rows: Range<usize>) -> Range<usize> {
        let ends = |(least, most): (u32, u32), &group: &u32| (least.min(group), most.max(group));
        let (least, most) = match &self.of {
            GroupIds::Rows(of) => {
                let of = &of[rows];
                with_widest_vectors(
                    #[inline(always)]
                    || of.iter().fold((u32::MAX, 0), ends),
                )
            }
            GroupIds::Runs(runs) => {
                runs_within(runs, rows).fold((u32::MAX, 0), |found, (group, _)| ends(found, &(group as u32)))
            }
        };
        if least > most { 0..0 } else { least as usize..most as usize + 1 }
    }

    /// The number of runs of equal group number among `rows`.
    pub(crate) fn count_runs(&self, rows: &Range<usize>) -> usize {
        match &self.of {
            GroupIds::Rows(of) => 1 + of[rows.clone()].windows(2).filter(|pair| pair[0] != pair[1]).count(),
            GroupIds::Runs(runs) => runs_within(runs, rows.clone()).count(),
        }
    }

    /// Calls `f` with the group number and the row number of each of `rows`.
    ///
    /// # Errors
    /// The first error of `f`.
    #[inline(always)]
    pub(crate) fn try_for_each_row(
        &self,
        rows: Range<usize>,
        mut f: impl FnMut(usize, usize) -> Result<()>,
    ) -> Result<()> {
        match &self.of {
            GroupIds::Rows(of) => {
                of[rows.clone()].iter().zip(rows).try_for_each(|(&group, row)| f(group as usize, row))
            }
            GroupIds::Runs(runs) => {
                runs_within(runs, rows).try_for_each(|(group, run)| run.into_iter().try_for_each(|row| f(group, row)))
            }
        }
    }

    /// As [`RowGroups::try_for_each_row`], without errors.
    #[inline(always)]
    pub(crate) fn for_each_row(&self, rows: Range<usize>, mut f: impl FnMut(usize, usize)) {
        match &self.of {
            GroupIds::Rows(of) => of[rows.clone()].iter().zip(rows).for_each(|(&group, row)| f(group as usize, row)),
            GroupIds::Runs(runs) => runs_within(runs, rows).for_each(|(group, run)| run.for_each(|row| f(group, row))),
        }
    }

    /// Calls `f` with the group number and the rows of each run among `rows`.
    ///
    /// # Errors
    /// The first error of `f`.
    #[inline]
    pub(crate) fn for_each_run(
        &self,
        rows: Range<usize>,
        mut f: impl FnMut(usize, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let of = match &self.of {
            GroupIds::Rows(of) => of,
            GroupIds::Runs(runs) => return runs_within(runs, rows).try_for_each(|(group, run)| f(group, run)),
        };
        let mut begin = rows.start;
        while begin < rows.end {
            let group = of[begin];
            let length = of[begin + 1..rows.end].iter().take_while(|other| **other == group).count() + 1;
            f(group as usize, begin..begin + length)?;
            begin += length;
        }
        Ok(())
    }
}

/// The runs that intersect `rows`, cut to `rows`, with their group numbers.
pub(crate) fn runs_within(
    runs: &[GroupRun],
    rows: Range<usize>,
) -> impl Iterator<Item = (usize, Range<usize>)> + Clone {
    let first = runs.partition_point(|run| run.end <= rows.start);
    let mut begin = rows.start;
    runs[first..].iter().map_while(move |run| {
        let run = (run.group as usize, begin..run.end.min(rows.end));
        begin = run.1.end;
        (!run.1.is_empty()).then_some(run)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::util::cancel::Cancel;

    /// Ten rows of group 2, one of 0, none of 1, and so on.
    fn both() -> [RowGroups; 2] {
        let mut runs = Vec::new();
        let mut rows = Vec::new();
        for (group, times) in [(2, 10), (0, 1), (3, 140_000), (0, 64), (4, 1), (2, 3)] {
            rows.resize(rows.len() + times, group);
            runs.push(GroupRun { group, end: rows.len() });
        }
        [RowGroups::of_rows(rows, 5), RowGroups::of_runs(runs, 5)]
    }

    #[test]
    fn runs_match_row_ids() {
        let threads = Threads::new(2, &Cancel::default());
        let [by_rows, by_runs] = both();
        let all = by_rows.rows();
        assert_eq!((by_runs.rows(), by_runs.count()), (all, 5));
        assert_eq!(by_rows.largest_group(&threads).unwrap(), 140_000);
        assert_eq!(by_runs.largest_group(&threads).unwrap(), 140_000);
        assert_eq!(by_rows.shares(false, &threads).unwrap(), by_runs.shares(false, &threads).unwrap());
        for rows in [0..all, 0..1, 5..5, 9..11, 10..11, 11..12, 3..80_000, 70_000..140_060, all - 3..all, all..all] {
            let runs_of = |groups: &RowGroups| {
                let mut runs = Vec::new();
                groups
                    .for_each_run(rows.clone(), |group, run| {
                        runs.push((group, run));
                        Ok(())
                    })
                    .unwrap();
                runs
            };
            let mask_of = |groups: &RowGroups| {
                let mut of = Vec::new();
                groups.for_each_row(rows.clone(), |group, row| of.push((group, row)));
                of
            };
            assert_eq!(runs_of(&by_rows), runs_of(&by_runs), "{rows:?}");
            assert_eq!(mask_of(&by_rows), mask_of(&by_runs), "{rows:?}");
            assert_eq!(runs_of(&by_runs).len(), by_runs.count_runs(&rows), "{rows:?}");
            if !rows.is_empty() {
                assert_eq!(by_rows.count_runs(&rows), by_runs.count_runs(&rows), "{rows:?}");
            }
        }
    }

    /// Sorted rows, reversed rows, unsorted rows, and rows of few groups; some groups have no rows.
    #[test]
    fn shares_merge_in_row_order() {
        let rows = 5 * MIN_SHARE_ROWS as u32;
        let threads = Threads::new(2, &Cancel::default());
        let all = |of: fn(u32) -> u32| (0..rows).map(of).collect::<Vec<_>>();
        let orders = [
            ("in order", all(|row| row / 5 * 2), true),
            ("backwards", all(|row| 5 * MIN_SHARE_ROWS as u32 - row), true),
            ("scattered", all(|row| row.wrapping_mul(2_654_435_761) >> 14), false),
            ("few", all(|row| (row % 9).pow(2) % 7), true),
            ("one", all(|_| 0), true),
        ];
        for (order, of, shared) in orders {
            let count = of.iter().max().map_or(0, |most| *most as usize + 3);
            let groups = RowGroups::of_rows(of.clone(), count);
            assert_eq!(groups.shares(false, &threads).unwrap().len() > 1, shared, "{order}");
            let fill = |share: &GroupShare, states: &mut [Vec<usize>]| {
                groups.for_each_row(share.rows.clone(), |group, row| states[group - share.groups.start].push(row));
                Ok(())
            };
            let mut merge = |rows: &mut [Vec<usize>], later: &mut IntoIter<Vec<usize>>| {
                rows.iter_mut().zip(later).for_each(|(rows, later)| rows.extend(later));
                Ok(())
            };
            let mut expected = vec![Vec::new(); count];
            of.iter().zip(0..).for_each(|(&group, row)| expected[group as usize].push(row));
            assert_eq!(
                groups.fold(groups.shares(false, &threads).unwrap(), &Vec::new(), &fill, &mut merge, &threads).unwrap(),
                expected,
                "{order}"
            );
            let disjoint = groups.disjoint_shares(&groups.shares(false, &threads).unwrap());
            assert_eq!(disjoint.is_some(), matches!(order, "in order" | "scattered"), "{order}");
            for share in disjoint.into_iter().flatten() {
                let of_share = share.rows.clone().all(|row| share.groups.contains(&(of[row] as usize)));
                assert!(of_share, "{order}: {share:?}");
            }
            assert_eq!(groups.largest_group(&threads).unwrap(), expected.iter().map(Vec::len).max().unwrap());
        }
        let none = RowGroups::of_rows(vec![], 0);
        assert_eq!(none.largest_group(&threads).unwrap(), 0);
    }
}
