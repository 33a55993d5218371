//! Disjoint parts of one slice, for threads to write to.

use std::ops::Range;

/// The ranges, which are ascending and disjoint, as slices of `values`.
pub(crate) fn split_at_ranges<T>(
    mut values: &mut [T],
    ranges: impl IntoIterator<Item = Range<usize>>,
) -> impl Iterator<Item = &mut [T]> {
    let mut at = 0;
    ranges.into_iter().map_while(move |range| {
        values.split_off_mut(..range.start - at)?;
        at = range.end;
        values.split_off_mut(..range.len())
    })
}
