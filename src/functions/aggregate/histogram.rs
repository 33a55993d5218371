//! `histogram_numeric`: the frame's values in at most n bins, each with a centre and a height.
//!
//! Values are added one by one; when there is a bin too many, the two nearest are merged at their mean. The result is
//! exact as long as a frame has no more distinct values than bins. Beyond that the bins depend on the order of
//! insertion, as they must for a state of bounded size, and merging states would give different ones. So each frame is
//! folded from its first row to its last ([`Refold`](crate::evaluate::refold::Refold)), which gives exactly Spark's
//! bins: the same steps, and the same choice among equally near pairs. Bins ascend; NaN is greatest.
//!
//! Cost: O(bins) per new value in a full state, O(log bins) for others; a state has at most n bins. Source: Ben-Haim
//! and Tom-Tov, "A streaming parallel decision tree algorithm" (JMLR 11, 2010); in Hive's form.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field};

use super::accumulator::Accumulated;
use super::min_max::TotalOrd;
use crate::error::{Error, Result};
use crate::functions::native::{for_each_value, with_type};
use crate::functions::saved_state::{SavedValue, saved_column, saved_row, saved_value};
use crate::model::aggregate::{Accumulator, ResultReader};
use crate::model::row_mask::RowMask;

/// A group of near values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Their mean.
    pub centre: f64,
    /// The number of values.
    pub height: f64,
}

/// The bins of a frame, and the random state for the choice among equally near pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Bins {
    /// Sorted by centre.
    pub bins: Vec<Bin>,
    /// The state of a 48-bit linear congruential generator, Java's `Random`, which Spark uses.
    pub seed: u64,
}

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;
/// Spark's seed, 31183, scrambled as in Java's `Random`.
const SEED: u64 = (0x79CF ^ MULTIPLIER) & MASK;

impl Bins {
    fn next(&mut self, bits: u32) -> u64 {
        self.seed = self.seed.wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
        self.seed >> (48 - bits)
    }

    /// A random number in [0, 1).
    fn random(&mut self) -> f64 {
        let (high, low) = (self.next(26), self.next(27));
        ((high << 27) + low) as f64 / (1_u64 << 53) as f64
    }

    /// Inserts a bin in order, or adds it to the bin of the same centre.
    fn insert(&mut self, bin: Bin) {
        let at = self.bins.partition_point(|known| known.centre.before(bin.centre));
        match self.bins.get_mut(at) {
            Some(known) if !bin.centre.before(known.centre) => known.height += bin.height,
            _ => self.bins.insert(at, bin),
        }
    }

    /// Merges the nearest bins until at most `most` are left.
    fn merge_nearest(&mut self, most: usize) {
        while self.bins.len() > most.max(1) {
            let (mut nearest, mut at, mut ties) = (f64::INFINITY, 0, 1);
            for left in 0..self.bins.len() - 1 {
                let distance = self.bins[left + 1].centre - self.bins[left].centre;
                if left == 0 || distance < nearest {
                    nearest = if distance.is_nan() { f64::INFINITY } else { distance };
                    (at, ties) = (left, 1);
                } else if distance == nearest {
                    ties += 1;
                    if self.random() <= 1.0 / f64::from(ties) {
                        at = left;
                    }
                }
            }
            let (left, right) = (self.bins[at], self.bins.remove(at + 1));
            let height = left.height + right.height;
            let centre = left.centre * (left.height / height) + right.centre / height * right.height;
            self.bins[at] = Bin { centre, height };
        }
    }
}

/// Collects a column of doubles into bins.
#[derive(Debug, Clone)]
pub struct Histogram {
    values: ScalarBuffer<f64>,
    inclusion: RowMask,
    most: usize,
}

impl Accumulator for Histogram {
    type State = Bins;

    fn init(&self) -> Bins {
        Bins { bins: Vec::new(), seed: SEED }
    }

    fn update(&self, state: &mut Bins, rows: Range<usize>) -> Result<()> {
        for_each_value(&self.values, &self.inclusion, rows, |centre| {
            state.insert(Bin { centre, height: 1.0 });
            state.merge_nearest(self.most);
        });
        Ok(())
    }

    fn merge(&self, left: &mut Bins, right: &Bins) -> Result<()> {
        right.bins.iter().for_each(|&bin| left.insert(bin));
        left.merge_nearest(self.most);
        Ok(())
    }

