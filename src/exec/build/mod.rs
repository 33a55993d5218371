//! Builds evaluators: the one match over types, from a planned call and a section's columns to an evaluator.
//!
//! Each family of functions with types of its own has a file here; nothing else matches on function identities and
//! types.

pub(crate) mod aggregates;
pub(crate) mod inputs;
pub(crate) mod lists;
pub(crate) mod multiset;
pub(crate) mod ordered;
pub(crate) mod running;
pub(crate) mod totals;
pub(crate) mod udf;

use self::inputs::{Inputs, held_keys};
use crate::bounds::frames::Frames;
use crate::catalog::algebra::Algebra;
use crate::catalog::function_id::FunctionId;
use crate::catalog::shared_state::SharedState;
use crate::error::Result;
use crate::evaluate::aggregate_evaluator::evaluator_for_retractable;
use crate::evaluate::evaluator::Evaluator;
use crate::evaluate::min_rows::MinRows;
use crate::evaluate::where_keyed::WhereKeyed;
use crate::functions::aggregate::bool_and_or::BoolAggregate;
use crate::functions::aggregate::count::Count;
use crate::functions::aggregate::min_max::Extremum;
use crate::functions::positional::nth::{self, Nth};
use crate::functions::positional::rank::{self, Rank};
use crate::functions::positional::rank_with::RankWith;
use crate::model::section::Section;
use crate::plan::planned::Plan;
use crate::spec::strategy::Strategy;
use crate::util::threads::Threads;

impl Plan {
    /// The evaluator of the call at this index over a section whose rows are in its window's order, and its frames; for
    /// callers that sort and cut the rows themselves.
    ///
    /// # Errors
    /// No such call, a section that lacks columns, values that cannot be converted.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn evaluator(&self, call: usize, section: &Section) -> Result<(Box<dyn Evaluator>, Frames)> {
        if call >= self.calls.len() {
            return Err(crate::error::Error::spec(format!("the plan has no call {call}")));
        }
        let cancel = crate::util::cancel::Cancel::default();
        let threads = Threads::new(self.options.threads, &cancel).limited_to_rows(section.partitions.len());
        self.pass_evaluator(&[call], section, 0, &threads)
    }

    /// The evaluator of a pass over a section, and its frames; rows before `base` have been released.
    pub(crate) fn pass_evaluator(
        &self,
        pass: &[usize],
        section: &Section,
        base: usize,
        threads: &Threads,
    ) -> Result<(Box<dyn Evaluator>, Frames)> {
        let frames = Frames::new(&self.first_call(pass).frame, section, base)?;
        Ok((evaluator(self, pass, section, false, threads)?, frames))
    }
}

/// The evaluator of a pass over `section`; its result is a struct of the calls' columns, or the column itself if there
/// is one call.
///
/// `once`: the evaluator reads each row once (grouped runs), so scanning all values to prove that 64-bit sums suffice
/// does not pay.
///
/// # Errors
/// A value that cannot be converted to the type that the function reads.
pub(crate) fn evaluator(
    plan: &Plan,
    pass: &[usize],
    section: &Section,
    once: bool,
    threads: &Threads,
) -> Result<Box<dyn Evaluator>> {
    let inputs = Inputs { once, ..Inputs::new(plan, pass, section, threads)? };
    let evaluator = match held_keys(inputs.call, inputs.order_by, section)? {
        Some(keys) => Box::new(WhereKeyed::new(dispatch(&inputs)?, &keys)),
        None => dispatch(&inputs)?,
    };
    match inputs.call.min_rows {
        None => Ok(evaluator),
        Some(rows) => {
            let strategy = inputs.call.strategy;
            let counts = Algebra::Retractable.strategies().contains(&strategy);
            let strategy = if counts { strategy } else { Strategy::Prefix };
            let count = evaluator_for_retractable(Count::new(inputs.inclusion.clone()), strategy, section)?;
            Ok(Box::new(MinRows::new(evaluator, count, rows)))
        }
    }
}

/// The evaluator of the call that determines how a pass is evaluated.
fn dispatch(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let Inputs { call, section, inclusion, .. } = inputs;
    let (naive, inclusion) = (inputs.naive(), inclusion.clone());
    let ranking = |which| Ok(Box::new(Rank::new(section, which, naive)?) as Box<dyn Evaluator>);
    let value = |which| {
        let column = inputs.first()?.clone();
        Ok(Box::new(Nth::new(section, column, inclusion.clone(), which, naive)?) as Box<dyn Evaluator>)
    };
    if let Some(evaluator) = multiset::evaluator(inputs)? {
        return Ok(evaluator);
    }
    if matches!(call.signature.algebra, Algebra::Ordered | Algebra::Quantile) {
        return ordered::evaluator(inputs);
    }
    match call.function.shared_state {
        Some(SharedState::Totals) => return totals::totals(inputs, inputs.first()?),
        Some(SharedState::Moments) => return totals::spreads(inputs),
        Some(SharedState::Shape) => return totals::shapes(inputs),
        Some(SharedState::Pairs) => return totals::regressions(inputs),
        Some(SharedState::Count) | None => {}
    }
    match call.function.function_id {
        FunctionId::UserAggregate | FunctionId::UserFrames | FunctionId::UserPartitions => udf::evaluator(inputs),
        FunctionId::Count | FunctionId::RegrCount => inputs.retractable(Count::new(inclusion)),
        FunctionId::CountIf => inputs.retractable(Count::new(inputs.where_true()?)),
        FunctionId::RegrAvgx | FunctionId::RegrAvgy => {
            totals::totals(inputs, &inputs.args[usize::from(call.function.function_id == FunctionId::RegrAvgx)])
        }
        FunctionId::Min => aggregates::extremum(inputs, Extremum::Min),
        FunctionId::Max => aggregates::extremum(inputs, Extremum::Max),
        FunctionId::BoolAnd => inputs.logic(BoolAggregate::And),
        FunctionId::BoolOr => inputs.logic(BoolAggregate::Or),
        FunctionId::First => value(nth::NthRow::First),
        FunctionId::Last => value(nth::NthRow::Last),
        FunctionId::Nth => value(match inputs.per_row(1)? {
            Some(n) => nth::NthRow::NthPerRow(n),
            None => nth::NthRow::Nth(u64::try_from(inputs.constant(1)?).unwrap_or(1)),
        }),
        FunctionId::Lag | FunctionId::Lead => inputs.offset(),
        FunctionId::RowNumber => ranking(rank::RankKind::RowNumber),
        FunctionId::Rank => ranking(rank::RankKind::Rank),
        FunctionId::DenseRank => ranking(rank::RankKind::DenseRank),
        FunctionId::PercentRank => ranking(rank::RankKind::PercentRank),
        FunctionId::CumeDist => ranking(rank::RankKind::CumeDist),
        FunctionId::Ntile => ranking(rank::RankKind::Ntile(u64::try_from(inputs.constant(0)?).unwrap_or(1))),
        FunctionId::RankWith => {
            let keys = inputs.order_by.iter().map(|key| section.column(key.number)).collect::<Result<Vec<_>>>()?;
            Ok(Box::new(RankWith::new(section, inputs.rank_by()?, inputs.ranked(&keys)?, naive)))
        }
        FunctionId::CollectList | FunctionId::Listagg => lists::evaluator(inputs),
        FunctionId::Fill
        | FunctionId::FillForward
        | FunctionId::FillBackward
        | FunctionId::CounterDiff
        | FunctionId::GroupId => running::evaluator(inputs),
        _ => aggregates::evaluator(inputs),
    }
}
