//! A frame resolved against the schema: every analysis error is raised here, once per call.

use arrow_schema::DataType;

use super::OrderColumn;
use crate::carry::Reach;
use crate::error::{Error, Result};
use crate::frame::{Frame, Shape};

/// A frame resolved against the order columns and the schema.
#[derive(Debug, Clone)]
pub struct FramePlan {
    frame: Frame,
}

impl FramePlan {
    /// Resolves `frame` against `order`; `None` is the SQL default. `column` maps a column's name to its number
    /// and type, `timezone` is the zone of timestamps whose type names an empty one.
    ///
    /// # Errors
    /// A frame that SQL does not allow, an offset that the key's type does not take, an unknown column.
    pub fn resolve(
        frame: Option<&Frame>,
        order: &[OrderColumn],
        column: &dyn Fn(&str) -> Result<(usize, DataType)>,
        timezone: &str,
    ) -> Result<Self> {
        let _ = (frame, order, column, timezone);
        Err(Error::internal("frames are not resolved yet"))
    }

    /// The frame in force: the default made explicit.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Which of the five shapes the frame has.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.frame.shape()
    }

    /// Whether neither end ever goes back within a partition; per-row offsets may.
    #[must_use]
    pub fn monotone(&self) -> bool {
        true
    }

    /// Whether the section's peer groups are looked at.
    #[must_use]
    pub fn needs_peers(&self) -> bool {
        true
    }

    /// How far frames look before and after their row.
    #[must_use]
    pub fn reach(&self) -> (Reach, Reach) {
        (Reach::Everything, Reach::Everything)
    }
}
