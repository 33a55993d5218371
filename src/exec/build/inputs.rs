//! The arguments of a pass over a section, converted to the types that its functions read.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array};
use arrow_buffer::{NullBuffer, i256};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;

use crate::bounds::distance::KeyDistances;
use crate::catalog::argument::Role;
use crate::catalog::function::{NullHandling, RowsNeeded};
use crate::error::{Error, Remedy, Result};
use crate::evaluate::aggregate_evaluator::{evaluator_for_mergeable, evaluator_for_retractable};
use crate::evaluate::evaluator::Evaluator;
use crate::evaluate::multiset::distinct::{MergedDistinct, RetractedDistinct};
use crate::evaluate::multiset::distinct_sweep::DistinctSweep;
use crate::evaluate::multiset::sliding::{Multiset, MultisetFunction};
use crate::evaluate::multiset::value_codes::ValueCodes;
use crate::functions::aggregate::bool_and_or::BoolAggregate;
use crate::functions::positional::lag_lead::{LagLead, OffsetBy};
use crate::functions::positional::rank_with::{RankBy, TieMethod};
use crate::model::aggregate::{Aggregate, Retractable};
use crate::model::group_ids::GroupRun;
use crate::model::order_column::OrderColumn;
use crate::model::reach::Reach;
use crate::model::row_mask::RowMask;
use crate::model::section::Section;
use crate::permute::broadcast;
use crate::plan::planned::{Plan, PlannedArg, PlannedCall, lag_lead_offset, literal_i64};
use crate::sort::sort_column::SortColumn;
use crate::spec::call::Nulls;
use crate::spec::literal_array;
use crate::spec::strategy::Strategy;
use crate::util::civil::ticks_per_second;
use crate::util::data_types::decode;
use crate::util::reserve;
use crate::util::threads::Threads;

