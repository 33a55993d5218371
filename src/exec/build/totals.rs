//! Sums, averages, variances and other functions of sums or moments of numbers; one pass evaluates all of its calls.

use std::convert::identity;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::types::{Decimal128Type, Decimal256Type, Int32Type, Int64Type, UInt64Type};
use arrow_schema::DataType;

use super::inputs::Inputs;
use crate::catalog::function_id::FunctionId;
use crate::error::Result;
use crate::evaluate::aggregate_evaluator::{
    COMMON_FOR_MERGEABLE, COMMON_FOR_RETRACTABLE, common_evaluator_for_mergeable, common_evaluator_for_retractable,
};
use crate::evaluate::evaluator::Evaluator;
use crate::functions::aggregate::accumulator::{Accumulated, PrimitiveReader};
use crate::functions::aggregate::average::{DecimalAverage, FloatAverage, IntervalAverage};
use crate::functions::aggregate::count::CountResult;
use crate::functions::aggregate::moments::MomentAccumulator;
use crate::functions::aggregate::regression::{PairAccumulator, Regression};
use crate::functions::aggregate::shared_state::{SharedResults, StateReader};
use crate::functions::aggregate::skewness_kurtosis::{FourMoments, SkewnessKurtosis};
use crate::functions::aggregate::sum::{self, DecimalSum, FloatSum, IntegerSum, OnOverflow};
use crate::functions::aggregate::sum_accumulator::SumAccumulator;
use crate::functions::aggregate::sum_state::{ExactSum, SumInI128, SumInput, SumOf};
use crate::functions::aggregate::variance::{PivotMoments, Variance};
use crate::functions::decimal::Unscaled;
use crate::model::aggregate::{Accumulator, Retractable};
use crate::model::physical_type::PhysicalType;
use crate::plan::planned::PlannedCall;
use crate::spec::strategy::Strategy;

/// Computes a call's results from the states of a pass.
type CallReadout<S> = Arc<dyn StateReader<S>>;

impl Inputs<'_> {
    /// Whether the pass has a single call with one of these strategies. Their loops are compiled with its result reader
    /// and need no saved states, unlike those of [`Inputs::several`].
    fn is_direct(&self, strategies: &[Strategy]) -> bool {
        self.pass.len() == 1 && !self.call.distinct && strategies.contains(&self.call.strategy)
    }

    /// The accumulator with the result readers of all calls of the pass.
    fn several<F: Accumulator>(
        &self,
        accumulator: F,
        read: impl Fn(&PlannedCall) -> Result<CallReadout<F::State>>,
    ) -> Result<Accumulated<F, SharedResults<F::State>>> {
        let asked = self.pass.iter().map(|call| Ok((read(call)?, call.display.clone())));
        Ok(Accumulated { accumulator, reader: SharedResults::new(asked.collect::<Result<_>>()?) })
    }

    /// The evaluator of a single call with one of the strategies [`COMMON_FOR_MERGEABLE`].
    fn merged<F: Accumulator + 'static>(
        &self,
        accumulator: F,
        reader: impl PrimitiveReader<F::State> + 'static,
    ) -> Result<Box<dyn Evaluator>> {
        common_evaluator_for_mergeable(Accumulated::new(accumulator, reader), self.call.strategy, self.section)
    }

    /// The evaluator of a single call with one of the strategies [`COMMON_FOR_RETRACTABLE`].
    fn retracted<F: Retractable + 'static>(
        &self,
        accumulator: F,
        reader: impl PrimitiveReader<F::State> + 'static,
    ) -> Result<Box<dyn Evaluator>> {
        common_evaluator_for_retractable(Accumulated::new(accumulator, reader), self.call.strategy, self.section)
    }
}

