//! Columns of offsets of every type that a key accepts.

use super::*;

/// The frames of one partition with these keys and offsets.
fn per_row(keys: ArrayRef, offsets: ArrayRef) -> windrow::Result<Vec<Range<u32>>> {
    let order = OrderColumn {
        number: 0,
        data_type: keys.data_type().clone(),
        options: SortOptions::default(),
        name: "key".into(),
    };
    let offset = offsets.data_type().clone();
    let frame = Frame::range(Bound::Preceding(Arg::column("offset")), Bound::CurrentRow);
    let plan = FramePlan::resolve(Some(&frame), &[order], &|_| Ok((1, offset.clone())), "UTC")?;
    let rows = keys.len();
    let section =
        Section::whole(Boundaries::single(rows), Boundaries::new(BooleanBuffer::new_set(rows)), vec![keys, offsets])?;
    let mut bounds = Bounds::default();
    Frames::new(&plan, &section, 0)?.fill(0..rows, &mut bounds)?;
    Ok(bounds.begin.iter().zip(&bounds.end).map(|(begin, end)| *begin..*end).collect())
}

#[test]
fn columns_of_offsets_are_cast_to_the_key_s_terms() {
    use arrow_array::types::{Int32Type, IntervalMonthDayNano};
    use arrow_array::{
        DictionaryArray, DurationMillisecondArray, Int16Array, Int32Array, IntervalMonthDayNanoArray,
        IntervalYearMonthArray, RunArray,
    };
    let dates = || -> ArrayRef { Arc::new(Date32Array::from(vec![0, 30, 31, 59])) };
    let expected = vec![0..1, 0..2, 1..3, 1..4];
    let months = IntervalYearMonthArray::from(vec![0, 1, 0, 1]);
    // 1 and 31 January, 1 February and 1 March 1970, minus these numbers of months; then of days.
    assert_eq!(per_row(dates(), Arc::new(months)).unwrap(), vec![0..1, 0..2, 2..3, 2..4]);
    assert_eq!(per_row(dates(), Arc::new(Int16Array::from(vec![0, 30, 1, 29]))).unwrap(), expected);
    let days = [0, 30, 1, 29].map(|days| IntervalMonthDayNano::new(0, days, 0));
    assert_eq!(per_row(dates(), Arc::new(IntervalMonthDayNanoArray::from(days.to_vec()))).unwrap(), expected);
    let days = [0, 30, 1, 29].map(|days| days * 86_400_000);
    assert_eq!(per_row(dates(), Arc::new(DurationMillisecondArray::from(days.to_vec()))).unwrap(), expected);
    let minute: ArrayRef = Arc::new(DurationMillisecondArray::from(vec![0, 60_000, 0, 0]));
    assert!(per_row(dates(), minute).unwrap_err().message().contains("no time of day"));

    let floats: ArrayRef = Arc::new(Float64Array::from(vec![0.0, 0.5, 1.5, f64::NAN]));
    let by: ArrayRef = Arc::new(Float32Array::from(vec![0.0, 0.5, 1.0, 1.0]));
    assert_eq!(per_row(Arc::clone(&floats), by).unwrap(), vec![0..1, 0..2, 1..3, 3..4]);
    let nan: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN; 4]));
    assert!(per_row(floats, nan).is_err());

    // A dictionary is treated as its values, and so are runs of a dictionary.
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1, 5, 6]));
    let coded = |keys: Vec<i32>| DictionaryArray::<Int32Type>::new(keys.into(), values.clone());
    let runs = RunArray::<Int32Type>::try_new(&Int32Array::from(vec![1, 3, 4]), &coded(vec![0, 1, 2])).unwrap();
    let by: ArrayRef = Arc::new(Int16Array::from(vec![0, 4, 0, 1]));
    for keys in [Arc::new(coded(vec![0, 1, 1, 2])) as ArrayRef, Arc::new(runs)] {
        assert_eq!(per_row(keys, by.clone()).unwrap(), vec![0..1, 0..2, 1..3, 1..4]);
    }

    let null: ArrayRef = Arc::new(Int16Array::from(vec![Some(0), None, Some(0), Some(0)]));
    let error = per_row(dates(), null).unwrap_err();
    assert_eq!(error.kind(), windrow::ErrorKind::Data);
    assert!(error.message().contains("\"offset\" is NULL"), "{error}");
}
