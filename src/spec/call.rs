//! A call: one function over a window, with its modifiers.

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
    /// The function's name or alias, in lower case; for a user-defined function its own name.
    pub function: String,
    /// A user-defined function; `None` for one of the catalog.
    pub user: Option<UserFunction>,
    /// The arguments; `count()` without arguments counts rows.
    pub args: Vec<Arg>,
    /// The frame; `None` is the SQL default (RANGE UNBOUNDED PRECEDING..CURRENT ROW with an order, else the whole
    /// partition).
    pub frame: Option<Frame>,
    /// A boolean column; rows where it is false or null do not take part.
    pub filter: Option<String>,
    /// Whether equal values take part only once.
    pub distinct: bool,
    /// IGNORE NULLS, RESPECT NULLS, or neither.
    pub nulls: Nulls,
    /// The order of the argument's values, if it matters to the function.
    pub argument_order: Vec<OrderKey>,
    /// If set, the result is NULL where fewer rows than this take part.
    pub min_rows: Option<u64>,
    /// The result column's name.
    pub name: String,
    /// The call as the user wrote it, for messages; if empty, it is generated from the call.
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

    /// A call of a user-defined function, named `name` in messages.
    pub fn user(name: impl Into<String>, function: UserFunction, args: impl IntoIterator<Item = Arg>) -> Self {
        Self { user: Some(function), ..Self::new(name, args) }
    }

    /// Adds an optional argument, such as the default of `lag`.
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

    /// IGNORE NULLS: value functions skip nulls.
    #[must_use]
    pub fn ignore_nulls(mut self) -> Self {
        self.nulls = Nulls::Ignore;
        self
    }

    /// RESPECT NULLS: functions that skip nulls by default keep them, such as `collect_list`.
    #[must_use]
    pub fn respect_nulls(mut self) -> Self {
        self.nulls = Nulls::Respect;
        self
    }

    /// DISTINCT: equal arguments take part only once.
    #[must_use]
    pub fn distinct(mut self) -> Self {
        self.distinct = true;
        self
    }

    /// Reads the frame's rows in another order than the window's: ORDER BY within the parentheses, or WITHIN GROUP.
    #[must_use]
    pub fn argument_order<K: Into<OrderKey>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.argument_order = keys.into_iter().map(Into::into).collect();
        self
    }

    /// Makes the result NULL where fewer than `rows` rows take part.
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

/// The null handling of a call: [`Call::ignore_nulls`], [`Call::respect_nulls`], or the default.
///
/// ```
/// use windrow::{Nulls, calls::last_value};
/// assert_eq!(last_value("level").ignore_nulls().nulls, Nulls::Ignore);
/// assert_eq!(last_value("level").nulls, Nulls::Default);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Nulls {
    /// The function's default.
    #[default]
    Default,
    /// IGNORE NULLS
    Ignore,
    /// RESPECT NULLS
    Respect,
}
