//! The question as plain data: windows, calls, frames, arguments, settings.

pub mod argument;
pub mod call;
pub mod frame;
pub mod literal;
pub mod literal_array;
pub mod options;
pub mod order_key;
pub mod sql_text;
pub mod strategy;
pub mod udf;
pub mod window;
