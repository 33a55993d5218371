//! (rows: being written)
