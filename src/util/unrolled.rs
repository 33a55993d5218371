//! Loops unrolled sixteen times, for read-modify-write of a counter per row.
//!
//! Counting and scattering by bucket load and store a counter for each row, and consecutive rows sometimes have the
//! same one. Some processors predict by instruction address whether a load depends on an earlier store, and after one
//! hit make all later loads of that instruction wait. Unrolling gives each of sixteen rows its own load instruction.
//! Measurements: docs/performance.md.

/// Counts the items of each bucket, added to `counts`.
#[inline(always)]
pub(crate) fn count_by_bucket<T: Copy>(items: &[T], counts: &mut [u32], place: impl Fn(T) -> usize) {
    for_each_unrolled(
        items,
        #[inline(always)]
        |item| counts[place(item)] += 1,
    );
}

/// Calls `put` for all items, in order, with the item's target position: `ends[bucket]`, which is then incremented.
#[inline(always)]
pub(crate) fn scatter_by_bucket<T: Copy>(
    items: &[T],
    ends: &mut [u32],
    place: impl Fn(T) -> usize,
    mut put: impl FnMut(usize, T),
) {
    for_each_unrolled(
        items,
        #[inline(always)]
        |item| {
            let end = &mut ends[place(item)];
            put(*end as usize, item);
            *end += 1;
        },
    );
}

/// Calls `each` for all items, in order. The closure must be inlined (`#[inline(always)]`); otherwise all items share
/// one load instruction.
#[inline(always)]
pub(crate) fn for_each_unrolled<T: Copy>(items: &[T], mut each: impl FnMut(T)) {
    let (blocks, rest) = items.as_chunks();
    for block in blocks {
        // Unrolled by hand: the compiler unrolls a loop of this length only if its body is short.
        let &[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = block;
        each(a);
        each(b);
        each(c);
        each(d);
        each(e);
        each(f);
        each(g);
        each(h);
        each(i);
        each(j);
        each(k);
        each(l);
        each(m);
        each(n);
        each(o);
        each(p);
    }
    for &item in rest {
        each(item);
    }
}
