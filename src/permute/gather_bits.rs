//! Gathers bits in a new order.
//!
//! ```text
//!   order     2 0 1            out[i] = in[order[i]]     1 0 0 -> 0 1 0
//! ```
//!
//! Cost: one pass, which packs eight bits at a time by a multiplication. Memory: a copy of the bits, aligned to words.

use arrow_buffer::BooleanBuffer;

use crate::error::Result;
use crate::util::bitmap::{WORD_BITS, pack_booleans, word};
use crate::util::threads::Threads;

/// `bits` in the order of the row numbers `order`.
pub(crate) fn gather_bits(bits: &BooleanBuffer, order: &[u32], threads: &Threads) -> Result<BooleanBuffer> {
    let words: Vec<_> = (0..bits.len()).step_by(WORD_BITS).map(|begin| word(bits, begin)).collect();
    let mut gathered = vec![0; order.len().div_ceil(WORD_BITS)];
    // Each share begins at a word of the result.
    let share = threads.chunk_rows(order.len()).next_multiple_of(WORD_BITS);
    threads.map(gathered.chunks_mut(share / WORD_BITS).zip(order.chunks(share)).collect(), |(gathered, order)| {
        gather_words(&words, order, gathered);
        Ok(())
    })?;
    Ok(BooleanBuffer::new(gathered.into(), 0, order.len()))
}

/// Fills `gathered` with the bits of the rows `order`.
fn gather_words(words: &[u64], order: &[u32], gathered: &mut [u64]) {
    let (blocks, rest) = order.as_chunks();
    let (full, last) = gathered.split_at_mut(blocks.len());
    if let Some(last) = last.first_mut() {
        let bits = rest.iter().enumerate();
        *last = bits.fold(0, |word, (bit, &row)| word | u64::from(bit_of(words, row)) << bit);
    }
    for (word, rows) in full.iter_mut().zip(blocks) {
        *word = gather_word(words, rows);
    }
}

/// The bit of a row.
#[inline(always)]
fn bit_of(words: &[u64], row: u32) -> bool {
    let row = row as usize;
    (words[row / WORD_BITS] >> (row % WORD_BITS)) & 1 != 0
}

/// The bits of a block of rows.
#[inline(always)]
fn gather_word(words: &[u64], rows: &[u32; WORD_BITS]) -> u64 {
    let eights = rows.as_chunks::<8>().0.iter().map(|rows| pack_booleans(&rows.map(|row| bit_of(words, row))));
    eights.zip((0..).step_by(8)).fold(0, |word, (bits, at)| word | u64::from(bits) << at)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::util::cancel::Cancel;

    /// Bitmaps with any bit offset; full and partial blocks.
    #[test]
    fn gathered_bits_match_rows() {
        let threads = Threads::new(1, &Cancel::default());
        let all = BooleanBuffer::collect_bool(2003, |bit| bit * bit % 7 > 2);
        for (offset, len) in [(0, 2003), (3, 2000), (64, 65), (1, 64), (7, 1)] {
            let bits = all.slice(offset, len);
            for rows in [0, 1, 63, 64, 65, 1000] {
                let order: Vec<_> = (0..rows).map(|row: u32| row.wrapping_mul(2_654_435_761) % len as u32).collect();
                let expected: BooleanBuffer = order.iter().map(|&row| bits.value(row as usize)).collect();
                let found = gather_bits(&bits, &order, &threads).unwrap();
                assert_eq!(found, expected, "{rows} of {len} bits from {offset} on");
            }
        }
        assert_eq!(gather_bits(&BooleanBuffer::new_set(0), &[], &threads).unwrap().len(), 0);
    }

    #[test]
    fn out_of_bounds_rows_are_not_read() {
        std::panic::catch_unwind(|| gather_words(&[u64::MAX; 2], &[128; WORD_BITS], &mut [0])).unwrap_err();
    }
}
