//! A row of the catalog: all that is known of a function but how it is evaluated.

use arrow_schema::DataType;

use super::algebra::Algebra;
use super::argument::{Argument, Presence, Role};
use super::function_id::FunctionId;
use super::shared_state::SharedState;
use super::signature::{CallTypes, Modifiers, Rule, Signature};
use crate::error::{Error, Result};
use crate::spec::frame::{Bound, Frame};

/// What kind of function it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Folds a frame.
    Aggregate,
    /// Picks a row of the frame.
    Value,
    /// Picks a row at a distance in the partition.
    Offset,
    /// Says where the row stands in its partition. With an ORDER BY inside the parentheses it says where the row stands
    /// in a frame, by that order.
    Ranking,
    /// Reads the partition's rows one after another.
    Running,
}

/// What DISTINCT does to a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distinct {
    /// It makes no sense, and is refused.
    Refused,
    /// Nothing: equal values count once anyway.
    NoEffect,
    /// Equal arguments take part once.
    Counts,
}

/// What an ORDER BY inside the parentheses does to a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentOrder {
    /// It makes no sense, and is refused.
    Refused,
    /// Nothing: the order of rows does not matter to the answer.
    NoEffect,
    /// The frame's rows are read in this order.
    Rows,
    /// Its one key is the first argument, and its direction is the one values are counted in: WITHIN GROUP.
    Values,
}

/// What WITHIN GROUP (ORDER BY x) is to a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithinGroup {
    /// Not SQL.
    Refused,
    /// Its key is the first argument, and is written nowhere else.
    Key,
    /// The order of the rows, as an ORDER BY inside the parentheses.
    Rows,
}

/// The frames of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// The caller's.
    Any,
    /// The caller's, without EXCLUDE: the function is told one begin and one end.
    OnePiece,
    /// One of its own; the caller's where the call has an ORDER BY inside its parentheses.
    Own(OwnFrame),
    /// None.
    None,
}

/// The frame of a function that has one of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnFrame {
    /// The rows up to the row.
    UpToRow,
    /// The rows up to the row's last peer.
    UpToPeers,
    /// The partition.
    Partition,
}

impl OwnFrame {
    /// The frame, as a user may write it.
    #[must_use]
    pub fn frame(self) -> Frame {
        match self {
            Self::UpToRow => Frame::rows(Bound::UnboundedPreceding, Bound::CurrentRow),
            Self::UpToPeers => Frame::range(Bound::UnboundedPreceding, Bound::CurrentRow),
            Self::Partition => Frame::entire(),
        }
    }
}

/// What order a function's window must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowOrder {
    /// Any, or none.
    Any,
    /// Some; one inside the parentheses will do.
    Required,
    /// One key, a number or a moment.
    Linear,
}

/// The rows that a function looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// Those of its frame.
    Frame,
    /// The rows before: one state stands for them.
    Before,
    /// The rows before, and how many come after.
    AllCounted,
    /// All rows of the partition.
    Partition,
    /// One row, so many rows before, or after.
    Distance {
        /// A positive distance is one before.
        before: bool,
    },
}

/// What NULLs do to a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullHandling {
    /// A row with NULL where a value should be takes no part.
    Skipped,
    /// So it is, and has its place among the rows all the same unless IGNORE NULLS is written.
    SkippedInPlace,
    /// So it is unless RESPECT NULLS is written.
    SkippedUnlessRespected,
    /// So it is where IGNORE NULLS is written.
    KeptUnlessIgnored,
    /// NULLs are values as others.
    Kept,
}

/// How an answer depends on the order of the rows that it is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderSensitivity {
    /// It is another one where rows change places.
    Rows,
    /// Rows that are equal by the window's keys may change places.
    Peers,
    /// The function puts values in order, or counts them, by itself.
    Values,
    /// Sums of floats are rounded otherwise; nothing else is.
    Rounding,
    /// Of values that are equal but look different it is the first that is taken.
    EqualValues,
    /// Not at all.
    None,
}

/// Which of a frame's rows a function picks whatever values they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameEnd {
    /// The first.
    First,
    /// The last.
    Last,
}

