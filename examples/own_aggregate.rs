//! A user-defined aggregate: define how states are created, updated, merged and read, and a plan evaluates it over any
//! frame, with a strategy that its methods allow.
//!
//! `cargo run --example own_aggregate`
#![allow(clippy::print_stdout)]

use std::ops::Range;
use std::sync::Arc;

use windrow::arrow_array::builder::Float64Builder;
use windrow::arrow_array::cast::AsArray;
use windrow::arrow_array::types::Float64Type;
use windrow::arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use windrow::arrow_schema::DataType;
use windrow::{
    Bound, BoundAggregate, Call, Error, Exclude, Frame, Options, Plan, Result, UserAggregate, UserFunction,
    UserResults, UserState, WindowSpec,
};

/// The geometric mean of a column; nulls are skipped, and a frame without values gives NULL.
#[derive(Debug)]
struct GeometricMean;

/// The state: the number of values, and the sum of their logarithms.
#[derive(Clone, Copy, Default)]
struct Logarithms {
    count: u64,
    sum: f64,
}

impl Logarithms {
    fn of(state: &UserState) -> Result<Self> {
        state.downcast_ref().copied().ok_or_else(|| Error::internal("this is no state of geometric_mean"))
    }
}

impl UserAggregate for GeometricMean {
    fn output(&self) -> &DataType {
        &DataType::Float64
    }

    fn merges(&self) -> bool {
        true
    }

    // Subtracting a logarithm again would leave rounding errors in the state.
    fn retracts(&self) -> bool {
        false
    }

    fn bind(&self, args: &[ArrayRef]) -> Result<Box<dyn BoundAggregate>> {
        match args {
            [column] if column.data_type() == &DataType::Float64 => {
                Ok(Box::new(Values(column.as_primitive::<Float64Type>().clone())))
            }
            _ => Err(Error::spec("geometric_mean takes one column of doubles")),
        }
    }
}

/// The aggregate over the values of a batch.
struct Values(Float64Array);

impl BoundAggregate for Values {
    fn initial(&self) -> UserState {
        Arc::new(Logarithms::default())
    }

    fn update(&self, state: &mut UserState, rows: Range<usize>) -> Result<()> {
        let mut logarithms = Logarithms::of(state)?;
        for row in rows.filter(|&row| self.0.is_valid(row)) {
            let value = self.0.value(row);
            if value <= 0.0 {
                return Err(Error::data(format!("geometric_mean takes values above 0, and row {row} is {value}")));
            }
            logarithms.count += 1;
            logarithms.sum += value.ln();
        }
        *state = Arc::new(logarithms);
        Ok(())
    }

    fn merge(&self, left: &mut UserState, right: &UserState) -> Result<()> {
        let (left_of, right_of) = (Logarithms::of(left)?, Logarithms::of(right)?);
        *left = Arc::new(Logarithms { count: left_of.count + right_of.count, sum: left_of.sum + right_of.sum });
        Ok(())
    }

    fn retract(&self, _: &mut UserState, _: Range<usize>) -> Result<()> {
        Err(Error::internal("geometric_mean does not retract"))
    }

    fn results(&self, capacity: usize) -> Box<dyn UserResults> {
        Box::new(Means(Float64Builder::with_capacity(capacity)))
    }

    // A state as bytes, for a partition that continues in a later batch of a stream.
    fn save(&self, state: &UserState) -> Result<Vec<u8>> {
        let Logarithms { count, sum } = Logarithms::of(state)?;
        Ok([count.to_le_bytes(), sum.to_le_bytes()].concat())
    }

    fn load(&self, bytes: &[u8]) -> Result<UserState> {
        match bytes.as_chunks::<8>() {
            ([count, sum], []) => {
                Ok(Arc::new(Logarithms { count: u64::from_le_bytes(*count), sum: f64::from_le_bytes(*sum) }))
            }
            _ => Err(Error::internal("this is not what geometric_mean saves")),
        }
    }
}

struct Means(Float64Builder);

impl UserResults for Means {
    fn push(&mut self, state: &UserState) -> Result<()> {
        let Logarithms { count, sum } = Logarithms::of(state)?;
        self.0.append_option((count > 0).then(|| (sum / count as f64).exp()));
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<ArrayRef> {
        Ok(Arc::new(self.0.finish()))
    }
}

fn main() -> Result<()> {
    // The yearly growth of two funds.
    let fund = StringArray::from(vec!["A", "A", "A", "A", "B", "B", "B"]);
    let growth = Float64Array::from(vec![Some(1.10), Some(0.95), None, Some(1.20), Some(1.02), Some(1.03), Some(1.01)]);
    let rows =
        RecordBatch::try_from_iter([("fund", Arc::new(fund) as ArrayRef), ("growth", Arc::new(growth) as ArrayRef)])?;

    let mean = || Call::user("geometric_mean", UserFunction::Aggregate(Arc::new(GeometricMean)), ["growth".into()]);
    let spec = WindowSpec::new()
        .partition_by(["fund"])
        .call(mean().over(Frame::rows(Bound::preceding(2), Bound::CurrentRow)).alias("three years"))
        .call(mean().over(Frame::entire().exclude(Exclude::CurrentRow)).alias("all other years"));
    let plan = Plan::new(rows.schema(), &[spec], Options::default())?;
    let answers = plan.compute(&rows)?;
    for (told, column) in plan.explain().iter().zip(answers.columns()) {
        let means = column.as_primitive::<Float64Type>();
        let shown: Vec<_> = means.iter().map(|mean| mean.map_or("-".into(), |mean| format!("{mean:.4}"))).collect();
        println!("{:<16} {:<13} {}", told.name, told.strategy.name(), shown.join("  "));
    }
    Ok(())
}
