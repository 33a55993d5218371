//! One source row per result, gathered at once: from the column, a default, a carried value, or NULL.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, UInt32Array, new_empty_array, new_null_array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use arrow_select::interleave::interleave;
use arrow_select::nullif::nullif;
use arrow_select::take::take;

use crate::error::{Error, Result};
use crate::util::reserve;

/// The source of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowSource {
    /// A row of the column.
    Row(usize),
    /// NULL.
    Null,
    /// A row of the defaults.
    Default(usize),
    /// A row of the carry.
    Carried(usize),
}

const FROM_COLUMN: u8 = 0;

const FROM_NULL: u8 = 1;

const FROM_DEFAULT: u8 = 2;

const FROM_CARRIED: u8 = 3;

/// One pick per result, in result order.
#[derive(Debug)]
pub(crate) struct GatherPlan {
    rows: Vec<u32>,
    /// The source of each pick, once there is more than one source.
    sources: Vec<u8>,
    /// The sources in use, one bit each.
    used: u8,
}

impl GatherPlan {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { rows: Vec::with_capacity(capacity), sources: Vec::new(), used: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, pick: RowSource) {
        let (source, row) = match pick {
            RowSource::Row(row) => (FROM_COLUMN, row),
            RowSource::Null => (FROM_NULL, 0),
            RowSource::Default(row) => (FROM_DEFAULT, row),
            RowSource::Carried(row) => (FROM_CARRIED, row),
        };
        if self.used & (1 << source) == 0 {
            self.add_source(source);
        }
        if !self.used.is_power_of_two() {
            self.sources.push(source);
        }
        self.rows.push(row as u32);
    }

    /// Records a new source; if it is the second, the first one is recorded for all previous picks.
    #[cold]
    fn add_source(&mut self, source: u8) {
        if self.used.is_power_of_two() {
            self.sources.reserve(self.rows.capacity());
            self.sources.resize(self.rows.len(), self.used.trailing_zeros() as u8);
        }
        self.used |= 1 << source;
    }

    /// The picked values, in the column's type.
    pub(crate) fn gather(
        self,
        column: &ArrayRef,
        default: Option<&ArrayRef>,
        carried: Option<&ArrayRef>,
    ) -> Result<ArrayRef> {
        let absent = new_empty_array(column.data_type());
        let sources = [column, &absent, default.unwrap_or(&absent), carried.unwrap_or(&absent)];
        let valued = self.used & !(1 << FROM_NULL);
        let nulls = self.used & (1 << FROM_NULL) != 0;
        let gathered = if valued == 0 {
            Ok(new_null_array(column.data_type(), self.rows.len()))
        } else if valued.is_power_of_two() && !(nulls && has_no_validity(column.data_type())) {
            let nulls = nulls.then(|| {
                NullBuffer::new(BooleanBuffer::collect_bool(self.sources.len(), |at| self.sources[at] != FROM_NULL))
            });
            let source = sources[valued.trailing_zeros() as usize];
            reserve::probe_rows(source, self.rows.len())?;
            take(source, &UInt32Array::try_new(self.rows.into(), nulls)?, None)
        } else {
            // Only sources in use: an unused dictionary is not merged either.
            let null = new_null_array(column.data_type(), 1);
            let sources = [sources[0], &null, sources[2], sources[3]];
            let used: Vec<u8> = (FROM_COLUMN..=FROM_CARRIED).filter(|source| self.used & (1 << source) != 0).collect();
            let place = |source: u8| (self.used & ((1 << source) - 1)).count_ones() as usize;
            let arrays: Vec<&ArrayRef> = used.iter().map(|&source| sources[usize::from(source)]).collect();
            let picks = self.sources.iter().zip(&self.rows).map(|(&source, &row)| (place(source), row as usize));
            reserve::probe_rows(column, self.rows.len())?;
            interleave_arrays(&arrays, &reserve::collect(picks)?)
        };
        gathered.map_err(|error| match error {
            ArrowError::OffsetOverflowError(_) => Error::unsupported(format!(
                "the values of one block pass the 2 GiB that {} holds: cast the column to a large or a view type",
                column.data_type()
            )),
            ArrowError::DictionaryKeyOverflowError => Error::unsupported(format!(
                "the keys of {} do not reach for the column's values and the default's or an earlier batch's: \
                 cast the column to wider keys or to plain values",
                column.data_type()
            )),
            other => other.into(),
        })
    }
}

/// The array with NULL in place of the values at the set bits.
pub(crate) fn null_where(values: &ArrayRef, bits: BooleanBuffer) -> Result<ArrayRef> {
    if !has_no_validity(values.data_type()) {
        return Ok(nullif(values, &BooleanArray::from(bits))?);
    }
    let mut picks = GatherPlan::with_capacity(values.len());
    for row in 0..values.len() {
        picks.push(if bits.value(row) { RowSource::Null } else { RowSource::Row(row) });
    }
    picks.gather(values, None, None)
}

/// Types whose arrays have no validity bitmap of their own, so that `take` and `nullif` cannot make NULLs.
fn has_no_validity(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Union(..) | DataType::RunEndEncoded(..))
}

/// `interleave`, decoding dictionaries that together exceed their key type: `interleave` would fail or panic although
/// the picked values may fit.
fn interleave_arrays(arrays: &[&ArrayRef], picks: &[(usize, usize)]) -> std::result::Result<ArrayRef, ArrowError> {
    if let Some(data_type @ DataType::Dictionary(key, value)) = arrays.first().map(Array::data_type) {
        let entries: usize =
            arrays.iter().filter_map(|array| array.as_any_dictionary_opt()).map(|d| d.values().len()).sum();
        if entries > max_dictionary_entries(key) {
            let plain = arrays.iter().map(|array| cast(array, value)).collect::<std::result::Result<Vec<_>, _>>()?;
            return cast(&interleave(&plain.iter().map(AsRef::as_ref).collect::<Vec<_>>(), picks)?, data_type);
        }
    }
    interleave(&arrays.iter().map(|array| array.as_ref() as &dyn Array).collect::<Vec<_>>(), picks)
}

/// The maximum number of entries of a dictionary with this key type.
fn max_dictionary_entries(key: &DataType) -> usize {
    match key {
        DataType::Int8 => 1 << 7,
        DataType::UInt8 => 1 << 8,
        DataType::Int16 => 1 << 15,
        DataType::UInt16 => 1 << 16,
        _ => 1 << 31,
    }
}