    fn save(&self, state: &Bins) -> Result<RecordBatch> {
        let list = |part: fn(&Bin) -> f64| -> ArrayRef {
            let values: Float64Array = state.bins.iter().map(part).collect::<Vec<_>>().into();
            let field = Arc::new(Field::new("element", DataType::Float64, false));
            Arc::new(ListArray::new(field, OffsetBuffer::from_lengths([values.len()]), Arc::new(values), None))
        };
        saved_row([
            ("centres", list(|bin| bin.centre)),
            ("heights", list(|bin| bin.height)),
            ("seed", state.seed.write()?),
        ])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Bins> {
        let part = |name| {
            let list = saved_column(saved, name)?.as_list_opt::<i32>().map(|list| list.value(0));
            let values = list.and_then(|list| list.as_primitive_opt::<Float64Type>().cloned());
            values.ok_or_else(|| Error::internal(format!("the saved state's {name} are no numbers")))
        };
        let (centres, heights) = (part("centres")?, part("heights")?);
        let bins = centres.values().iter().zip(heights.values());
        let bins = bins.map(|(&centre, &height)| Bin { centre, height }).collect();
        Ok(Bins { bins, seed: saved_value(saved, "seed")? })
    }
}

/// Returns the bins as a list of centres and heights.
#[derive(Debug, Clone)]
pub struct BinList {
    output: DataType,
}

impl BinList {
    /// The aggregate of a column of numbers or timestamps, with at most `most` bins and the result type `output`, a
    /// list of structs.
    ///
    /// # Errors
    /// The column has another type.
    pub fn over(
        values: &dyn Array,
        inclusion: RowMask,
        most: usize,
        output: DataType,
    ) -> Result<Accumulated<Histogram, Self>> {
        let moments = if values.data_type().is_temporal() {
            let native =
                if values.data_type().primitive_width() == Some(4) { DataType::Int32 } else { DataType::Int64 };
            Some(with_type(values, &native)?)
        } else {
            None
        };
        let doubles = arrow_cast::cast(moments.as_ref().map_or(values, |moments| moments), &DataType::Float64)?;
        let values = doubles.as_primitive::<Float64Type>().values().clone();
        Ok(Accumulated { accumulator: Histogram { values, inclusion, most }, reader: Self { output } })
    }
}

/// The bins of consecutive frames.
#[derive(Debug)]
pub struct BinListBuilder {
    bins: Vec<Bin>,
    lengths: Vec<usize>,
    nulls: NullBufferBuilder,
}

impl ResultReader<Bins> for BinList {
    type Builder = BinListBuilder;

    fn builder(&self, capacity: usize) -> BinListBuilder {
        BinListBuilder {
            bins: Vec::new(),
            lengths: Vec::with_capacity(capacity),
            nulls: NullBufferBuilder::new(capacity),
        }
    }

    fn evaluate(&self, state: &Bins, out: &mut BinListBuilder) -> Result<()> {
        out.bins.extend_from_slice(&state.bins);
        out.lengths.push(state.bins.len());
        out.nulls.append(!state.bins.is_empty());
        Ok(())
    }

