//! A row of the catalog: everything that is known about a function except its evaluation.

use arrow_schema::DataType;

use super::algebra::Algebra;
use super::argument::{Argument, Presence, Role};
use super::function_id::FunctionId;
use super::shared_state::SharedState;
use super::signature::{CallTypes, Modifiers, Rule, Signature};
use crate::error::{Error, Result};
use crate::spec::frame::{Bound, Frame};

/// The kind of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Aggregates a frame.
    Aggregate,
    /// Selects a row of the frame.
    Value,
    /// Selects a row at a distance within the partition.
    Offset,
    /// Ranks the row in its partition; with an ORDER BY inside the parentheses, in its frame by that order.
    Ranking,
    /// Reads the partition's rows in sequence.
    Running,
}

/// The effect of DISTINCT on a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distinct {
    /// It is rejected.
    Refused,
    /// No effect: duplicates do not change the result.
    NoEffect,
    /// Duplicate arguments are aggregated once.
    Counts,
}

/// The effect of an ORDER BY inside the parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentOrder {
    /// It is rejected.
    Refused,
    /// No effect: the result does not depend on the order of rows.
    NoEffect,
    /// The frame's rows are read in this order.
    Rows,
    /// WITHIN GROUP: its only key is the first argument, and its direction is that of the ordered values.
    Values,
}

/// The meaning of WITHIN GROUP (ORDER BY x).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithinGroup {
    /// It is rejected: not SQL.
    Refused,
    /// Its key is the first argument, which is written only there.
    Key,
    /// The order in which rows are read, as with an ORDER BY inside the parentheses.
    Rows,
}

/// The frames that a function accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// Any frame.
    Any,
    /// Any frame without EXCLUDE: the function receives one contiguous range.
    OnePiece,
    /// A fixed frame; with an ORDER BY inside the parentheses, any frame.
    Own(OwnFrame),
    /// No frame.
    None,
}

/// The fixed frame of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnFrame {
    /// The partition's rows up to the current row.
    UpToRow,
    /// The partition's rows up to the current row's last peer.
    UpToPeers,
    /// The whole partition.
    Partition,
}

impl OwnFrame {
    /// The frame as a specification.
    #[must_use]
    pub fn frame(self) -> Frame {
        match self {
            Self::UpToRow => Frame::rows(Bound::UnboundedPreceding, Bound::CurrentRow),
            Self::UpToPeers => Frame::range(Bound::UnboundedPreceding, Bound::CurrentRow),
            Self::Partition => Frame::entire(),
        }
    }
}

/// The window order that a function requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowOrder {
    /// Any, or none.
    Any,
    /// An order is required; one inside the parentheses suffices.
    Required,
    /// Exactly one key, a number or a timestamp.
    Linear,
}

/// The rows that a function's result depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsNeeded {
    /// The rows of its frame.
    Frame,
    /// The rows up to the current row, summarised by one state.
    Before,
    /// The rows up to the current row, and the number of rows after it.
    BeforeAndCountAfter,
    /// All rows of the partition.
    Partition,
    /// One row at a fixed distance before or after the current row.
    Distance {
        /// Whether a positive distance means a row before.
        before: bool,
    },
}

/// How a function treats NULLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullHandling {
    /// Rows with NULL in a value argument are skipped.
    Skipped,
    /// Skipped, but still counted as a position unless IGNORE NULLS is written.
    SkippedInPlace,
    /// Skipped unless RESPECT NULLS is written.
    SkippedUnlessRespected,
    /// Skipped only where IGNORE NULLS is written.
    KeptUnlessIgnored,
    /// NULLs are treated like any other value.
    Kept,
}

/// How a result depends on the order of its input rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderSensitivity {
    /// It depends on the order of all rows.
    Rows,
    /// It does not change when rows that tie on the window's keys are exchanged.
    Peers,
    /// Independent of the row order: the function orders or counts the values itself.
    Values,
    /// Only the rounding of floating point sums depends on it.
    Rounding,
    /// Among values that compare equal but differ in representation, the first is returned.
    EqualValues,
    /// It does not depend on it.
    None,
}

/// The end of the frame from which a function takes its row, regardless of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameEnd {
    /// The first row.
    First,
    /// The last row.
    Last,
}

