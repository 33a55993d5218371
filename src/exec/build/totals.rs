//! Sums, averages, spreads and what else is read off the totals or moments of numbers: one pass answers all its calls.

use std::convert::identity;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::types::{Decimal128Type, Decimal256Type, Int32Type, Int64Type, UInt64Type};
use arrow_schema::DataType;

use super::inputs::Inputs;
use crate::catalog::function_id::Kernel;
use crate::error::Result;
use crate::evaluate::aggregate_evaluator::{
    DIRECTLY_MERGEABLE, DIRECTLY_RETRACTABLE, mergeable_directly, retractable_directly,
};
use crate::evaluate::evaluator::Evaluator;
use crate::functions::aggregate::accumulator::{Accumulated, NativeReadout};
use crate::functions::aggregate::average::{DecimalAverage, FloatAverage, IntervalAverage};
use crate::functions::aggregate::count::Counted;
use crate::functions::aggregate::moments::Values;
use crate::functions::aggregate::regression::{Pairs, Regression};
use crate::functions::aggregate::shared_state::{Read, Several};
use crate::functions::aggregate::skewness_kurtosis::{FourMoments, Shape};
use crate::functions::aggregate::sum::{self, DecimalSum, FloatSum, IntegerSum, OnOverflow};
use crate::functions::aggregate::sum_state::{Adds, Exact, Integer, Summand};
use crate::functions::aggregate::total::Sums;
use crate::functions::aggregate::variance::{Shifted, Spread};
use crate::functions::decimal::Unscaled;
use crate::model::aggregate::{Accumulator, Retractable};
use crate::model::physical_type::Native;
use crate::plan::planned::PlannedCall;
use crate::spec::strategy::Strategy;

/// How a call's results are read off the states of a pass.
type CallReadout<S> = Arc<dyn Read<S>>;

impl Inputs<'_> {
    /// Whether this is an only call with one of these strategies, whose loops are compiled with its readout and need no
    /// states written down, as those of [`Inputs::several`] do.
    fn is_direct(&self, strategies: &[Strategy]) -> bool {
        self.pass.len() == 1 && !self.call.distinct && strategies.contains(&self.call.strategy)
    }

    /// What each call of the pass reads off the states of `accumulator`.
    fn several<F: Accumulator>(
        &self,
        accumulator: F,
        read: impl Fn(&PlannedCall) -> Result<CallReadout<F::State>>,
    ) -> Result<Accumulated<F, Several<F::State>>> {
        let asked = self.pass.iter().map(|call| Ok((read(call)?, call.display.clone())));
        Ok(Accumulated { accumulator, readout: Several::new(asked.collect::<Result<_>>()?) })
    }

    /// The evaluator of an only call with one of the strategies [`DIRECTLY_MERGEABLE`].
    fn merged<F: Accumulator + 'static>(
        &self,
        accumulator: F,
        readout: impl NativeReadout<F::State> + 'static,
    ) -> Result<Box<dyn Evaluator>> {
        mergeable_directly(Accumulated::new(accumulator, readout), self.call.strategy, self.section)
    }

    /// The evaluator of an only call with one of the strategies [`DIRECTLY_RETRACTABLE`].
    fn retracted<F: Retractable + 'static>(
        &self,
        accumulator: F,
        readout: impl NativeReadout<F::State> + 'static,
    ) -> Result<Box<dyn Evaluator>> {
        retractable_directly(Accumulated::new(accumulator, readout), self.call.strategy, self.section)
    }
}

/// The evaluator of sums and averages of `values`.
pub(super) fn totals(inputs: &Inputs, values: &ArrayRef) -> Result<Box<dyn Evaluator>> {
    let inclusion = inputs.inclusion.clone();
    // Evaluators are compiled for each pair of values and sums, of which rare ones are taken for others.
    macro_rules! integers {
        ($type:ty, in 64: $narrow:expr, in 128: $wide:expr) => {{
            let sums = sum::integers::<$type>(values, inclusion)?;
            if inputs.alone() && sums.fit::<i64>(!inputs.once, inputs.threads)? {
                integers(inputs, $narrow(sums.summed_in::<i64>()), values.data_type())
            } else {
                integers(inputs, $wide(sums)?, values.data_type())
            }
        }};
    }
    match (Native::of(values.data_type()), values.data_type()) {
        // 64 bits hold the sums of any section; states that are carried hold those of more.
        (Some(Native::I32), _) => integers!(Int32Type, in 64: identity, in 128: Sums::widened),
        (Some(Native::I64), _) => integers!(Int64Type, in 64: identity, in 128: Result::<_>::Ok),
        (Some(Native::U64), _) => integers!(UInt64Type, in 64: Sums::signed, in 128: Result::<_>::Ok),
        (Some(Native::I128), DataType::Decimal128(_, scale)) => {
            let sums = sum::decimals::<Decimal128Type>(values, inclusion)?;
            if inputs.alone() && sums.fit::<i128>(true, inputs.threads)? {
                decimals(inputs, sums.summed_in::<i128>(), *scale)
            } else {
                decimals(inputs, sums, *scale)
            }
        }
        (Some(Native::I256), DataType::Decimal256(_, scale)) => {
            decimals(inputs, sum::decimals::<Decimal256Type>(values, inclusion)?, *scale)
        }
        (Some(Native::F64), _) => {
            let sums = sum::floats(values, inclusion)?;
            if inputs.is_direct(&DIRECTLY_MERGEABLE) {
                return match inputs.call.function.kernel {
                    Kernel::Sum | Kernel::TrySum => inputs.merged(sums, FloatSum),
                    _ => inputs.merged(sums, FloatAverage),
                };
            }
            inputs.mergeable(inputs.several(sums, |call| {
                Ok(match call.function.kernel {
                    Kernel::Count => Arc::new(Counted),
                    Kernel::Sum | Kernel::TrySum => Arc::new(FloatSum),
                    _ => Arc::new(FloatAverage),
                })
            })?)
        }
        _ => Err(inputs.unexpected()),
    }
}

