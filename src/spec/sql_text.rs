//! Windows, calls, frames and literals as SQL.

use std::fmt::Write as _;

use arrow_schema::SortOptions;

use super::argument::Arg;
use super::call::{Call, Nulls};
use super::frame::{Bound, Exclude, Frame, Units};
use super::literal::Literal;
use super::order_key::OrderKey;
use super::window::WindowSpec;

/// The call as SQL; as the user wrote it, if known. `star`: without arguments it is shown with `*`.
pub(crate) fn display(spec: &WindowSpec, call: &Call, star: bool) -> String {
    if !call.display.is_empty() {
        return call.display.clone();
    }
    let args: Vec<_> = call.args.iter().map(arg).collect();
    let args = if star && args.is_empty() { "*".into() } else { args.join(", ") };
    let mut text = format!("{}({}{args}", call.function, if call.distinct { "DISTINCT " } else { "" });
    if !call.argument_order.is_empty() {
        let space = if args.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}ORDER BY {}", order_keys(&call.argument_order));
    }
    text.push(')');
    if let Some(filter) = &call.filter {
        let _ = write!(text, " FILTER (WHERE {filter})");
    }
    match call.nulls {
        Nulls::Default => {}
        Nulls::Ignore => text += " IGNORE NULLS",
        Nulls::Respect => text += " RESPECT NULLS",
    }
    let mut window = Vec::new();
    if !spec.partition_by.is_empty() {
        window.push(format!("PARTITION BY {}", spec.partition_by.join(", ")));
    }
    if !spec.order_by.is_empty() {
        window.push(format!("ORDER BY {}", order_keys(&spec.order_by)));
    }
    if let Some(asked) = &call.frame {
        window.push(frame(asked));
    }
    let _ = write!(text, " OVER ({})", window.join(" "));
    text
}

fn arg(arg: &Arg) -> String {
    match arg {
        Arg::Column(name) => name.clone(),
        Arg::Literal(value) => literal_sql(value),
    }
}

fn order_keys(keys: &[OrderKey]) -> String {
    keys.iter().map(|key| order_key(&key.column, key.options)).collect::<Vec<_>>().join(", ")
}

pub(crate) fn order_key(column: &str, options: SortOptions) -> String {
    match (options.descending, options.nulls_first) {
        (false, true) => column.to_owned(),
        (false, false) => format!("{column} NULLS LAST"),
        (true, true) => format!("{column} DESC NULLS FIRST"),
        (true, false) => format!("{column} DESC"),
    }
}

/// The frame as SQL.
#[must_use]
pub(crate) fn frame(frame: &Frame) -> String {
    let units = match frame.units {
        Units::Rows => "ROWS",
        Units::Range => "RANGE",
        Units::Groups => "GROUPS",
    };
    let exclude = match frame.exclude {
        Exclude::NoOthers => "",
        Exclude::CurrentRow => " EXCLUDE CURRENT ROW",
        Exclude::Group => " EXCLUDE GROUP",
        Exclude::Ties => " EXCLUDE TIES",
    };
    let open = |open| if open { " (excluded)" } else { "" };
    let (start, end) = (bound(&frame.start), bound(&frame.end));
    format!("{units} BETWEEN {start}{} AND {end}{}{exclude}", open(frame.open.start), open(frame.open.end))
}

fn bound(bound: &Bound) -> String {
    match bound {
        Bound::UnboundedPreceding => "UNBOUNDED PRECEDING".into(),
        Bound::Preceding(offset) => format!("{} PRECEDING", arg(offset)),
        Bound::CurrentRow => "CURRENT ROW".into(),
        Bound::Following(offset) => format!("{} FOLLOWING", arg(offset)),
        Bound::UnboundedFollowing => "UNBOUNDED FOLLOWING".into(),
    }
}

/// The literal as SQL text, for messages.
#[must_use]
pub(crate) fn literal_sql(literal: &Literal) -> String {
    match literal {
        Literal::Null => "NULL".into(),
        Literal::Boolean(value) => value.to_string().to_uppercase(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => format!("{value:?}"),
        Literal::Decimal { unscaled, scale } => {
            let digits = unscaled.to_string();
            let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
            match usize::try_from(*scale) {
                Ok(0) => format!("{sign}{digits}"),
                Err(_) => format!("{sign}{digits}{}", "0".repeat(usize::from(scale.unsigned_abs()))),
                Ok(scale) => {
                    let digits = format!("{digits:0>width$}", width = scale + 1);
                    let (whole, part) = digits.split_at(digits.len() - scale);
                    format!("{sign}{whole}.{part}")
                }
            }
        }
        Literal::List(items) => format!("array({})", items.iter().map(literal_sql).collect::<Vec<_>>().join(", ")),
        Literal::Utf8(value) => format!("'{value}'"),
        Literal::Binary(value) => {
            value.iter().fold(String::from("X'"), |text, byte| text + &format!("{byte:02X}")) + "'"
        }
        Literal::Date(days) => format!("DATE {days} days after 1970-01-01"),
        Literal::Time(micros) => format!("TIME {micros} microseconds"),
        Literal::Timestamp { micros, .. } => format!("TIMESTAMP {micros} microseconds"),
        Literal::Interval { months, days, micros } => {
            let mut parts = Vec::new();
            for (count, unit) in [
                (i64::from(*months), "MONTH"),
                (i64::from(*days), "DAY"),
                (micros / 3_600_000_000, "HOUR"),
                (micros / 60_000_000 % 60, "MINUTE"),
                (micros / 1_000_000 % 60, "SECOND"),
                (micros % 1_000_000, "MICROSECOND"),
            ] {
                if count != 0 {
                    parts.push(format!("{count} {unit}"));
                }
            }
            if parts.is_empty() { "INTERVAL 0 SECOND".into() } else { format!("INTERVAL {}", parts.join(" ")) }
        }
    }
}
