"""The releases of Spark whose plans are known."""

from __future__ import annotations

from ...exceptions import UnsupportedError

__all__ = ["check_release", "is_known_release"]

# Others may name or build their nodes otherwise.
_RELEASES = ((4, 0), (4, 1), (4, 2), (4, 3))


def is_known_release(*more: tuple[int, int]) -> bool:
    """Whether the plans of the PySpark that is installed are known; ``more`` releases may count as well."""
    import pyspark

    return tuple(int(part) for part in pyspark.__version__.split(".")[:2]) in (*more, *_RELEASES)


def check_release(call: str, *more: tuple[int, int]) -> None:
    """Refuse a release whose plans are not known, for a call of that name."""
    if not is_known_release(*more):
        import pyspark

        first = ".".join(map(str, (*more, *_RELEASES)[0]))
        raise UnsupportedError(
            f"{call} knows the plans of Spark {first} to 4.3, and this is {pyspark.__version__}; give wr.with_columns "
            "the window columns instead"
        )
