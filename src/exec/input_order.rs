//! Checks that arriving batches continue the declared order.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::array_value_to_string;
use arrow_select::concat::concat;

use super::columns::{partitions_and_peers, sort_columns};
use crate::error::{Error, Remedy, Result};
use crate::plan::planned::{Plan, PlannedOrder};
use crate::sort::boundaries;
use crate::sort::key_bytes::KeyBytes;
use crate::util::bitmap::next_set;

/// Checks the order of consecutive batches.
#[derive(Debug)]
pub(crate) struct InputOrderCheck {
    order: PlannedOrder,
    /// The names of the partition keys, for messages.
    names: String,
    /// The last row of the previous batch: the order's columns.
    last: Option<Vec<ArrayRef>>,
    /// The number of rows checked so far.
    rows: u64,
    seen: Option<SeenPartitions>,
}

impl InputOrderCheck {
    /// A checker for rows of the plan's schema in `order`.
    ///
    /// # Errors
    /// A partition key whose type has no order.
    pub(crate) fn new(plan: &Plan, order: &PlannedOrder) -> Result<Self> {
        let seen = if order.partition_by.is_empty() { None } else { Some(SeenPartitions::new(plan, order)?) };
        Ok(Self { order: order.clone(), names: names(plan, order), last: None, rows: 0, seen })
    }

    /// Checks a batch that is not empty; returns whether a partition begins in it.
    ///
    /// # Errors
    /// A row out of order, identified by its number from 0, or a partition that appears again.
    pub(crate) fn check(&mut self, batch: &RecordBatch) -> Result<bool> {
        let order = &self.order;
        let arrived: Vec<_> = order.columns.iter().map(|&column| batch.column(column).clone()).collect();
        // With the previous batch's last row prepended, one search finds every boundary.
        let columns = match &self.last {
            None => arrived.clone(),
            // Only key columns are read.
            Some(last) => (0..arrived.len())
                .map(|place| {
                    if !order.is_key(place) {
                        return Ok(arrived[place].clone());
                    }
                    Ok(concat(&[last[place].as_ref(), arrived[place].as_ref()])?)
                })
                .collect::<Result<_>>()?,
        };
        let before = usize::from(self.last.is_some());
        let (partitions, _) = partitions_and_peers(order, &columns, before + batch.num_rows())?;
        let number = |row: usize| self.rows + (row - before) as u64;
        if let Some(row) = boundaries::first_descent(&sort_columns(order, &columns), &partitions)? {
            return Err(out_of_order(order, &columns, row, number(row)));
        }
        let mut begins = false;
        if let Some(seen) = &mut self.seen {
            let keys: Vec<_> = order.partition_by.iter().map(|&place| columns[place].clone()).collect();
            let mut at = before;
            while let Some(row) = next_set(partitions.starts(), at) {
                begins = true;
                if let Some(why) = seen.observe(&keys, row)? {
                    let key = show(order.partition_by.iter().map(|&place| &columns[place]), row);
                    return Err(Error::order(format!(
                        "row {}: the partition ({key}) {why}; group the input by {}",
                        number(row),
                        self.names
                    ))
                    .with_remedy(Remedy::SortInput));
                }
                at = row + 1;
            }
        }
        self.rows += batch.num_rows() as u64;
        self.last = Some(arrived.iter().map(|column| column.slice(column.len() - 1, 1)).collect());
        Ok(begins)
    }
}

/// The values of one row, for messages.
pub(crate) fn show<'a>(columns: impl Iterator<Item = &'a ArrayRef>, row: usize) -> String {
    let value = |column: &ArrayRef| {
        if column.is_null(row) { "NULL".into() } else { array_value_to_string(column, row).unwrap_or_default() }
    };
    columns.map(value).collect::<Vec<_>>().join(", ")
}

fn names(plan: &Plan, order: &PlannedOrder) -> String {
    let name = |&place: &usize| plan.schema().field(order.columns[place]).name().as_str();
    order.partition_by.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn out_of_order(order: &PlannedOrder, columns: &[ArrayRef], row: usize, number: u64) -> Error {
    let keys: Vec<_> = order.order_by.iter().map(|key| key.name.as_str()).collect();
    let values = |row| show(order.order_by.iter().map(|key| &columns[key.number]), row);
    let partition = match order.partition_by.as_slice() {
        [] => String::new(),
        places => format!(" in the partition ({})", show(places.iter().map(|&place| &columns[place]), row)),
    };
    Error::order(format!(
        "row {number}{partition} is out of order: {} = ({}) follows ({}); \
         order the input by {}",
        keys.join(", "),
        values(row),
        values(row - 1),
        keys.join(", "),
    ))
    .with_remedy(Remedy::SortInput)
}

/// Detects partitions that appear a second time.
///
/// Ascending partitions need no memory. Up to [`SeenPartitions::MAX_REMEMBERED_PARTITIONS`] hashes are kept while
/// partitions ascend; if one descends before that limit, every further partition costs 8 bytes.
#[derive(Debug)]
struct SeenPartitions {
    key_bytes: KeyBytes,
    last: Vec<u8>,
    ascending: bool,
    /// `None` once enough partitions have ascended that the rest must ascend too.
    hashes: Option<HashSet<u64>>,
    hasher: RandomState,
}

impl SeenPartitions {
    /// The number of ascending partitions after which the input is taken to be sorted.
    const MAX_REMEMBERED_PARTITIONS: usize = 64 * 1024;

    fn new(plan: &Plan, order: &PlannedOrder) -> Result<Self> {
        let types = order.partition_by.iter().map(|&place| plan.schema().field(order.columns[place]).data_type());
        Ok(Self {
            key_bytes: KeyBytes::new(types)?,
            last: Vec::new(),
            ascending: true,
            hashes: Some(HashSet::new()),
            hasher: RandomState::new(),
        })
    }

    /// Records the partition that begins at `row`; returns what is wrong with it, if anything.
    fn observe(&mut self, keys: &[ArrayRef], row: usize) -> Result<Option<&'static str>> {
        let keys: Vec<_> = keys.iter().map(|key| key.slice(row, 1)).collect();
        let rows = self.key_bytes.of(&keys)?;
        let key = rows.row(0);
        let descends = !self.last.is_empty() && key.as_ref() < self.last.as_slice();
        self.last.clear();
        self.last.extend_from_slice(key.as_ref());
        if descends {
            self.ascending = false;
        }
        match &mut self.hashes {
            None if descends => Ok(Some("comes after a greater one, and all before it ascended")),
            None => Ok(None),
            Some(hashes) => {
                // The probability of any hash collision among 10^9 partitions is about 1/40; a collision gives an
                // error, never a wrong result.
                if !hashes.insert(self.hasher.hash_one(key.as_ref())) {
                    return Ok(Some("comes a second time"));
                }
                if self.ascending && hashes.len() > Self::MAX_REMEMBERED_PARTITIONS {
                    self.hashes = None;
                }
                Ok(None)
            }
        }
    }
}
