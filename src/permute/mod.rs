//! Moving columns by an order of their rows: gather, scatter, block-wise reading and writing.

pub(crate) mod broadcast;
pub(crate) mod column_reader;
pub(crate) mod column_writer;
pub(crate) mod decluster;
pub(crate) mod decluster_tiles;
pub(crate) mod fixed_width;
pub(crate) mod gather;
pub(crate) mod gather_bits;
pub(crate) mod ordered_buffer;
pub(crate) mod scatter;
