//! Functions of value multiplicities: `mode`, `entropy`, `collect_set`, `dense_rank` within a frame, distinct counts.
//! DISTINCT of any other aggregate is handled where the aggregate is built ([`Inputs::mergeable`]).

use super::inputs::Inputs;
use super::ordered;
use crate::catalog::algebra::Algebra;
use crate::catalog::function_id::FunctionId;
use crate::error::Result;
use crate::evaluate::evaluator::Evaluator;
use crate::evaluate::multiset::distinct::RetractedDistinct;
use crate::evaluate::multiset::sliding::Multiset;
use crate::functions::aggregate::count::Count;
use crate::functions::multiset::collect::{CollectLists, ListByCode};
use crate::functions::multiset::dense_rank_in_frame::DenseRank;
use crate::functions::multiset::entropy::Entropy;
use crate::functions::multiset::mode::Mode;
use crate::functions::native::canonical;

/// The evaluator of a call of this family; `None` for other calls.
pub(super) fn evaluator(inputs: &Inputs) -> Result<Option<Box<dyn Evaluator>>> {
    let Inputs { call, inclusion, .. } = inputs;
    if !matches!(call.signature.algebra, Algebra::Multiset | Algebra::Distinct) {
        return Ok(None);
    }
    let visits = call.visit_order();
    Ok(Some(match call.function.function_id {
        FunctionId::ApproxCountDistinct => inputs.over_distinct(Count::new(inclusion.clone()), RetractedDistinct)?,
        FunctionId::Mode => {
            // WITHIN GROUP orders the values, and the first of several modes is the result.
            let values = match inputs.argument_order()? {
                order if order.is_empty() => inputs.distinct()?,
                order => inputs.values(&order)?,
            };
            Multiset::boxed(visits, values, Mode::new(canonical(inputs.first()?)?, call.distinct))
        }
        FunctionId::Entropy => Multiset::boxed(visits, inputs.distinct()?, Entropy { distinct: call.distinct }),
        FunctionId::DenseRank => Multiset::boxed(visits, inputs.values(&inputs.argument_order()?)?, DenseRank),
        FunctionId::CollectSet => {
            let values = inputs.distinct()?;
            let column = values.places.take(&canonical(inputs.first()?)?)?;
            Multiset::boxed(visits, values, ListByCode(CollectLists::new(column, &call.signature.output)?))
        }
        FunctionId::Median
        | FunctionId::Percentile
        | FunctionId::PercentileDisc
        | FunctionId::PercentileApprox
        | FunctionId::Mad => ordered::evaluator(inputs)?,
        _ => return Ok(None),
    }))
}
