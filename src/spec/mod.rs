//! Window specifications as plain data: windows, calls, frames, arguments, options.

pub(crate) mod argument;
pub(crate) mod call;
pub(crate) mod frame;
pub(crate) mod literal;
pub(crate) mod literal_array;
pub(crate) mod options;
pub(crate) mod order_key;
pub(crate) mod sql_text;
pub(crate) mod strategy;
pub(crate) mod udf;
pub(crate) mod window;
