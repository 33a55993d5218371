"""The settings: ``wr.config(...)`` and the environment variables ``WINDROW_*``."""

from __future__ import annotations

import math
import os
import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, fields
from operator import index
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, get_args

from ._model.replace import replace
from ._windrow import cores, strategies
from .exceptions import SpecError, short_traceback, shown, suggest

if TYPE_CHECKING:
    from typing_extensions import Unpack
elif sys.version_info >= (3, 11):
    from typing import Unpack
else:

    class Unpack:
        """Stands in for ``typing.Unpack`` when annotations are evaluated at run time."""

        def __class_getitem__(cls, kind: Any) -> Any:
            """Return the type itself."""
            return kind


__all__ = ["Config", "Engine", "Options", "Spread", "Strategy", "captured", "config", "current", "size_of"]

Strategy: TypeAlias = Literal[
    "grouped", "whole", "scan", "prefix", "index", "deque", "two_stacks", "segment_tree", "refold", "naive", "wavelet",
    "codes", "sweep", "blocks",
]  # fmt: skip
Engine: TypeAlias = Literal["auto", "windrow", "spark"]
Spread: TypeAlias = Literal["auto", "always", "never"]

STRATEGIES: Final = tuple(strategies())
ENGINES: Final[tuple[str, ...]] = get_args(Engine)
SPREADS: Final[tuple[str, ...]] = get_args(Spread)
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?b)?\s*\Z", re.IGNORECASE)
_OFFSET = re.compile(r"[+-](?:(?:0[0-9]|1[0-7]):[0-5][0-9]|18:00)\Z")


class Settings(TypedDict, total=False):
    """The arguments of ``config``."""

    threads: int | None
    memory_limit: int | str | None
    spill_dir: str | os.PathLike[str] | None
    ansi: bool | None
    timezone: str | None
    strategy: Strategy | None
    engine: Engine | None
    spread: Spread | None
    progress: bool | None


@dataclass(frozen=True, slots=True)
class Options:
    """The settings in effect, as an immutable value; None means "not set"."""

    threads: int | None = None
    memory_limit: int | None = None
    spill_dir: str | None = None
    ansi: bool | None = None
    timezone: str | None = None
    strategy: str | None = None
    engine: str | None = None
    spread: str | None = None
    progress: bool | None = None
    #: Not a setting: the host sets whether results may be list views.
    list_views: bool = False

    def threads_used(self) -> int:
        """Return the number of threads that the native module may use: at most one per core, or ``WINDROW_THREADS``.

        For few rows the native module starts fewer.
        """
        asked = self.threads or 0
        most = cores()
        if asked <= most:
            return asked
        from_environment = os.environ.get(_VARIABLES["threads"])
        return min(asked, max(most, _threads(from_environment)) if from_environment else most)

    def native(self) -> dict[str, Any]:
        """Return the arguments for the native module, with defaults."""
        return {
            "threads": self.threads_used(),
            "ansi": True if self.ansi is None else self.ansi,
            "timezone": self.timezone or "UTC",
            "strategy": self.strategy,
            "list_views": self.list_views,
        }


def _threads(value: Any) -> int:
    number = _integer(value)
    if number is None or not 0 <= number <= 4096:
        raise SpecError(f"threads={shown(value)} is not a number of threads (0 is one per core)")
    return number


def size_of(value: Any) -> int | None:
    """Read a number of bytes or a text such as ``"4GB"``, in powers of 1024 as in Spark; None for other values."""
    number = _integer(value)
    if number is None and isinstance(value, str) and (match := _SIZE.match(value)):
        amount = float(match[1]) * 1024 ** " kmgt".index(match[2].lower() or " ")
        number = int(amount) if math.isfinite(amount) else None
    return number


def _memory_limit(value: Any) -> int:
    number = size_of(value)
    if number is None or number <= 0:
        raise SpecError(f"memory_limit={shown(value)} is not a size; write bytes or a text such as '4GB'")
    if number >= 1 << 63:
        raise SpecError(f"memory_limit={shown(value)} is more than any machine has; write None for no limit")
    return number


def _spill_dir(value: Any) -> str:
    try:
        path = os.fspath(value)
    except TypeError:
        path = None
    if not isinstance(path, str) or not path:
        raise SpecError(f"spill_dir={shown(value)} is not a directory's path")
    if not os.path.isdir(path):
        raise SpecError(f"spill_dir={shown(value)} is not a directory that exists")
    return path


def _boolean(name: str) -> Callable[[Any], bool]:
    words = {"1": True, "true": True, "on": True, "yes": True, "0": False, "false": False, "off": False, "no": False}

    def read(value: Any) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.strip().lower() in words:
            return words[value.strip().lower()]
        raise SpecError(f"{name}={shown(value)} is neither true nor false")

    return read


