//! User-defined functions without a host: every strategy, batches cut anywhere, compared with frames folded by hand.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use windrow::{
    Arg, Bound, BoundAggregate, Call, Error, ErrorKind, Exclude, Frame, Options, OrderKey, Plan, Result, Strategy,
    Stream, UserAggregate, UserFrames, UserFunction, UserPartitions, UserResults, UserState, WindowSpec,
};

/// The frame's values as a string, in order; merges and retracts as configured.
#[derive(Debug)]
struct Texts {
    merges: bool,
    retracts: bool,
}

struct BoundTexts(Int64Array);

fn text(state: &UserState) -> Result<&String> {
    let state: &(dyn Any + Send + Sync) = state.as_ref();
    state.downcast_ref().ok_or_else(|| Error::internal("not a text"))
}

impl UserAggregate for Texts {
    fn output(&self) -> &DataType {
        &DataType::Utf8
    }

    fn merges(&self) -> bool {
        self.merges
    }

    fn retracts(&self) -> bool {
        self.retracts
    }

    fn bind(&self, args: &[ArrayRef]) -> Result<Box<dyn BoundAggregate>> {
        Ok(Box::new(BoundTexts(args[0].as_primitive::<Int64Type>().clone())))
    }
}

impl BoundTexts {
    fn texts(&self, rows: Range<usize>) -> Result<String> {
        rows.map(|row| match self.0.is_valid(row).then(|| self.0.value(row)) {
            Some(value) if value < 0 => Err(Error::user("a value below 0", None)),
            value => Ok(value.map_or("-;".to_string(), |value| format!("{value};"))),
        })
        .collect()
    }
}

impl BoundAggregate for BoundTexts {
    fn initial(&self) -> UserState {
        Arc::new(String::new())
    }

    fn update(&self, state: &mut UserState, rows: Range<usize>) -> Result<()> {
        *state = Arc::new(text(state)?.clone() + &self.texts(rows)?);
        Ok(())
    }

    fn merge(&self, left: &mut UserState, right: &UserState) -> Result<()> {
        *left = Arc::new(text(left)?.clone() + text(right)?);
        Ok(())
    }

    fn retract(&self, state: &mut UserState, rows: Range<usize>) -> Result<()> {
        let gone = self.texts(rows)?;
        let left = text(state)?.strip_prefix(&gone).ok_or_else(|| Error::internal("not the first rows"))?;
        *state = Arc::new(left.to_string());
        Ok(())
    }

    fn results(&self, _: usize) -> Box<dyn UserResults> {
        Box::new(Gathered(Vec::new()))
    }

    fn save(&self, state: &UserState) -> Result<Vec<u8>> {
        Ok(text(state)?.clone().into_bytes())
    }

    fn load(&self, bytes: &[u8]) -> Result<UserState> {
        Ok(Arc::new(String::from_utf8_lossy(bytes).into_owned()))
    }
}

struct Gathered(Vec<String>);

impl UserResults for Gathered {
    fn push(&mut self, state: &UserState) -> Result<()> {
        self.0.push(text(state)?.clone());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ArrayRef> {
        Ok(Arc::new(StringArray::from(self.0)))
    }
}

/// The lengths of frames, or of partitions.
#[derive(Debug)]
struct Lengths;

impl UserFrames for Lengths {
    fn output(&self) -> &DataType {
        &DataType::Int64
    }

    fn evaluate(&self, _: &[ArrayRef], begin: Int64Array, end: Int64Array) -> Result<ArrayRef> {
        let lengths = begin.values().iter().zip(end.values()).map(|(begin, end)| end - begin);
        Ok(Arc::new(lengths.collect::<Int64Array>()))
    }
}

impl UserPartitions for Lengths {
    fn output(&self) -> &DataType {
        &DataType::Int64
    }

