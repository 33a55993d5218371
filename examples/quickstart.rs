//! The shortest complete program: a batch, a query, a plan, the results.
//!
//! `cargo run --example quickstart`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use arrow_cast::display::array_value_to_string;
use windrow::arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use windrow::calls::{avg, lag, sum};
use windrow::{Bound, Frame, Options, Plan, WindowSpec};

fn main() -> Result<(), Box<dyn Error>> {
    let batch = RecordBatch::try_from_iter([
        ("player", Arc::new(StringArray::from(vec!["ann", "bob", "ann", "bob", "ann"])) as ArrayRef),
        ("round", Arc::new(Int64Array::from(vec![1, 1, 2, 2, 4])) as ArrayRef),
        ("points", Arc::new(Int64Array::from(vec![Some(7), Some(5), None, Some(9), Some(4)])) as ArrayRef),
    ])?;

    // PARTITION BY player ORDER BY round
    let spec = WindowSpec::new()
        .partition_by(["player"])
        .order_by(["round"])
        .call(sum("points").alias("total")) // no frame: from the first row to this one
        .call(avg("points").over(Frame::range(Bound::preceding(2), Bound::CurrentRow)).alias("recent")) // three rounds
        .call(lag("points", 1).arg(0).alias("before"));

    let plan = Plan::new(batch.schema(), &[spec], Options::default())?;
    let rows = plan.append(&batch)?; // one more column per call, rows in the batch's order

    println!("player  round  points  total  recent  before");
    for row in 0..rows.num_rows() {
        for column in rows.columns() {
            print!("{:<8}", array_value_to_string(column, row)?);
        }
        println!();
    }
    for call in plan.explain() {
        println!("{}: {}, {}", call.name, call.strategy, call.reason);
    }
    Ok(())
}
