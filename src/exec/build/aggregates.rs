//! Aggregates with states of their own: products, bitwise aggregates, `min_by`, histograms, exponentially weighted
//! means, bounded sums.

use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType};
use arrow_schema::DataType;

use super::inputs::Inputs;
use crate::bounds::range_key::{RangeKeys, ordered_keys};
use crate::catalog::function_id::FunctionId;
use crate::error::{Error, Result};
use crate::evaluate::aggregate_evaluator::{
    evaluator_for_mergeable, evaluator_for_selective, evaluator_for_update_only,
};
use crate::evaluate::evaluator::Evaluator;
use crate::functions::aggregate::arg_min_max::{ArgMinMax, PrimitiveKeys, RowKeys, TieBreak};
use crate::functions::aggregate::bitwise::{And, BitwiseResult, Or, Xor};
use crate::functions::aggregate::bounded_sum::{BoundedValue, DoubleResult, ExactResult, SumBounds, bounded_sum};
use crate::functions::aggregate::ewm::{EwmMean, TimeClock};
use crate::functions::aggregate::ewm_moments::{EwmClock, EwmReader, EwmResult};
use crate::functions::aggregate::histogram::BinList;
use crate::functions::aggregate::min_max::{Extremum, MinMax};
use crate::functions::aggregate::product::Product;
use crate::functions::aggregate::sum::OnOverflow;
use crate::functions::native::to_primitive;
use crate::model::aggregate::Aggregate;
use crate::model::physical_type::PhysicalType;
use crate::spec::call::Nulls;
use crate::util::civil::{MICROS_PER_DAY, MICROS_PER_SECOND, ticks_per_second};
use crate::util::data_types::decode;

/// The evaluator of a call of this family.
pub(super) fn evaluator(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let Inputs { call, inclusion, args, .. } = inputs;
    let (first, inclusion) = (inputs.first()?, inclusion.clone());
    let second = || args.get(1).ok_or_else(|| inputs.unexpected());
    let product = |which: Product| inputs.mergeable(which.over(first, inclusion.clone())?);
    match call.function.function_id {
        FunctionId::Product => product(Product::Value),
        FunctionId::GeometricMean => product(Product::Root),
        FunctionId::BitAnd => ignoring_distinct(inputs, BitwiseResult::over::<And>(first, inclusion)?),
        FunctionId::BitOr => ignoring_distinct(inputs, BitwiseResult::over::<Or>(first, inclusion)?),
        FunctionId::BitXor => inputs.retractable(BitwiseResult::over::<Xor>(first, inclusion)?),
        FunctionId::MinBy => arg_min_max(inputs, first, second()?, Extremum::Min, TieBreak::Last),
        FunctionId::MaxBy => arg_min_max(inputs, first, second()?, Extremum::Max, TieBreak::Last),
        FunctionId::HistogramNumeric => {
            let most = usize::try_from(inputs.constant(1)?).unwrap_or(0);
            let bins = BinList::over(first, inclusion, most, call.signature.output.clone())?;
            evaluator_for_update_only(bins, call.strategy, inputs.section, &[])
        }
        FunctionId::EwmMean => {
            if call.ages_by_time() {
                return ewm_moments(inputs, EwmResult::Mean);
            }
            let alpha = inputs.number(1)?;
            let rows = if call.nulls == Nulls::Ignore { inclusion.clone() } else { inputs.passing.clone() };
            if inputs.flag(2)? {
                ignoring_distinct(inputs, EwmMean::adjusted(first, inclusion, rows, alpha)?)
            } else {
                ignoring_distinct(inputs, EwmMean::recursive(first, inclusion, rows, alpha)?)
            }
        }
        FunctionId::EwmMeanBy => ewm_mean_by(inputs, second()?),
        FunctionId::EwmVar => ewm_moments(inputs, EwmResult::Variance),
        FunctionId::EwmStd => ewm_moments(inputs, EwmResult::Deviation),
        FunctionId::EwmCov => ewm_moments(inputs, EwmResult::Covariance),
        FunctionId::EwmCorr => ewm_moments(inputs, EwmResult::Correlation),
        FunctionId::BoundedSum => bounded(inputs),
        _ => Err(inputs.unexpected()),
    }
}

/// The evaluator of an aggregate on which DISTINCT has no effect, or which rejects it.
fn ignoring_distinct(inputs: &Inputs, aggregate: impl Aggregate + 'static) -> Result<Box<dyn Evaluator>> {
    evaluator_for_mergeable(aggregate, inputs.call.strategy, inputs.section)
}

fn bounded(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    fn amount<T: ArrowPrimitiveType>(inputs: &Inputs, index: usize) -> Result<Option<T::Native>> {
        let given = inputs.optional(index);
        given.map(|given| Ok(to_primitive::<T>(given)?.value(0))).transpose()
    }
    fn bounds<T: ArrowPrimitiveType<Native: BoundedValue>>(inputs: &Inputs) -> Result<SumBounds<T::Native>> {
        let (low, high) = (amount::<T>(inputs, 1)?, amount::<T>(inputs, 2)?);
        if low.zip(high).is_some_and(|(low, high)| !low.is_le(high)) {
            return Err(Error::spec("the low of bounded_sum is above its high; exchange them"));
        }
        Ok(SumBounds { low, high, start: amount::<T>(inputs, 3)?.unwrap_or(<T::Native as BoundedValue>::ZERO) })
    }
    let (first, inclusion) = (inputs.first()?, inputs.inclusion.clone());
    if first.data_type().is_floating() {
        let bounds = bounds::<Float64Type>(inputs)?;
        let reader = DoubleResult { start: bounds.start };
        return ignoring_distinct(inputs, bounded_sum::<Float64Type, _>(first, inclusion, bounds, reader)?);
    }
    let bounds = bounds::<Decimal256Type>(inputs)?;
    let output = inputs.call.signature.output.clone();
    let on_overflow = match (inputs.ansi, output.is_integer()) {
        (true, _) => OnOverflow::Error,
        (false, true) => OnOverflow::Wrap,
        (false, false) => OnOverflow::Null,
    };
    let reader = ExactResult::new(bounds.start, output, on_overflow);
    ignoring_distinct(inputs, bounded_sum::<Decimal256Type, _>(first, inclusion, bounds, reader)?)
}

