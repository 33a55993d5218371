//! What a function takes: its arguments, what each is for, and what stands for one that is left out.

use crate::spec::literal::Literal;

/// An argument as the catalog has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Argument {
    /// Its name in messages.
    pub name: &'static str,
    /// What it is for.
    pub role: Role,
    /// Whether it may be left out.
    pub presence: Presence,
}

/// What an argument is for, and so what it may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Role {
    /// Values, one a row.
    Value,
    /// Values that are put in their order.
    Ordered,
    /// Values that are asked whether they are equal.
    Compared,
    /// The value that goes with one that is chosen by another argument; it may be NULL.
    Chosen,
    /// How often a row's value counts.
    Frequency,
    /// What stands for a row beyond the partition.
    Default,
    /// When a counter was set to zero.
    Start,
    /// A whole number from `least`, each row's own where it is a column.
    Number {
        /// The smallest one allowed.
        least: i64,
    },
    /// One whole number for all rows.
    Count {
        /// The smallest one allowed.
        least: i64,
        /// The greatest one allowed.
        most: i64,
    },
    /// One number from 0 to 1 for all rows, or a list of such.
    Share,
    /// TRUE or FALSE for all rows.
    Flag,
    /// One text for all rows.
    Delimiter,
    /// The relative standard deviation that a sketch may have.
    Deviation,
    /// The weight of a new value, above 0 and up to 1.
    Alpha,
    /// In what time, or distance, a weight halves.
    HalfLife,
    /// Read by nobody: ranks take the columns of their order for compatibility.
    Ignored,
}

/// Whether an argument may be left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Presence {
    /// It may not.
    Required,
    /// The function does without it.
    Optional,
    /// This stands for it.
    Default(Constant),
    /// Any number of them may follow, none too. Only the last argument.
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
    /// An argument that must be given.
    pub(super) const fn required(name: &'static str, role: Role) -> Self {
        Self { name, role, presence: Presence::Required }
    }

    /// An argument that may be left out.
    pub(super) const fn optional(name: &'static str, role: Role) -> Self {
        Self { name, role, presence: Presence::Optional }
    }

    /// An argument for which `constant` stands where it is left out.
    pub(super) const fn or(name: &'static str, role: Role, constant: Constant) -> Self {
        Self { name, role, presence: Presence::Default(constant) }
    }

    /// Any number of arguments.
    pub(super) const fn repeated(name: &'static str, role: Role) -> Self {
        Self { name, role, presence: Presence::Repeated }
    }
}

impl Role {
    /// Whether it is read when the plan is made and not row by row: a constant, or whole numbers that are looked up apart.
    #[must_use]
    pub const fn is_setting(self) -> bool {
        !matches!(
            self,
            Self::Value | Self::Ordered | Self::Compared | Self::Chosen | Self::Frequency | Self::Default | Self::Start
        )
    }

    /// Whether a row with NULL in it has no value for the function.
    #[must_use]
    pub const fn is_value(self) -> bool {
        matches!(self, Self::Value | Self::Ordered | Self::Compared)
    }

    /// Its name in the catalog as others read it.
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
            Self::Ignored => "ignored",
        }
    }
}
