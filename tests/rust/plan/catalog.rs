//! The rows of the catalog are complete, and no two parts of a row contradict each other.
use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use windrow::catalog::{
    ArgumentOrder, Distinct, Family, Frames, Function, NullHandling, OrderSensitivity, RowsNeeded, WindowOrder,
    WithinGroup,
};
use windrow::catalog::{Constant, Presence, Role};
use windrow::catalog::{FUNCTIONS, find};
use windrow::internals::Algebra;
use windrow::internals::{Modifiers, Signature};

/// Types of every kind that a column may have.
fn types() -> Vec<DataType> {
    use DataType as T;
    let field = |data_type| Arc::new(Field::new("item", data_type, true));
    vec![
        T::Null,
        T::Boolean,
        T::Int8,
        T::Int32,
        T::Int64,
        T::UInt64,
        T::Float32,
        T::Float64,
        T::Decimal128(12, 2),
        T::Decimal256(50, 3),
        T::Utf8,
        T::LargeUtf8,
        T::Binary,
        T::Date32,
        T::Timestamp(TimeUnit::Microsecond, None),
        T::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
        T::Duration(TimeUnit::Microsecond),
        T::Interval(IntervalUnit::YearMonth),
        T::List(field(T::Int32)),
        T::Struct(vec![Field::new("a", T::Int64, true)].into()),
        T::Dictionary(Box::new(T::Int32), Box::new(T::Utf8)),
        T::Map(field(T::Struct(vec![Field::new("k", T::Utf8, false), Field::new("v", T::Int32, true)].into())), false),
    ]
}

/// The signatures of a call for each value type that it accepts, and that type.
fn signatures(function: &Function, modifiers: Modifiers) -> Vec<(DataType, Signature)> {
    let of = |value: DataType| {
        let required = function.arguments.iter().filter(|argument| argument.presence == Presence::Required);
        let of_role = |role| match role {
            Role::Chosen | Role::Compared => value.clone(),
            Role::Value | Role::Ordered if function.argument(0).is_some_and(|first| first.role == Role::Chosen) => {
                DataType::Int32
            }
            Role::Value | Role::Ordered => value.clone(),
            Role::Number { .. } | Role::Count { .. } | Role::Distance => DataType::Int64,
            Role::Share | Role::Alpha | Role::HalfLife => DataType::Float64,
            Role::Method => DataType::Utf8,
            other => panic!("{}: {other:?} is not required of any function yet", function.name),
        };
        let types: Vec<_> = required.map(|argument| of_role(argument.role)).collect();
        let types = if types.is_empty() && function.star { vec![value.clone()] } else { types };
        function.signature(&types, modifiers).ok().map(|signature| (value.clone(), signature))
    };
    types().into_iter().filter_map(of).collect()
}

#[test]
fn names_are_unique() {
    let mut names = HashSet::new();
    for function in FUNCTIONS {
        assert!(function.doc.len() > 10 && !function.doc.ends_with('.'), "{}", function.name);
        for name in std::iter::once(&function.name).chain(function.aliases) {
            assert!(names.insert(*name), "{name} is two functions");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{name}");
            assert_eq!(find(&name.to_uppercase()).map(|found| found.name), Some(function.name));
        }
    }
    assert!(names.len() > 80);
}

#[test]
fn catalog_arguments_are_valid() {
    for function in FUNCTIONS {
        let name = function.name;
        let required = |presence| presence == Presence::Required;
        assert!(
            function.arguments.windows(2).all(|two| required(two[0].presence) || !required(two[1].presence)),
            "{name}: what must be given comes first"
        );
        for (index, argument) in function.arguments.iter().enumerate() {
            let last = index + 1 == function.arguments.len();
            assert!(last || argument.presence != Presence::Repeated, "{name}: what is repeated comes last");
            if let Presence::Default(constant) = argument.presence {
                let fits = match (argument.role, constant) {
                    (Role::Flag, Constant::Boolean(_))
                    | (Role::Deviation, Constant::Float(_))
                    | (Role::Default | Role::Delimiter, Constant::Null)
                    | (Role::Frequency | Role::Amount, Constant::Int(0 | 1))
                    | (Role::Distance | Role::Amount | Role::Count { .. }, Constant::Null) => true,
                    (Role::Number { least }, Constant::Int(value)) => value >= least,
                    (Role::Count { least, most }, Constant::Int(value)) => (least..=most).contains(&value),
                    _ => false,
                };
                assert!(fits, "{name}: {constant:?} stands for no {}", argument.name);
            }
        }
        // What a row says about values refers to an argument that holds some.
        let values = function.arguments.iter().any(|argument| argument.role.is_value());
        let reads = function.nulls != NullHandling::Kept || function.distinct != Distinct::Refused;
        assert!(values || !reads, "{name} has no values");
    }
}

