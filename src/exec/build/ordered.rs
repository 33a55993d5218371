//! Functions of the order of a frame's values: quantiles, and ranks and values by an argument order.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray};
use arrow_buffer::BooleanBuffer;
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_schema::{DataType, FieldRef, SortOptions};

use super::inputs::Inputs;
use crate::catalog::function::Family;
use crate::catalog::function_id::FunctionId;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::Evaluator;
use crate::evaluate::order_statistics::frame_order::FrameOrder;
use crate::functions::native::{canonical, to_primitive};
use crate::functions::ordered::mad::{Distance, Mad};
use crate::functions::ordered::quantile::{DiscreteQuantile, InterpolatedQuantile, QuantileShares};
use crate::functions::ordered::rank_in_frame::{RankInFrame, RankWithInFrame, RelativeRank};
use crate::functions::ordered::value_by_order::{FirstByOrder, NthByOrder};
use crate::model::physical_type::PhysicalType;
use crate::model::row_mask::RowMask;
use crate::plan::planned::PlannedArg;
use crate::sort::sort_column::SortColumn;
use crate::spec::strategy::Strategy;

/// The evaluator of a call of this family.
pub(super) fn evaluator(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    match (inputs.call.function.family, inputs.call.function.function_id) {
        (Family::Ranking, _) => rank_in_frame(inputs),
        (Family::Value, _) => value(inputs),
        (_, FunctionId::MinBy | FunctionId::MaxBy) => first_by_order(inputs),
        (_, FunctionId::Mad) => mad(inputs),
        _ => quantile(inputs),
    }
}

/// The counted rows in the order of `keys`; with DISTINCT one row per value, where -0.0 equals 0.0.
fn frame_order(inputs: &Inputs, inclusion: RowMask, keys: &[SortColumn], ranked: bool) -> Result<FrameOrder> {
    if inputs.call.distinct {
        return FrameOrder::distinct(inputs.section, inclusion, &keys[..1], inputs.threads);
    }
    if inputs.naive() {
        return FrameOrder::naive(inputs.section, inclusion, keys);
    }
    if inputs.call.strategy == Strategy::Codes {
        return FrameOrder::with_set(inputs.section, inclusion, keys, inputs.threads);
    }
    FrameOrder::new(inputs.section, inclusion, keys, ranked, inputs.threads)
}

fn rank_in_frame(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    use crate::functions::positional::rank::RankKind;
    if inputs.call.function.function_id == FunctionId::RankWith {
        let keys = inputs.argument_order()?;
        let ranked = inputs.ranked(&keys.iter().map(|key| &key.values).collect::<Vec<_>>())?;
        let order = frame_order(inputs, ranked.clone(), &keys, true)?;
        return Ok(order.boxed(inputs.call.visit_order(), RankWithInFrame { by: inputs.rank_by()?, ranked }));
    }
    let order = frame_order(inputs, inputs.inclusion.clone(), &inputs.argument_order()?, true)?;
    Ok(match inputs.call.function.function_id {
        FunctionId::RowNumber => order.boxed(inputs.call.visit_order(), RankInFrame(RankKind::RowNumber)),
        FunctionId::Rank => order.boxed(inputs.call.visit_order(), RankInFrame(RankKind::Rank)),
        FunctionId::Ntile => {
            let buckets = u64::try_from(inputs.constant(0)?).unwrap_or(1).max(1);
            order.boxed(inputs.call.visit_order(), RankInFrame(RankKind::Ntile(buckets)))
        }
        FunctionId::PercentRank => order.boxed(inputs.call.visit_order(), RelativeRank(RankKind::PercentRank)),
        _ => order.boxed(inputs.call.visit_order(), RelativeRank(RankKind::CumeDist)),
    })
}

fn value(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    use crate::functions::positional::nth::NthRow;
    let order = frame_order(inputs, inputs.inclusion.clone(), &inputs.argument_order()?, false)?;
    let which = match inputs.call.function.function_id {
        FunctionId::First => NthRow::First,
        FunctionId::Last => NthRow::Last,
        _ => match inputs.per_row(1)? {
            Some(n) => NthRow::NthPerRow(n),
            None => NthRow::Nth(u64::try_from(inputs.constant(1)?).unwrap_or(1)),
        },
    };
    Ok(order.boxed(inputs.call.visit_order(), NthByOrder { column: inputs.first()?.clone(), which }))
}

fn first_by_order(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let values = inputs.args.get(1).ok_or_else(|| inputs.unexpected())?.clone();
    let descending = inputs.call.function.function_id == FunctionId::MaxBy;
    let key = SortColumn { values, options: SortOptions::new(descending, false) };
    let order = frame_order(inputs, inputs.inclusion.clone(), &[key], false)?;
    let count = u32::try_from(inputs.constant(2)?).map_err(|_| inputs.unexpected())?;
    let element = element(&inputs.call.signature.output).ok_or_else(|| inputs.unexpected())?.clone();
    Ok(order.boxed(inputs.call.visit_order(), FirstByOrder { column: inputs.first()?.clone(), count, element }))
}

