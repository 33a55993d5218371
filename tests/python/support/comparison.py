"""When two answers are the same: floats within rounding, lists and structs by their parts."""

import math


def alike(one, other):
    """Whether two values are the same but for a float's last bits."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[k], other[k]) for k in one)
    if (isinstance(one, float) or isinstance(other, float)) and one is not None and other is not None:
        one, other = float(one), float(other)
        return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return one == other
