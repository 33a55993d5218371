//! Evaluation of a whole batch: one sort per order, parallel evaluation, results in input order.
//!
//! ```text
//!   order      7 2 5 | 0 6 | 4 1 3 8      blocks of whole partitions, one thread per block
//!   gather  -> evaluate all calls -> write back, while the block is in the cache
//! ```
//!
//! Calls with one result per partition are evaluated without a sort, where the order of the rows does not affect the
//! result or only determines the first and last row. Frames by a number of rows that covers every partition count as
//! such; where only some partitions are that short, their blocks use the cheaper plan for whole-partition frames.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, NullArray, RecordBatch, RecordBatchOptions};
use arrow_schema::DataType;

use super::build;
use super::columns::{check_schema, column_of, columns_of, put, sort_columns};
use super::ranges::{ROWS_PER_BLOCK, ranges};
use crate::catalog::function::{OrderSensitivity, WindowOrder};
use crate::error::{Error, Result};
use crate::grouping::{assign, cluster};
use crate::model::carry::Carry;
use crate::model::group_ids::RowGroups;
use crate::model::section::Section;
use crate::permute::column_reader::ColumnReader;
use crate::permute::decluster::DeclusterPlan;
use crate::permute::{broadcast, gather};
use crate::plan::planned::{Plan, PlannedArg, PlannedCall, PlannedOrder};
use crate::sort::boundaries;
use crate::sort::sort_column::SortColumn;
use crate::sort::sort_to_indices::{self, SortedIndices};
use crate::util::boundaries::Boundaries;
use crate::util::cancel::Cancel;
use crate::util::reserve;
use crate::util::threads::Threads;

/// Try the plan for whole-partition frames only if the mean partition length is at most 1/this of the limit.
const CHECKED_LENGTH_FRACTION: usize = 2;

/// The estimated bytes per row of building a column of variable width, without its values: a row number and offsets.
const VARIABLE_WIDTH_BYTES: usize = 24;

/// The maximum bytes per row and pass that are declustered at one time: one 64-bit value read and one written.
const MAX_DECLUSTERED_BYTES: usize = 16;

impl Plan {
    /// Evaluates the calls for all rows of `batch`; the results are in the order of the rows.
    ///
    /// Cost: one sort per distinct order in which the rows are not yet, then the cost of each call's strategy.
    ///
    /// # Errors
    /// Results that do not fit their type, values that cannot be converted, a batch of another schema.
    pub fn compute(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        self.compute_until(batch, &Cancel::default())
    }

    /// The rows of `batch` with one more column for each call, computed as by [`Plan::compute`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use windrow::arrow_array::{ArrayRef, Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
    /// use windrow::{Options, Plan, WindowSpec, calls::sum};
    ///
    /// let batch = RecordBatch::try_from_iter([("level", Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef)])?;
    /// let spec = WindowSpec::new().call(sum("level").alias("total"));
    /// let plan = Plan::new(batch.schema(), &[spec], Options::default())?;
    /// let rows = plan.append(&batch)?;
    /// assert_eq!(rows["total"].as_primitive::<Int64Type>().values(), &[3, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for `compute`.
    pub fn append(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let results = self.compute(batch)?;
        let columns = batch.columns().iter().chain(results.columns()).cloned().collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(self.appended_schema(), columns, &options)?)
    }

    /// As [`Plan::compute`], but stops early if `cancel` is set.
    ///
    /// # Errors
    /// As for `compute`, and [`crate::ErrorKind::Cancelled`].
    pub fn compute_until(&self, batch: &RecordBatch, cancel: &Cancel) -> Result<RecordBatch> {
        compute(self, batch, cancel)
    }
}

/// Evaluates the calls for the rows of `batch`.
fn compute(plan: &Plan, batch: &RecordBatch, cancel: &Cancel) -> Result<RecordBatch> {
    check_schema(plan, batch.schema_ref())?;
    reserve::probe_start(batch.num_rows())?;
    let threads = Threads::new(plan.options.threads, cancel)
        .with_spread(plan.options.spread_threads)
        .limited_to_rows(batch.num_rows());
    let wide = plan.with_entire_frames();
    let mut results: Vec<Option<ArrayRef>> = vec![None; plan.calls.len()];
    for (number, order) in plan.orders.iter().enumerate() {
        let columns: Vec<_> = order.columns.iter().map(|&column| batch.column(column).clone()).collect();
        let work = OrderBatch { plan, wide: wide.as_ref(), order, columns, rows: batch.num_rows(), threads: &threads };
        let passes =
            plan.passes.iter().map(Vec::as_slice).filter(|pass| plan.first_call(pass).order == number).collect();
        let left = work.answer_by_group(passes, &mut results)?;
        work.sort_and_evaluate(left, &mut results)?;
    }
    let columns = results.into_iter().map(|column| column.ok_or_else(|| Error::internal("a call was not answered")));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(plan.output_schema().clone(), columns.collect::<Result<_>>()?, &options)?)
}