    fn finish(&self, mut out: BinListBuilder) -> Result<ArrayRef> {
        let DataType::List(element) = &self.output else {
            return Err(Error::internal(format!("bins as {}", self.output)));
        };
        let DataType::Struct(fields) = element.data_type() else {
            return Err(Error::internal(format!("bins as {}", self.output)));
        };
        if i32::try_from(out.bins.len()).is_err() {
            return Err(Error::unsupported(format!(
                "{} bins in one block are more than a list's offsets hold; ask for fewer bins",
                out.bins.len()
            )));
        }
        let centres = centres(out.bins.iter().map(|bin| bin.centre), fields[0].data_type())?;
        let heights: Float64Array = out.bins.iter().map(|bin| bin.height).collect::<Vec<_>>().into();
        let bins = StructArray::try_new(fields.clone(), vec![centres, Arc::new(heights)], None)?;
        let offsets = OffsetBuffer::from_lengths(out.lengths);
        Ok(Arc::new(ListArray::try_new(element.clone(), offsets, Arc::new(bins), out.nulls.finish())?))
    }
}

/// Centres in the values' type; integers and timestamps are truncated.
fn centres(centres: impl Iterator<Item = f64>, output: &DataType) -> Result<ArrayRef> {
    if output.is_integer() || output.is_temporal() {
        // `as` truncates and saturates at 64 bits.
        let whole: ArrayRef = match output {
            DataType::UInt64 => {
                Arc::new(arrow_array::UInt64Array::from_iter_values(centres.map(|centre| centre as u64)))
            }
            _ => Arc::new(Int64Array::from_iter_values(centres.map(|centre| centre as i64))),
        };
        return match output.primitive_width() {
            Some(4) if output.is_temporal() => with_type(&with_type(&whole, &DataType::Int32)?, output),
            _ => with_type(&whole, output),
        };
    }
    let doubles = Float64Array::from_iter_values(centres);
    Ok(cast_with_options(&doubles, output, &CastOptions { safe: false, ..CastOptions::default() })?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
    use super::*;
    use crate::functions::aggregate::accumulator::results;

    fn output(data_type: &DataType) -> DataType {
        let fields = vec![Field::new("x", data_type.clone(), true), Field::new("y", DataType::Float64, true)];
        DataType::List(Arc::new(Field::new("element", DataType::Struct(fields.into()), true)))
    }

    /// The bins of all values.
    fn bins(values: &[f64], most: usize) -> Vec<(f64, f64)> {
        let column = Float64Array::from(values.to_vec());
        let histogram = BinList::over(&column, RowMask::All, most, output(&DataType::Float64)).unwrap();
        let found = results(&histogram, &[0..column.len()]).unwrap();
        let bins = found.as_list::<i32>().value(0);
        let part = |at| bins.as_struct().column(at).as_primitive::<Float64Type>().values().to_vec();
        part(0).into_iter().zip(part(1)).collect()
    }

    // Expected by Spark 4.3.
    #[test]
    fn histogram_matches_spark() {
        assert_eq!(bins(&[1.0, 2.0, 3.0, 4.0, 7.0], 2), [(2.5, 4.0), (7.0, 1.0)]);
        let values =
            [12, 13, 1, 8, 16, 15, 12, 9, 15, 11, 18, 6, 16, 4, 9, 4, 3, 19, 8, 17, 19, 4, 9, 3, 2, 10, 15, 17, 3, 11];
        let found = bins(&values.map(f64::from), 4);
        let expected = [(3.0, 8.0), (8.428_571_428_571_429, 7.0), (11.8, 5.0), (16.700_000_000_000_003, 10.0)];
        assert_eq!(found, expected);
        let values =
            [4, 18, 2, 8, 3, 15, 14, 15, 20, 12, 6, 3, 15, 0, 12, 13, 19, 0, 14, 8, 7, 18, 3, 10, 0, 0, 0, 20, 17, 0];
        let found = bins(&values.map(f64::from), 4);
        assert_eq!(found, [(1.363_636_363_636_363_3, 11.0), (7.8, 5.0), (13.75, 8.0), (18.666_666_666_666_664, 6.0)]);
    }

    #[test]
    fn few_values_are_exact_in_any_merge_order() {
        let values = [3.0, f64::NAN, -0.0, 3.0, f64::INFINITY, 0.0, f64::NAN, f64::NEG_INFINITY];
        let column = Float64Array::from(values.to_vec());
        let histogram = BinList::over(&column, RowMask::All, 5, output(&DataType::Float64)).unwrap().accumulator;
        let mut whole = histogram.init();
        histogram.update(&mut whole, 0..8).unwrap();
        let heights: Vec<_> = whole.bins.iter().map(|bin| bin.height).collect();
        assert_eq!(heights, [1.0, 2.0, 2.0, 1.0, 2.0]);
        for middle in 0..8 {
            let (mut left, mut right) = (histogram.init(), histogram.init());
            histogram.update(&mut left, 0..middle).unwrap();
            histogram.update(&mut right, middle..8).unwrap();
            histogram.merge(&mut left, &right).unwrap();
            let left = histogram.load(&histogram.save(&left).unwrap()).unwrap();
            assert_eq!(format!("{left:?}"), format!("{whole:?}"));
        }
    }

    #[test]
    fn centres_have_the_type_of_the_values() {
        use arrow_array::{Date32Array, Decimal128Array, Int8Array, TimestampNanosecondArray, UInt64Array};
        let columns: [(ArrayRef, ArrayRef); 5] = [
            (Arc::new(Int8Array::from(vec![1, 4])), Arc::new(Int8Array::from(vec![2]))),
            (Arc::new(UInt64Array::from(vec![u64::MAX, u64::MAX])), Arc::new(UInt64Array::from(vec![u64::MAX]))),
            (Arc::new(Date32Array::from(vec![-1, -4])), Arc::new(Date32Array::from(vec![-2]))),
            (
                Arc::new(TimestampNanosecondArray::from(vec![1, 4]).with_timezone("UTC")),
                Arc::new(TimestampNanosecondArray::from(vec![2]).with_timezone("UTC")),
            ),
            (
                Arc::new(Decimal128Array::from(vec![10, 15]).with_precision_and_scale(4, 1).unwrap()),
                Arc::new(Decimal128Array::from(vec![13]).with_precision_and_scale(4, 1).unwrap()),
            ),
        ];
        for (column, expected) in columns {
            let output = output(column.data_type());
            let histogram = BinList::over(&column, RowMask::All, 1, output.clone()).unwrap();
            let found = results(&histogram, &[0..2, 0..0]).unwrap();
            assert_eq!(found.data_type(), &output);
            assert!(found.is_null(1));
            assert_eq!(found.as_list::<i32>().value(0).as_struct().column(0), &expected);
        }
    }
}
