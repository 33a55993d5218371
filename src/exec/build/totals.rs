//! Sums, averages, spreads and what else is read off the totals or moments of numbers: one pass answers all its calls.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::types::{Decimal128Type, Decimal256Type, Int32Type, Int64Type, UInt64Type};
use arrow_schema::DataType;

use super::inputs::Inputs;
use crate::catalog::function_id::Kernel;
use crate::error::Result;
use crate::evaluate::evaluator::Evaluator;
use crate::functions::aggregate::accumulator::{Accumulated, Accumulator};
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
use crate::model::physical_type::Native;
use crate::plan::planned::PlannedCall;

/// The evaluator of a pass: what its calls read off the states of one accumulator. An only call is answered without
/// a detour, which costs 1 to 3 ns a row.
macro_rules! answered {
    ($inputs:ident.$how:ident($accumulator:expr), $call:ident => { $($kernels:pat $(if $what:expr)? => $readout:expr,)+ }) => {
        if $inputs.pass.len() == 1 {
            let $call = $inputs.call;
            match $call.function.kernel {
                $($kernels $(if $what)? => $inputs.$how(Accumulated::new($accumulator, $readout)),)+
            }
        } else {
            $inputs.$how($inputs.several($accumulator, |$call| {
                Ok(match $call.function.kernel {
                    $($kernels $(if $what)? => Arc::new($readout),)+
                })
            })?)
        }
    };
}

impl Inputs<'_> {
    /// What each call of the pass reads off the states of `accumulator`.
    fn several<F: Accumulator>(
        &self,
        accumulator: F,
        read: impl Fn(&PlannedCall) -> Result<Arc<dyn Read<F::State>>>,
    ) -> Result<Accumulated<F, Several<F::State>>> {
        let asked = self.pass.iter().map(|call| Ok((read(call)?, call.display.clone())));
        Ok(Accumulated { accumulator, readout: Several::new(asked.collect::<Result<_>>()?) })
    }
}

/// The evaluator of sums and averages of `values`.
pub(super) fn totals(inputs: &Inputs, values: &ArrayRef) -> Result<Box<dyn Evaluator>> {
    let inclusion = inputs.inclusion.clone();
    macro_rules! integers {
        ($type:ty) => {{
            let sums = sum::integers::<$type>(values, inclusion)?;
            if inputs.alone() && sums.fit::<i64>(!inputs.once, inputs.threads)? {
                integers(inputs, sums.summed_in::<i64>(), values.data_type())
            } else {
                integers(inputs, sums, values.data_type())
            }
        }};
    }
    match (Native::of(values.data_type()), values.data_type()) {
        (Some(Native::I32), _) => integers!(Int32Type),
        (Some(Native::I64), _) => integers!(Int64Type),
        (Some(Native::U64), _) => integers!(UInt64Type),
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
            answered!(inputs.mergeable(sums), call => {
                Kernel::Count => Counted,
                Kernel::Sum | Kernel::TrySum => FloatSum,
                _ => FloatAverage,
            })
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
    answered!(inputs.retractable(sums), call => {
        Kernel::Count => Counted,
        Kernel::Sum | Kernel::TrySum => {
            IntegerSum::new(call.signature.output.clone(), on_overflow(call, ansi, otherwise))
        },
        _ if intervals => IntervalAverage::new(input, on_overflow(call, ansi, OnOverflow::Error)),
        _ => FloatAverage,
    })
}

fn decimals<N: Unscaled + Summand, S: Exact + Adds<N> + 'static>(
    inputs: &Inputs,
    sums: Sums<N, S>,
    scale: i8,
) -> Result<Box<dyn Evaluator>> {
    let ansi = inputs.ansi;
    let on_overflow = |call: &PlannedCall| on_overflow(call, ansi, OnOverflow::Null);
    answered!(inputs.retractable(sums), call => {
        Kernel::Count => Counted,
        Kernel::Sum | Kernel::TrySum => DecimalSum::<N>::new(call.signature.output.clone(), on_overflow(call))?,
        _ => DecimalAverage::<N>::new(scale, call.signature.output.clone(), on_overflow(call))?,
    })
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
    answered!(inputs.mergeable(values), call => {
        Kernel::Count => Counted,
        _ => spread(call),
    })
}

/// The evaluator of skewness and kurtosis.
pub(super) fn shapes(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let values = Values::<FourMoments>::new(inputs.first()?, inputs.inclusion.clone())?;
    answered!(inputs.mergeable(values), call => {
        _ => if call.function.kernel == Kernel::Skewness { Shape::Skewness } else { Shape::Kurtosis },
    })
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
    answered!(inputs.mergeable(pairs), call => {
        _ => which(call),
    })
}
