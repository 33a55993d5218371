//! The frames of one section.

use std::ops::Range;

use super::{Bounds, FramePlan};
use crate::error::{Error, Result};
use crate::section::Section;

/// A [`FramePlan`] over one [`Section`]; it owns cheap clones of what it needs.
#[derive(Debug, Clone)]
pub struct Frames {
    own: Range<usize>,
}

impl Frames {
    /// The frames of `section`. In its first partition, if that began in an earlier section, a frame that begins
    /// at UNBOUNDED PRECEDING begins at row `base`.
    ///
    /// # Errors
    /// A column the section does not hold, or one whose values cannot be offsets.
    pub fn new(plan: &FramePlan, section: &Section, base: usize) -> Result<Self> {
        let _ = (plan, base);
        Ok(Self {
            own: section.own.clone(),
        })
    }

    /// The frames of `rows` into `out`. Pure in `rows`; consecutive rows cost O(1) each, amortised.
    ///
    /// # Errors
    /// A per-row offset is null.
    pub fn fill(&self, rows: Range<usize>, out: &mut Bounds) -> Result<()> {
        let _ = (rows, out);
        Err(Error::internal("frames are not computed yet"))
    }

    /// The first row whose frame may still change when more rows of an open section's last partition come.
    #[must_use]
    pub fn settled(&self) -> usize {
        self.own.start
    }

    /// The first row that must stay once the rows before `answered` have been answered.
    #[must_use]
    pub fn release(&self, answered: usize) -> usize {
        let _ = answered;
        0
    }
}
