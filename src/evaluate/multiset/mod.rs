//! Frames as multisets: how often each different value is in the frame.

pub(crate) mod fenwick;
pub(crate) mod value_codes;