/// A function in the catalog.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Function {
    /// Its name in Spark SQL, in lower case.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// A one-line description.
    pub doc: &'static str,
    /// Identifies the evaluator; read only by `exec/build`.
    #[doc(hidden)]
    pub function_id: FunctionId,
    /// Its kind.
    pub family: Family,
    /// Its arguments.
    pub arguments: &'static [Argument],
    /// Whether it accepts `*` in place of arguments, meaning the rows themselves.
    pub star: bool,
    /// Whether it accepts FILTER.
    pub filter: bool,
    /// How it treats NULLs.
    pub nulls: NullHandling,
    /// The effect of DISTINCT.
    pub distinct: Distinct,
    /// The effect of an ORDER BY inside the parentheses.
    pub argument_order: ArgumentOrder,
    /// The meaning of WITHIN GROUP.
    pub within_group: WithinGroup,
    /// The frames it accepts.
    pub frames: Frames,
    /// The window order it requires.
    pub window_order: WindowOrder,
    /// The rows that its result depends on.
    pub rows_needed: RowsNeeded,
    /// The end of the frame from which it takes its row, if it does.
    pub picks: Option<FrameEnd>,
    /// Whether the result has the first argument's type, or is a list of it.
    pub keeps_type: bool,
    /// How its result depends on the order of rows.
    pub order_sensitivity: OrderSensitivity,
    /// The state that it shares with other functions.
    #[doc(hidden)]
    pub shared_state: Option<SharedState>,
    /// The rule that gives its input and output types.
    pub(crate) rule: Rule,
}

impl Function {
    /// The minimum and maximum number of arguments.
    #[must_use]
    pub fn argument_count(&self) -> (usize, usize) {
        let least = self.arguments.iter().filter(|argument| argument.presence == Presence::Required).count();
        let repeated = self.arguments.last().is_some_and(|argument| argument.presence == Presence::Repeated);
        (least, if repeated { usize::MAX } else { self.arguments.len() })
    }

    /// An error unless the function accepts `given` arguments.
    pub(crate) fn check_count(&self, given: usize) -> Result<()> {
        let (least, most) = self.argument_count();
        if (least..=most).contains(&given) {
            return Ok(());
        }
        let takes = match (least, most) {
            (0, 0) => "no argument".into(),
            (least, usize::MAX) => format!("at least {least} arguments"),
            (least, most) if least == most => format!("{least} argument{}", if least == 1 { "" } else { "s" }),
            (least, most) => format!("{least} to {most} arguments"),
        };
        Err(Error::spec(format!("{} takes {takes}, and got {given}", self.name)))
    }

    /// The argument at this index.
    #[must_use]
    pub fn argument(&self, index: usize) -> Option<&'static Argument> {
        let repeated = self.arguments.last().filter(|argument| argument.presence == Presence::Repeated);
        self.arguments.get(index).or(repeated)
    }

    /// Whether the argument at this index is read apart from the row-wise values: see [`Role::is_setting`].
    #[must_use]
    pub fn is_setting(&self, index: usize) -> bool {
        self.argument(index).is_some_and(|argument| argument.role.is_setting())
    }

    /// Whether the argument at this index, counted among those read row by row, holds the function's values.
    pub(crate) fn is_value(&self, index: usize) -> bool {
        let read = |argument: &&Argument| !argument.role.is_setting();
        let repeated = self.arguments.last().filter(|argument| argument.presence == Presence::Repeated);
        self.arguments.iter().filter(read).nth(index).or(repeated).is_some_and(|argument| argument.role.is_value())
    }

    /// The index of the argument with this role, if the function has one.
    pub(crate) fn index_of(&self, role: Role) -> Option<usize> {
        self.arguments.iter().position(|argument| argument.role == role)
    }

    /// Whether it accepts a frame from the caller, given whether the call has an argument order.
    #[must_use]
    pub fn takes_frame(&self, argument_order: bool) -> bool {
        match self.frames {
            Frames::Any | Frames::OnePiece => true,
            Frames::Own(_) => argument_order && self.argument_order == ArgumentOrder::Rows,
            Frames::None => false,
        }
    }

    /// Whether it accepts IGNORE NULLS and RESPECT NULLS.
    #[must_use]
    pub fn takes_ignore_nulls(&self) -> bool {
        !matches!(self.nulls, NullHandling::Skipped | NullHandling::Kept)
    }

    /// The index of the trailing boolean argument by which Spark's function takes IGNORE NULLS, if it does.
    #[must_use]
    pub fn ignore_nulls_index(&self) -> Option<usize> {
        matches!(self.family, Family::Value | Family::Offset).then_some(self.arguments.len())
    }

    /// The input and output types for arguments of `types`, and the algebra of its states.
    ///
    /// # Errors
    /// The function does not accept such arguments.
    #[doc(hidden)]
    pub fn signature(&self, types: &[DataType], modifiers: Modifiers) -> Result<Signature> {
        self.check_count(types.len())?;
        let mut signature =
            (self.rule)(&CallTypes { name: self.name, frequency: self.index_of(Role::Frequency), types, modifiers })?;
        if modifiers.distinct && self.distinct == Distinct::Counts {
            signature.algebra = match signature.algebra {
                Algebra::Mergeable | Algebra::Retractable | Algebra::Selective => Algebra::Distinct,
                _ => Algebra::Multiset,
            };
        }
        Ok(signature)
    }
}
