"""Random calls of the functions beyond sums, extremes, values and ranks: for Spark's dialect, and for DuckDB's.

Each says how its answers are compared, since a set, a sketch and a sum of differences have rules of their own.
"""

from __future__ import annotations

import random

from support.random_calls import KEYS, KINDS, NUMERIC, Ask, Spec, direction, make_frame

# Of two booleans no column without ties is made.
UNIQUE = [k for k in KEYS if k != "boolean"]
# Their differences from a mean stay far from overflow and from cancelling each other out.
TAME = ["tinyint", "smallint", "tame", "numeral"]
WHOLE = ["tinyint", "smallint", "int", "bigint"]
SPREADABLE = [*NUMERIC, "numeral", "span"]
# Spark's sketch finds NaN anywhere
APPROXIMABLE = [*[k for k in NUMERIC if k not in ("bigint", "float", "double")], "date", "timestamp", "ntz", "span"]
PAIRED = ["covar_pop", "covar_samp", "corr", "regr_count", "regr_slope", "regr_intercept", "regr_r2", "regr_sxx",
          "regr_syy", "regr_sxy", "regr_avgx", "regr_avgy"]  # fmt: skip
SHARES = ["0", "0.25", "0.5", "0.9", "1", "0.333", "0.07D"]
WHOLE_PARTITION = ["", "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"]


def make_more_asks(rng: random.Random, spec: Spec) -> Ask:
    """Draw a call of one of these functions, as Spark's SQL has them."""
    frame = make_frame(rng, spec)
    filtered = rng.choice(["f", "n_int > 0", "v_boolean"]) if rng.random() < 0.2 else ""
    where = f" FILTER (WHERE {filtered})" if filtered else ""
    column = lambda names, prefix="v": f"{prefix}_{rng.choice(names)}"  # noqa: E731
    window = spec.over(frame)
    sane = rng.random() < 0.93

    def ask(text: str, function: str, argument: str = "", rule: str = "", after: str = "") -> Ask:
        return Ask(f"{text}{where}{after} {window}", function, argument, window, filtered, spec.total, rule)

    def quantile() -> str:
        return rng.choice([rng.choice(SHARES), rng.choice(SHARES), f"array({', '.join(rng.sample(SHARES, 2))})"])

    draw = rng.randrange(19)
    if draw == 0:
        return ask(f"count_if({rng.choice(['v_boolean', 'p4', 'n_int > 1'])})", "count_if")
    if draw == 1:
        function, argument = rng.choice(["try_sum", "try_avg"]), column([*NUMERIC, "numeral", "span"])
        # what is read as a double is added up as sums are: the same tolerance
        return ask(f"{function}({argument})", function.removeprefix("try_"), argument)
    if draw in (2, 3):
        function = rng.choice(["skewness", "kurtosis"])
        argument = column(TAME if sane else list(KINDS))
        return ask(f"{function}({argument})", function, argument, "near")
    if draw in (4, 5, 6):
        function = rng.choice(PAIRED)
        one, other = column(TAME if sane else list(KINDS)), column(TAME)
        return ask(f"{function}({one}, {other})", function, one, "near")
    if draw == 7:
        function, argument = rng.choice(["bit_and", "bit_or", "bit_xor"]), column(WHOLE if sane else list(KINDS))
        return ask(f"{function}({argument})", function, argument)
    if draw in (8, 9):
        function = rng.choice(["min_by", "max_by"])
        # tied rows are peers of no order where the window has ties
        by = column(KEYS, rng.choice(["k", "v"])) if spec.total else column(UNIQUE, "u")
        argument = column(list(KINDS))
        extra = ""
        if rng.random() < 0.2:
            by, extra = column(UNIQUE, "u"), f", {rng.choice([1, 2, 5, 0])}"
        return ask(f"{function}({argument}, {by}{extra})", function, argument, "deep")
    if draw == 10:
        function, argument = rng.choice(["median", "percentile_cont", "percentile_disc"]), column(SPREADABLE)
        if sane:
            window = Spec(spec.partition_by, (), False).over(rng.choice(WHOLE_PARTITION))
        down = direction(rng).split(" NULLS")[0]
        if function == "median":
            return ask(f"median({argument})", function, argument, "near")
        return ask(f"{function}({quantile()}) WITHIN GROUP (ORDER BY {argument}{down})", function, argument, "deep")
    if draw in (11, 12):
        argument = column(SPREADABLE if sane else list(KINDS))
        weight = rng.choice(["", "", "", ", abs(n_int)"])
        return ask(f"percentile({argument}, {quantile()}{weight})", "percentile", argument, "deep")
    if draw == 13:
        argument = column(APPROXIMABLE if sane else list(KINDS))
        function = rng.choice(["percentile_approx", "approx_percentile"])
        rule = "deep" if "tame" in argument else "double"
        return ask(f"{function}({argument}, {rng.choice(SHARES)})", function, argument, rule)
    if draw == 14:
        argument = column(list(KINDS))
        return ask(f"approx_count_distinct({argument})", "approx_count_distinct", argument, "sketch")
    if draw == 15:
        function, argument = rng.choice(["collect_list", "array_agg"]), column(list(KINDS))
        after = rng.choice(["", "", " RESPECT NULLS", " IGNORE NULLS"])
        rule = "deep" if spec.total else "set"
        return ask(f"{function}({argument})", function, argument, rule, after)
    if draw == 16:
        argument = column(list(KINDS))
        return ask(f"collect_set({argument})", "collect_set", argument, "set")
    if draw == 17:
        argument = column(list(KINDS))
        ordered = f"mode() WITHIN GROUP (ORDER BY {argument}{rng.choice(['', ' DESC'])})"
        return ask(rng.choice([f"mode({argument}, true)", ordered]), "mode", argument, "deep")
    argument = column(["string", "tinyint", "int", "bigint", "dec10_2", "boolean", "date"])
    delimiter = rng.choice(["", ", ','", ", ' | '"])
    if rng.random() < 0.3:
        window = Spec(spec.partition_by, (), False).over("")
        within = f" WITHIN GROUP (ORDER BY {argument}{rng.choice(['', ' DESC'])})"
        return ask(f"{rng.choice(['listagg', 'string_agg'])}({argument}{delimiter}){within}", "listagg", argument)
    if not spec.total:
        argument = column(["tinyint", "smallint", "tame"])
        return ask(f"histogram_numeric({argument}, 100)", "histogram_numeric", argument, "deep")
    return ask(f"{rng.choice(['listagg', 'string_agg'])}({argument}{delimiter})", "listagg", argument)


