//! Functions that read a partition's rows one after another: `fill`, `counter_diff`.

use super::Inputs;
use crate::error::{Error, Result};
use crate::evaluate::Evaluator;

/// The evaluator of a call of this family.
pub(super) fn evaluator(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    Err(Error::unsupported(format!("{} is not computed yet", inputs.call.function.name)))
}
