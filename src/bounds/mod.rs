//! Frame bounds: the rows of each frame.
//!
//! [`FramePlan`](resolve::FramePlan) is a frame resolved against the schema (once per call), [`Frames`](frames::Frames)
//! is the plan bound to a section, [`Bounds`](block::Bounds) the frames of a block as row numbers.
//!
//! ```
//! use arrow_buffer::BooleanBuffer;
//! use windrow::internals::Boundaries;
//! use windrow::internals::Bounds;
//! use windrow::internals::Frames;
//! use windrow::internals::FramePlan;
//! use windrow::internals::Section;
//! use windrow::{Bound, Error, Frame};
//!
//! # fn main() -> windrow::Result<()> {
//! // Two partitions, of three rows and of two, and the frame ROWS BETWEEN 1 PRECEDING AND CURRENT ROW.
//! let boundaries = Boundaries::new(BooleanBuffer::from(vec![true, false, false, true, false]));
//! let section = Section::whole(boundaries.clone(), boundaries, vec![])?;
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

pub(crate) mod block;
pub(crate) mod calendar;
pub(crate) mod distance;
pub(crate) mod exclude;
pub(crate) mod frames;
pub(crate) mod groups;
pub(crate) mod motion;
pub(crate) mod offset_column;
pub(crate) mod offset_literal;
pub(crate) mod range;
pub(crate) mod range_key;
pub(crate) mod range_offset;
pub(crate) mod range_search;
pub(crate) mod range_search_simd;
pub(crate) mod resolve;
pub(crate) mod rows;
pub(crate) mod timezone;
