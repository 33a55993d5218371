//! The functions, one family a file.
pub mod extrema;
pub mod logic;
pub mod moments;
pub mod nth;
pub mod offset;
pub mod rank;
pub mod sum;
pub mod average;
pub mod count;
