//! A window: how rows are partitioned and ordered, and the calls over it.

use super::call::Call;
use super::order_key::OrderKey;

/// Calls over one partitioning and one order.
///
/// ```
/// use windrow::{WindowSpec, calls::sum};
/// let spec = WindowSpec::new().partition_by(["device"]).order_by(["id"]).call(sum("level").alias("total"));
/// assert_eq!(spec.calls[0].name, "total");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct WindowSpec {
    /// The partition columns. Nulls are equal to each other, NaNs too, and -0.0 equals 0.0.
    pub partition_by: Vec<String>,
    /// The order of the rows within a partition.
    pub order_by: Vec<OrderKey>,
    /// The calls.
    pub calls: Vec<Call>,
}

impl WindowSpec {
    /// One partition of all rows, without an order and without calls.
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

    /// Sets the order keys. A bare name is ascending, nulls first.
    #[must_use]
    pub fn order_by<K: Into<OrderKey>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.order_by = keys.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a call.
    #[must_use]
    pub fn call(mut self, call: Call) -> Self {
        self.calls.push(call);
        self
    }
}
