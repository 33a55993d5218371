//! Functions of the different values in a frame, and of how often each is there.

pub(crate) mod collect;
pub(crate) mod dense_rank_in_frame;
pub(crate) mod entropy;
pub(crate) mod listagg;
pub(crate) mod mode;
