//! Questions of how often values are in a frame: `mode`, `entropy`, `collect_set`, `dense_rank` within a frame, distinct
//! counts. DISTINCT of any other aggregate is found where the aggregate is made ([`Inputs::mergeable`]).

use super::Inputs;
use crate::error::Result;
use crate::evaluate::Evaluator;
use crate::functions::count::Count;
use crate::functions::distinct;
use crate::functions::registry::{Algebra, Kernel};

/// The evaluator of a call of this family; `None`: it is none.
pub(super) fn evaluator(inputs: &Inputs) -> Result<Option<Box<dyn Evaluator>>> {
    let Inputs { call, inclusion, .. } = inputs;
    if call.signature.algebra != Algebra::Counted {
        return Ok(None);
    }
    Ok(Some(match call.function.kernel {
        Kernel::ApproxCountDistinct => distinct::retractable(Count::new(inclusion.clone()), call, inputs.distinct()?),
        _ => return Ok(None),
    }))
}
