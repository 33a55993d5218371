//! (range: being written)
