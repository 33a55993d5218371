//! A call: one function over a window, with all that modifies it.

use super::argument::Arg;
use super::frame::Frame;
use super::order_key::OrderKey;
use super::udf::UserFunction;

/// One function over one frame; [`calls`](crate::calls) has a constructor for each function.
///
/// ```
/// use windrow::calls::{last_value, sum};
/// use windrow::{Bound, Frame};
/// let near = Frame::rows(Bound::preceding(2), Bound::CurrentRow);
/// let total = sum("level").over(near.clone()).filter("is_valid").min_rows(2).alias("total");
/// let latest = last_value("level").over(near).ignore_nulls();
/// assert_eq!((total.name.as_str(), latest.name.as_str()), ("total", "last_value"));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// The function's name or alias, in lower case; a user's function has the name they gave it.
    pub function: String,
    /// A function that is none of the table's, but a user's.
    pub user: Option<UserFunction>,
    /// Its arguments; `count()` counts rows.
    pub args: Vec<Arg>,
    /// The frame; `None` is the SQL default (RANGE UNBOUNDED PRECEDING..CURRENT ROW with an order, the whole
    /// partition without).
    pub frame: Option<Frame>,
    /// A boolean column; rows where it is false or null do not take part.
    pub filter: Option<String>,
    /// Equal values take part once.
    pub distinct: bool,
    /// What was said about nulls.
    pub nulls: Nulls,
    /// The order of the argument's values, where that matters to the function.
    pub argument_order: Vec<OrderKey>,
    /// NULL where fewer rows than this take part.
    pub min_rows: Option<u64>,
    /// The result column's name.
    pub name: String,
    /// The call as the user wrote it, for messages; empty: made from the call.
    pub display: String,
}

impl Call {
    /// A call of `function` over the default frame.
    pub fn new(function: impl Into<String>, args: impl IntoIterator<Item = Arg>) -> Self {
        let function = function.into();
        Self {
            name: function.clone(),
            function,
            user: None,
            args: args.into_iter().collect(),
            frame: None,
            filter: None,
            distinct: false,
            nulls: Nulls::Default,
            argument_order: Vec::new(),
            min_rows: None,
            display: String::new(),
        }
    }

    /// A call of a user's function, which is called `name` in messages.
    pub fn user(name: impl Into<String>, function: UserFunction, args: impl IntoIterator<Item = Arg>) -> Self {
        Self { user: Some(function), ..Self::new(name, args) }
    }

    /// Adds an argument: one that the function can do without, such as the default of `lag`.
    #[must_use]
    pub fn arg(mut self, value: impl Into<Arg>) -> Self {
        self.args.push(value.into());
        self
    }

    /// Sets the frame.
    #[must_use]
    pub fn over(mut self, frame: Frame) -> Self {
        self.frame = Some(frame);
        self
    }

    /// Only rows where the boolean `column` is true take part.
    #[must_use]
    pub fn filter(mut self, column: impl Into<String>) -> Self {
        self.filter = Some(column.into());
        self
    }

    /// Value functions pass over nulls.
    #[must_use]
    pub fn ignore_nulls(mut self) -> Self {
        self.nulls = Nulls::Ignore;
        self
    }

    /// Functions that pass over nulls by themselves keep them: `collect_list`.
    #[must_use]
    pub fn respect_nulls(mut self) -> Self {
        self.nulls = Nulls::Respect;
        self
    }

    /// Equal arguments take part once.
    #[must_use]
    pub fn distinct(mut self) -> Self {
        self.distinct = true;
        self
    }

    /// Reads the frame's rows in another order than the window's: ORDER BY inside the parentheses, or WITHIN GROUP.
    #[must_use]
    pub fn argument_order<K: Into<OrderKey>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.argument_order = keys.into_iter().map(Into::into).collect();
        self
    }

    /// NULL where fewer than `rows` rows take part.
    #[must_use]
    pub fn min_rows(mut self, rows: u64) -> Self {
        self.min_rows = Some(rows);
        self
    }

    /// Names the result column.
    #[must_use]
    pub fn alias(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}

/// What a call says about nulls: [`Call::ignore_nulls`], [`Call::respect_nulls`], or nothing.
///
/// ```
/// use windrow::{Nulls, calls::last_value};
/// assert_eq!(last_value("level").ignore_nulls().nulls, Nulls::Ignore);
/// assert_eq!(last_value("level").nulls, Nulls::Default);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Nulls {
    /// Nothing: as the function does by itself.
    #[default]
    Default,
    /// IGNORE NULLS
    Ignore,
    /// RESPECT NULLS
    Respect,
}
