//! Lists and joined texts: `collect_list`, `listagg`.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::inputs::Inputs;
use crate::catalog::function_id::FunctionId;
use crate::error::Result;
use crate::evaluate::evaluator::Evaluator;
use crate::evaluate::multiset::rank_codes::Places;
use crate::evaluate::multiset::sliding::Codes;
use crate::evaluate::multiset::value_codes::Values;
use crate::functions::cast_text::texts;
use crate::functions::multiset::collect::{GatherPlaces, ListByCode, ListByRow, Lists};
use crate::functions::multiset::listagg::StringAgg;
use crate::functions::native::canonical;
use crate::plan::planned::PlannedArg;

/// The evaluator of a call of this family.
pub(super) fn evaluator(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let Inputs { call, .. } = inputs;
    // Equal values that look different are one, and look as the first of them would not in every frame.
    let column = if call.distinct { canonical(inputs.first()?)? } else { inputs.first()?.clone() };
    let output = &call.signature.output;
    if call.function.kernel == FunctionId::CollectList {
        return gathered(inputs, |places| Lists::new(places.take(&column)?, output));
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
            _ => std::sync::Arc::new(texts(&values)?),
        };
        StringAgg::new(&texts, delimiter, output.clone())
    })
}

/// The evaluator of what is made of the values in the call's order.
fn gathered<G: GatherPlaces + 'static>(
    inputs: &Inputs,
    gather: impl FnOnce(&Places) -> Result<G>,
) -> Result<Box<dyn Evaluator>> {
    let Inputs { call, section, inclusion, threads, .. } = inputs;
    let order = inputs.argument_order()?;
    if call.distinct {
        // The plan has seen that the order is the argument's own.
        let values = if order.is_empty() { inputs.distinct()? } else { inputs.values(&order)? };
        let gather = gather(&values.places)?;
        return Ok(Codes::boxed(call.frame_traits(), values, ListByCode(gather)));
    }
    if order.is_empty() {
        let places = Places::new(section, inclusion.clone())?;
        return Ok(Box::new(ListByRow { gather: gather(&places)?, places, naive: inputs.naive() }));
    }
    let values = Values::in_order(section, inclusion.clone(), &order, threads)?;
    let gather = gather(&values.places)?;
    Ok(Codes::boxed_in_row_order(call.frame_traits(), values, ListByCode(gather)))
}