/// The evaluator of sums and averages of `values`.
pub(super) fn totals(inputs: &Inputs, values: &ArrayRef) -> Result<Box<dyn Evaluator>> {
    let inclusion = inputs.inclusion.clone();
    // Evaluators are compiled per pair of value and sum types; rare pairs are converted to others to save
    // instantiations.
    macro_rules! integers {
        ($type:ty, in 64: $narrow:expr, in 128: $wide:expr) => {{
            let sums = sum::integer_accumulator::<$type>(values, inclusion)?;
            if inputs.is_complete() && sums.fits_in::<i64>(!inputs.once, inputs.threads)? {
                integers(inputs, $narrow(sums.with_width::<i64>()), values.data_type())
            } else {
                integers(inputs, $wide(sums)?, values.data_type())
            }
        }};
    }
    match (PhysicalType::of(values.data_type()), values.data_type()) {
        // 64 bits hold the sums of 32-bit values of any section; carried states may cover more rows.
        (Some(PhysicalType::I32), _) => integers!(Int32Type, in 64: identity, in 128: SumAccumulator::widened),
        (Some(PhysicalType::I64), _) => integers!(Int64Type, in 64: identity, in 128: Result::<_>::Ok),
        (Some(PhysicalType::U64), _) => integers!(UInt64Type, in 64: SumAccumulator::signed, in 128: Result::<_>::Ok),
        (Some(PhysicalType::I128), DataType::Decimal128(_, scale)) => {
            let sums = sum::decimal_accumulator::<Decimal128Type>(values, inclusion)?;
            if inputs.is_complete() && sums.fits_in::<i128>(true, inputs.threads)? {
                decimals(inputs, sums.with_width::<i128>(), *scale)
            } else {
                decimals(inputs, sums, *scale)
            }
        }
        (Some(PhysicalType::I256), DataType::Decimal256(_, scale)) => {
            decimals(inputs, sum::decimal_accumulator::<Decimal256Type>(values, inclusion)?, *scale)
        }
        (Some(PhysicalType::F64), _) => {
            let sums = sum::float_accumulator(values, inclusion)?;
            if inputs.is_direct(&COMMON_FOR_MERGEABLE) {
                return match inputs.call.function.function_id {
                    FunctionId::Sum | FunctionId::TrySum => inputs.merged(sums, FloatSum),
                    _ => inputs.merged(sums, FloatAverage),
                };
            }
            inputs.mergeable(inputs.several(sums, |call| {
                Ok(match call.function.function_id {
                    FunctionId::Count => Arc::new(CountResult),
                    FunctionId::Sum | FunctionId::TrySum => Arc::new(FloatSum),
                    _ => Arc::new(FloatAverage),
                })
            })?)
        }
        _ => Err(inputs.unexpected()),
    }
}

/// The behaviour on overflow: by the function, and for those without `try_` by ANSI mode.
fn on_overflow(call: &PlannedCall, ansi: bool, otherwise: OnOverflow) -> OnOverflow {
    match (call.function.function_id, ansi) {
        (FunctionId::TrySum | FunctionId::TryAvg, _) => OnOverflow::Null,
        (_, true) => OnOverflow::Error,
        (_, false) => otherwise,
    }
}

fn integers<N: SumInput, S: SumInI128 + SumOf<N> + 'static>(
    inputs: &Inputs,
    sums: SumAccumulator<N, S>,
    input: &DataType,
) -> Result<Box<dyn Evaluator>> {
    let ansi = inputs.ansi;
    // Overflow of intervals is an error in either mode.
    let intervals = matches!(input, DataType::Interval(_) | DataType::Duration(_));
    let otherwise = if intervals { OnOverflow::Error } else { OnOverflow::Wrap };
    let sum = |call: &PlannedCall| IntegerSum::new(call.signature.output.clone(), on_overflow(call, ansi, otherwise));
    if inputs.is_direct(&COMMON_FOR_RETRACTABLE) && !intervals {
        return match inputs.call.function.function_id {
            FunctionId::Sum | FunctionId::TrySum => inputs.retracted(sums, sum(inputs.call)),
            _ => inputs.retracted(sums, FloatAverage),
        };
    }
    inputs.retractable(inputs.several(sums, |call| {
        Ok(match call.function.function_id {
            FunctionId::Count => Arc::new(CountResult),
            FunctionId::Sum | FunctionId::TrySum => Arc::new(sum(call)),
            _ if intervals => Arc::new(IntervalAverage::new(input, on_overflow(call, ansi, OnOverflow::Error))),
            _ => Arc::new(FloatAverage),
        })
    })?)
}

