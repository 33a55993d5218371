//! A fingerprint that is equal for plans whose section states are interchangeable.

use crate::plan::planned::Plan;

impl Plan {
    /// The checksum of everything that determines the rows and states of a summary: the columns read, the orders, the
    /// calls with their strategies, and this crate's version. Names of result columns and unread columns do not matter.
    pub(crate) fn fingerprint(&self) -> u32 {
        let columns = self.columns().into_iter().map(|number| self.schema.field(number));
        let mut parts = vec![env!("CARGO_PKG_VERSION").to_string()];
        parts.extend(columns.map(|field| format!("{:?}: {}", field.name(), field.data_type())));
        for (call, row) in self.calls.iter().zip(self.explain_sorted()) {
            let order = &self.orders[call.order];
            let column = |&place: &usize| self.schema.field(order.columns[place]).name();
            parts.push(format!(
                "{:?}",
                (row.call, row.partition_by, row.order_by, row.frame, row.strategy, row.data_type.to_string())
            ));
            parts.push(format!(
                "{:?}",
                (
                    call.function.name,
                    &call.args,
                    call.nulls,
                    call.distinct,
                    call.min_rows,
                    call.filter.as_ref().map(column)
                )
            ));
            parts.push(format!("{:?}", (&call.argument_order, call.before, call.after)));
        }
        parts.push(format!("{:?}", (&self.passes, self.options.ansi, &self.options.timezone)));
        crc32fast::hash(parts.join("\n").as_bytes())
    }
}
