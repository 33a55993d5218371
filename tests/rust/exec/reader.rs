//! A reader that appends results, compared with the whole batch at once.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use proptest::prelude::*;
use windrow::calls::{lead, sum};
use windrow::{Bound, Error, ErrorKind, Frame, Options, Plan, Stream, WindowReader, WindowSpec};

use crate::fuzz::cases;

fn rows(partitions: &[i64], values: &[i64]) -> RecordBatch {
    let column = |values: &[i64]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let times = (0..values.len() as i64).collect::<Vec<_>>();
    RecordBatch::try_from_iter([("p", column(partitions)), ("t", column(&times)), ("x", column(values))]).unwrap()
}

fn plan(schema: &SchemaRef) -> Plan {
    let near = Frame::range(Bound::preceding(2), Bound::following(1));
    let spec = WindowSpec::new()
        .partition_by(["p"])
        .order_by(["t"])
        .call(sum("x").over(near).alias("near"))
        .call(lead("x", 2).arg(-1).alias("next"));
    Plan::new(schema.clone(), &[spec], Options::default()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(64), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn batched_results_equal_whole_results(
        mut partitions in prop::collection::vec(0..4_i64, 0..40),
        cuts in prop::collection::vec(1..9_usize, 40),
    ) {
        partitions.sort_unstable();
        let values: Vec<_> = partitions.iter().enumerate().map(|(row, p)| row as i64 * 7 % 11 - p).collect();
        let batch = rows(&partitions, &values);
        let (plan, mut cuts, mut begin, mut batches) = (plan(&batch.schema()), cuts.into_iter(), 0, Vec::new());
        while begin < batch.num_rows() {
            let length = cuts.next().unwrap().min(batch.num_rows() - begin);
            batches.push(Ok(batch.slice(begin, length)));
            begin += length;
        }
        let whole = plan.append(&batch).unwrap();
        let reader = WindowReader::new(plan, RecordBatchIterator::new(batches, batch.schema())).unwrap();
        let schema = reader.schema();
        let read = reader.collect::<Result<Vec<_>, _>>().unwrap();
        prop_assert_eq!(concat_batches(&schema, &read).unwrap(), whole);
    }
}

#[test]
fn reader_ends_after_an_error() {
    let sorted = rows(&[0, 0, 1], &[1, 2, 3]);
    let own = |error: ArrowError| Error::from(error).kind();
    let batches = |input: Vec<Result<RecordBatch, ArrowError>>| {
        WindowReader::new(plan(&sorted.schema()), RecordBatchIterator::new(input, sorted.schema())).unwrap()
    };
    let mut unsorted = batches(vec![Ok(sorted.clone()), Ok(sorted.clone()), Ok(sorted.clone())]);
    let kinds: Vec<_> = unsorted.by_ref().filter_map(Result::err).map(own).collect();
    assert_eq!(kinds, [ErrorKind::Order]);
    assert!(unsorted.next().is_none());
    let mut broken = batches(vec![Err(ArrowError::ParseError("broken".into())), Ok(sorted.clone())]);
    assert_eq!(own(broken.next().unwrap().unwrap_err()), ErrorKind::Data);
    assert!(broken.next().is_none());
    let other = RecordBatchIterator::new([Ok(sorted.clone())], sorted.project(&[0, 1]).unwrap().schema());
    assert_eq!(WindowReader::new(plan(&sorted.schema()), other).unwrap_err().kind(), ErrorKind::Data);
}

#[test]
fn nothing_follows_the_end_of_a_stream() {
    let batch = rows(&[0, 0, 1], &[1, 2, 3]);
    let stream = || Stream::new(Arc::new(plan(&batch.schema()))).unwrap();
    let mut finished = stream();
    finished.push(batch.clone()).unwrap();
    finished.finish().unwrap();
    for refused in [finished.push(batch.clone()), finished.finish()] {
        assert!(refused.unwrap_err().message().contains("is finished"));
    }
    // More rows than may be held, although some are already evaluated.
    let mut full = stream().with_limit(100);
    assert_eq!(full.push(rows(&[0; 30], &[0; 30])).unwrap_err().kind(), ErrorKind::MemoryLimit);
    let mut unsorted = stream();
    unsorted.push(rows(&[1], &[0])).unwrap();
    assert_eq!(unsorted.push(rows(&[0, 1], &[0, 0])).unwrap_err().kind(), ErrorKind::Order);
    for mut failed in [full, unsorted] {
        for refused in [failed.push(batch.clone()), failed.finish()] {
            assert!(refused.unwrap_err().message().contains("has failed"));
        }
    }
    let mut going_on = stream();
    assert!(going_on.push(batch.project(&[0, 1]).unwrap()).is_err());
    let mut found = going_on.push(batch.clone()).unwrap();
    found.extend(going_on.finish().unwrap());
    assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), 3);
}
