//! Columns moved by an order of their rows: gathered, scattered, read and written in blocks.

pub(crate) mod broadcast;
pub(crate) mod fixed_width;
