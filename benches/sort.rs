//! Sorting, grouping, boundaries and gathering, per row. Each case is checked against a comparison sort before timing.
//!
//! `cargo bench --bench sort`; `WINDROW_BENCH_ROWS` sets the number of rows, a million otherwise.

#![allow(missing_docs, clippy::expect_used, clippy::pedantic)]

use std::hint::black_box;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, Int64Array, StringArray};
use criterion::{BenchmarkId, Criterion, Throughput};
use windrow::Cancel;
use windrow::internals::{SortColumn, cluster, find_boundaries, gather, restore, sort};

/// Pseudorandom numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

struct Case {
    name: &'static str,
    columns: Vec<ArrayRef>,
    /// A key for the check, with the same order as the columns.
    key: Box<dyn Fn(usize) -> (String, i128)>,
}

fn cases(rows: usize) -> Vec<Case> {
    let random = &mut Random(1);
    let mut permutation: Vec<i64> = (0..rows as i64).collect();
    for place in (1..rows).rev() {
        permutation.swap(place, random.below(place + 1));
    }
    let mut keys = |count: usize| -> Vec<i32> { (0..rows).map(|_| random.below(count) as i32).collect() };
    let (hundred, many, device) = (keys(100), keys(rows / 5), keys(5000));
    let floats: Vec<f64> = permutation.iter().map(|&value| (value as f64 * 0.7).sin() * 1e6).collect();
    let names: Vec<String> = device.iter().map(|number| format!("device_{number:05}")).collect();
    let texts: Vec<String> =
        permutation.iter().map(|&number| format!("{:032x}", (number as u128) << 90 | 77)).collect();
    let nullable: Vec<Option<i64>> = permutation.iter().map(|&value| (value % 10 != 0).then_some(value)).collect();
    let time = permutation.clone();
    let key = move |keys: Vec<i32>, time: Vec<i64>| -> Box<dyn Fn(usize) -> (String, i128)> {
        Box::new(move |row| (String::new(), (i128::from(keys[row]) << 64) + i128::from(time[row])))
    };
    let int32 = |values: &[i32]| -> ArrayRef { Arc::new(Int32Array::from(values.to_vec())) };
    let int64 = |values: &[i64]| -> ArrayRef { Arc::new(Int64Array::from(values.to_vec())) };
    let text = |values: &[String]| -> ArrayRef { Arc::new(StringArray::from_iter_values(values)) };
    let none = vec![0; rows];
    vec![
        Case {
            name: "int32 of 100, int64 permutation",
            columns: vec![int32(&hundred), int64(&time)],
            key: key(hundred.clone(), time.clone()),
        },
        Case { name: "int64 permutation", columns: vec![int64(&time)], key: key(none.clone(), time.clone()) },
        Case {
            name: "int32 of rows / 5, int64 permutation",
            columns: vec![int32(&many), int64(&time)],
            key: key(many, time.clone()),
        },
        Case { name: "int32 of 100", columns: vec![int32(&hundred)], key: key(hundred.clone(), vec![0; rows]) },
        Case {
            name: "int32 of 100, int64 with nulls",
            columns: vec![int32(&hundred), Arc::new(Int64Array::from(nullable.clone()))],
            key: key(hundred.clone(), nullable.into_iter().map(|value| value.unwrap_or(-1)).collect()),
        },
        Case {
            name: "int32 of 100, float64",
            columns: vec![int32(&hundred), Arc::new(Float64Array::from(floats.clone()))],
            key: {
                let hundred = hundred.clone();
                Box::new(move |row| {
                    let bits = floats[row].to_bits() as i64;
                    let float = bits ^ ((bits >> 63) & i64::MAX);
                    (String::new(), (i128::from(hundred[row]) << 64) + i128::from(float))
                })
            },
        },
        Case {
            name: "int32 of 100, rows in time order",
            columns: vec![int32(&hundred), int64(&(0..rows as i64).collect::<Vec<_>>())],
            key: key(hundred, (0..rows as i64).collect()),
        },
        Case {
            name: "text of 5000, int64 permutation",
            columns: vec![text(&names), int64(&time)],
            key: key(device, time.clone()),
        },
        Case {
            name: "text of 32 hexadecimal digits",
            columns: vec![text(&texts)],
            key: Box::new(move |row| (texts[row].clone(), 0)),
        },
        Case {
            name: "sorted: int32 constant, int64",
            columns: vec![int32(&none), int64(&(0..rows as i64).collect::<Vec<_>>())],
            key: Box::new(|row| (String::new(), row as i128)),
        },
    ]
}

fn check(case: &Case, order: Option<&[u32]>, rows: usize) {
    let keys: Vec<_> = (0..rows).map(|row| (case.key)(row)).collect();
    let mut expected: Vec<u32> = (0..rows as u32).collect();
    expected.sort_by(|&left, &right| keys[left as usize].cmp(&keys[right as usize]));
    match order {
        Some(order) => assert!(order == expected, "{}", case.name),
        None => assert!(expected.is_sorted(), "{}", case.name),
    }
}

fn bench(criterion: &mut Criterion) {
    let rows = std::env::var("WINDROW_BENCH_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(1_000_000);
    let cancel = Cancel::default();
    let cases = cases(rows);

    let mut benches = criterion.benchmark_group("sort");
    benches.throughput(Throughput::Elements(rows as u64)).sample_size(10);
    for case in &cases {
        let columns: Vec<_> = case.columns.iter().cloned().map(SortColumn::ascending).collect();
        for threads in [1, 2] {
            let order = sort(&columns, threads, &cancel).expect("sorts");
            check(case, order.as_deref(), rows);
            benches.bench_function(BenchmarkId::new(case.name, threads), |bencher| {
                bencher.iter(|| black_box(sort(&columns, threads, &cancel)));
            });
        }
    }
    benches.finish();

    let mut benches = criterion.benchmark_group("rows");
    benches.throughput(Throughput::Elements(rows as u64)).sample_size(10);
    let columns: Vec<_> = cases[0].columns.iter().cloned().map(SortColumn::ascending).collect();
    let order = sort(&columns, 1, &cancel).expect("sorts").expect("was not sorted");
    check(&cases[0], Some(&order), rows);
    let nullable = cases[4].columns[1..].to_vec();
    for (name, arrays) in
        [("int64", &cases[0].columns[1..]), ("int64 with nulls", &nullable[..]), ("text", &cases[7].columns[..1])]
    {
        for threads in [1, 2] {
            benches.bench_function(BenchmarkId::new(format!("gather {name}"), threads), |bencher| {
                bencher.iter(|| black_box(gather(arrays, &order, threads, &cancel)));
            });
        }
        let gathered = gather(arrays, &order, 1, &cancel).expect("gathers");
        assert_eq!(&restore(&gathered[0], &order).expect("restores"), &arrays[0]);
        benches.bench_function(format!("restore {name}"), |bencher| {
            bencher.iter(|| black_box(restore(&gathered[0], &order)));
        });
        benches.bench_function(format!("starts {name}"), |bencher| {
            bencher.iter(|| black_box(find_boundaries(&gathered, rows, None)));
        });
    }
    for case in [&cases[3], &cases[7], &cases[9]] {
        benches.bench_function(format!("group {}", case.name), |bencher| {
            bencher.iter(|| black_box(cluster(&case.columns[..1], 1, &cancel)));
        });
    }
    benches.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
}
