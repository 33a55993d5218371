//! TODO

pub mod summary;