def _timezone(value: Any) -> str:
    if isinstance(value, str) and _OFFSET.match(value):
        return value
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(value if isinstance(value, str) else "").key
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, TypeError, OSError, AttributeError):
        known = zoneinfo.available_timezones() if isinstance(value, str) else ()
        hint = suggest(value, known) if known else ""
        raise SpecError(
            f"timezone={shown(value)} is unknown; write a zone such as 'Europe/Berlin' or 'UTC', or an offset from "
            "'-18:00' to '+18:00'" + (hint if hint.startswith("; did") else "")
        ) from None


def _one_of(name: str, known: tuple[str, ...]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise SpecError(f"{name}={shown(value)} is unknown; write one of {', '.join(map(repr, known))}")
        return str(value)

    return read


def _integer(value: Any) -> int | None:
    """Read an integer of Python or numpy, or a text of digits; None for other values."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip()
        return int(text) if len(text) < 100 and text.isascii() and text.isdigit() else None
    try:
        return index(value)
    except TypeError:
        return None


_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "threads": _threads,
    "memory_limit": _memory_limit,
    "spill_dir": _spill_dir,
    "ansi": _boolean("ansi"),
    "timezone": _timezone,
    "strategy": _one_of("strategy", STRATEGIES),
    "engine": _one_of("engine", ENGINES),
    "spread": _one_of("spread", SPREADS),
    "progress": _boolean("progress"),
}
_VARIABLES: Final[Mapping[str, str]] = {name: f"WINDROW_{name.upper()}" for name in _READERS}


class _Layer:
    """The settings of one call of ``config``; later layers override earlier ones."""

    __slots__ = ("block", "config", "settings")

    def __init__(
        self, settings: Mapping[str, Any], block: _Layer | None = None, config: weakref.ref[Config] | None = None
    ) -> None:
        self.settings: Mapping[str, Any] = settings
        #: The ``with`` block in which it was set, and with which it ends; None for a block, and outside of blocks.
        self.block: _Layer | None = block
        #: The ``Config`` that can still turn it into a block, if the caller holds a reference to it.
        self.config: weakref.ref[Config] | None = config

    def is_permanent(self) -> bool:
        """Whether it can no longer become a block, because its ``Config`` is gone."""
        return self.config is not None and self.config() is None


# The layers set outside of blocks, and the resulting settings, which apply to the whole process.
_outside: tuple[_Layer, ...] = ()
_process = Options()
_lock = threading.Lock()
# The layers of this thread or task: blocks, each followed by the layers set within it; the innermost block is last.
_layers: ContextVar[tuple[_Layer, ...]] = ContextVar("windrow_settings", default=())


def _set_outside(layers: Iterable[_Layer]) -> None:
    """Replace the layers outside of blocks. The caller holds the lock."""
    global _outside, _process
    _outside = _joined(layers)
    _process = _over(Options(), _outside)


def _over(options: Options, layers: Iterable[_Layer]) -> Options:
    for layer in layers:
        options = replace(options, **layer.settings)
    return options


def _joined(layers: Iterable[_Layer]) -> tuple[_Layer, ...]:
    """Join adjacent layers that can no longer become blocks, which bounds their number."""
    joined: list[_Layer] = []
    for layer in layers:
        if joined and joined[-1].is_permanent() and layer.is_permanent():
            before = joined.pop()
            layer = _Layer({**before.settings, **layer.settings}, layer.block, layer.config)
        joined.append(layer)
    return tuple(joined)


def current() -> Options:
    """Return the settings in effect: those set by ``config``, else those of the environment.

    Returns
    -------
    Options
        An immutable value.
    """
    options = _over(_process, _layers.get())
    from_environment: dict[str, Any] = {}
    # only the names of settings: other variables with this prefix are ignored (test suites use some)
    for setting, name in _VARIABLES.items():
        if getattr(options, setting) is None and (value := os.environ.get(name)):
            try:
                from_environment[setting] = _READERS[setting](value)
            except SpecError as error:
                raise SpecError(f"environment variable {name}: {error}") from None
    return replace(options, **from_environment) if from_environment else options


def captured() -> Context:
    """Return a copy of the current context in which the current settings stay in effect, whatever is set later.

    Returns
    -------
    contextvars.Context
        The copy, for lazy evaluation.
    """
    options = current()
    context = copy_context()
    context.run(_layers.set, (_Layer({f.name: getattr(options, f.name) for f in fields(options)}),))
    return context


class Config:
    """The result of ``config``: settings that are in effect. A ``with`` block restores the earlier ones at its end."""

    def __init__(self, settings: Mapping[str, Any], block: _Layer | None) -> None:
        self._settings = settings
        self._layer = _Layer(settings, block, weakref.ref(self))

    def __enter__(self) -> Config:
        """Restrict the settings to a block of this thread or task; the process loses them."""
        with _lock:
            if self._layer in _outside:
                _set_outside(layer for layer in _outside if layer is not self._layer)
        # a new block each time, because a Config may be entered several times
        _layers.set((*(layer for layer in _layers.get() if layer is not self._layer), _Layer(self._settings)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore the settings from before the block."""
        layers = _layers.get()
        blocks = (layer for layer in reversed(layers) if layer.block is None and layer.settings is self._settings)
        own = next(blocks, None)
        if own is not None:
            _layers.set(tuple(layer for layer in layers if layer is not own and layer.block is not own))

    def __repr__(self) -> str:
        """Show the settings in effect, except those that are not set."""
        options = current()
        values = {n: getattr(options, n) for n in _READERS}
        return "wr.config(" + ", ".join(f"{n}={v!r}" for n, v in values.items() if v is not None) + ")"


@short_traceback
def config(**settings: Unpack[Settings]) -> Config:
    """Change settings for the whole process, or, with ``with``, for a block.

    ``wr.config(...)`` takes effect at once, for the whole process. ``with wr.config(...):`` restricts the settings to
    the block, in its thread or asyncio task, and restores the earlier settings at the end of the block. Between the
    call and the beginning of the block, other threads see the settings; nest it in ``with wr.config():`` to avoid this.
    Inside a block, ``wr.config(...)`` takes effect until the end of the block. Operators, readers and lazy frames keep
    the settings with which they were made, wherever they run.

    Environment variables set the same settings: ``WINDROW_THREADS``, ``WINDROW_ANSI`` and so on. ``wr.config`` takes
    precedence. A setting that is None falls back to the environment and then to its default.

    Parameters
    ----------
    **settings
        Any of these:

        - ``threads``: the number of threads. 0, the default, means one per core; in a Spark task the default is one.
          windrow uses at most one thread per 32,000 rows and per core, unless the environment variable
          ``WINDROW_THREADS`` asks for more.
        - ``memory_limit``: the memory that the process may use while an operator, a reader or a LazyFrame sorts
          batches, in bytes or as ``"4GB"``. Rows that do not fit are computed on disk. They leave in their own order,
          but in the order of the windows in Spark's tasks, from operators with a state, and where a column is a
          dictionary or a result has run ends within another type. If a call needs more rows of a partition in memory at
          once, it raises a ``MemoryLimitError``. The default is half of the memory that the process may use, for rows
          that leave in their own order. In a Spark task it is four fifths of the task's share of
          ``spark.executor.pyspark.memory``, or else, on YARN and Kubernetes, of ``spark.executor.memoryOverhead``, if
          one of them is set. Frames in memory have no limit.
        - ``spill_dir``: the directory for these files. The files have no names, and are deleted when the process ends.
          The default is the system's directory for temporary files, and in a Spark task one of Spark's local
          directories.
        - ``ansi``: whether overflow is an error (True, the default) or gives Spark's result without ANSI mode. On Spark
          the default is ``spark.sql.ansi.enabled``.
        - ``timezone``: the time zone for calendar days and months of Spark's timestamps; the default is the session's.
          Timestamps of Polars, pandas and pyarrow with a time zone use their own.
        - ``strategy``: forces an algorithm, for tests and measurements: ``"grouped"``, ``"whole"``, ``"scan"``,
          ``"prefix"``, ``"index"``, ``"deque"``, ``"two_stacks"``, ``"segment_tree"``, ``"wavelet"``, ``"codes"``,
          ``"sweep"``, ``"refold"``, ``"blocks"`` or ``"naive"``. If it cannot compute a call, the ``SpecError`` names
          those that can. ``wr.explain`` shows which one is chosen by default, and why.
        - ``engine``: which engine computes the windows on Spark frames. With ``"auto"``, the default, calls that Spark
          computes at low cost and with the same result stay with Spark, if no other call needs the transfer to Python.
          ``"windrow"`` and ``"spark"`` choose one of the two for all calls. ``wr.explain`` shows the engine of each
          call. The setting has no effect on other frames.
        - ``spread``: whether a partition may be split across Spark's tasks. Each task then processes a range of the
          order keys, and gets summaries of the ranges before and after it from the other tasks. ``"auto"``, the
          default, splits windows without PARTITION BY, and skewed keys that a sample of a large input finds.
          ``"always"`` splits all calls with ORDER BY, without a sample. ``"never"`` keeps each partition in one task.
        - ``progress``: whether operators and readers show a progress bar of the rows read and then of the rows
          returned. It needs tqdm (``pip install 'windrow-arrow[progress]'``). The default is False. It has no
          effect on frames in memory, nor on Spark, which shows its own progress bar.

    Returns
    -------
    Config
        The settings in effect; as a context manager it restores the earlier ones.

    Raises
    ------
    SpecError
        If a setting is unknown or its value is invalid.

    Examples
    --------
    >>> import windrow as wr
    >>> with wr.config(threads=2, ansi=False) as settings:
    ...     settings
    wr.config(threads=2, ansi=False)
    """
    given: dict[str, Any] = dict(settings)
    for name in given:
        if name not in _READERS:
            raise SpecError(f"config() has no setting {name!r}{suggest(name, _READERS)}")
    read: dict[str, Any] = {name: None if value is None else _READERS[name](value) for name, value in given.items()}
    layers = _layers.get()
    block = next((layer for layer in reversed(layers) if layer.block is None), None)
    made = Config(read, block)
    if block is None:
        with _lock:
            _set_outside((*_outside, made._layer))
    else:
        _layers.set(_joined((*layers, made._layer)))
    return made