/// The sort key of the values; for floats -0.0 sorts before 0.0 as in Spark's quantiles, in either direction.
fn keys(values: &ArrayRef, descending: bool) -> Result<Vec<SortColumn>> {
    let mut keys = vec![SortColumn { values: values.clone(), options: SortOptions::new(descending, false) }];
    if values.data_type().is_floating() {
        let doubles = cast(values, &DataType::Float64)?;
        let doubles = doubles.as_primitive::<Float64Type>().values();
        let minus = |at: usize| doubles[at] == 0.0 && doubles[at].is_sign_negative();
        if (0..doubles.len()).any(minus) {
            let plus = BooleanBuffer::collect_bool(doubles.len(), |at| !minus(at));
            keys.push(SortColumn::ascending(std::sync::Arc::new(BooleanArray::new(plus, None))));
        }
    }
    Ok(keys)
}

/// The values; with DISTINCT normalised, so that equal values are represented alike.
fn values(inputs: &Inputs) -> Result<ArrayRef> {
    if inputs.call.distinct { canonical(inputs.first()?) } else { Ok(inputs.first()?.clone()) }
}

fn quantile(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let values = &values(inputs)?;
    let output = &inputs.call.signature.output;
    let shares = QuantileShares { shares: shares(inputs)?, element: element(output).cloned() };
    let frequencies = frequencies(inputs)?;
    let inclusion = match &frequencies {
        None => inputs.inclusion.clone(),
        Some(frequencies) => inputs.inclusion.and(&counting(inputs, frequencies)?),
    };
    let descending = inputs.call.argument_order.first().is_some_and(|key| key.options.descending);
    let order = frame_order(inputs, inclusion, &keys(values, descending)?, false)?;
    let frequencies = frequencies.map(|frequencies| order.ordered_values(&frequencies)).transpose()?;
    let frequencies = frequencies.map(|frequencies| frequencies.as_primitive::<Int64Type>().values().clone());
    let values = order.ordered_values(values)?;
    if matches!(inputs.call.function.function_id, FunctionId::PercentileDisc | FunctionId::PercentileApprox) {
        return Ok(order.boxed(inputs.call.visit_order(), DiscreteQuantile { values, shares, frequencies }));
    }
    macro_rules! interpolated {
        ($type:ty) => {{
            let (output, values) = (values.data_type().clone(), to_primitive::<$type>(&values)?.values().clone());
            Ok(order.boxed(
                inputs.call.visit_order(),
                InterpolatedQuantile::<$type> { values, shares, frequencies, output },
            ))
        }};
    }
    match PhysicalType::of(values.data_type()) {
        Some(PhysicalType::F64) => interpolated!(Float64Type),
        Some(PhysicalType::I64) => interpolated!(Int64Type),
        Some(PhysicalType::I32) => interpolated!(Int32Type),
        _ => Err(inputs.unexpected()),
    }
}

fn mad(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let values = &values(inputs)?;
    let order = frame_order(inputs, inputs.inclusion.clone(), &keys(values, false)?, false)?;
    let values = order.ordered_values(values)?;
    match PhysicalType::of(values.data_type()) {
        Some(PhysicalType::F64) => distances::<Float64Type>(inputs, order, &values),
        Some(PhysicalType::I64) => distances::<Int64Type>(inputs, order, &values),
        Some(PhysicalType::I32) => distances::<Int32Type>(inputs, order, &values),
        _ => Err(inputs.unexpected()),
    }
}

fn distances<T: ArrowPrimitiveType>(inputs: &Inputs, order: FrameOrder, values: &ArrayRef) -> Result<Box<dyn Evaluator>>
where
    T::Native: Distance,
{
    let (output, values) = (values.data_type().clone(), to_primitive::<T>(values)?.values().clone());
    Ok(order.boxed(inputs.call.visit_order(), Mad::<T> { values, output, naive: inputs.naive() }))
}

/// The element field of a list type.
fn element(output: &DataType) -> Option<&FieldRef> {
    match output {
        DataType::List(element) => Some(element),
        _ => None,
    }
}

/// The requested fractions, validated by the plan.
fn shares(inputs: &Inputs) -> Result<Vec<f64>> {
    let share = match inputs.call.args.get(1) {
        None => return Ok(vec![0.5]),
        Some(PlannedArg::Literal(share)) => share,
        Some(PlannedArg::Column(_) | PlannedArg::Distance(_)) => return Err(inputs.unexpected()),
    };
    let share = share.as_list_opt::<i32>().map_or_else(|| share.clone(), |list| list.value(0));
    Ok(cast(&share, &DataType::Float64)?.as_primitive::<Float64Type>().values().to_vec())
}

/// The multiplicity of each row's value, if the argument was given.
fn frequencies(inputs: &Inputs) -> Result<Option<ArrayRef>> {
    let Some(frequencies) = inputs.args.get(1).filter(|_| inputs.call.function.function_id == FunctionId::Percentile)
    else {
        return Ok(None);
    };
    let options = CastOptions { safe: false, ..CastOptions::default() };
    Ok(Some(cast_with_options(frequencies, &DataType::Int64, &options)?))
}

/// The rows with a multiplicity above zero.
fn counting(inputs: &Inputs, frequencies: &ArrayRef) -> Result<BooleanBuffer> {
    let frequencies = frequencies.as_primitive::<Int64Type>();
    let valid = |row: usize| frequencies.is_valid(row);
    let negative = |&row: &usize| valid(row) && inputs.inclusion.includes(row) && frequencies.value(row) < 0;
    if let Some(row) = (0..frequencies.len()).find(negative) {
        return Err(Error::data(format!(
            "a value counts {} times; the frequencies of percentile are not negative: use FILTER to leave such rows out",
            frequencies.value(row)
        )));
    }
    Ok(BooleanBuffer::collect_bool(frequencies.len(), |row| valid(row) && frequencies.value(row) > 0))
}
