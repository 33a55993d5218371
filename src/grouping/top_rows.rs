//! The first rows of each group in a given order, without sorting all rows: what a limit on a row number or rank keeps.
//!
//! ```text
//!   keys of a group   7 4 9 3 8 4      the first two
//!   best two words    7|7 4|7 4|.|4 3|.|4 3|.
//!   candidates        7 4   3   4      at the end those up to the second word, 4: 4 3 4
//! ```
//!
//! Each group keeps its best words, sorted. A row whose word is not worse than the last of them is a candidate; at the
//! end the candidates are compared with the final words. Most rows cost one comparison. Cost: three passes over each
//! key column; `most` words per group and share, 24 bytes per candidate. Of rows in the opposite order all are
//! candidates. The idea is that of a bounded heap per group (as in DuckDB's `arg_min(x, y, n)`); a sorted array is
//! simpler and as fast for a few rows per group.

use crate::error::Result;
use crate::model::group_ids::{GroupShare, RowGroups};
use crate::sort::key_layout::KeyLayout;
use crate::sort::normalized_key::{self, KEYS_PER_BLOCK, SortWord};
use crate::sort::sort_column::SortColumn;
use crate::sort::sort_to_indices::{check_rows, rank_dictionaries};
use crate::util::reserve;
use crate::util::threads::Threads;

/// A word is inserted into a sorted array, so there may be few of them in each group.
const MOST_WORDS: usize = 1024;

/// Best words for more than one of this many rows save little over sorting.
const ROWS_PER_WORD: usize = 4;

/// What is counted up to the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Rows, those with equal keys in input order: `row_number() <= n`.
    Rows,
    /// Rows before a row's peers: `rank() <= n`.
    Peers,
    /// Different keys: `dense_rank() <= n`.
    Values,
}

/// The rows, ascending, that may be among the first `most` of their group: all that are, and few others. `None` if
/// there would be too many.
///
/// # Errors
/// A type without an order; more than `u32::MAX` rows; cancellation.
pub(crate) fn top_rows(
    groups: &RowGroups,
    keys: &[SortColumn],
    most: usize,
    counted: Counted,
    threads: &Threads,
) -> Result<Option<Vec<u32>>> {
    check_rows(groups.rows())?;
    let words = groups.count().saturating_mul(most);
    if most == 0 || most > MOST_WORDS || words > groups.rows() / ROWS_PER_WORD {
        return Ok(None);
    }
    let layout = KeyLayout::new(&rank_dictionaries(keys, threads)?, groups.rows(), threads)?;
    let found = if layout.bits <= u64::BITS {
        top_rows_of::<u64>(groups, &layout, most, counted, threads)?
    } else {
        top_rows_of::<u128>(groups, &layout, most, counted, threads)?
    };
    Ok(Some(found))
}

/// The best words of a range of groups.
struct Best<W> {
    most: usize,
    words: Vec<W>,
    lengths: Vec<u32>,
    /// The last of a group's words if it has `most`, else the highest word.
    last: Vec<W>,
}

/// A row that was among the first so far.
struct Candidate<W> {
    word: W,
    group: u32,
    row: u32,
}

impl<W: SortWord> Best<W> {
    fn new(groups: usize, most: usize) -> Result<Self> {
        Ok(Self {
            most,
            words: reserve::repeated(W::default(), groups * most)?,
            lengths: reserve::repeated(0, groups)?,
            last: reserve::repeated(W::HIGHEST, groups)?,
        })
    }

    /// Adds a word that is not higher than the group's last one; whether its row is still among the first.
    fn add(&mut self, group: usize, word: W, counted: Counted) -> bool {
        let length = self.lengths[group] as usize;
        let words = &mut self.words[group * self.most..(group + 1) * self.most];
        let place = words[..length].partition_point(|other| *other <= word);
        if counted == Counted::Values && place > 0 && words[place - 1] == word {
            return true;
        }
        if place == self.most {
            return counted == Counted::Peers;
        }
        words.copy_within(place..length.min(self.most - 1), place + 1);
        words[place] = word;
        if length < self.most {
            self.lengths[group] += 1;
        }
        if length + 1 >= self.most {
            self.last[group] = words[self.most - 1];
        }
        true
    }

    /// Adds the words of later rows, whose groups begin at `first`.
    fn merge(&mut self, first: usize, later: &Self, counted: Counted) {
        for (number, &length) in later.lengths.iter().enumerate() {
            for &word in &later.words[number * self.most..][..length as usize] {
                if word <= self.last[first + number] {
                    self.add(first + number, word, counted);
                }
            }
        }
    }
}

fn top_rows_of<W: SortWord>(
    groups: &RowGroups,
    layout: &KeyLayout,
    most: usize,
    counted: Counted,
    threads: &Threads,
) -> Result<Vec<u32>> {
    // A word that holds a part of the keys orders rows by its bits up to that part; rows with equal words may differ.
    let surplus = layout.inexact.map_or(0, |inexact| inexact.bits_after);
    let counted = match counted {
        Counted::Rows if layout.inexact.is_some() => Counted::Peers,
        counted => counted,
    };
    let shares = threads.map(groups.shares(true, threads)?, |share: GroupShare| {
        let first = share.groups.start;
        let mut best = Best::<W>::new(share.groups.len(), most)?;
        let mut candidates = Vec::new();
        let mut words = [W::default(); KEYS_PER_BLOCK];
        for begin in share.rows.clone().step_by(KEYS_PER_BLOCK) {
            threads.cancel().check()?;
            let block = begin..share.rows.end.min(begin + KEYS_PER_BLOCK);
            reserve::grow(&mut candidates, block.len())?;
            normalized_key::write_words(&layout.fields, begin, &mut words[..block.len()]);
            groups.for_each_row(block, |group, row| {
                let word = words[row - begin] >> surplus;
                if word <= best.last[group - first] && best.add(group - first, word, counted) {
                    candidates.push(Candidate { word, group: group as u32, row: row as u32 });
                }
            });
        }
        Ok((first, best, candidates))
    })?;
    let mut best = Best::<W>::new(groups.count(), most)?;
    for (first, later, _) in &shares {
        best.merge(*first, later, counted);
    }
    let mut rows = reserve::with_capacity(shares.iter().map(|(_, _, candidates)| candidates.len()).sum())?;
    for (_, _, candidates) in shares {
        rows.extend(candidates.iter().filter(|c| c.word <= best.last[c.group as usize]).map(|c| c.row));
    }
    Ok(rows)
}
