//! Lists and joined strings: `collect_list`, `listagg`.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::inputs::Inputs;
use crate::catalog::function_id::FunctionId;
use crate::error::Result;
use crate::evaluate::evaluator::Evaluator;
use crate::evaluate::multiset::rank_codes::IncludedRows;
use crate::evaluate::multiset::sliding::{Multiset, VisitOrder};
use crate::evaluate::multiset::value_codes::ValueCodes;
use crate::functions::cast_text::cast_to_text;
use crate::functions::multiset::collect::{CollectLists, GatherPlaces, ListByCode, ListByRow};
use crate::functions::multiset::listagg::StringAgg;
use crate::functions::native::canonical;
use crate::plan::planned::PlannedArg;

/// The evaluator of a call of this family.
pub(super) fn evaluator(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let Inputs { call, .. } = inputs;
    // Under DISTINCT -0.0 and 0.0, and all NaNs, are one value: normalise, so that the result does not depend on which
    // came first.
    let column = if call.distinct { canonical(inputs.first()?)? } else { inputs.first()?.clone() };
    let output = &call.signature.output;
    if call.function.function_id == FunctionId::CollectList {
        return gathered(inputs, |places| CollectLists::new(places.take(&column)?, output));
    }
    let delimiter = match call.args.get(1) {
        Some(PlannedArg::Literal(delimiter)) if !delimiter.is_null(0) && *delimiter.data_type() != DataType::Null => {
            cast(&cast(delimiter, &DataType::LargeUtf8)?, &DataType::LargeBinary)?.as_binary::<i64>().value(0).to_vec()
        }
        _ => Vec::new(),
    };
    gathered(inputs, |places| {
        let values = places.take(&column)?;
        let texts: ArrayRef = match output {
            DataType::Binary => values,
            _ => std::sync::Arc::new(cast_to_text(&values)?),
        };
        StringAgg::new(&texts, delimiter, output.clone())
    })
}

/// The evaluator that gathers the values in the call's argument order.
fn gathered<G: GatherPlaces + 'static>(
    inputs: &Inputs,
    gather: impl FnOnce(&IncludedRows) -> Result<G>,
) -> Result<Box<dyn Evaluator>> {
    let Inputs { call, section, inclusion, threads, .. } = inputs;
    let order = inputs.argument_order()?;
    if call.distinct {
        // Under DISTINCT the plan has checked that the argument order has the argument itself as its key.
        let values = if order.is_empty() { inputs.distinct()? } else { inputs.values(&order)? };
        let gather = gather(&values.places)?;
        return Ok(Multiset::boxed(call.visit_order(), values, ListByCode(gather)));
    }
    if order.is_empty() {
        let places = IncludedRows::new(section, inclusion.clone())?;
        return Ok(Box::new(ListByRow { gather: gather(&places)?, places, naive: inputs.naive() }));
    }
    let values = ValueCodes::in_order(section, inclusion.clone(), &order, threads)?;
    let gather = gather(&values.places)?;
    // A list is as long as its frame, so moving from one frame to the next costs no more than reading both.
    let visits = if inputs.naive() { VisitOrder::Naive } else { VisitOrder::RowOrder };
    Ok(Multiset::boxed(visits, values, ListByCode(gather)))
}