/// A function as the catalog has it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Function {
    /// Spark SQL's name, in lower case.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// What it is, in one line.
    pub doc: &'static str,
    /// Which evaluator it has: `exec/build` alone asks.
    #[doc(hidden)]
    pub function_id: FunctionId,
    /// What kind it is.
    pub family: Family,
    /// What it takes.
    pub arguments: &'static [Argument],
    /// Whether it takes `*` in place of arguments, for the rows themselves.
    pub star: bool,
    /// Whether FILTER may choose its rows.
    pub filter: bool,
    /// What NULLs do to it.
    pub nulls: NullHandling,
    /// What DISTINCT does to it.
    pub distinct: Distinct,
    /// What an ORDER BY inside the parentheses does to it.
    pub argument_order: ArgumentOrder,
    /// What WITHIN GROUP is to it.
    pub within_group: WithinGroup,
    /// Its frames.
    pub frames: Frames,
    /// What order its window must have.
    pub window_order: WindowOrder,
    /// The rows it looks at.
    pub looks: Looks,
    /// The end of the frame that it picks, if it is a row at one.
    pub picks: Option<FrameEnd>,
    /// Whether the result is a value of the first argument's type, or a list of such.
    pub keeps_type: bool,
    /// How its answer depends on the order of rows.
    pub order_sensitivity: OrderSensitivity,
    /// The state it shares with others.
    #[doc(hidden)]
    pub shared_state: Option<SharedState>,
    /// The types it reads and gives.
    pub(crate) rule: Rule,
}

impl Function {
    /// The least and the greatest number of arguments.
    #[must_use]
    pub fn argument_count(&self) -> (usize, usize) {
        let least = self.arguments.iter().filter(|argument| argument.presence == Presence::Required).count();
        let repeated = self.arguments.last().is_some_and(|argument| argument.presence == Presence::Repeated);
        (least, if repeated { usize::MAX } else { self.arguments.len() })
    }

    /// Refuses another number of arguments than the function takes.
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

    /// The argument of this index.
    #[must_use]
    pub fn argument(&self, index: usize) -> Option<&'static Argument> {
        let repeated = self.arguments.last().filter(|argument| argument.presence == Presence::Repeated);
        self.arguments.get(index).or(repeated)
    }

    /// Whether the argument of this index is read when the plan is made: see [`Role::is_setting`].
    #[must_use]
    pub fn is_setting(&self, index: usize) -> bool {
        self.argument(index).is_some_and(|argument| argument.role.is_setting())
    }

    /// Whether the argument of this index, as it is among those that are read row by row, holds the function's values.
    pub(crate) fn is_value(&self, index: usize) -> bool {
        let read = |argument: &&Argument| !argument.role.is_setting();
        let repeated = self.arguments.last().filter(|argument| argument.presence == Presence::Repeated);
        self.arguments.iter().filter(read).nth(index).or(repeated).is_some_and(|argument| argument.role.is_value())
    }

    /// The index of the argument of this role, if the function takes such a one.
    pub(crate) fn index_of(&self, role: Role) -> Option<usize> {
        self.arguments.iter().position(|argument| argument.role == role)
    }

    /// Whether it looks at a frame that the caller chooses, given whether the call has an argument order.
    #[must_use]
    pub fn takes_frame(&self, argument_order: bool) -> bool {
        match self.frames {
            Frames::Any | Frames::OnePiece => true,
            Frames::Own(_) => argument_order && self.argument_order == ArgumentOrder::Rows,
            Frames::None => false,
        }
    }

    /// Whether IGNORE NULLS and RESPECT NULLS may be written.
    #[must_use]
    pub fn takes_ignore_nulls(&self) -> bool {
        !matches!(self.nulls, NullHandling::Skipped | NullHandling::Kept)
    }

    /// Where Spark's functions take IGNORE NULLS as TRUE or FALSE behind the last argument: its index.
    #[must_use]
    pub fn ignore_nulls_index(&self) -> Option<usize> {
        matches!(self.family, Family::Value | Family::Offset).then_some(self.arguments.len())
    }

    /// The types that the function reads and gives over arguments of `types`, and what its states allow.
    ///
    /// # Errors
    /// The function does not take such arguments.
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
