//! Builders for the catalog's rows: the defaults of each family, and methods that override them.

use super::argument::Argument;
use super::function::{
    ArgumentOrder, Distinct, Family, FrameEnd, Frames, Function, NullHandling, OrderSensitivity, OwnFrame, RowsNeeded,
    WindowOrder, WithinGroup,
};
use super::function_id::FunctionId;
use super::shared_state::SharedState;
use super::signature::{self as types, Rule};

/// An aggregate: accepts any frame, FILTER and DISTINCT; skips NULLs; does not depend on the order of rows.
pub(super) const fn aggregate(
    name: &'static str,
    function_id: FunctionId,
    arguments: &'static [Argument],
    rule: Rule,
) -> Function {
    Function {
        name,
        aliases: &[],
        doc: "",
        function_id,
        family: Family::Aggregate,
        arguments,
        star: false,
        filter: true,
        nulls: NullHandling::Skipped,
        distinct: Distinct::Counts,
        argument_order: ArgumentOrder::NoEffect,
        within_group: WithinGroup::Refused,
        frames: Frames::Any,
        window_order: WindowOrder::Any,
        rows_needed: RowsNeeded::Frame,
        picks: None,
        keeps_type: false,
        order_sensitivity: OrderSensitivity::None,
        shared_state: None,
        rule,
    }
}

/// A function that selects a row of the frame.
pub(super) const fn value(
    name: &'static str,
    function_id: FunctionId,
    arguments: &'static [Argument],
    distinct: Distinct,
) -> Function {
    Function {
        family: Family::Value,
        nulls: NullHandling::KeptUnlessIgnored,
        argument_order: ArgumentOrder::Rows,
        keeps_type: true,
        order_sensitivity: OrderSensitivity::Rows,
        ..aggregate(name, function_id, arguments, types::value).distinct(distinct)
    }
}

/// A function that selects a row of the partition at an offset.
pub(super) const fn offset(
    name: &'static str,
    function_id: FunctionId,
    arguments: &'static [Argument],
    before: bool,
) -> Function {
    Function {
        family: Family::Offset,
        filter: false,
        distinct: Distinct::Refused,
        argument_order: ArgumentOrder::Refused,
        frames: Frames::None,
        window_order: WindowOrder::Required,
        rows_needed: RowsNeeded::Distance { before },
        rule: types::offset,
        ..value(name, function_id, arguments, Distinct::Refused)
    }
}

/// A function that reads the partition's rows in sequence.
pub(super) const fn running(
    name: &'static str,
    function_id: FunctionId,
    arguments: &'static [Argument],
    rule: Rule,
) -> Function {
    Function {
        family: Family::Running,
        filter: false,
        distinct: Distinct::Refused,
        argument_order: ArgumentOrder::Refused,
        frames: Frames::Own(OwnFrame::UpToRow),
        window_order: WindowOrder::Required,
        rows_needed: RowsNeeded::Before,
        keeps_type: true,
        order_sensitivity: OrderSensitivity::Rows,
        ..aggregate(name, function_id, arguments, rule)
    }
}

/// A ranking function.
pub(super) const fn ranking(
    name: &'static str,
    function_id: FunctionId,
    arguments: &'static [Argument],
    rule: Rule,
) -> Function {
    Function {
        family: Family::Ranking,
        nulls: NullHandling::Kept,
        argument_order: ArgumentOrder::Rows,
        keeps_type: false,
        ..running(name, function_id, arguments, rule)
    }
}

/// Overrides of a family's defaults.
impl Function {
    /// What the function gives, in one line of the documentation.
    pub(super) const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    pub(super) const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    pub(super) const fn star(self) -> Self {
        Self { star: true, ..self }
    }

    pub(super) const fn no_filter(self) -> Self {
        Self { filter: false, ..self }
    }

    pub(super) const fn nulls(self, nulls: NullHandling) -> Self {
        Self { nulls, ..self }
    }

    pub(super) const fn distinct(self, distinct: Distinct) -> Self {
        Self { distinct, ..self }
    }

    pub(super) const fn argument_order(self, argument_order: ArgumentOrder) -> Self {
        Self { argument_order, ..self }
    }

    pub(super) const fn within_group(self, within_group: WithinGroup) -> Self {
        Self { within_group, ..self }
    }

    pub(super) const fn frames(self, frames: Frames) -> Self {
        Self { frames, ..self }
    }

    pub(super) const fn window_order(self, window_order: WindowOrder) -> Self {
        Self { window_order, ..self }
    }

    pub(super) const fn rows_needed(self, rows_needed: RowsNeeded) -> Self {
        Self { rows_needed, ..self }
    }

    pub(super) const fn picks(self, end: FrameEnd) -> Self {
        Self { picks: Some(end), ..self }
    }

    pub(super) const fn keeps_type(self) -> Self {
        Self { keeps_type: true, ..self }
    }

    /// The result has a type of its own, unlike others of the family.
    pub(super) const fn own_type(self) -> Self {
        Self { keeps_type: false, ..self }
    }

    pub(super) const fn sensitive(self, order_sensitivity: OrderSensitivity) -> Self {
        Self { order_sensitivity, ..self }
    }

    pub(super) const fn shares(self, state: SharedState) -> Self {
        Self { shared_state: Some(state), ..self }
    }

    /// Shares the state of sums and means.
    pub(super) const fn totals(self) -> Self {
        self.sensitive(OrderSensitivity::Rounding).shares(SharedState::Totals)
    }

    /// Shares the state of variances and standard deviations.
    pub(super) const fn moments(self) -> Self {
        self.sensitive(OrderSensitivity::Rounding).shares(SharedState::Moments)
    }

    /// Shares the state of skewness and kurtosis.
    pub(super) const fn shape(self) -> Self {
        self.sensitive(OrderSensitivity::Rounding).shares(SharedState::Shape)
    }

    /// Shares the state of covariances and regressions.
    pub(super) const fn pairs(self) -> Self {
        self.sensitive(OrderSensitivity::Rounding).shares(SharedState::Pairs)
    }

    /// The value of one row selected by an order of its own, or by its position.
    pub(super) const fn picks_value(self) -> Self {
        self.keeps_type().sensitive(OrderSensitivity::EqualValues).distinct(Distinct::NoEffect)
    }

    /// Depends on the order of the values, whose direction may be written.
    pub(super) const fn value_order_aggregate(self) -> Self {
        self.sensitive(OrderSensitivity::Values).argument_order(ArgumentOrder::Values)
    }
}
