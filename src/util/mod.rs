//! What every layer uses and nothing else explains: bits, threads, cancellation, fast loops and stores.

pub mod boundaries;
pub mod rank_select;
pub(crate) mod run_index;
pub(crate) mod slices;
pub(crate) mod suggest;