/// A pass's arguments over a section.
pub(super) struct Inputs<'a> {
    /// The calls to evaluate.
    pub(super) pass: Vec<&'a PlannedCall>,
    /// The first of them; all calls have the same arguments.
    pub(super) call: &'a PlannedCall,
    pub(super) section: &'a Section,
    pub(super) ansi: bool,
    /// Each row is folded once, mostly in runs of adjacent rows.
    pub(super) once: bool,
    pub(super) threads: &'a Threads,
    /// The window's order keys.
    pub(super) order_by: &'a [OrderColumn],
    /// The arguments, converted to the types that the function reads.
    pub(super) args: Vec<ArrayRef>,
    /// The rows that the function counts.
    pub(super) inclusion: RowMask,
    /// The rows that pass FILTER, NULL or not.
    pub(super) passing: RowMask,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(plan: &'a Plan, pass: &[usize], section: &'a Section, threads: &'a Threads) -> Result<Self> {
        let pass: Vec<_> = pass.iter().map(|&number| &plan.calls[number]).collect();
        let call = *pass.first().ok_or_else(|| Error::internal("a pass without a call"))?;
        let ansi = plan.options().ansi;
        let mut args = Vec::with_capacity(call.args.len());
        for (index, arg) in call.args.iter().enumerate() {
            // Parameters such as offsets and positions were read at planning time.
            if call.function.is_setting(index) {
                continue;
            }
            let column = match arg {
                PlannedArg::Column(place) => section.column(*place)?.clone(),
                // A constant default is not repeated per row: LagLead reads its index 0.
                PlannedArg::Literal(value) if call.function.index_of(Role::Default) == Some(index) => value.clone(),
                PlannedArg::Literal(value) => {
                    broadcast::broadcast_runs(value, &[GroupRun { group: 0, end: section.rows }], threads)?
                }
                PlannedArg::Distance(_) => return Err(Error::internal("a distance has no values")),
            };
            args.push(match call.signature.inputs.get(args.len()) {
                Some(input) => read_as(&column, input, ansi)?,
                None => column,
            });
        }
        let filter = match call.filter {
            Some(place) => Some(
                section.column(place)?.as_boolean_opt().ok_or_else(|| Error::internal("a filter is not boolean"))?,
            ),
            None => None,
        };
        let inclusion = RowMask::new(&values_of(call, &args), filter);
        let passing = RowMask::new(&[], filter);
        let order_by = &plan.orders[call.order].order_by;
        let inclusion = match held_keys(call, order_by, section)? {
            Some(keys) => inclusion.and(keys.inner()),
            None => inclusion,
        };
        Ok(Self { pass, call, section, ansi, once: false, threads, order_by, args, inclusion, passing })
    }

    /// The argument order's keys over the section.
    pub(super) fn argument_order(&self) -> Result<Vec<SortColumn>> {
        let keys = self.call.argument_order.iter();
        keys.map(|key| Ok(SortColumn::of(key, self.section.column(key.number)?))).collect()
    }

    /// The counted rows' values of `keys`, as codes.
    pub(super) fn values(&self, keys: &[SortColumn]) -> Result<ValueCodes> {
        ValueCodes::new(self.section, self.inclusion.clone(), keys, self.threads)
    }

    /// The distinct arguments, as codes.
    pub(super) fn distinct(&self) -> Result<ValueCodes> {
        let keys: Vec<_> = self.args.iter().cloned().map(SortColumn::ascending).collect();
        self.values(&keys)
    }

    /// The evaluator of an aggregate, over the distinct arguments if the call has DISTINCT.
    pub(super) fn mergeable<A: Aggregate + 'static>(&self, aggregate: A) -> Result<Box<dyn Evaluator>> {
        if self.call.distinct {
            return self.over_distinct(aggregate, MergedDistinct);
        }
        evaluator_for_mergeable(aggregate, self.call.strategy, self.section)
    }

    /// As [`Inputs::mergeable`], for an aggregate that can also retract.
    pub(super) fn retractable<A: Aggregate<Accumulator: Retractable> + 'static>(
        &self,
        aggregate: A,
    ) -> Result<Box<dyn Evaluator>> {
        if self.call.distinct {
            return self.over_distinct(aggregate, RetractedDistinct);
        }
        evaluator_for_retractable(aggregate, self.call.strategy, self.section)
    }

    /// The evaluator of an aggregate over the distinct arguments; `counted` keeps its result as values come and go.
    pub(super) fn over_distinct<A: Aggregate + 'static, D: MultisetFunction + 'static>(
        &self,
        aggregate: A,
        counted: impl FnOnce(A) -> D,
    ) -> Result<Box<dyn Evaluator>> {
        let values = self.distinct()?;
        Ok(match self.call.strategy {
            Strategy::Sweep => Box::new(DistinctSweep::new(aggregate, values)),
            _ => Multiset::boxed(self.call.visit_order(), values, counted(aggregate)),
        })
    }

    /// Whether the section's states contain its own rows only, so that none from other sections are merged.
    pub(super) fn is_complete(&self) -> bool {
        let Self { section, call, .. } = self;
        !(section.continues() || section.part && call.after == Reach::State)
    }

    pub(super) fn naive(&self) -> bool {
        self.call.strategy == Strategy::Naive
    }

    pub(super) fn first(&self) -> Result<&ArrayRef> {
        self.args.first().ok_or_else(|| Error::internal("a function without its argument"))
    }

    /// The counted rows where the argument is true.
    pub(super) fn where_true(&self) -> Result<RowMask> {
        let values = self.first()?.as_boolean_opt().ok_or_else(|| self.unexpected())?;
        Ok(self.inclusion.and(values.values()))
    }

    /// The integer constant given for the argument at this index.
    pub(super) fn constant(&self, index: usize) -> Result<i64> {
        literal_i64(self.setting(index)?).ok_or_else(|| Error::internal("a constant is not a whole number"))
    }

    /// The boolean constant given for the argument at this index.
    pub(super) fn flag(&self, index: usize) -> Result<bool> {
        let flag = self.setting(index)?.as_boolean_opt().filter(|flag| flag.is_valid(0));
        Ok(flag.ok_or_else(|| Error::internal("a flag is neither true nor false"))?.value(0))
    }

    /// The numeric constant given for the argument at this index.
    pub(super) fn number(&self, index: usize) -> Result<f64> {
        literal_array::number(self.setting(index)?)
    }

    /// The constant given for the argument at this index, if it is not NULL.
    pub(super) fn optional(&self, index: usize) -> Option<&ArrayRef> {
        self.setting(index).ok().filter(|value| value.logical_null_count() == 0)
    }

    /// The distance given for the argument at this index over the section, if it is not NULL.
    pub(super) fn distance(&self, index: usize) -> Result<Option<KeyDistances>> {
        match self.call.args.get(index) {
            Some(PlannedArg::Distance(distance)) => Ok(Some(distance.over(self.section)?)),
            _ => Ok(None),
        }
    }

    /// How `rank_with` ranks.
    pub(super) fn rank_by(&self) -> Result<RankBy> {
        let method = self.setting(0)?.as_string_opt::<i32>().and_then(|name| TieMethod::find(name.value(0)));
        Ok(RankBy { method: method.ok_or_else(|| self.unexpected())?, fraction: self.flag(1)? })
    }

    /// The rows that `rank_with` ranks by `keys`: all, or those where no key is NULL.
    pub(super) fn ranked(&self, keys: &[&ArrayRef]) -> Result<RowMask> {
        let keys: Vec<_> = if self.flag(2)? { keys.iter().map(|key| (*key).clone()).collect() } else { vec![] };
        Ok(RowMask::new(&keys, None))
    }

    /// The constant given for the argument at this index, or its default.
    pub(super) fn setting(&self, index: usize) -> Result<&ArrayRef> {
        match self.call.args.get(index) {
            Some(PlannedArg::Literal(value)) => Ok(value),
            _ => Err(Error::internal("a setting is no constant")),
        }
    }

    /// The integers of the argument at this index, if it is a column.
    pub(super) fn per_row(&self, index: usize) -> Result<Option<Int64Array>> {
        let Some(PlannedArg::Column(place)) = self.call.args.get(index) else {
            return Ok(None);
        };
        let column = cast_with_options(
            self.section.column(*place)?,
            &DataType::Int64,
            &CastOptions { safe: false, ..CastOptions::default() },
        )?;
        Ok(Some(column.as_primitive::<Int64Type>().clone()))
    }

    pub(super) fn logic(&self, logic: BoolAggregate) -> Result<Box<dyn Evaluator>> {
        let values = self.first()?.as_boolean_opt().ok_or_else(|| self.unexpected())?;
        // DISTINCT does not change the result; the DISTINCT evaluators are not instantiated.
        evaluator_for_retractable(logic.over(values, self.inclusion.clone()), self.call.strategy, self.section)
    }

    pub(super) fn offset(&self) -> Result<Box<dyn Evaluator>> {
        let Self { call, section, ansi, inclusion, .. } = self;
        let column = self.first()?.clone();
        // `args` has no offset (a parameter), so the default is `args[1]`.
        let default = self.args.get(1).map(|default| read_as(default, column.data_type(), *ansi)).transpose()?;
        let before = call.function.rows_needed == RowsNeeded::Distance { before: true };
        let by = match self.per_row(1)? {
            None => OffsetBy::Fixed(lag_lead_offset(before, &call.args).ok_or_else(|| self.unexpected())?),
            Some(by) if before => OffsetBy::PerRow(by.unary(i64::saturating_neg)),
            Some(by) => OffsetBy::PerRow(by),
        };
        let carries = call.nulls == Nulls::Ignore && matches!(by, OffsetBy::Fixed(_));
        let offset = LagLead::new(section, column, inclusion.clone(), by, default, self.naive())?;
        Ok(Box::new(if carries { offset.ignoring_nulls() } else { offset }))
    }

    pub(super) fn unexpected(&self) -> Error {
        Error::internal(format!("the plan reads {} as {:?}", self.call.display, self.call.signature.inputs))
    }
}

