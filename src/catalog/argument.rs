//! The arguments of a function: roles, and defaults for those left out.

use crate::spec::literal::Literal;

/// An argument in the catalog.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Argument {
    /// Its name in messages.
    pub name: &'static str,
    /// Its role.
    pub role: Role,
    /// Whether it may be left out.
    pub presence: Presence,
}

/// The role of an argument, which determines the types and values it accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Role {
    /// Values, one per row.
    Value,
    /// Values that the function orders.
    Ordered,
    /// Values that the function compares for equality.
    Compared,
    /// The value to return of the row that another argument selects; it may be NULL.
    Chosen,
    /// The multiplicity of a row's value.
    Frequency,
    /// The result where the offset row lies outside the partition.
    Default,
    /// The time at which a counter was last reset.
    Start,
    /// An integer of at least `least`, read per row where it is a column.
    Number {
        /// The smallest one allowed.
        least: i64,
    },
    /// One constant integer.
    Count {
        /// The smallest one allowed.
        least: i64,
        /// The largest one allowed.
        most: i64,
    },
    /// One constant number from 0 to 1, or a list of them.
    Share,
    /// A constant TRUE or FALSE.
    Flag,
    /// A constant string.
    Delimiter,
    /// The relative standard deviation accepted of a sketch.
    Deviation,
    /// The weight of a new value, in (0, 1].
    Alpha,
    /// The time or distance in which a weight halves.
    HalfLife,
    /// A constant distance of the window's order key, or NULL.
    Distance,
    /// What a rank gives to ties: a constant name.
    Method,
    /// A constant of the kind of the values before it, or NULL: a limit, or a first value.
    Amount,
    /// Accepted and ignored: Spark's `rank(expr, ...)` arguments.
    Ignored,
}

/// Whether an argument may be left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Presence {
    /// It is required.
    Required,
    /// It may be left out and has no default.
    Optional,
    /// It may be left out and has this default.
    Default(Constant),
    /// Zero or more of them; only the last argument.
    Repeated,
}

/// A constant in the catalog.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constant {
    /// NULL
    Null,
    /// TRUE or FALSE
    Boolean(bool),
    /// A whole number.
    Int(i64),
    /// A floating point number.
    Float(f64),
}

impl From<Constant> for Literal {
    fn from(constant: Constant) -> Self {
        match constant {
            Constant::Null => Self::Null,
            Constant::Boolean(value) => Self::Boolean(value),
            Constant::Int(value) => Self::Int(value),
            Constant::Float(value) => Self::Float(value),
        }
    }
}

impl Argument {
    /// A required argument.
    pub(super) const fn required(name: &'static str, role: Role) -> Self {
        Self { name, role, presence: Presence::Required }
    }

    /// An optional argument without a default.
    pub(super) const fn optional(name: &'static str, role: Role) -> Self {
        Self { name, role, presence: Presence::Optional }
    }

    /// An optional argument with the default `constant`.
    pub(super) const fn or(name: &'static str, role: Role, constant: Constant) -> Self {
        Self { name, role, presence: Presence::Default(constant) }
    }

    /// Zero or more arguments.
    pub(super) const fn repeated(name: &'static str, role: Role) -> Self {
        Self { name, role, presence: Presence::Repeated }
    }
}

impl Role {
    /// Whether it is read apart from the row-wise values: a constant read at planning time, or integers that may vary
    /// per row.
    #[must_use]
    pub const fn is_setting(self) -> bool {
        !matches!(
            self,
            Self::Value | Self::Ordered | Self::Compared | Self::Chosen | Self::Frequency | Self::Default | Self::Start
        )
    }

    /// Whether the function skips rows where this argument is NULL.
    #[must_use]
    pub const fn is_value(self) -> bool {
        matches!(self, Self::Value | Self::Ordered | Self::Compared)
    }

    /// The role's name in the published catalog.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Ordered => "ordered",
            Self::Compared => "compared",
            Self::Chosen => "chosen",
            Self::Frequency => "frequency",
            Self::Default => "default",
            Self::Start => "start",
            Self::Number { .. } => "number",
            Self::Count { .. } => "count",
            Self::Share => "share",
            Self::Flag => "flag",
            Self::Delimiter => "delimiter",
            Self::Deviation => "deviation",
            Self::Alpha => "alpha",
            Self::HalfLife => "half_life",
            Self::Distance => "distance",
            Self::Amount => "amount",
            Self::Method => "method",
            Self::Ignored => "ignored",
        }
    }
}
