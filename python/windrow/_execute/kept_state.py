"""What an operator keeps of the rows so far, as bytes for a later run.

    magic, checksum of all that follows, format, length of the header
    header     JSON: windrow's version, the plan in words, the lengths of the parts
    parts      of each level: what the native module keeps of each of its sorts, dictionaries of columns

The header describes the plan as text, so that an error can name the first difference. The native module also compares
a fingerprint.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from .._windrow import __version__
from ..exceptions import DataError, SpecError, shown

__all__ = ["NEW", "LevelState", "packed", "unpacked"]

#: What stands for the state before the first rows.
NEW = "new"

_MAGIC = b"windrow state\n"
_FORMAT = 1

# Bytes of the numbers after the magic: checksum, format, length of the header.
_NUMBERS = (4, 4, 8)
_HEADER = len(_MAGIC) + sum(_NUMBERS)


@dataclass
class LevelState:
    """What one level of calls keeps.

    Parameters
    ----------
    sorts
        Of each sort of its rows what the native module keeps; None before the first rows.
    dictionaries
        The dictionaries of the columns from which results take values.
    """

    sorts: list[bytes | None]
    dictionaries: dict[str, pa.Array] = field(default_factory=dict)

    def copy(self) -> LevelState:
        """Return one that changes by itself."""
        return LevelState(list(self.sorts), dict(self.dictionaries))


def packed(plan: Mapping[str, Any], levels: Sequence[LevelState]) -> bytes:
    """Join what the levels keep.

    Parameters
    ----------
    plan
        The plan in words: lists of texts, and settings.
    levels
        What its levels keep.

    Returns
    -------
    bytes
        What :func:`unpacked` reads.
    """
    parts: list[bytes] = []
    lengths = []
    for level in levels:
        dictionaries = {name: _written(values) for name, values in level.dictionaries.items()}
        sorts = [kept or b"" for kept in level.sorts]
        parts += [*sorts, *dictionaries.values()]
        lengths.append(
            {"sorts": list(map(len, sorts)), "dictionaries": {name: len(part) for name, part in dictionaries.items()}}
        )
    header = json.dumps({"windrow": __version__, "plan": plan, "levels": lengths}).encode()
    numbers = _FORMAT.to_bytes(4, "little") + len(header).to_bytes(8, "little")
    checksum = zlib.crc32(numbers)
    for part in (header, *parts):
        checksum = zlib.crc32(part, checksum)
    return b"".join([_MAGIC, checksum.to_bytes(4, "little"), numbers, header, *parts])


def unpacked(state: object, plan: Mapping[str, Any], sorts: Sequence[int]) -> list[LevelState]:
    """Read what the levels of the same plan kept.

    Parameters
    ----------
    state
        What :func:`packed` gave, or :data:`NEW`.
    plan
        The plan in words.
    sorts
        How many sorts each of its levels has.

    Returns
    -------
    list of LevelState
        One for each level.

    Raises
    ------
    SpecError
        If it is no state, or one of another plan or version.
    DataError
        If its bytes are not those that were written.
    """
    if isinstance(state, str) and state == NEW:
        return [LevelState([None] * count) for count in sorts]
    if not isinstance(state, (bytes, bytearray, memoryview)):
        raise SpecError(
            f"state={shown(state)} is no operator's state: give the bytes of op.state, such as Path(...).read_bytes(), "
            f"or {NEW!r} before the first rows"
        )
    bytes_of_state = bytes(state)
    header, payload = _header_and_payload(bytes_of_state)
    if header["windrow"] != __version__:
        raise SpecError(
            f"the state was made by windrow {header['windrow']}, and this is {__version__}, whose states may differ: "
            f"compute all rows once more from state={NEW!r}"
        )
    _compare(header["plan"], plan)
    levels, at = [], 0

    def part(length: int) -> bytes:
        nonlocal at
        at += length
        return payload[at - length : at]

    for lengths in header["levels"]:
        kept = [part(length) or None for length in lengths["sorts"]]
        levels.append(LevelState(kept, {n: _read(part(length)) for n, length in lengths["dictionaries"].items()}))
    return levels


def _header_and_payload(state: bytes) -> tuple[dict[str, Any], bytes]:
    if len(state) < _HEADER or not state.startswith(_MAGIC):
        raise DataError(
            f"state= ({len(state)} bytes) is not an operator's state, or is damaged: give what op.state gave, or "
            f"{NEW!r} before the first rows"
        )
    at, numbers = len(_MAGIC), []
    for length in _NUMBERS:
        numbers.append(int.from_bytes(state[at : at + length], "little"))
        at += length
    checksum, version, length = numbers
    is_intact = zlib.crc32(memoryview(state)[len(_MAGIC) + _NUMBERS[0] :]) == checksum
    if not is_intact:
        raise DataError(
            "the state is damaged: its bytes are not those that op.state gave; take the copy before it and compute the "
            "rows since then once more"
        )
    if version != _FORMAT:
        raise SpecError(
            f"the state has format {version}, and this version of windrow reads format {_FORMAT}: compute all rows "
            f"once more from state={NEW!r}"
        )
    return json.loads(state[at : at + length]), state[at + length :]


def _compare(kept: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
    """Refuse the state of another plan; the message names the first difference."""
    for part, mine in plan.items():
        theirs = kept.get(part)
        if theirs == mine:
            continue
        if isinstance(mine, list) and isinstance(theirs, list):
            pairs = zip(theirs, mine, strict=False)
            theirs, mine = next((pair for pair in pairs if pair[0] != pair[1]), (theirs, mine))
        raise SpecError(
            f"the state is of another operator: its {part} were {_text(theirs)}, and here are {_text(mine)}; give it "
            "to the same calls over the same columns and settings"
        )


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={shown(setting)}" for name, setting in value.items())
    if isinstance(value, list):
        return "; ".join(map(_text, value)) or "none"
    return str(value)


def _written(values: pa.Array) -> bytes:
    sink = pa.BufferOutputStream()
    batch = pa.record_batch([values], names=["values"])
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def _read(part: bytes) -> pa.Array:
    return pa.ipc.open_stream(part).read_next_batch().column(0)