/// Where the key of a call that gives the value held at a distance is not NULL, if it is NULL anywhere.
pub(super) fn held_keys(call: &PlannedCall, order_by: &[OrderColumn], section: &Section) -> Result<Option<NullBuffer>> {
    match order_by.first().filter(|_| call.held) {
        Some(key) => Ok(section.column(key.number)?.logical_nulls().filter(|nulls| nulls.null_count() > 0)),
        None => Ok(None),
    }
}

/// The arguments in which a NULL makes the function skip the row.
fn values_of(call: &PlannedCall, args: &[ArrayRef]) -> Vec<ArrayRef> {
    let kept = match call.function.nulls {
        NullHandling::Skipped | NullHandling::SkippedInPlace => false,
        NullHandling::SkippedUnlessRespected => call.nulls == Nulls::Respect,
        NullHandling::KeptUnlessIgnored => call.nulls != Nulls::Ignore,
        NullHandling::Kept => true,
    };
    let values = args.iter().enumerate().filter(|&(index, _)| !kept && call.function.is_value(index));
    values.map(|(_, column)| column.clone()).collect()
}

/// Converts the column to the type that a function reads.
fn read_as(column: &ArrayRef, target: &DataType, ansi: bool) -> Result<ArrayRef> {
    let from = column.data_type();
    if from == target {
        return Ok(column.clone());
    }
    // Casting a string allocates at most the column's own bytes.
    reserve::probe(column.len() * target.primitive_width().unwrap_or(0))?;
    reserve::probe_rows(column, column.len())?;
    match (from, target) {
        (DataType::Dictionary(..) | DataType::RunEndEncoded(..), _) => read_as(&decode(column)?, target, ansi),
        (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, DataType::Float64) => {
            doubles(&arrow_cast::cast(column, &DataType::LargeUtf8)?, ansi)
        }
        (DataType::Decimal128(..) | DataType::Decimal256(..), DataType::Float64) => decimals_as_doubles(column),
        (DataType::Timestamp(unit, _), DataType::Float64) => {
            let per_second = ticks_per_second(*unit) as f64;
            let ticks = arrow_cast::cast(column, &DataType::Int64)?;
            let seconds: Float64Array = ticks.as_primitive::<Int64Type>().unary(|ticks| ticks as f64 / per_second);
            Ok(std::sync::Arc::new(seconds))
        }
        _ => {
            let options = CastOptions { safe: !ansi, ..CastOptions::default() };
            Ok(cast_with_options(column, target, &options)?)
        }
    }
}

