//! Bounds: which rows each frame holds.
//!
//! [`FramePlan`] is the frame resolved against the schema (once per call), [`Frames`] is it over one section,
//! [`Bounds`] a block of frames as row numbers. Each stage is plain data to the next.
//!
//! ```
//! use arrow_buffer::BooleanBuffer;
//! use windrow::bitmap::Edges;
//! use windrow::bounds::{Bounds, FramePlan, Frames};
//! use windrow::section::Section;
//! use windrow::{Bound, Error, Frame};
//!
//! # fn main() -> windrow::Result<()> {
//! // Two partitions, of three rows and of two, and the frame ROWS BETWEEN 1 PRECEDING AND CURRENT ROW.
//! let edges = Edges::new(BooleanBuffer::from(vec![true, false, false, true, false]));
//! let section = Section::whole(edges.clone(), edges, vec![])?;
//! let frame = Frame::rows(Bound::preceding(1), Bound::CurrentRow);
//! let plan = FramePlan::resolve(Some(&frame), &[], &|name| Err(Error::spec(format!("no column {name}"))), "UTC")?;
//!
//! let mut bounds = Bounds::default();
//! Frames::new(&plan, &section, 0)?.fill(0..5, &mut bounds)?;
//! assert_eq!(bounds.begin, [0, 0, 1, 3, 3]);
//! assert_eq!(bounds.end, [1, 2, 3, 4, 5]);
//! # Ok(())
//! # }
//! ```

mod abreast;
mod calendar;
mod exclude;
mod frames;
mod gallop;
mod groups;
mod key;
mod literal;
mod offset;
mod per_row;
mod plan;
mod range;
mod rows;
mod runs;
mod zone;

use arrow_schema::DataType;

pub use exclude::{Bounds, FrameRuns, SubRanges};
pub use frames::Frames;
pub(crate) use key::{Keys, ordered};
pub use plan::FramePlan;
pub(crate) use zone::Zone;

/// An order key, resolved against the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderColumn {
    /// The column's number in [`crate::section::Section::columns`].
    pub number: usize,
    /// Its type.
    pub data_type: DataType,
    /// Greatest first.
    pub descending: bool,
    /// Nulls before all values, whatever the direction.
    pub nulls_first: bool,
    /// Its name, for messages.
    pub name: String,
}
