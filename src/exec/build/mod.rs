//! The one match over types: a planned call and a section's columns become an evaluator.
//!
//! A family of functions with types of its own has a file of its own here; nothing else matches on functions and types.

pub(crate) mod inputs;
