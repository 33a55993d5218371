//! Utilities for all layers: bitmaps, threads, cancellation, memory checks, vectorised loops, streaming stores.

pub(crate) mod affinity;
pub(crate) mod bitmap;
pub(crate) mod boundaries;
pub(crate) mod cancel;
pub(crate) mod civil;
pub(crate) mod data_types;
pub(crate) mod parallel_fill;
pub(crate) mod rank_select;
pub(crate) mod reserve;
pub(crate) mod run_index;
pub(crate) mod simd;
pub(crate) mod slice_memory;
pub(crate) mod slices;
pub(crate) mod streaming_store;
pub(crate) mod suggest;
pub(crate) mod threads;
pub(crate) mod unrolled;