/// What is done where the answer does not fit, by the function and, for those that do not try, by the mode.
fn on_overflow(call: &PlannedCall, ansi: bool, otherwise: OnOverflow) -> OnOverflow {
    match (call.function.kernel, ansi) {
        (Kernel::TrySum | Kernel::TryAvg, _) => OnOverflow::Null,
        (_, true) => OnOverflow::Error,
        (_, false) => otherwise,
    }
}

fn integers<N: Summand, S: Integer + Adds<N> + 'static>(
    inputs: &Inputs,
    sums: Sums<N, S>,
    input: &DataType,
) -> Result<Box<dyn Evaluator>> {
    let ansi = inputs.ansi;
    // Intervals that do not fit are an error in either mode.
    let intervals = matches!(input, DataType::Interval(_) | DataType::Duration(_));
    let otherwise = if intervals { OnOverflow::Error } else { OnOverflow::Wrap };
    let sum = |call: &PlannedCall| IntegerSum::new(call.signature.output.clone(), on_overflow(call, ansi, otherwise));
    if inputs.is_direct(&DIRECTLY_RETRACTABLE) && !intervals {
        return match inputs.call.function.kernel {
            Kernel::Sum | Kernel::TrySum => inputs.retracted(sums, sum(inputs.call)),
            _ => inputs.retracted(sums, FloatAverage),
        };
    }
    inputs.retractable(inputs.several(sums, |call| {
        Ok(match call.function.kernel {
            Kernel::Count => Arc::new(Counted),
            Kernel::Sum | Kernel::TrySum => Arc::new(sum(call)),
            _ if intervals => Arc::new(IntervalAverage::new(input, on_overflow(call, ansi, OnOverflow::Error))),
            _ => Arc::new(FloatAverage),
        })
    })?)
}

fn decimals<N: Unscaled + Summand, S: Exact + Adds<N> + 'static>(
    inputs: &Inputs,
    sums: Sums<N, S>,
    scale: i8,
) -> Result<Box<dyn Evaluator>> {
    let ansi = inputs.ansi;
    let on_overflow = |call: &PlannedCall| on_overflow(call, ansi, OnOverflow::Null);
    let sum = |call: &PlannedCall| DecimalSum::<N>::new(call.signature.output.clone(), on_overflow(call));
    let average =
        |call: &PlannedCall| DecimalAverage::<N>::new(scale, call.signature.output.clone(), on_overflow(call));
    if inputs.is_direct(&DIRECTLY_RETRACTABLE) {
        return match inputs.call.function.kernel {
            Kernel::Sum | Kernel::TrySum => inputs.retracted(sums, sum(inputs.call)?),
            _ => inputs.retracted(sums, average(inputs.call)?),
        };
    }
    inputs.retractable(inputs.several(sums, |call| {
        Ok(match call.function.kernel {
            Kernel::Count => Arc::new(Counted),
            Kernel::Sum | Kernel::TrySum => Arc::new(sum(call)?),
            _ => Arc::new(average(call)?),
        })
    })?)
}

/// The evaluator of variances and standard deviations.
pub(super) fn spreads(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let values = Values::<Shifted>::new(inputs.first()?, inputs.inclusion.clone())?;
    let spread = |call: &PlannedCall| match call.function.kernel {
        Kernel::VarPop => Spread { sample: false, root: false },
        Kernel::VarSamp => Spread { sample: true, root: false },
        Kernel::StddevPop => Spread { sample: false, root: true },
        _ => Spread { sample: true, root: true },
    };
    if inputs.is_direct(&DIRECTLY_MERGEABLE) {
        return inputs.merged(values, spread(inputs.call));
    }
    inputs.mergeable(inputs.several(values, |call| {
        Ok(match call.function.kernel {
            Kernel::Count => Arc::new(Counted),
            _ => Arc::new(spread(call)),
        })
    })?)
}

/// The evaluator of skewness and kurtosis.
pub(super) fn shapes(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let values = Values::<FourMoments>::new(inputs.first()?, inputs.inclusion.clone())?;
    let shape = |call: &PlannedCall| match call.function.kernel {
        Kernel::Skewness => Shape::Skewness,
        _ => Shape::Kurtosis,
    };
    if inputs.is_direct(&DIRECTLY_MERGEABLE) {
        return inputs.merged(values, shape(inputs.call));
    }
    inputs.mergeable(inputs.several(values, |call| Ok(Arc::new(shape(call))))?)
}

/// The evaluator of covariances and regressions.
pub(super) fn regressions(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let [y, x, ..] = inputs.args.as_slice() else { return Err(inputs.unexpected()) };
    let pairs = Pairs::new(y, x, inputs.inclusion.clone())?;
    let which = |call: &PlannedCall| match call.function.kernel {
        Kernel::CovarPop => Regression::CovarPop,
        Kernel::CovarSamp => Regression::CovarSamp,
        Kernel::Corr => Regression::Corr,
        Kernel::RegrSlope => Regression::Slope,
        Kernel::RegrIntercept => Regression::Intercept,
        Kernel::RegrR2 => Regression::R2,
        Kernel::RegrSxx => Regression::Sxx,
        Kernel::RegrSyy => Regression::Syy,
        _ => Regression::Sxy,
    };
    if inputs.is_direct(&DIRECTLY_MERGEABLE) {
        return inputs.merged(pairs, which(inputs.call));
    }
    inputs.mergeable(inputs.several(pairs, |call| Ok(Arc::new(which(call))))?)
}
