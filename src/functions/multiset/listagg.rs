//! `listagg`: the frame's values as strings, joined by a delimiter; NULL if there are none.
//!
//! Cost: the length of the results, the size of the column; values are converted to strings once per section.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ByteArrayType, GenericBinaryType, GenericStringType};
use arrow_array::{Array, ArrayRef, GenericByteArray, LargeBinaryArray, OffsetSizeTrait};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::collect::GatherPlaces;
use crate::error::{Error, Result};
use crate::evaluate::multiset::result_length::ResultLength;
use crate::util::reserve;

/// Joins strings or binary values.
#[derive(Debug)]
pub(crate) struct StringAgg {
    texts: LargeBinaryArray,
    delimiter: Vec<u8>,
    output: DataType,
}

impl StringAgg {
    /// Joins `texts`, strings or binary values by position, as a column of type `output`.
    ///
    /// # Errors
    /// They are of another type.
    pub(crate) fn new(texts: &dyn Array, delimiter: Vec<u8>, output: DataType) -> Result<Self> {
        let texts = cast(texts, &DataType::LargeBinary)?.as_binary::<i64>().clone();
        Ok(Self { texts, delimiter, output })
    }
}

/// Joined strings in sequence.
#[derive(Debug)]
pub(crate) struct StringAggBuilder {
    bytes: Vec<u8>,
    /// The end of each; the first one begins at 0.
    ends: Vec<usize>,
    valid: Vec<bool>,
}

impl StringAggBuilder {
    fn end(&mut self, valid: bool) {
        self.ends.push(self.bytes.len());
        self.valid.push(valid);
    }
}

impl StringAgg {
    /// An error if the bytes exceed the offset type.
    fn check_offsets(&self, bytes: usize) -> Result<()> {
        if matches!(self.output, DataType::LargeUtf8) { Ok(()) } else { offset::<i32>(bytes).map(|_| ()) }
    }
}

impl ResultLength for StringAgg {
    fn length(&self, run: Range<usize>) -> usize {
        let offsets = self.texts.value_offsets();
        (offsets[run.end] - offsets[run.start]) as usize + self.delimiter.len() * run.len()
    }

    fn separator(&self) -> usize {
        self.delimiter.len()
    }

    fn can_share(&self) -> bool {
        false
    }

    fn check(&self, length: usize) -> Result<()> {
        self.check_offsets(length)?;
        reserve::check_available(length, || "the joined texts are long".to_string())
    }
}

impl GatherPlaces for StringAgg {
    type Builder = StringAggBuilder;

    fn builder(&self, capacity: usize) -> StringAggBuilder {
        StringAggBuilder { bytes: Vec::new(), ends: Vec::with_capacity(capacity), valid: Vec::with_capacity(capacity) }
    }

    fn reserve(&self, length: usize, out: &mut StringAggBuilder) -> Result<()> {
        self.check(length)?;
        reserve::reserve(&mut out.bytes, length)
    }

    fn push(&self, places: impl Iterator<Item = u32>, out: &mut StringAggBuilder) -> Result<()> {
        let mut any = false;
        for place in places {
            let text = self.texts.value(place as usize);
            reserve::grow(&mut out.bytes, self.delimiter.len() + text.len())?;
            if any {
                out.bytes.extend_from_slice(&self.delimiter);
            }
            out.bytes.extend_from_slice(text);
            any = true;
        }
        out.end(any);
        self.check_offsets(out.bytes.len())
    }

    fn repeat(&self, out: &mut StringAggBuilder) -> Result<bool> {
        let Some(&valid) = out.valid.last() else { return Ok(false) };
        let begin = out.ends.len().checked_sub(2).map_or(0, |before| out.ends[before]);
        let length = out.bytes.len() - begin;
        reserve::grow(&mut out.bytes, length)?;
        out.bytes.extend_from_within(begin..);
        out.end(valid);
        Ok(true)
    }

    fn finish(&self, out: StringAggBuilder) -> Result<ArrayRef> {
        match self.output {
            DataType::Utf8 => bytes::<GenericStringType<i32>>(out),
            DataType::LargeUtf8 => bytes::<GenericStringType<i64>>(out),
            DataType::Binary => bytes::<GenericBinaryType<i32>>(out),
            ref other => Err(Error::internal(format!("texts as {other}"))),
        }
    }
}

fn bytes<T: ByteArrayType>(out: StringAggBuilder) -> Result<ArrayRef> {
    let mut offsets = Vec::with_capacity(out.ends.len() + 1);
    for end in std::iter::once(0).chain(out.ends) {
        offsets.push(offset(end)?);
    }
    let nulls = NullBuffer::from(out.valid);
    let nulls = (nulls.null_count() > 0).then_some(nulls);
    let offsets = OffsetBuffer::new(offsets.into());
    Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, Buffer::from_vec(out.bytes), nulls)?))
}

fn offset<O: OffsetSizeTrait>(length: usize) -> Result<O> {
    O::from_usize(length).ok_or_else(|| {
        Error::memory_limit(format!(
            "the joined texts would hold {length} bytes together, {} MiB, and a column of such texts {} bytes at most; stream the \
             rows in batches, narrow the frame, or cast the argument to large_string",
            length.div_ceil(1 << 20),
            i32::MAX
        ))
    })
}
