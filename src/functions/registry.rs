//! The table of functions: names, arguments, what they may be asked, and what the plan needs to know of them.

use crate::evaluate::Strategy;

/// What a function computes; one per kernel, whatever its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Rows, or rows without a null argument.
    Count,
    /// Sum.
    Sum,
    /// Mean.
    Avg,
    /// Least value.
    Min,
    /// Greatest value.
    Max,
    /// Population variance.
    VarPop,
    /// Sample variance.
    VarSamp,
    /// Population standard deviation.
    StddevPop,
    /// Sample standard deviation.
    StddevSamp,
    /// Whether all are true.
    BoolAnd,
    /// Whether any is true.
    BoolOr,
    /// The frame's first value.
    First,
    /// The frame's last value.
    Last,
    /// The frame's n-th value.
    Nth,
    /// The value so many rows before.
    Lag,
    /// The value so many rows after.
    Lead,
    /// The row's number in its partition.
    RowNumber,
    /// One more than the rows before the row's peers.
    Rank,
    /// The number of the row's peer group.
    DenseRank,
    /// `(rank - 1) / (rows - 1)`
    PercentRank,
    /// The share of rows up to the row's last peer.
    CumeDist,
    /// The number of the row's bucket.
    Ntile,
}

/// What kind of function it is, and so which parts of a call it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Folds a frame: takes a frame, FILTER, `min_rows`.
    Aggregate,
    /// Picks a row of the frame: takes what an aggregate takes, and IGNORE NULLS.
    Value,
    /// Picks a row at a distance in the partition: no frame; needs an order.
    Offset,
    /// Says where the row stands in its partition: no frame; needs an order.
    Ranking,
}

/// A function as the table has it.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// Spark SQL's name, in lower case.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// What it computes.
    pub kernel: Kernel,
    /// What kind it is.
    pub family: Family,
    /// The least and the greatest number of arguments.
    pub arguments: (usize, usize),
    /// What it is, in one line.
    pub doc: &'static str,
}

const fn aggregate(
    name: &'static str,
    aliases: &'static [&'static str],
    kernel: Kernel,
    arguments: (usize, usize),
    doc: &'static str,
) -> Function {
    Function { name, aliases, kernel, family: Family::Aggregate, arguments, doc }
}

const fn value(
    name: &'static str,
    aliases: &'static [&'static str],
    kernel: Kernel,
    arguments: (usize, usize),
    doc: &'static str,
) -> Function {
    Function { name, aliases, kernel, family: Family::Value, arguments, doc }
}

const fn offset(name: &'static str, kernel: Kernel, doc: &'static str) -> Function {
    Function { name, aliases: &[], kernel, family: Family::Offset, arguments: (1, 3), doc }
}

const fn ranking(name: &'static str, kernel: Kernel, arguments: (usize, usize), doc: &'static str) -> Function {
    Function { name, aliases: &[], kernel, family: Family::Ranking, arguments, doc }
}

/// Every function there is.
pub const FUNCTIONS: &[Function] = &[
    aggregate("count", &[], Kernel::Count, (0, usize::MAX), "rows of the frame, or those where no argument is null"),
    aggregate("sum", &[], Kernel::Sum, (1, 1), "sum of the frame's values; floats are compensated"),
    aggregate("avg", &["mean"], Kernel::Avg, (1, 1), "mean of the frame's values"),
    aggregate("min", &[], Kernel::Min, (1, 1), "least value of the frame; NaN is greatest"),
    aggregate("max", &[], Kernel::Max, (1, 1), "greatest value of the frame; NaN is greatest"),
    aggregate("var_pop", &[], Kernel::VarPop, (1, 1), "population variance of the frame"),
    aggregate("var_samp", &["variance"], Kernel::VarSamp, (1, 1), "sample variance of the frame"),
    aggregate("stddev_pop", &[], Kernel::StddevPop, (1, 1), "population standard deviation of the frame"),
    aggregate("stddev_samp", &["stddev", "std"], Kernel::StddevSamp, (1, 1), "sample standard deviation of the frame"),
    aggregate("bool_and", &["every"], Kernel::BoolAnd, (1, 1), "whether all values of the frame are true"),
    aggregate("bool_or", &["some", "any"], Kernel::BoolOr, (1, 1), "whether any value of the frame is true"),
    value("first_value", &["first"], Kernel::First, (1, 1), "the frame's first value"),
    value("last_value", &["last"], Kernel::Last, (1, 1), "the frame's last value"),
    value("any_value", &[], Kernel::First, (1, 1), "a value of the frame: the first"),
    value("nth_value", &[], Kernel::Nth, (2, 2), "the frame's n-th value, from 1"),
    offset("lag", Kernel::Lag, "the value n rows before the row; a default outside the partition"),
    offset("lead", Kernel::Lead, "the value n rows after the row; a default outside the partition"),
    ranking("row_number", Kernel::RowNumber, (0, 0), "the row's number in its partition, from 1"),
    ranking("rank", Kernel::Rank, (0, usize::MAX), "one more than the rows before the row's peers"),
    ranking("dense_rank", Kernel::DenseRank, (0, usize::MAX), "the number of the row's peer group, from 1"),
    ranking("percent_rank", Kernel::PercentRank, (0, usize::MAX), "(rank - 1) / (rows - 1); 0 for a lone row"),
    ranking("cume_dist", Kernel::CumeDist, (0, 0), "the share of rows up to the row's last peer"),
    ranking("ntile", Kernel::Ntile, (0, 1), "the row's bucket of n nearly equal ones; the first take the rest"),
];

impl Function {
    /// Whether it looks at a frame that the caller chooses.
    #[must_use]
    pub fn takes_frame(&self) -> bool {
        matches!(self.family, Family::Aggregate | Family::Value)
    }

    /// Whether FILTER may choose its rows.
    #[must_use]
    pub fn takes_filter(&self) -> bool {
        self.takes_frame() && self.kernel != Kernel::Nth
    }

    /// Whether it may pass over nulls.
    #[must_use]
    pub fn takes_ignore_nulls(&self) -> bool {
        matches!(self.family, Family::Value | Family::Offset)
    }
}

/// The function of this name or alias, in any case.
#[must_use]
pub fn find(name: &str) -> Option<&'static Function> {
    let name = name.to_ascii_lowercase();
    FUNCTIONS.iter().find(|function| function.name == name || function.aliases.contains(&name.as_str()))
}

/// What a kernel's state over some type allows, and so which strategies may serve it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algebra {
    /// States merge.
    Mergeable,
    /// States merge and subtract exactly.
    Retractable,
    /// One row of the frame is chosen.
    Selective,
    /// No state: row arithmetic.
    Positional,
}

impl Algebra {
    /// The strategies that may be asked for, the dearest last.
    #[must_use]
    pub fn strategies(self) -> &'static [Strategy] {
        use Strategy::{Deque, Index, Naive, Prefix, Scan, SegmentTree, TwoStacks, Whole};
        match self {
            Self::Mergeable => &[Whole, Scan, TwoStacks, SegmentTree, Naive],
            Self::Retractable => &[Whole, Scan, Prefix, TwoStacks, SegmentTree, Naive],
            Self::Selective => &[Whole, Scan, Deque, TwoStacks, SegmentTree, Naive],
            Self::Positional => &[Index, Naive],
        }
    }
}