/// Decimals as the nearest doubles. Arrow's cast divides and so rounds twice where the digits or the scale are large.
fn decimals_as_doubles(column: &ArrayRef) -> Result<ArrayRef> {
    /// Integers up to this, and powers of ten up to 10^22, are exact doubles, so their quotient is rounded once.
    const EXACT: i64 = 1 << 53;
    const POWER: i8 = 22;
    let nearest = |unscaled: i256, scale: i8| match (unscaled.to_i128().map(i64::try_from), scale) {
        (Some(Ok(unscaled)), 0..=POWER) if (-EXACT..=EXACT).contains(&unscaled) => {
            Ok(unscaled as f64 / 10_u128.pow(u32::from(scale.unsigned_abs())) as f64)
        }
        _ => {
            let text = format!("{unscaled}e{}", -i32::from(scale));
            text.parse::<f64>().map_err(|error| Error::internal(format!("the decimal {text} is no double: {error}")))
        }
    };
    let doubles: Float64Array = match column.data_type() {
        DataType::Decimal128(_, scale) => {
            let decimals = column.as_primitive::<Decimal128Type>();
            decimals.try_unary(|unscaled| nearest(i256::from_i128(unscaled), *scale))?
        }
        DataType::Decimal256(_, scale) => {
            column.as_primitive::<Decimal256Type>().try_unary(|unscaled| nearest(unscaled, *scale))?
        }
        other => return Err(Error::internal(format!("{other} is no decimal"))),
    };
    Ok(std::sync::Arc::new(doubles))
}

/// Strings as doubles, ignoring surrounding blanks, as Spark casts them.
fn doubles(text: &ArrayRef, ansi: bool) -> Result<ArrayRef> {
    let text = text.as_string::<i64>();
    let parse = |text: Option<&str>| match text.map(|text| (text, text.trim().parse::<f64>())) {
        None => Ok(None),
        Some((_, Ok(value))) => Ok(Some(value)),
        Some((_, Err(_))) if !ansi => Ok(None),
        Some((text, Err(_))) => {
            Err(Error::data(format!("the text {text:?} is no number; use FILTER or try_cast to leave it out"))
                .with_remedy(Remedy::AnsiOff))
        }
    };
    let values = text.iter().map(parse).collect::<Result<Float64Array>>()?;
    Ok(std::sync::Arc::new(values))
}
