"""Settings: what ``wr.config(...)`` and the ``WINDROW_*`` environment variables say."""

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
        """What annotations that are asked for at run time need of it."""

        def __class_getitem__(cls, kind: Any) -> Any:
            """Give the type itself."""
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
    """What ``config`` takes."""

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
    """The settings in force, as an immutable value; None is "not set"."""

    threads: int | None = None
    memory_limit: int | None = None
    spill_dir: str | None = None
    ansi: bool | None = None
    timezone: str | None = None
    strategy: str | None = None
    engine: str | None = None
    spread: str | None = None
    progress: bool | None = None
    #: Not a setting: whether lists may come as list views is for the host to know.
    list_views: bool = False

    def threads_used(self) -> int:
        """Give the threads that the native module may start here: no more than cores, if the environment asks for none.

        Rows that are too few for them leave some idle, which is for the native module to know.
        """
        asked = self.threads or 0
        most = cores()
        if asked <= most:
            return asked
        from_environment = os.environ.get(_VARIABLES["threads"])
        return min(asked, max(most, _threads(from_environment)) if from_environment else most)

    def native(self) -> dict[str, Any]:
        """Give the settings as the native module takes them, defaults filled in."""
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
    """Read a number of bytes, or a text such as ``"4GB"``, as Spark reads sizes: in powers of 1024; else None."""
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
    """Read what Python or numpy counts with, or a text of digits; else None."""
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
    """What one call of ``config`` set, over what was set before."""

    __slots__ = ("block", "config", "settings")

    def __init__(
        self, settings: Mapping[str, Any], block: _Layer | None = None, config: weakref.ref[Config] | None = None
    ) -> None:
        self.settings: Mapping[str, Any] = settings
        #: The block that it was set in, and ends with; None for a block, and for what is set outside of all.
        self.block: _Layer | None = block
        #: What may make a block of it, and so take it back, while somebody holds it.
        self.config: weakref.ref[Config] | None = config

    def stays(self) -> bool:
        """Whether nobody can make a block of it any more."""
        return self.config is not None and self.config() is None


# What was set outside of all blocks, and what comes of it: in force for the whole process.
_outside: tuple[_Layer, ...] = ()
_process = Options()
_lock = threading.Lock()
# What is in force in this thread or task alone: blocks, each with what was set within it, the innermost last.
_layers: ContextVar[tuple[_Layer, ...]] = ContextVar("windrow_settings", default=())


def _set_outside(layers: Iterable[_Layer]) -> None:
    """Have layers be what was set outside of all blocks; the lock is held."""
    global _outside, _process
    _outside = _joined(layers)
    _process = _over(Options(), _outside)


def _over(options: Options, layers: Iterable[_Layer]) -> Options:
    for layer in layers:
        options = replace(options, **layer.settings)
    return options


def _joined(layers: Iterable[_Layer]) -> tuple[_Layer, ...]:
    """Make one of neighbours that both stay, so that there are no more than those that somebody holds, and twice."""
    joined: list[_Layer] = []
    for layer in layers:
        if joined and joined[-1].stays() and layer.stays():
            before = joined.pop()
            layer = _Layer({**before.settings, **layer.settings}, layer.block, layer.config)
        joined.append(layer)
    return tuple(joined)


def current() -> Options:
    """Give the settings in force: what ``config`` set, else the environment, else nothing.

    Returns
    -------
    Options
        An immutable value.
    """
    options = _over(_process, _layers.get())
    from_environment: dict[str, Any] = {}
    # only names that are settings: the prefix is not ours alone (test suites use it too)
    for setting, name in _VARIABLES.items():
        if getattr(options, setting) is None and (value := os.environ.get(name)):
            try:
                from_environment[setting] = _READERS[setting](value)
            except SpecError as error:
                raise SpecError(f"environment variable {name}: {error}") from None
    return replace(options, **from_environment) if from_environment else options


def captured() -> Context:
    """Give a copy of this context, in which the settings in force now stay in force whatever is set later.

    Returns
    -------
    contextvars.Context
        The copy, for work that is done later.
    """
    options = current()
    context = copy_context()
    context.run(_layers.set, (_Layer({f.name: getattr(options, f.name) for f in fields(options)}),))
    return context