fn ewm_moments(inputs: &Inputs, result: EwmResult) -> Result<Box<dyn Evaluator>> {
    let Inputs { call, section, inclusion, args, .. } = inputs;
    let x = inputs.first()?;
    let y = args.get(1).unwrap_or(x);
    let place = args.len();
    let (length, adjusts) = (inputs.number(place)?, inputs.flag(place + 1)?);
    let bias = matches!(result, EwmResult::Variance | EwmResult::Deviation | EwmResult::Covariance)
        && inputs.flag(place + 2)?;
    let (clock, inclusion) = if call.ages_by_time() {
        let key = inputs.order_by.first().ok_or_else(|| inputs.unexpected())?;
        let key = &decode(section.column(key.number)?)?;
        let Some(RangeKeys::Small(times)) = ordered_keys(key, key.data_type(), false) else {
            return Err(inputs.unexpected());
        };
        let keyed = key.logical_nulls().map_or_else(|| inclusion.clone(), |nulls| inclusion.and(nulls.inner()));
        (EwmClock::Times { times, half_life: length * ticks_per_microsecond(key.data_type()) }, keyed)
    } else {
        let rows = if call.nulls == Nulls::Ignore { inclusion.clone() } else { inputs.passing.clone() };
        (EwmClock::Rows { rows, alpha: length }, inclusion.clone())
    };
    ignoring_distinct(inputs, EwmReader { result, bias }.over(x, y, inclusion, clock, adjusts)?)
}

/// The ticks of a moment's type in a microsecond; 1 for numbers.
fn ticks_per_microsecond(data_type: &DataType) -> f64 {
    match data_type {
        DataType::Timestamp(unit, _) | DataType::Duration(unit) | DataType::Time32(unit) | DataType::Time64(unit) => {
            ticks_per_second(*unit) as f64 / MICROS_PER_SECOND as f64
        }
        DataType::Date64 => 1e-3,
        DataType::Date32 => 1.0 / MICROS_PER_DAY as f64,
        _ => 1.0,
    }
}

fn ewm_mean_by(inputs: &Inputs, times: &ArrayRef) -> Result<Box<dyn Evaluator>> {
    let (first, inclusion, half_life) = (inputs.first()?, inputs.inclusion.clone(), inputs.number(2)?);
    // The half-life of timestamps is a duration, here in microseconds.
    let half_life = half_life * ticks_per_microsecond(times.data_type());
    match ordered_keys(times, times.data_type(), false) {
        Some(RangeKeys::Small(ticks)) if times.data_type().is_integer() || times.data_type().is_temporal() => {
            ignoring_distinct(inputs, EwmMean::timed(first, inclusion, TimeClock { times: ticks, half_life })?)
        }
        _ => {
            let times = to_primitive::<Float64Type>(times)?.values().clone();
            ignoring_distinct(inputs, EwmMean::timed(first, inclusion, TimeClock { times, half_life })?)
        }
    }
}

/// The value of `column` where `by` is minimal or maximal.
pub(super) fn arg_min_max(
    inputs: &Inputs,
    column: &ArrayRef,
    by: &ArrayRef,
    which: Extremum,
    ties: TieBreak,
) -> Result<Box<dyn Evaluator>> {
    let Inputs { call, section, inclusion, .. } = inputs;
    macro_rules! chosen {
        ($keys:expr) => {
            evaluator_for_selective(
                ArgMinMax::new(column.clone(), $keys, inclusion.clone(), which, ties),
                call.strategy,
                section,
            )
        };
    }
    match ordered_keys(by, by.data_type(), false) {
        Some(RangeKeys::Small(keys)) => chosen!(PrimitiveKeys(keys)),
        Some(RangeKeys::Wide(keys)) => chosen!(PrimitiveKeys(keys)),
        Some(RangeKeys::Huge(keys)) => chosen!(PrimitiveKeys(keys)),
        None => chosen!(RowKeys::new(by)?),
    }
}

/// The evaluator of `min` or `max`.
pub(super) fn extremum(inputs: &Inputs, which: Extremum) -> Result<Box<dyn Evaluator>> {
    let Inputs { call, section, inclusion, .. } = inputs;
    let (values, strategy, inclusion) = (inputs.first()?, call.strategy, inclusion.clone());
    macro_rules! natives {
        ($type:ty) => {
            match which {
                Extremum::Min => {
                    evaluator_for_selective(MinMax::<$type, false>::new(values, inclusion)?, strategy, section)
                }
                Extremum::Max => {
                    evaluator_for_selective(MinMax::<$type, true>::new(values, inclusion)?, strategy, section)
                }
            }
        };
    }
    match PhysicalType::of(values.data_type()) {
        Some(PhysicalType::I32) => natives!(Int32Type),
        Some(PhysicalType::I64) => natives!(Int64Type),
        Some(PhysicalType::U64) => natives!(UInt64Type),
        Some(PhysicalType::F64) => natives!(Float64Type),
        Some(PhysicalType::I128) => natives!(Decimal128Type),
        Some(PhysicalType::I256) => natives!(Decimal256Type),
        None => arg_min_max(inputs, values, values, which, TieBreak::First),
    }
}
