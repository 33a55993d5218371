//! Frames as multisets: the multiplicity of each distinct value in the frame.

pub(crate) mod bitset;
pub(crate) mod distinct;
pub(crate) mod distinct_sweep;
pub(crate) mod fenwick;
pub(crate) mod rank_codes;
pub(crate) mod result_length;
pub(crate) mod sliding;
pub(crate) mod value_codes;
