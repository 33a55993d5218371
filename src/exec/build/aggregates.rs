//! Aggregates of states of their own: products, bits, values picked by another, histograms, weighted means.

use arrow_array::ArrayRef;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_schema::DataType;

use super::inputs::Inputs;
use crate::bounds::range_key::{Keys, ordered};
use crate::catalog::function_id::Kernel;
use crate::error::Result;
use crate::evaluate::aggregate_evaluator::{foldable, mergeable, selective};
use crate::evaluate::evaluator::Evaluator;
use crate::functions::aggregate::arg_min_max::{Bytes, Choice, Numbers, Ties};
use crate::functions::aggregate::bitwise::{And, Bits, Or, Xor};
use crate::functions::aggregate::ewm::{ByTimes, EwmMean};
use crate::functions::aggregate::histogram::BinList;
use crate::functions::aggregate::min_max::{Extremum, Natives};
use crate::functions::aggregate::product::Product;
use crate::functions::native::native;
use crate::model::aggregate::Aggregate;
use crate::model::physical_type::Native;
use crate::spec::call::Nulls;
use crate::util::civil::{MICROS_PER_DAY, MICROS_PER_SECOND, per_second};

/// The evaluator of a call of this family.
pub(super) fn evaluator(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let Inputs { call, inclusion, args, .. } = inputs;
    let (first, inclusion) = (inputs.first()?, inclusion.clone());
    let second = || args.get(1).ok_or_else(|| inputs.unexpected());
    let product = |which: Product| inputs.mergeable(which.over(first, inclusion.clone())?);
    match call.function.kernel {
        Kernel::Product => product(Product::Value),
        Kernel::GeometricMean => product(Product::Root),
        Kernel::BitAnd => never_distinct(inputs, Bits::over::<And>(first, inclusion)?),
        Kernel::BitOr => never_distinct(inputs, Bits::over::<Or>(first, inclusion)?),
        Kernel::BitXor => inputs.retractable(Bits::over::<Xor>(first, inclusion)?),
        Kernel::MinBy => choice(inputs, first, second()?, Extremum::Min, Ties::Last),
        Kernel::MaxBy => choice(inputs, first, second()?, Extremum::Max, Ties::Last),
        Kernel::HistogramNumeric => {
            let most = usize::try_from(inputs.constant(1)?).unwrap_or(0);
            let bins = BinList::over(first, inclusion, most, call.signature.output.clone())?;
            foldable(bins, call.strategy, inputs.section, &[])
        }
        Kernel::EwmMean => {
            let alpha = inputs.number(1)?;
            let rows = if call.nulls == Nulls::Ignore { inclusion.clone() } else { inputs.passing.clone() };
            if inputs.flag(2)? {
                never_distinct(inputs, EwmMean::adjusted(first, inclusion, rows, alpha)?)
            } else {
                never_distinct(inputs, EwmMean::recursive(first, inclusion, rows, alpha)?)
            }
        }
        Kernel::EwmMeanBy => ewm_mean_by(inputs, second()?),
        _ => Err(inputs.unexpected()),
    }
}

/// The evaluator of an aggregate to which DISTINCT makes no difference, or which refuses it.
fn never_distinct(inputs: &Inputs, aggregate: impl Aggregate + 'static) -> Result<Box<dyn Evaluator>> {
    mergeable(aggregate, inputs.call.strategy, inputs.section)
}

fn ewm_mean_by(inputs: &Inputs, times: &ArrayRef) -> Result<Box<dyn Evaluator>> {
    let (first, inclusion, half_life) = (inputs.first()?, inputs.inclusion.clone(), inputs.number(2)?);
    // A half-life of moments is a duration, in microseconds here.
    let per_microsecond = match times.data_type() {
        DataType::Timestamp(unit, _) | DataType::Duration(unit) | DataType::Time32(unit) | DataType::Time64(unit) => {
            per_second(*unit) as f64 / MICROS_PER_SECOND as f64
        }
        DataType::Date64 => 1e-3,
        DataType::Date32 => 1.0 / MICROS_PER_DAY as f64,
        _ => 1.0,
    };
    let half_life = half_life * per_microsecond;
    match ordered(times, times.data_type(), false) {
        Some(Keys::Small(ticks)) if times.data_type().is_integer() || times.data_type().is_temporal() => {
            never_distinct(inputs, EwmMean::timed(first, inclusion, ByTimes { times: ticks, half_life })?)
        }
        _ => {
            let times = native::<Float64Type>(times)?.values().clone();
            never_distinct(inputs, EwmMean::timed(first, inclusion, ByTimes { times, half_life })?)
        }
    }
}

/// The value of `column` where `by` is least or greatest.
pub(super) fn choice(
    inputs: &Inputs,
    column: &ArrayRef,
    by: &ArrayRef,
    which: Extremum,
    ties: Ties,
) -> Result<Box<dyn Evaluator>> {
    let Inputs { call, section, inclusion, .. } = inputs;
    macro_rules! chosen {
        ($keys:expr) => {
            selective(Choice::new(column.clone(), $keys, inclusion.clone(), which, ties), call.strategy, section)
        };
    }
    match ordered(by, by.data_type(), false) {
        Some(Keys::Small(keys)) => chosen!(Numbers(keys)),
        Some(Keys::Wide(keys)) => chosen!(Numbers(keys)),
        Some(Keys::Huge(keys)) => chosen!(Numbers(keys)),
        None => chosen!(Bytes::new(by)?),
    }
}

/// The evaluator of `min` or `max`.
pub(super) fn extremum(inputs: &Inputs, which: Extremum) -> Result<Box<dyn Evaluator>> {
    let Inputs { call, section, inclusion, .. } = inputs;
    let (values, strategy, inclusion) = (inputs.first()?, call.strategy, inclusion.clone());
    macro_rules! natives {
        ($type:ty) => {
            match which {
                Extremum::Min => selective(Natives::<$type, false>::new(values, inclusion)?, strategy, section),
                Extremum::Max => selective(Natives::<$type, true>::new(values, inclusion)?, strategy, section),
            }
        };
    }
    match Native::of(values.data_type()) {
        Some(Native::I32) => natives!(Int32Type),
        Some(Native::I64) => natives!(Int64Type),
        Some(Native::U64) => natives!(UInt64Type),
        Some(Native::F64) => natives!(Float64Type),
        Some(Native::I128) => natives!(Decimal128Type),
        Some(Native::I256) => natives!(Decimal256Type),
        None => choice(inputs, values, values, which, Ties::First),
    }
}
