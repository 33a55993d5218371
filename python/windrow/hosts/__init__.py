"""The hosts: whose frames windrow takes. Importing this package registers those that are its own."""

from __future__ import annotations

from .._model.conversions import register_conversion
from .._model.expressions import register, register_selectors
from .._model.windows import register_windows
from .arrow import ArrowHost, StreamHost
from .base import register_host
from .duckdb import DuckDBHost
from .narwhals import NarwhalsHost
from .pandas import PandasHost
from .polars import PolarsHost, PolarsReader, PolarsSelectors
from .polars_lazy import expression_of
from .scans import DataFusionHost, DatasetHost, IbisHost
from .spark import SparkHost, SparkReader, read_window

__all__: list[str] = []

for _host in (
    ArrowHost(), PolarsHost(), PandasHost(), DuckDBHost(), DatasetHost(), DataFusionHost(), IbisHost(), NarwhalsHost(),
    SparkHost(),
):  # fmt: skip
    register_host(_host)
register_host(StreamHost(), fallback=True)

register(SparkReader())
register_windows(read_window)
register(PolarsReader())
register_selectors(PolarsReader.host, PolarsSelectors())
register_conversion("polars", expression_of)
