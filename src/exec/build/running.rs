//! Functions that read a partition's rows in sequence: fills, `counter_diff`, `group_id`.

use arrow_array::Array;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int32Type, Int64Type, UInt64Type};

use super::inputs::Inputs;
use crate::catalog::function_id::FunctionId;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::Evaluator;
use crate::functions::native::to_primitive;
use crate::functions::positional::counter_diff::CounterDiff;
use crate::functions::positional::fill::Fill;
use crate::functions::positional::fill_carry::FillCarry;
use crate::functions::positional::group_id::{GroupId, GroupLimits, LimitedSum};
use crate::functions::positional::max_gap::MaxGap;
use crate::model::physical_type::PhysicalType;
use crate::spec::literal_array;

/// The evaluator of a call of this family.
pub(super) fn evaluator(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    match inputs.call.function.function_id {
        FunctionId::Fill => fill(inputs),
        FunctionId::FillForward => carry(inputs, true),
        FunctionId::FillBackward => carry(inputs, false),
        FunctionId::GroupId => group_id(inputs),
        _ => counter_diff(inputs),
    }
}

fn group_id(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let rows = inputs.optional(2).map(|_| inputs.constant(2)).transpose()?;
    let sum = match (inputs.args.first(), inputs.optional(4)) {
        (Some(values), Some(limit)) if values.data_type().is_floating() => {
            Some(LimitedSum::Double(to_primitive::<Float64Type>(values)?, literal_array::number(limit)?))
        }
        (Some(values), Some(limit)) => {
            let limit = to_primitive::<Decimal256Type>(limit)?.value(0);
            Some(LimitedSum::Exact(to_primitive::<Decimal256Type>(values)?, limit))
        }
        _ => None,
    };
    let limits = GroupLimits {
        gap: inputs.distance(0)?,
        span: inputs.distance(1)?,
        rows: rows.map(|rows| u64::try_from(rows).unwrap_or(1)),
        sum,
    };
    Ok(Box::new(GroupId::new(inputs.section, limits, inputs.naive())))
}

fn fill(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let column = inputs.first()?;
    let key = inputs.order_by.first().ok_or_else(|| Error::internal("fill without an order key"))?;
    let key = inputs.section.column(key.number)?;
    macro_rules! natives {
        ($type:ty) => {
            Ok(Box::new(Fill::<$type>::new(inputs.section, column, key, inputs.distance(1)?, inputs.naive())?))
        };
    }
    match PhysicalType::of(column.data_type()) {
        Some(PhysicalType::I32) => natives!(Int32Type),
        Some(PhysicalType::I64) => natives!(Int64Type),
        Some(PhysicalType::U64) => natives!(UInt64Type),
        Some(PhysicalType::F64) => natives!(Float64Type),
        Some(PhysicalType::I128) => natives!(Decimal128Type),
        Some(PhysicalType::I256) | None => Err(inputs.unexpected()),
    }
}

fn carry(inputs: &Inputs, forward: bool) -> Result<Box<dyn Evaluator>> {
    let Inputs { section, inclusion, .. } = inputs;
    let max_gap = match (inputs.distance(1)?, inputs.order_by.first()) {
        (Some(keys), Some(key)) => {
            let key = section.column(key.number)?;
            let nulls = key.logical_nulls();
            let known = nulls.map_or_else(|| inclusion.clone(), |nulls| inclusion.and(nulls.inner()));
            Some((MaxGap::of(keys, key), known))
        }
        _ => None,
    };
    let column = inputs.first()?.clone();
    Ok(Box::new(FillCarry::new(section, column, inclusion.clone(), max_gap, forward, inputs.naive())))
}

fn counter_diff(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let column = inputs.first()?;
    macro_rules! natives {
        ($type:ty) => {{
            let (section, inclusion) = (inputs.section, inputs.inclusion.clone());
            Ok(Box::new(CounterDiff::<$type>::new(section, column, inputs.args.get(1), inclusion, inputs.naive())?))
        }};
    }
    match PhysicalType::of(column.data_type()) {
        Some(PhysicalType::I32) => natives!(Int32Type),
        Some(PhysicalType::I64) => natives!(Int64Type),
        Some(PhysicalType::U64) => natives!(UInt64Type),
        Some(PhysicalType::F64) => natives!(Float64Type),
        Some(PhysicalType::I128) => natives!(Decimal128Type),
        Some(PhysicalType::I256) => natives!(Decimal256Type),
        None => Err(inputs.unexpected()),
    }
}
