//! Shift: a column moved by a fixed number of rows within its partitions.
//!
//! ```text
//!   partitions   1 . . 1 . 1 . .
//!   column       a b c d e f g h
//!   copied       . a b c d e f g      all at once, as if there were no partitions
//!   result       . a b . d . f g      then the first rows of each
//! ```
//!
//! Cost: one copy, and one write per row without a source row. Types without a fixed byte width are copied per
//! partition.

use std::ops::Range;

use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::{BooleanBufferBuilder, MutableBuffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::DataType;

use crate::error::Result;
use crate::util::run_index::RunIndex;

/// The value of `column` at `by` rows (nonzero) after each of `rows`, or `default` (one value, or one per row of the
/// column) if that lies outside the row's partition. `None` if the type is not supported.
pub(crate) fn shift(
    column: &ArrayRef,
    by: i64,
    default: Option<&ArrayRef>,
    partitions: &RunIndex,
    rows: Range<usize>,
) -> Result<Option<ArrayRef>> {
    let moves = Shift { by, partitions, rows };
    match column.data_type().primitive_width() {
        Some(1) => moves.shift_fixed_width::<1>(column, default).map(Some),
        Some(2) => moves.shift_fixed_width::<2>(column, default).map(Some),
        Some(4) => moves.shift_fixed_width::<4>(column, default).map(Some),
        Some(8) => moves.shift_fixed_width::<8>(column, default).map(Some),
        Some(16) => moves.shift_fixed_width::<16>(column, default).map(Some),
        Some(32) => moves.shift_fixed_width::<32>(column, default).map(Some),
        _ => match column.data_type() {
            DataType::Boolean
            | DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_)
                // The values of the column are known to fit its type.
                if default.is_none() =>
            {
                moves.shift_runs(column).map(Some)
            }
            _ => Ok(None),
        },
    }
}

struct Shift<'a> {
    by: i64,
    partitions: &'a RunIndex,
    rows: Range<usize>,
}

impl Shift<'_> {
    fn distance(&self) -> usize {
        usize::try_from(self.by.unsigned_abs()).unwrap_or(usize::MAX)
    }

    /// Calls `f` for each partition with the rows among `rows` that have a source row and those that have none.
    fn each(&self, mut f: impl FnMut(Range<usize>, Range<usize>) -> Result<()>) -> Result<()> {
        let distance = self.distance();
        self.partitions.try_for_each_run(self.rows.clone(), |run, piece| {
            if self.by < 0 {
                let first = run.start.saturating_add(distance).clamp(piece.start, piece.end);
                f(first..piece.end, piece.start..first)
            } else {
                let behind = run.end.saturating_sub(distance).clamp(piece.start, piece.end);
                f(piece.start..behind, behind..piece.end)
            }
        })
    }

    /// The source row of a row that has one.
    fn partner(&self, row: usize) -> usize {
        if self.by < 0 { row - self.distance() } else { row + self.distance() }
    }

    fn shift_fixed_width<const W: usize>(&self, column: &ArrayRef, default: Option<&ArrayRef>) -> Result<ArrayRef> {
        let length = self.rows.len();
        let data = column.to_data();
        let default = default.map(Array::to_data);
        // The rows whose source rows the column contains, in the same partition or not.
        let distance = self.distance();
        let (first, behind) = if self.by < 0 {
            (distance.clamp(self.rows.start, self.rows.end), self.rows.end)
        } else {
            (self.rows.start, column.len().saturating_sub(distance).clamp(self.rows.start, self.rows.end))
        };
        let copied = if first < behind { self.partner(first)..self.partner(behind - 1) + 1 } else { 0..0 };

        let mut values = MutableBuffer::with_capacity(length * W);
        values.extend_zeros((first - self.rows.start) * W);
        values.extend_from_slice(bytes::<W>(&data)[copied.clone()].as_flattened());
        values.resize(length * W, 0);
        let (slots, _) = values.as_slice_mut().as_chunks_mut::<W>();

        let mut valid = (column.null_count() > 0).then(|| {
            let mut valid = BooleanBufferBuilder::new(length);
            valid.append_n(first - self.rows.start, false);
            if let Some(nulls) = column.nulls() {
                valid.append_buffer(&nulls.inner().slice(copied.start, copied.len()));
            }
            valid.append_n(length - valid.len(), false);
            valid
        });
        let all_valid = || {
            let mut valid = BooleanBufferBuilder::new(length);
            valid.append_n(length, true);
            valid
        };
        self.each(|_, absent| {
            for row in absent {
                let at = row - self.rows.start;
                let given = default.as_ref().map(|default| (default, if default.len() == 1 { 0 } else { row }));
                if let Some((default, row)) = given.filter(|(default, row)| default.is_valid(*row)) {
                    slots[at] = bytes::<W>(default)[row];
                    if let Some(valid) = &mut valid {
                        valid.set_bit(at, true);
                    }
                } else {
                    slots[at] = [0; W];
                    valid.get_or_insert_with(all_valid).set_bit(at, false);
                }
            }
            Ok(())
        })?;
        let nulls = valid.map(|mut valid| NullBuffer::new(valid.finish())).filter(|nulls| nulls.null_count() > 0);
        let shifted = ArrayData::builder(column.data_type().clone()).len(length).nulls(nulls);
        Ok(make_array(shifted.add_buffer(values.into()).build()?))
    }

    fn shift_runs(&self, column: &ArrayRef) -> Result<ArrayRef> {
        let data = column.to_data();
        let mut shifted = MutableArrayData::new(vec![&data], true, self.rows.len());
        self.each(|present, absent| {
            let copied = if present.is_empty() { 0..0 } else { self.partner(present.start)..self.partner(present.end) };
            if absent.start < present.start {
                shifted.try_extend_nulls(absent.len())?;
                shifted.try_extend(0, copied.start, copied.end)?;
            } else {
                shifted.try_extend(0, copied.start, copied.end)?;
                shifted.try_extend_nulls(absent.len())?;
            }
            Ok(())
        })?;
        Ok(make_array(shifted.freeze()))
    }
}

/// The values of an array as byte arrays of width `W`.
fn bytes<const W: usize>(data: &ArrayData) -> &[[u8; W]] {
    let bytes = data.buffers().first().map_or(&[][..], |buffer| buffer.as_slice());
    let (values, _) = bytes.as_chunks::<W>();
    &values[data.offset()..data.offset() + data.len()]
}
