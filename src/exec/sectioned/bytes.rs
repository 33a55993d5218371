//! Section summaries serialised as bytes, to be sent to the processes that hold the other sections.
//!
//! ```text
//!   header     magic, format, plan, length, checksum of all other bytes
//!   numbers    rows, whether they belong to one partition, bases and lengths ...
//!   batches    Arrow IPC streams of one batch each
//! ```
//!
//! The reader must have the same plan: bytes of another plan, or changed bytes, are rejected.

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use crc32fast::Hasher;

use super::summary::{Before, Summary};
use crate::error::{Error, Result};
use crate::model::carry::Carry;
use crate::plan::planned::Plan;

/// The first bytes of a summary.
const MAGIC: [u8; 8] = *b"windrow\x1a";

/// The version of the layout after the magic; the plan determines the layout of states.
const FORMAT_VERSION: u32 = 1;

/// Bytes of the header: magic, format, plan, length of the payload, checksum.
const HEADER_BYTES: usize = MAGIC.len() + 4 + 4 + 8 + 4;

/// The length written for an absent batch.
pub(crate) const ABSENT_LENGTH: u64 = u64::MAX;

impl Summary {
    /// Serialises the summary, for [`Summary::from_bytes`] with the same plan.
    ///
    /// # Errors
    /// Arrow IPC cannot write a column's type.
    pub fn to_bytes(&self, plan: &Plan) -> Result<Vec<u8>> {
        let Self { rows, single, head, before, after } = self;
        let mut numbers =
            vec![*rows as u64, u64::from(*single), u64::from(before.continues), before.carries.len() as u64];
        numbers.extend(before.carries.iter().map(|carry| carry.base as u64));
        let states = before.carries.iter().map(|carry| carry.state.as_ref()).chain(after.iter().map(Option::as_ref));
        let parts = [Some(head), Some(&before.rows)].into_iter().chain(states);
        let parts = parts.map(|part| part.map(written).transpose()).collect::<Result<Vec<_>>>()?;
        numbers.extend(parts.iter().map(|part| part.as_ref().map_or(ABSENT_LENGTH, |part| part.len() as u64)));
        let length = size_of_val(numbers.as_slice()) + parts.iter().flatten().map(Vec::len).sum::<usize>();
        let mut out = Vec::with_capacity(HEADER_BYTES + length);
        out.extend(MAGIC);
        out.extend(FORMAT_VERSION.to_le_bytes());
        out.extend(plan.fingerprint().to_le_bytes());
        out.extend((length as u64).to_le_bytes());
        out.extend([0; 4]);
        out.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
        parts.into_iter().flatten().for_each(|part| out.extend(part));
        let checksum = checksum(&out);
        out[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&checksum);
        Ok(out)
    }

    /// Reads the summaries that [`Summary::to_bytes`] wrote for the same plan.
    ///
    /// # Errors
    /// Bytes that are not a summary, are damaged, or are of another version or plan.
    pub fn from_bytes(each: &[impl AsRef<[u8]>], plan: &Plan) -> Result<Vec<Self>> {
        let fingerprint = plan.fingerprint();
        each.iter().map(|bytes| payload(bytes.as_ref(), fingerprint).and_then(Self::from_payload)).collect()
    }

    fn from_payload(bytes: &[u8]) -> Result<Self> {
        let mut from = SummaryReader(bytes);
        let [rows, single, continues, passes] = [from.number()?, from.number()?, from.number()?, from.number()?];
        if passes > bytes.len() as u64 {
            return Err(damaged());
        }
        let bases = (0..passes).map(|_| from.number()).collect::<Result<Vec<_>>>()?;
        let lengths = (0..2 + 2 * passes).map(|_| from.number()).collect::<Result<Vec<_>>>()?;
        let mut parts = lengths.into_iter().map(|length| match length {
            ABSENT_LENGTH => Ok(None),
            length => from.take(length).and_then(read).map(Some),
        });
        let mut next = || parts.next().unwrap_or_else(|| Err(damaged()));
        let [head, rows_before] = [next()?.ok_or_else(damaged)?, next()?.ok_or_else(damaged)?];
        let carry = |base| Ok(Carry { base: base as usize, state: next()?, after: None });
        let carries = bases.into_iter().map(carry).collect::<Result<_>>()?;
        let after = parts.collect::<Result<_>>()?;
        let before = Before { rows: rows_before, continues: continues == 1, carries };
        Ok(Self { rows: rows as usize, single: single == 1, head, before, after })
    }
}

/// The payload after the header, if the header matches the plan and the checksum is right.
fn payload(bytes: &[u8], plan: u32) -> Result<&[u8]> {
    let (header, payload) = bytes.split_at_checked(HEADER_BYTES).ok_or_else(damaged)?;
    let mut from = SummaryReader(header);
    if from.take(MAGIC.len() as u64)? != MAGIC {
        return Err(damaged());
    }
    let (format, fingerprint, length, written) = (from.small()?, from.small()?, from.number()?, from.take(4)?);
    // The format is compared before the checksum, as another version may keep its checksum elsewhere; a damaged header
    // may have any format.
    let whole = checksum(bytes) == written && length == payload.len() as u64;
    if format != FORMAT_VERSION {
        return Err(Error::data(format!(
            "the summary of a section has format {format}, or is damaged, and this version of windrow reads format \
             {FORMAT_VERSION}: have all workers run one version of windrow, and ask again"
        )));
    }
    if !whole {
        return Err(damaged());
    }
    if fingerprint != plan {
        return Err(Error::data(
            "the summary of a section is of other calls, other columns or another version of windrow than the one that \
             reads it: have all workers run one version, and give the summaries of one operator to that operator alone",
        ));
    }
    Ok(payload)
}

/// The checksum of a summary, excluding the checksum's own bytes.
fn checksum(bytes: &[u8]) -> [u8; 4] {
    let mut hasher = Hasher::new();
    hasher.update(&bytes[..HEADER_BYTES - 4]);
    hasher.update(&bytes[HEADER_BYTES..]);
    hasher.finalize().to_le_bytes()
}

/// Reads bytes from the front.
pub(crate) struct SummaryReader<'a>(pub(crate) &'a [u8]);

impl<'a> SummaryReader<'a> {
    pub(crate) fn take(&mut self, length: u64) -> Result<&'a [u8]> {
        let (taken, rest) =
            usize::try_from(length).ok().and_then(|length| self.0.split_at_checked(length)).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn small(&mut self) -> Result<u32> {
        let bytes = self.take(4)?.try_into().map_err(|_| damaged())?;
        Ok(u32::from_le_bytes(bytes))
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        let bytes = self.take(8)?.try_into().map_err(|_| damaged())?;
        Ok(u64::from_le_bytes(bytes))
    }
}

fn damaged() -> Error {
    Error::data(
        "the summary of a section is damaged: its bytes are not those that were written; ask again, and if it comes back \
         look at what carried it, such as the network or a disk",
    )
}

pub(crate) fn written(batch: &RecordBatch) -> Result<Vec<u8>> {
    let mut writer = StreamWriter::try_new(Vec::new(), batch.schema_ref())?;
    writer.write(batch)?;
    Ok(writer.into_inner()?)
}

pub(crate) fn read(bytes: &[u8]) -> Result<RecordBatch> {
    StreamReader::try_new(bytes, None)?.next().ok_or_else(damaged)?.map_err(Error::from)
}
