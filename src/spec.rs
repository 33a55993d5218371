//! The question, as plain data: which rows belong together, in which order, and what is asked of them.

use arrow_buffer::i256;

use crate::frame::Frame;
use crate::functions::user::UserFunction;

/// Calls over one partitioning and one order.
///
/// ```
/// use windrow::{Arg, Call, OrderKey, WindowSpec};
/// let spec = WindowSpec::new()
///     .partition_by(["device"])
///     .order_by([OrderKey::asc("id")])
///     .call(Call::new("sum", [Arg::column("level")]).alias("total"));
/// assert_eq!(spec.calls[0].name, "total");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WindowSpec {
    /// The columns whose equal values make a partition; nulls are equal, so are NaNs, and -0.0 equals 0.0.
    pub partition_by: Vec<String>,
    /// The order of the rows within a partition.
    pub order_by: Vec<OrderKey>,
    /// What is asked.
    pub calls: Vec<Call>,
}

impl WindowSpec {
    /// One partition of all rows, in no order, asking nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the partition columns.
    #[must_use]
    pub fn partition_by<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.partition_by = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the order keys.
    #[must_use]
    pub fn order_by(mut self, keys: impl IntoIterator<Item = OrderKey>) -> Self {
        self.order_by = keys.into_iter().collect();
        self
    }

    /// Adds a call.
    #[must_use]
    pub fn call(mut self, call: Call) -> Self {
        self.calls.push(call);
        self
    }
}

/// A column to order by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OrderKey {
    /// The column's name.
    pub column: String,
    /// Greatest first.
    pub descending: bool,
    /// Nulls before all values, whatever the direction.
    pub nulls_first: bool,
}

impl OrderKey {
    /// Ascending, nulls first: Spark's default.
    pub fn asc(column: impl Into<String>) -> Self {
        Self { column: column.into(), descending: false, nulls_first: true }
    }

    /// Descending, nulls last: Spark's default for DESC.
    pub fn desc(column: impl Into<String>) -> Self {
        Self { column: column.into(), descending: true, nulls_first: false }
    }

    /// Sets where nulls stand.
    #[must_use]
    pub fn nulls_first(mut self, nulls_first: bool) -> Self {
        self.nulls_first = nulls_first;
        self
    }
}

/// One function over one frame.
#[derive(Debug, Clone, PartialEq)]
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
    pub fn argument_order(mut self, keys: impl IntoIterator<Item = OrderKey>) -> Self {
        self.argument_order = keys.into_iter().collect();
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

/// What a call says about nulls.
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

/// An argument: a column, or one value for all rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    /// The column of this name.
    Column(String),
    /// The same value for each row.
    Literal(Literal),
}

impl Arg {
    /// A column.
    pub fn column(name: impl Into<String>) -> Self {
        Self::Column(name.into())
    }
}

impl From<Literal> for Arg {
    fn from(literal: Literal) -> Self {
        Self::Literal(literal)
    }
}

impl From<i64> for Arg {
    fn from(value: i64) -> Self {
        Self::Literal(Literal::Int(value))
    }
}

/// A value written in the question; it takes the type that its place asks for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Literal {
    /// NULL
    Null,
    /// TRUE or FALSE
    Boolean(bool),
    /// A whole number.
    Int(i64),
    /// A floating point number.
    Float(f64),
    /// `unscaled / 10^scale`
    Decimal {
        /// The digits.
        unscaled: i256,
        /// How many of them stand behind the point.
        scale: i8,
    },
    /// Text.
    Utf8(String),
    /// Bytes.
    Binary(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970-01-01T00:00:00, in UTC where zoned.
    Timestamp {
        /// Microseconds since the epoch.
        micros: i64,
        /// An instant rather than a wall clock's reading.
        zoned: bool,
    },
    /// Several values of one type, such as the shares of a percentile.
    List(Vec<Literal>),
    /// A calendar interval; as a RANGE offset its months and days are the calendar's.
    Interval {
        /// Calendar months.
        months: i32,
        /// Calendar days.
        days: i32,
        /// Microseconds on the clock.
        micros: i64,
    },
}
