"""Narwhals' frames, which wrap those of another library: its host answers, and the result is wrapped again."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .._model.expressions import is_instance_by_name
from .base import FrameSchema, MemoryHost, host_of

__all__ = ["NarwhalsHost"]


class NarwhalsHost(MemoryHost):
    """The DataFrames and LazyFrames of Narwhals, of its stable versions too."""

    name = "narwhals"

    def accepts(self, value: Any) -> bool:
        """Whether a value is a frame of Narwhals'."""
        return any(is_instance_by_name(value, "narwhals", name) for name in ("DataFrame", "LazyFrame"))

    def opened(self, frame: Any) -> Any:
        """Return the frame that it wraps."""
        return frame.to_native()

    def schema(self, value: Any) -> FrameSchema:
        """Give the schema of the frame that it wraps."""
        native = value.to_native()
        return host_of(native).schema(native)

    def as_given(self, frame: Any, result: Any) -> Any:
        """Wrap a result in a frame of the same version of Narwhals."""
        native = frame.to_native()
        version = import_module(type(frame).__module__.removesuffix(".dataframe"))
        return version.from_native(host_of(native).as_given(native, result))