fn decimals<N: Unscaled + SumInput, S: ExactSum + SumOf<N> + 'static>(
    inputs: &Inputs,
    sums: SumAccumulator<N, S>,
    scale: i8,
) -> Result<Box<dyn Evaluator>> {
    let ansi = inputs.ansi;
    let on_overflow = |call: &PlannedCall| on_overflow(call, ansi, OnOverflow::Null);
    let sum = |call: &PlannedCall| DecimalSum::<N>::new(call.signature.output.clone(), on_overflow(call));
    let average =
        |call: &PlannedCall| DecimalAverage::<N>::new(scale, call.signature.output.clone(), on_overflow(call));
    if inputs.is_direct(&COMMON_FOR_RETRACTABLE) {
        return match inputs.call.function.function_id {
            FunctionId::Sum | FunctionId::TrySum => inputs.retracted(sums, sum(inputs.call)?),
            _ => inputs.retracted(sums, average(inputs.call)?),
        };
    }
    inputs.retractable(inputs.several(sums, |call| {
        Ok(match call.function.function_id {
            FunctionId::Count => Arc::new(CountResult),
            FunctionId::Sum | FunctionId::TrySum => Arc::new(sum(call)?),
            _ => Arc::new(average(call)?),
        })
    })?)
}

/// The evaluator of variances and standard deviations.
pub(super) fn spreads(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let values = MomentAccumulator::<PivotMoments>::new(inputs.first()?, inputs.inclusion.clone())?;
    let spread = |call: &PlannedCall| match call.function.function_id {
        FunctionId::VarPop => Variance { sample: false, root: false },
        FunctionId::VarSamp => Variance { sample: true, root: false },
        FunctionId::StddevPop => Variance { sample: false, root: true },
        _ => Variance { sample: true, root: true },
    };
    if inputs.is_direct(&COMMON_FOR_MERGEABLE) {
        return inputs.merged(values, spread(inputs.call));
    }
    inputs.mergeable(inputs.several(values, |call| {
        Ok(match call.function.function_id {
            FunctionId::Count => Arc::new(CountResult),
            _ => Arc::new(spread(call)),
        })
    })?)
}

/// The evaluator of skewness and kurtosis.
pub(super) fn shapes(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let values = MomentAccumulator::<FourMoments>::new(inputs.first()?, inputs.inclusion.clone())?;
    let shape = |call: &PlannedCall| match call.function.function_id {
        FunctionId::Skewness => SkewnessKurtosis::Skewness,
        _ => SkewnessKurtosis::Kurtosis,
    };
    if inputs.is_direct(&COMMON_FOR_MERGEABLE) {
        return inputs.merged(values, shape(inputs.call));
    }
    inputs.mergeable(inputs.several(values, |call| Ok(Arc::new(shape(call))))?)
}

/// The evaluator of covariances and regressions.
pub(super) fn regressions(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let [y, x, ..] = inputs.args.as_slice() else { return Err(inputs.unexpected()) };
    let pairs = PairAccumulator::new(y, x, inputs.inclusion.clone())?;
    let which = |call: &PlannedCall| match call.function.function_id {
        FunctionId::CovarPop => Regression::CovarPop,
        FunctionId::CovarSamp => Regression::CovarSamp,
        FunctionId::Corr => Regression::Corr,
        FunctionId::RegrSlope => Regression::Slope,
        FunctionId::RegrIntercept => Regression::Intercept,
        FunctionId::RegrR2 => Regression::R2,
        FunctionId::RegrSxx => Regression::Sxx,
        FunctionId::RegrSyy => Regression::Syy,
        _ => Regression::Sxy,
    };
    if inputs.is_direct(&COMMON_FOR_MERGEABLE) {
        return inputs.merged(pairs, which(inputs.call));
    }
    inputs.mergeable(inputs.several(pairs, |call| Ok(Arc::new(which(call))))?)
}