def over_duckdb(rng: random.Random, over: str, keys: list[str], *, ties_broken: bool) -> Ask:
    """Draw a call over a window that DuckDB answers as well; ``keys`` are columns without ties."""
    where = rng.choice(["", "", "", " FILTER (WHERE f)"])
    numbers = ["v_int", "v_big", "v_u8", "v_u32", "v_double", "v_float", "v_decimal"]
    tame = ["v_int", "v_u8", "v_float"]
    everything = [*numbers, "v_text", "v_view", "v_bytes", "v_date", "v_moment", "v_bool"]

    def ask(ours: str, theirs: str = "", rule: str = "", nulls: str = "") -> Ask:
        other = f"{theirs or ours}{where} {over}"
        return Ask(f"{ours}{where}{nulls} {over}", "", "", over, "f" if where else "", True, rule, other)

    column = rng.choice
    draw = rng.randrange(15)
    if draw in (0, 1):
        one, other = column(everything), column(everything)
        if rng.random() < 0.5:
            return ask(f"count(DISTINCT {one})")
        # a row of nulls is a value to DuckDB
        pair = f"CASE WHEN {one} IS NOT NULL AND {other} IS NOT NULL THEN ({one}, {other}) END"
        return ask(f"count(DISTINCT {one}, {other})", f"count(DISTINCT {pair})")
    if draw in (2, 3):
        if rng.random() < 0.5:
            return ask(f"sum(DISTINCT {column(['v_int', 'v_u8', 'v_u32', 'v_decimal', 'v_big'])})")
        return ask(f"avg(DISTINCT {column(['v_int', 'v_u8', 'v_u32'])})", "", "near")
    if draw == 4:
        function, argument = column(["var_pop", "stddev_samp", "sum", "avg"]), column(tame)
        return ask(f"{function}(DISTINCT {argument})", "", "near")
    if draw in (5, 6):
        share, argument = column(["0", "0.25", "0.5", "0.9", "1"]), column([*tame, "v_double"])
        return ask(f"percentile({argument}, {share})", f"quantile_cont({argument}::DOUBLE, {share})", "near")
    if draw == 7:
        function, argument = column(["median", "mad"]), column(tame)
        return ask(f"{function}({argument})", f"{function}({argument}::DOUBLE)", "near")
    if draw == 8:
        argument = column(["v_int", "v_u8", "v_text", "v_date"])
        return ask(f"entropy({argument})", "", "near")
    if draw == 9:
        function = column(["corr", "covar_pop", "covar_samp", "regr_slope", "regr_sxy", "regr_count", "regr_avgx"])
        return ask(f"{function}({column(tame)}, {column(tame)})", "", "nan")
    if draw == 10:
        function = column(["bit_and", "bit_or", "bit_xor"])
        return ask(f"{function}({column(['v_int', 'v_big', 'v_u8'])})")
    by = f"{column(keys)} {column(['ASC', 'DESC'])} NULLS {column(['FIRST', 'LAST'])}"
    if draw == 11:
        function, argument = column(["first_value", "last_value", "nth_value"]), column(everything)
        inside = f"{argument}, 2" if function == "nth_value" else argument
        where = ""  # which DuckDB gives aggregates alone
        return ask(f"{function}({inside} ORDER BY {by})")
    if draw == 12 and "EXCLUDE" not in over:  # there DuckDB ranks whole frames only
        where = ""
        function = column(["row_number", "rank", "percent_rank", "cume_dist"])
        return ask(f"{function}(ORDER BY {by})", "", "near")
    if draw in (12, 13):
        argument = column(["v_text", "v_view"])
        return ask(f"string_agg({argument}, ',' ORDER BY {by})")
    argument = column(everything)
    within = f" ORDER BY {by}" if not ties_broken or rng.random() < 0.5 else ""
    inside = f"array_agg({argument}{within})"
    return ask(inside, inside, "list", nulls=" RESPECT NULLS")
