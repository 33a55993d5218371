"""What stands in the plans of PySpark's DataFrames, as text."""

import re

__all__ = ["chain_settings", "exchanges", "executed_plan", "passages", "passing_columns", "shuffles"]

# windrow's own node is called after its calls
_PASSAGE = re.compile(
    r"^\W*(?:\(\d+\) )?(?:windrow\(.*\)|(?:Python)?MapInArrow windrow(?:_stage)?\(.*?\)#\d+,) (.*)$", re.MULTILINE
)


def executed_plan(frame):
    """Give the physical plan, without what adaptive execution began with."""
    return str(frame._jdf.queryExecution().executedPlan().toString()).partition("== Initial Plan ==")[0]


def exchanges(plan):
    """Count a plan's exchanges."""
    return plan.count("Exchange ")


def shuffles(frame):
    """Count the exchanges of a DataFrame's plan, without broadcasts, and those that are used again once."""
    plan = frame._jdf.queryExecution().executedPlan().toString()
    return len(re.findall(r"(?<!Reused)Exchange (?!SinglePartition.*Broadcast)", plan)) - plan.count(
        "BroadcastExchange"
    )


def chain_settings(rng, adaptive):
    """Draw the settings under which plans of random operators are compared."""
    return {
        "spark.sql.adaptive.enabled": adaptive,
        "spark.sql.autoBroadcastJoinThreshold": rng.choice(["-1", "10485760"]),
        "spark.sql.shuffle.partitions": "3",
    }


def passages(plan):
    """Count how often a plan's rows go to Python and back."""
    return len(_PASSAGE.findall(plan))


def passing_columns(plan):
    """Give the columns that come back from each stage of windrow's, the last first."""
    return [
        [re.sub(r"#\d+L?$", "", c.strip()) for c in re.findall(r"\[([^\[\]]*)\]", found)[-1].split(",")]
        for found in _PASSAGE.findall(plan)
    ]