#[test]
fn catalog_rows_are_consistent() {
    for function in FUNCTIONS {
        let name = function.name;
        let framed = matches!(function.frames, Frames::Any | Frames::OnePiece);
        assert_eq!(framed, function.rows_needed == RowsNeeded::Frame, "{name}: frames, and the rows it rows_needed at");
        assert_eq!(framed, matches!(function.family, Family::Aggregate | Family::Value), "{name}: family and frames");
        assert!(framed || !function.filter, "{name}: FILTER is of a frame's rows");
        assert!(framed || function.window_order != WindowOrder::Any, "{name}: it rows_needed along an order");
        assert!(function.picks.is_none() || function.family == Family::Value, "{name}: picks a row of a frame");
        let distance = matches!(function.rows_needed, RowsNeeded::Distance { .. });
        assert_eq!(distance, function.family == Family::Offset, "{name}");
        assert_eq!(function.frames == Frames::None, distance, "{name}");
        match function.within_group {
            WithinGroup::Refused => {}
            WithinGroup::Key => assert_eq!(function.argument_order, ArgumentOrder::Values, "{name}"),
            WithinGroup::Rows => assert_eq!(function.argument_order, ArgumentOrder::Rows, "{name}"),
        }
        // A function that reads its rows in an order depends on it; the others accept no argument order.
        let by_rows = matches!(function.order_sensitivity, OrderSensitivity::Rows | OrderSensitivity::Peers);
        match function.argument_order {
            ArgumentOrder::Rows => assert!(by_rows, "{name}: ORDER BY and the order of rows"),
            ArgumentOrder::Values => assert_eq!(function.order_sensitivity, OrderSensitivity::Values, "{name}"),
            ArgumentOrder::NoEffect | ArgumentOrder::Refused => {}
        }
        let by_row = matches!(function.family, Family::Value | Family::Offset);
        assert_eq!(by_row, function.nulls == NullHandling::KeptUnlessIgnored, "{name}: a row's value may be NULL");
        assert!(function.shared_state.is_none() || function.family == Family::Aggregate, "{name}");
        assert!(!function.star || function.argument_count().0 == 0, "{name}: * stands for all arguments");
    }
}

/// The result types agree with `keeps_type`, and the algebra with the order sensitivity.
#[test]
fn result_types_match_the_catalog() {
    let mut called = 0;
    for function in FUNCTIONS {
        let name = function.name;
        let plain = signatures(function, Modifiers::default());
        assert!(!plain.is_empty(), "{name} takes no type");
        called += plain.len();
        let kept = |(given, signature): &(DataType, Signature)| match &signature.output {
            DataType::List(element) => element.data_type() == given || &signature.output == given,
            other => other == given,
        };
        assert!(!function.keeps_type || plain.iter().any(kept), "{name} keeps no type");
        for (given, signature) in &plain {
            let what = format!("{name}({given})");
            assert!(!signature.algebra.strategies().is_empty(), "{what}");
            match signature.algebra {
                Algebra::Multiset | Algebra::Distinct | Algebra::Quantile => {
                    assert_eq!(function.order_sensitivity, OrderSensitivity::Values, "{what}");
                }
                Algebra::Positional | Algebra::Ordered | Algebra::UpdateOnly { .. } => {
                    let by_rows =
                        matches!(function.order_sensitivity, OrderSensitivity::Rows | OrderSensitivity::Peers);
                    assert!(by_rows, "{what}");
                }
                _ => assert_ne!(function.order_sensitivity, OrderSensitivity::Values, "{what}"),
            }
            // List views are requested only for lists of the frame's values.
            let views =
                function.signature(std::slice::from_ref(given), Modifiers { list_views: true, ..Modifiers::default() });
            assert!(views.is_ok() || function.argument_count() != (1, 1), "{what} is taken without views");
            if let Ok(views) = views {
                let lists = matches!(name, "collect_list" | "collect_set");
                assert_eq!(lists, matches!(views.output, DataType::ListView(_)), "{what}");
            }
        }
        if function.distinct == Distinct::Counts {
            for (given, signature) in signatures(function, Modifiers { distinct: true, ..Modifiers::default() }) {
                assert!(matches!(signature.algebra, Algebra::Multiset | Algebra::Distinct), "{name}(DISTINCT {given})");
            }
        }
    }
    assert!(called > 400, "{called} signatures");
}

#[test]
fn argument_counts_and_settings() {
    let count = |name| find(name).map(Function::argument_count);
    assert_eq!(count("count"), Some((0, usize::MAX)));
    assert_eq!(count("row_number"), Some((0, 0)));
    assert_eq!(count("lag"), Some((1, 3)));
    assert_eq!(count("max_by"), Some((2, 3)));
    assert_eq!(count("corr"), Some((2, 2)));
    let lag = find("lag").expect("lag");
    assert_eq!((lag.is_setting(0), lag.is_setting(1), lag.is_setting(2)), (false, true, false));
    assert_eq!(lag.ignore_nulls_index(), Some(3));
    assert_eq!(find("sum").and_then(Function::ignore_nulls_index), None);
}
