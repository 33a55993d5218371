//! (groups: being written)
