//! Functions of the distinct values in a frame and their multiplicities.

pub(crate) mod collect;
pub(crate) mod dense_rank_in_frame;
pub(crate) mod entropy;
pub(crate) mod listagg;
pub(crate) mod mode;
