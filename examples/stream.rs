//! Streaming: each row is returned as soon as no later row can change its results, and few rows are held.
//!
//! `cargo run --example stream`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use windrow::arrow_array::cast::AsArray;
use windrow::arrow_array::types::Int64Type;
use windrow::arrow_array::{ArrayRef, Int64Array, RecordBatch};
use windrow::{Bound, Frame, Options, Plan, Stream, WindowSpec, calls::max};

const BATCH: i64 = 1_000;

/// Rows `from..from + BATCH_ROWS` of an endless table: the second, and a level that rises and falls.
fn batch(from: i64) -> Result<RecordBatch, Box<dyn Error>> {
    let seconds = Int64Array::from_iter_values(from..from + BATCH);
    let levels = Int64Array::from_iter_values((from..from + BATCH).map(|second| second * second % 997));
    Ok(RecordBatch::try_from_iter([
        ("second", Arc::new(seconds) as ArrayRef),
        ("level", Arc::new(levels) as ArrayRef),
    ])?)
}

fn main() -> Result<(), Box<dyn Error>> {
    // The highest level among the 50 rows before each row, the row itself, and the 50 rows after it.
    let around = Frame::rows(Bound::preceding(50), Bound::following(50));
    let spec = WindowSpec::new().order_by(["second"]).call(max("level").over(around).alias("peak"));
    let plan = Plan::new(batch(0)?.schema(), &[spec], Options::default())?;

    let mut stream = Stream::new(Arc::new(plan))?;
    let (mut rows, mut peaks, mut most_held) = (0, 0, 0);
    let mut take = |finished: Vec<RecordBatch>| {
        for batch in finished {
            rows += batch.num_rows();
            peaks += batch["peak"].as_primitive::<Int64Type>().values().iter().sum::<i64>();
        }
    };
    for from in (0..1_000_000).step_by(BATCH as usize) {
        take(stream.push(batch(from)?)?);
        most_held = most_held.max(stream.buffered_rows());
    }
    take(stream.finish()?);
    println!("{rows} rows went through, at most {most_held} were held; the peaks come to {peaks}");
    Ok(())
}
