//! Ranks and values within a frame by another order than the window's.

pub(crate) mod frame_order;
pub(crate) mod wavelet;