class Config:
    """What ``config`` gives: settings that are in force, and that a ``with`` block takes back at its end."""

    def __init__(self, settings: Mapping[str, Any], block: _Layer | None) -> None:
        self._settings = settings
        self._layer = _Layer(settings, block, weakref.ref(self))

    def __enter__(self) -> Config:
        """Enter a block at whose end the settings are as they were before; nobody outside of it has them any more."""
        with _lock:
            if self._layer in _outside:
                _set_outside(layer for layer in _outside if layer is not self._layer)
        # a block of its own each time: several may be entered
        _layers.set((*(layer for layer in _layers.get() if layer is not self._layer), _Layer(self._settings)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the settings back, and what was set within the block."""
        layers = _layers.get()
        blocks = (layer for layer in reversed(layers) if layer.block is None and layer.settings is self._settings)
        own = next(blocks, None)
        if own is not None:
            _layers.set(tuple(layer for layer in layers if layer is not own and layer.block is not own))

    def __repr__(self) -> str:
        """Show the settings in force, but for those that nobody has set."""
        options = current()
        values = {n: getattr(options, n) for n in _READERS}
        return "windrow.config(" + ", ".join(f"{n}={v!r}" for n, v in values.items() if v is not None) + ")"


@short_traceback
def config(**settings: Unpack[Settings]) -> Config:
    """Set how windrow works, for the whole process, or for a block by ``with``.

    ``wr.config(...)`` outside of all blocks sets for the whole process, at once. Entered by ``with`` it is taken back
    from the process, and made a block's: in force in its own thread or asyncio task, until the block's end. So other
    threads have the settings of ``with wr.config(...)`` for the moment between the two, though not where it stands
    within another block, such as that of ``with wr.config():``. Within a block ``wr.config(...)`` sets until its end.
    Operators, readers and lazy frames keep the settings under which they were made, wherever they run.

    Each setting may also come from the environment: ``WINDROW_THREADS``, ``WINDROW_ANSI`` and so on. What is set here
    goes first. A setting given as None falls back to the environment and then to its default.

    Parameters
    ----------
    **settings
        Any of these:

        - ``threads``: how many threads to use; 0, the default, is one per core. In a Spark task the default is one.
          There are never more than rows are worth, some 32,000 each, nor more than cores, unless the environment's
          ``WINDROW_THREADS`` asks for more.
        - ``memory_limit``: how much memory the process may take where an operator sorts batches, those of a reader
          included, in bytes or as ``"4GB"``. Rows that do not fit are sorted by way of files, and leave in the order of
          the windows; a call that needs more of a partition at once is a ``MemoryLimitError``. The default is no limit,
          and in a Spark task four fifths of its share of ``spark.executor.pyspark.memory``, or else, on YARN and
          Kubernetes, of ``spark.executor.memoryOverhead``, if one of them is set. Frames in memory have no limit.
        - ``spill_dir``: the directory for these files, which have no names and are gone with the process. The default
          is the system's, and in a Spark task one of Spark's local directories.
        - ``ansi``: whether overflow is an error (True, the default) or what Spark gives without ANSI mode. On Spark the
          default is ``spark.sql.ansi.enabled``.
        - ``timezone``: the zone in which calendar days and months are counted for Spark's timestamps, by default the
          session's. Timestamps of Polars, pandas and pyarrow that have a zone are counted in their own.
        - ``strategy``: force one algorithm, for tests and measurements: ``"grouped"``, ``"whole"``, ``"scan"``,
          ``"prefix"``, ``"index"``, ``"deque"``, ``"two_stacks"``, ``"segment_tree"``, ``"wavelet"``, ``"codes"``,
          ``"sweep"``, ``"refold"``, ``"blocks"`` or ``"naive"``. A call that it cannot answer is a ``SpecError``, which
          names those that can; ``wr.explain`` says which one is chosen without it, and why.
        - ``engine``: who computes windows on Spark frames. ``"auto"``, the default, leaves to Spark's own windows what
          costs Spark little and comes out the same, where no other call needs the way through Arrow; ``"windrow"`` and
          ``"spark"`` leave all to one of the two. ``wr.explain`` says who computes what. Other frames ask nobody.
        - ``spread``: whether one partition may be shared out over Spark's tasks, each of which gets a range of the
          order keys and hears from the others what lies before and behind it. ``"auto"``, the default, does so where
          there is no PARTITION BY, and where a sample of a large input finds a key with far more rows than a task
          should have; ``"always"`` for every call with an ORDER BY, unasked; ``"never"`` leaves each partition in one
          task.
        - ``progress``: whether operators, those over readers included, show a bar of the rows read and then of the rows
          answered; it needs tqdm, ``pip install 'windrow-arrow[progress]'``. The default is False. It says nothing
          about frames in memory, which are one step, nor about Spark, which shows a bar of its own.

    Returns
    -------
    Config
        The settings in force; as a context manager it restores the earlier ones.

    Raises
    ------
    SpecError
        If a setting is unknown or its value cannot be.

    Examples
    --------
    >>> import windrow as wr
    >>> with wr.config(threads=2, ansi=False) as settings:
    ...     settings
    windrow.config(threads=2, ansi=False)
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
