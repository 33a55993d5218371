//! An aggregate of one's own: say how states are made, joined and read, and every strategy and frame can use it.
//!
//! `cargo run --example own_aggregate`
#![allow(clippy::print_stdout)]

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::Float64Builder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, UInt64Array};
use arrow_buffer::BooleanBuffer;
use windrow::bounds::frames::Frames;
use windrow::bounds::resolve::FramePlan;
use windrow::evaluate::aggregate_evaluator;

use windrow::model::aggregate::{Accumulator, Readout};
use windrow::model::carry::Carry;

use windrow::util::boundaries::Edges;

use windrow::model::section::Section;
use windrow::{Bound, Cancel, Error, Exclude, Frame, Result, Strategy};

/// The geometric mean of a column; nulls do not take part, and a frame without values has none.
struct GeometricMean {
    values: Float64Array,
}

/// What some rows came to.
#[derive(Clone, Default)]
struct Logarithms {
    count: u64,
    sum: f64,
}

impl Accumulator for GeometricMean {
    type State = Logarithms;

    fn init(&self) -> Logarithms {
        Logarithms::default()
    }

    fn update(&self, state: &mut Logarithms, rows: Range<usize>) -> Result<()> {
        for row in rows.filter(|&row| self.values.is_valid(row)) {
            let value = self.values.value(row);
            if value <= 0.0 {
                return Err(Error::data(format!("geometric_mean takes values above 0, and row {row} is {value}")));
            }
            state.count += 1;
            state.sum += value.ln();
        }
        Ok(())
    }

    fn merge(&self, left: &mut Logarithms, right: &Logarithms) -> Result<()> {
        left.count += right.count;
        left.sum += right.sum;
        Ok(())
    }

    // A state as Arrow data, for a partition that goes on in a later section.
    fn save(&self, state: &Logarithms) -> Result<RecordBatch> {
        Ok(RecordBatch::try_from_iter([
            ("count", Arc::new(UInt64Array::from(vec![state.count])) as ArrayRef),
            ("sum", Arc::new(Float64Array::from(vec![state.sum])) as ArrayRef),
        ])?)
    }

    fn load(&self, saved: &RecordBatch) -> Result<Logarithms> {
        let count = saved.column_by_name("count").and_then(|column| column.as_primitive_opt::<UInt64Type>());
        let sum = saved.column_by_name("sum").and_then(|column| column.as_primitive_opt::<Float64Type>());
        match (count, sum) {
            (Some(count), Some(sum)) if saved.num_rows() == 1 => {
                Ok(Logarithms { count: count.value(0), sum: sum.value(0) })
            }
            _ => Err(Error::internal("this is not what geometric_mean saves")),
        }
    }
}

impl Readout<Logarithms> for GeometricMean {
    type Builder = Float64Builder;

    fn builder(&self, capacity: usize) -> Float64Builder {
        Float64Builder::with_capacity(capacity)
    }

    fn evaluate(&self, state: &Logarithms, out: &mut Float64Builder) -> Result<()> {
        out.append_option((state.count > 0).then(|| (state.sum / state.count as f64).exp()));
        Ok(())
    }

    fn finish(&self, mut out: Float64Builder) -> Result<ArrayRef> {
        Ok(Arc::new(out.finish()))
    }
}

fn main() -> Result<()> {
    // The yearly growth of two funds: rows in order, and where each fund's rows begin.
    let growth = Float64Array::from(vec![Some(1.10), Some(0.95), None, Some(1.20), Some(1.02), Some(1.03), Some(1.01)]);
    let funds = Edges::new(BooleanBuffer::from(vec![true, false, false, false, true, false, false]));
    let years = Edges::new(BooleanBuffer::new_set(growth.len())); // no two rows are peers
    let section = Section::whole(funds, years, vec![])?;

    let three_years = Frame::rows(Bound::preceding(2), Bound::CurrentRow);
    let other_years = Frame::entire().exclude(Exclude::CurrentRow);
    for (name, frame, strategy) in [
        ("three years, two stacks", &three_years, Strategy::TwoStacks),
        ("three years, naive", &three_years, Strategy::Naive),
        ("all other years, segment tree", &other_years, Strategy::SegmentTree),
    ] {
        let no_columns = |column: &str| Err(Error::spec(format!("there is no column {column:?}")));
        let plan = FramePlan::resolve(Some(frame), &[], &no_columns, "UTC")?;
        let frames = Frames::new(&plan, &section, 0)?;
        let evaluator = aggregate_evaluator::mergeable(GeometricMean { values: growth.clone() }, strategy, &section)?;
        let means = evaluator.evaluate(&frames, section.own.clone(), &Carry::default(), &Cancel::default())?;
        let means = means.as_primitive::<Float64Type>();
        let shown: Vec<_> = means.iter().map(|mean| mean.map_or("-".into(), |mean| format!("{mean:.4}"))).collect();
        println!("{name:<30} {}", shown.join("  "));
    }
    Ok(())
}