/// Call indices, grouped by pass.
type Passes<'a> = Vec<&'a [usize]>;

/// All rows, for the passes of one of the plan's orders.
struct OrderBatch<'a> {
    plan: &'a Plan,
    /// The plan for partitions so short that no frame ends within them.
    wide: Option<&'a Plan>,
    order: &'a PlannedOrder,
    /// The order's columns, in input order.
    columns: Vec<ArrayRef>,
    rows: usize,
    threads: &'a Threads,
}

impl<'a> OrderBatch<'a> {
    /// Evaluates `passes` by partition number without sorting, where that is possible; returns the remaining passes.
    fn answer_by_group(&self, passes: Passes<'a>, results: &mut [Option<ArrayRef>]) -> Result<Passes<'a>> {
        if passes.is_empty() {
            return Ok(passes);
        }
        let keys: Vec<_> = self.order.partition_by.iter().map(|&place| self.columns[place].clone()).collect();
        let Some((plan, groups)) = self.groups(&passes, &keys)? else {
            return Ok(passes);
        };
        let order = sort_columns(self.order, &self.columns);
        // The evaluators read columns only, not boundaries.
        let boundaries = Boundaries::single(self.rows);
        let section = Section::whole(boundaries.clone(), boundaries, self.columns.clone())?;
        let mut left = Vec::new();
        for pass in passes {
            let answer = || {
                if plan.first_call(pass).grouped.is_none() {
                    return Ok(None);
                }
                let evaluator = build::evaluator(plan, pass, &section, groups.is_in_runs(), self.threads)?;
                let Some(values) = evaluator.evaluate_groups(&groups, &order, self.threads)? else { return Ok(None) };
                let spread = |values| broadcast::broadcast(&groups, values, self.threads);
                columns_of(pass.len(), values).into_iter().map(spread).collect::<Result<Vec<_>>>().map(Some)
            };
            match answer().map_err(|error| error.of_call(&plan.first_call(pass).display))? {
                Some(columns) => pass.iter().zip(columns).for_each(|(&call, column)| results[call] = Some(column)),
                None => left.push(pass),
            }
        }
        Ok(left)
    }

    /// The partition number of each row, and the plan under which at least one call has one result per partition.
    fn groups(&self, passes: &[&[usize]], keys: &[ArrayRef]) -> Result<Option<(&'a Plan, RowGroups)>> {
        let worth = |plan: &Plan| passes.iter().any(|pass| plan.first_call(pass).grouped.is_some());
        if worth(self.plan) {
            let groups = assign::assign_group_ids(keys, self.rows, 0, self.threads)?;
            return Ok(groups.map(|groups| (self.plan, groups)));
        }
        let Some(wide) = self.wide.filter(|wide| worth(wide)) else { return Ok(None) };
        let most = passes.iter().map(|pass| self.max_partition_rows(pass)).min().unwrap_or(0);
        // Numbering pays only if the sort is then skipped, so a sample decides first; sorted rows need no numbers.
        if !assign::is_scattered(keys, self.rows)? {
            return Ok(None);
        }
        let Some(groups) =
            assign::assign_group_ids(keys, self.rows, CHECKED_LENGTH_FRACTION * (self.rows / most), self.threads)?
        else {
            return Ok(None);
        };
        Ok((groups.largest_group(self.threads)? <= most).then_some((wide, groups)))
    }

    /// The maximum partition length for which no frame of the pass ends within the partition.
    fn max_partition_rows(&self, pass: &[usize]) -> usize {
        self.plan.first_call(pass).frame.with_entire_frame().map_or(usize::MAX, |(_, most)| most)
    }

    /// Sorts the rows and evaluates `passes` over the sorted rows.
    fn sort_and_evaluate(&self, passes: Passes<'a>, results: &mut [Option<ArrayRef>]) -> Result<()> {
        if passes.is_empty() {
            return Ok(());
        }
        let calls: Vec<_> = passes.iter().map(|pass| self.plan.first_call(pass)).collect();
        let sorted = self.sort(&calls)?;
        let (blockwise, others): (Passes, Passes) = passes.into_iter().partition(|pass| self.in_blocks(pass));
        self.answer(&sorted, blockwise, sorted.blocks(), results)?;
        self.answer(&sorted, others, std::iter::once(0..self.rows).collect(), results)
    }

    /// Whether a pass is evaluated block by block. User code is called from one thread at a time, and strings and
    /// nested results would have to be concatenated, so these are not.
    fn in_blocks(&self, pass: &[usize]) -> bool {
        let fixed = |&call: &usize| self.plan.calls[call].signature.output.primitive_width().is_some();
        self.plan.first_call(pass).user.is_none() && pass.iter().all(fixed)
    }

    /// Evaluates `passes` in blocks of whole partitions, each while its rows are in the cache.
    fn answer(
        &self,
        sorted: &SortedInput,
        passes: Passes<'a>,
        mut blocks: Vec<Range<usize>>,
        results: &mut [Option<ArrayRef>],
    ) -> Result<()> {
        if passes.is_empty() {
            return Ok(());
        }
        // The calls of a pass read the same columns over the same frames.
        let calls: Vec<_> = passes.iter().map(|pass| self.plan.first_call(pass)).collect();
        let read = columns_read_by(self.order, &calls);
        let (decluster, column_bytes) = self.decluster_plan(sorted, &blocks, &passes, &read)?.unzip();
        let (order, decluster) = (sorted.order.as_deref(), decluster.as_ref());
        let wanted = read.iter().map(|&place| self.columns[place].clone()).collect();
        let source = ColumnReader::new(wanted, order, decluster, column_bytes.unwrap_or(0), self.threads)?;
        let column = |&call: &usize| column_of(self.plan, call, self.rows, order, decluster, self.threads);
        let columns = passes.iter().map(|pass| pass.iter().map(column).collect());
        let columns = columns.collect::<Result<Vec<Vec<_>>>>()?;
        if blocks.len() > 1 || self.threads.ranges(&(0..self.rows)).len() > 1 {
            let pieces = calls.iter().zip(&columns).filter(|(call, _)| call.user.is_none());
            let bytes = self.result_bytes(&passes) * self.rows;
            pieces.flat_map(|(_, columns)| columns).try_for_each(|column| column.expect_chunks(bytes))?;
        }
        // Large partitions first, so that none of them starts last while the other threads run out of work.
        blocks.sort_by_key(|block| Reverse(block.len().max(2 * ROWS_PER_BLOCK)));
        self.threads.map(blocks, |block| {
            self.threads.cancel().check()?;
            // One large partition uses all threads.
            let threads = &self.threads.for_rows(block.len());
            let section = self.section(sorted, &block, (&read, &source), threads)?;
            let longest = self.wide.map_or(usize::MAX, |_| section.partitions.longest_run());
            for ((pass, call), columns) in passes.iter().zip(&calls).zip(&columns) {
                let plan = self.wide.filter(|_| longest <= self.max_partition_rows(pass)).unwrap_or(self.plan);
                let found = |begin, answer| put(columns, block.start + begin, answer);
                evaluate(plan, pass, &section, threads, found).map_err(|error| error.of_call(&call.display))?;
            }
            Ok(())
        })?;
        for (pass, columns) in passes.into_iter().zip(columns) {
            for (&call, column) in pass.iter().zip(columns) {
                results[call] = Some(column.finish(self.threads)?);
            }
        }
        Ok(())
    }

    /// The decluster plan for the order of the rows, if `passes` read and write enough bytes for it to pay, and how
    /// many bytes per row of the columns read may be declustered at one time.
    fn decluster_plan(
        &self,
        sorted: &SortedInput,
        blocks: &[Range<usize>],
        passes: &Passes,
        read: &[usize],
    ) -> Result<Option<(DeclusterPlan, usize)>> {
        let answered = self.result_bytes(passes);
        let all = answered + read.iter().map(|&place| width(self.columns[place].data_type())).sum::<usize>();
        let (Some(order), Some(column_bytes)) =
            (&sorted.order, (MAX_DECLUSTERED_BYTES * passes.len()).checked_sub(answered))
        else {
            return Ok(None);
        };
        let decluster = DeclusterPlan::if_faster(order, blocks, all * self.rows, self.threads)?;
        Ok(decluster.map(|decluster| (decluster, column_bytes)))
    }

    /// The bytes per row of the results of `passes`, counting types of fixed width.
    fn result_bytes(&self, passes: &Passes) -> usize {
        passes.iter().copied().flatten().map(|&call| width(&self.plan.calls[call].signature.output)).sum()
    }

    /// Some sorted rows, whole partitions, as a section with the columns `read`, which `source` provides.
    fn section(
        &self,
        sorted: &SortedInput,
        rows: &Range<usize>,
        (read, source): (&[usize], &ColumnReader),
        threads: &Threads,
    ) -> Result<Section> {
        // Unread columns are Null arrays of the right length; reading one fails with a type error.
        let nothing: ArrayRef = Arc::new(NullArray::new(rows.len()));
        let mut columns = vec![nothing; self.columns.len()];
        for (&place, column) in read.iter().zip(source.read(rows, threads)?) {
            columns[place] = column;
        }
        Section::whole(sorted.partitions.slice(rows.clone()), sorted.peers.slice(rows.clone()), columns)
    }

    /// Sorts the rows and finds their boundaries.
    fn sort(&self, calls: &[&PlannedCall]) -> Result<SortedInput> {
        let Self { order, ref columns, rows, threads, .. } = *self;
        let partition: Vec<_> = order.partition_by.iter().map(|&place| columns[place].clone()).collect();
        if partition.is_empty() && order.order_by.is_empty() {
            let boundaries = Boundaries::single(rows);
            return Ok(SortedInput { order: None, partitions: boundaries.clone(), peers: boundaries });
        }
        if order.order_by.is_empty() {
            let grouped = cluster::cluster_on(&partition, threads)?;
            let keys = match &grouped {
                Some(order) => gather::gather_on(&partition, order, threads)?,
                None => partition,
            };
            let boundaries = Boundaries::new(boundaries::find_boundaries(&keys, rows, None)?);
            return Ok(SortedInput { order: grouped, partitions: boundaries.clone(), peers: boundaries });
        }
        let leading = partition.len();
        let mut keys: Vec<_> = partition.into_iter().map(SortColumn::ascending).collect();
        keys.extend(sort_columns(order, columns));
        let asked = if calls.iter().any(|call| reads_peers(call)) { vec![leading, keys.len()] } else { vec![leading] };
        let SortedIndices { order, starts } = sort_to_indices::sort_with_boundaries(&keys, &asked, threads)?;
        let mut boundaries = starts.into_iter().map(Boundaries::new);
        let partitions = boundaries.next().ok_or_else(|| Error::internal("the sort returned no partitions"))?;
        // If no call reads peer groups, they are not searched for: each partition is one peer group.
        let peers = boundaries.next().unwrap_or_else(|| partitions.clone());
        Ok(SortedInput { order, partitions, peers })
    }
}

/// Evaluates a pass over all rows of a section, and calls `found` with each piece of results and its first row.
fn evaluate(
    plan: &Plan,
    pass: &[usize],
    section: &Section,
    threads: &Threads,
    found: impl Fn(usize, ArrayRef) -> Result<()> + Send + Sync,
) -> Result<()> {
    let (evaluator, frames) = plan.pass_evaluator(pass, section, 0, threads)?;
    let (carry, cancel) = (Carry::default(), threads.cancel());
    let evaluate = |rows: Range<usize>| found(rows.start, evaluator.evaluate(&frames, rows, &carry, cancel)?);
    let ranges = ranges(plan.first_call(pass), &section.own, threads);
    // Arrow kernels allocate the result columns and abort if they cannot, so probe the allocation first.
    let width = |&call: &usize| plan.calls[call].signature.output.primitive_width().unwrap_or(VARIABLE_WIDTH_BYTES) + 1;
    if section.own.len() > 2 * ROWS_PER_BLOCK {
        reserve::probe(section.own.len() * pass.iter().map(width).sum::<usize>())?;
    }
    if ranges.len() > 1 {
        evaluator.check_size(&frames, &section.own, threads)?;
    }
    threads.map(ranges, evaluate).map(drop)
}

/// Sorted rows.
struct SortedInput {
    /// Their row numbers; `None` if the input is already sorted.
    order: Option<Vec<u32>>,
    partitions: Boundaries,
    peers: Boundaries,
}

impl SortedInput {
    /// The rows in blocks of whole partitions; at least one block.
    fn blocks(&self) -> Vec<Range<usize>> {
        let blocks = self.partitions.blocks(ROWS_PER_BLOCK);
        if blocks.is_empty() { std::iter::once(0..0).collect() } else { blocks }
    }
}

/// The bytes of a value of fixed width; 0 for other types.
fn width(data_type: &DataType) -> usize {
    data_type.primitive_width().unwrap_or(0)
}

/// Whether the call's results depend on peer groups.
fn reads_peers(call: &PlannedCall) -> bool {
    let ranks = call.function.order_sensitivity == OrderSensitivity::Peers || call.ranks_by_method();
    ranks || call.frame.needs_peers()
}

/// The indices of the order's columns that `calls` read over sorted rows.
fn columns_read_by(order: &PlannedOrder, calls: &[&PlannedCall]) -> Vec<usize> {
    let mut read = Vec::new();
    for call in calls {
        read.extend(call.args.iter().filter_map(|arg| match arg {
            PlannedArg::Column(place) => Some(*place),
            PlannedArg::Distance(distance) => Some(distance.column()),
            PlannedArg::Literal(_) => None,
        }));
        read.extend(call.filter);
        read.extend(call.argument_order.iter().map(|key| key.number));
        read.extend(call.frame.columns());
        let reads_key = call.held || call.ranks_by_method() || call.ages_by_time();
        if call.function.window_order == WindowOrder::Linear || reads_key {
            read.extend(order.order_by.iter().map(|key| key.number));
        }
    }
    read.sort_unstable();
    read.dedup();
    read
}