    fn evaluate(&self, _: &[ArrayRef], partitions: &[Range<usize>]) -> Result<ArrayRef> {
        let lengths = partitions.iter().flat_map(|run| run.clone().map(|_| run.len() as i64));
        Ok(Arc::new(lengths.collect::<Int64Array>()))
    }
}

const ROWS: i64 = 90;

/// Sorted rows: partitions of 1, 2, 3, ... rows, each row its own peer.
fn rows() -> Result<RecordBatch> {
    let k: Vec<i64> = (1..).flat_map(|k| vec![k; k as usize]).take(ROWS as usize).collect();
    let x: Int64Array = (0..ROWS).map(|row| (row % 7 != 3).then_some(row)).collect();
    let y: Int64Array = (0..ROWS).map(|row| row * 37 % 11).collect();
    Ok(RecordBatch::try_from_iter([
        ("k", Arc::new(Int64Array::from(k)) as ArrayRef),
        ("t", Arc::new(Int64Array::from_iter_values(0..ROWS)) as ArrayRef),
        ("x", Arc::new(x) as ArrayRef),
        ("y", Arc::new(y) as ArrayRef),
    ])?)
}

fn spec(call: Call) -> WindowSpec {
    WindowSpec::new().partition_by(["k"]).order_by([OrderKey::asc("t")]).call(call)
}

/// The values in the frames of `before` and `after` rows (`None`: unbounded), read in the order of `y` or in row order.
fn expected(batch: &RecordBatch, before: Option<i64>, after: Option<i64>, excludes: bool, by_y: bool) -> Vec<String> {
    let column = |index: usize| batch.column(index).as_primitive::<Int64Type>();
    let (k, x, y) = (column(0), column(2), column(3));
    let frame = |row: i64| {
        let within = |other: &i64| {
            k.value(*other as usize) == k.value(row as usize)
                && before.is_none_or(|before| row - other <= before)
                && after.is_none_or(|after| other - row <= after)
                && !(excludes && *other == row)
        };
        let mut frame: Vec<_> = (0..ROWS).filter(within).collect();
        if by_y {
            frame.sort_by_key(|&row| y.value(row as usize));
        }
        let one = |row: i64| if x.is_valid(row as usize) { x.value(row as usize).to_string() } else { "-".into() };
        frame.into_iter().map(|row| one(row) + ";").collect()
    };
    (0..ROWS).map(frame).collect()
}

fn bound(rows: Option<i64>, preceding: bool) -> Bound {
    match (rows, preceding) {
        (None, true) => Bound::UnboundedPreceding,
        (None, false) => Bound::UnboundedFollowing,
        (Some(rows), true) if rows >= 0 => Bound::preceding(rows),
        (Some(rows), true) => Bound::following(-rows),
        (Some(rows), false) if rows >= 0 => Bound::following(rows),
        (Some(rows), false) => Bound::preceding(-rows),
    }
}

const FRAMES: [(Option<i64>, Option<i64>); 7] = [
    (None, Some(0)),
    (None, None),
    (Some(0), None),
    (Some(5), Some(0)),
    (Some(2), Some(3)),
    (Some(6), Some(-2)),
    (None, Some(1)),
];

fn streamed(plan: Plan, batch: &RecordBatch, size: usize) -> Result<Vec<RecordBatch>> {
    let mut stream = Stream::new(Arc::new(plan))?;
    let mut out = Vec::new();
    let mut at = 0;
    while at < batch.num_rows() {
        let length = size.min(batch.num_rows() - at);
        out.extend(stream.push(batch.slice(at, length))?);
        at += length;
    }
    out.extend(stream.finish()?);
    Ok(out)
}

#[test]
fn user_aggregates_match_folds_by_hand() {
    let batch = rows().unwrap();
    for (merges, retracts) in [(false, false), (false, true), (true, false), (true, true)] {
        let function = UserFunction::Aggregate(Arc::new(Texts { merges, retracts }));
        for ((before, after), excludes, by_y) in
            FRAMES.into_iter().flat_map(|f| [(f, false, false), (f, true, false), (f, false, true), (f, true, true)])
        {
            let exclude = if excludes { Exclude::CurrentRow } else { Exclude::NoOthers };
            let frame = Frame::rows(bound(before, true), bound(after, false)).exclude(exclude);
            let mut call = Call::user("texts", function.clone(), [Arg::column("x")]).over(frame);
            if by_y {
                call = call.argument_order([OrderKey::asc("y")]);
            }
            let wanted = expected(&batch, before, after, excludes, by_y);
            for strategy in std::iter::once(None).chain(Strategy::ALL.map(Some)) {
                let options = Options::default().strategy(strategy);
                let plan = match Plan::new(batch.schema(), &[spec(call.clone())], options) {
                    Ok(plan) => plan,
                    Err(error) => {
                        assert!(strategy.is_some(), "{error}");
                        assert_eq!(error.kind(), ErrorKind::Spec);
                        continue;
                    }
                };
                let chosen = plan.explain()[0].strategy;
                let said = format!("{chosen} {before:?} {after:?} {excludes} {by_y} {merges} {retracts}");
                let computed = plan.compute(&batch).unwrap();
                let texts: Vec<_> = computed.column(0).as_string::<i32>().iter().flatten().map(String::from).collect();
                assert_eq!(texts, wanted, "{said}");
                for size in [1, 4, 50] {
                    let out = streamed(plan.clone(), &batch, size).unwrap();
                    let texts = out.iter().flat_map(|batch| batch.column(4).as_string::<i32>().iter().flatten());
                    assert_eq!(texts.map(String::from).collect::<Vec<_>>(), wanted, "streamed by {size}: {said}");
                }
            }
        }
    }
}

#[test]
fn user_error_names_the_call() {
    let batch = rows().unwrap();
    let low = RecordBatch::try_new(
        batch.schema(),
        vec![
            batch.column(0).clone(),
            batch.column(1).clone(),
            Arc::new(Int64Array::from(vec![Some(-1); ROWS as usize])),
            batch.column(3).clone(),
        ],
    );
    let function = UserFunction::Aggregate(Arc::new(Texts { merges: true, retracts: false }));
    let plan =
        Plan::new(batch.schema(), &[spec(Call::user("texts", function, [Arg::column("x")]))], Options::default());
    let error = plan.unwrap().compute(&low.unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::User);
    assert_eq!(error.message(), "texts(x) OVER (PARTITION BY k ORDER BY t): a value below 0");
}

#[test]
fn frame_and_partition_functions_match_lengths() {
    let batch = rows().unwrap();
    let frame = Frame::rows(Bound::preceding(2), Bound::following(1));
    let frames = Call::user("lengths", UserFunction::Frames(Arc::new(Lengths)), [Arg::column("x")]).over(frame);
    let partitions = Call::user("sizes", UserFunction::Partitions(Arc::new(Lengths)), [Arg::column("x")]);
    let plan = Plan::new(batch.schema(), &[spec(frames), spec(partitions)], Options::default()).unwrap();
    let k = batch.column(0).as_primitive::<Int64Type>();
    let count = |row: usize, near: &dyn Fn(usize) -> bool| {
        (0..ROWS as usize).filter(|&other| k.value(other) == k.value(row) && near(other)).count() as i64
    };
    let near: Vec<_> =
        (0..ROWS as usize).map(|row| count(row, &|other| other + 2 >= row && other <= row + 1)).collect();
    let all: Vec<_> = (0..ROWS as usize).map(|row| count(row, &|_| true)).collect();
    let computed = plan.compute(&batch).unwrap();
    assert_eq!(computed.column(0).as_primitive::<Int64Type>().values(), near.as_slice());
    assert_eq!(computed.column(1).as_primitive::<Int64Type>().values(), all.as_slice());
    for size in [1, 4, 50] {
        let out = streamed(plan.clone(), &batch, size).unwrap();
        let column = |index: usize| -> Vec<i64> {
            out.iter().flat_map(|batch| batch.column(index).as_primitive::<Int64Type>().values().to_vec()).collect()
        };
        assert_eq!((column(4), column(5)), (near.clone(), all.clone()));
    }
}
