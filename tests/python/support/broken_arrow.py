"""Random Arrow arrays, some of which break what Arrow promises: bytes that are not UTF-8, offsets that part characters
or go back, views and indices outside of their buffers, sizes of null slots, nulls where none may be.
"""

import struct
from dataclasses import dataclass

import pyarrow as pa

TEXTS = ["", "1", "é", "ß9", "a text that is not short", "ein längerer Text", "😀"]
BAD = [b"\xff\xfe", b"\xc3", b"\x80", b"\xed\xa0\x80", b"a long one that ends in half a character \xc3"]
KINDS = ["utf8", "large_utf8", "utf8_view", "dictionary", "struct", "list", "list_view", "run_ends"]
FAULTS = ["none", "none", "utf8", "hidden", "split", "offsets", "indices"]


@dataclass
class Trial:
    """A column, its values where it is sound, and the row of its first fault where it is not."""

    column: pa.Array
    values: list | None
    row: int | None
    kind: str
    fault: str


def draw(random, rows):
    """Draw a column of text, or of what has text inside."""
    kind, fault = random.choice(KINDS), random.choice(FAULTS)
    values = [None if random.random() < 0.2 else random.choice(TEXTS).encode() for _ in range(rows)]
    row = random.randrange(rows)
    view = kind == "utf8_view"
    if fault == "split" and view:
        fault = "utf8"
    if fault == "indices" and kind not in ("utf8_view", "dictionary"):
        fault = "utf8"
    if fault == "offsets" and view:
        fault = "none"
    if fault == "offsets" and row == rows - 1:
        fault = "utf8"  # Arrow itself looks at the last offset
    if fault in ("utf8", "hidden"):
        values[row] = random.choice(BAD)
    if fault == "split":
        values[row] = "é".encode()
        values.insert(row + 1, b"x")
        values = values[: max(rows, row + 2)]
        del values[rows:]
        if row + 1 >= rows:
            fault, values[row] = "utf8", b"\xc3"
    if fault == "indices":
        values[row] = values[row] or b"x"
    nulls = [v is None for v in values]
    if fault == "hidden":
        nulls[row] = True
    if view:
        text = _views(values, nulls, row if fault == "indices" else None)
    else:
        text = _offsets(values, nulls, kind == "large_utf8", row, fault)
    sound = fault in ("none", "hidden")
    expected = [None if n else v.decode() for v, n in zip(values, nulls, strict=True)] if sound else None
    column = _within(random, kind, text, rows, row if fault == "indices" else None)
    if expected is not None and kind == "struct":
        expected = [{"f": v} for v in expected]
    if expected is not None and kind in ("list", "list_view"):
        expected = [[v] for v in expected]
    return Trial(column, expected, None if sound else row, kind, fault)


def _offsets(values, nulls, large, row, fault):
    data, ends = b"", [0]
    for value in values:
        data += value or b""
        ends.append(len(data))
    if fault == "split":
        ends[row + 1] -= 1
    if fault == "offsets":
        ends[row + 1] = ends[row] - 1  # negative at row 0
    kind = pa.large_string() if large else pa.string()
    buffers = [
        _bits(nulls),
        pa.py_buffer(struct.pack(f"<{len(ends)}{'q' if large else 'i'}", *ends)),
        pa.py_buffer(data),
    ]
    return pa.Array.from_buffers(kind, len(values), buffers)


def _views(values, nulls, outside):
    data, views = b"", b""
    for number, value in enumerate(values):
        value = value or b""
        if number == outside:
            views += struct.pack("<i4sii", 20, b"abcd", 3, 0)
        elif len(value) <= 12:
            views += struct.pack("<i12s", len(value), value)
        else:
            views += struct.pack("<i4sii", len(value), value[:4], 0, len(data))
            data += value
    return pa.Array.from_buffers(pa.string_view(), len(values), [_bits(nulls), pa.py_buffer(views), pa.py_buffer(data)])


def _bits(nulls):
    bits = sum(1 << row for row, null in enumerate(nulls) if not null)
    return pa.py_buffer(bits.to_bytes(len(nulls) // 8 + 1, "little"))


def _within(random, kind, text, rows, outside):
    places = list(range(rows))
    if kind == "dictionary":
        if outside is not None:
            places[outside] = rows + random.randrange(1, 1000)
        indices = pa.py_buffer(struct.pack(f"<{rows}i", *places))
        kind = pa.dictionary(pa.int32(), pa.string())
        return pa.DictionaryArray.from_buffers(kind, rows, [None, indices], text)
    if kind == "struct":
        return pa.Array.from_buffers(pa.struct([("f", text.type)]), rows, [None], children=[text])
    if kind == "list":
        offsets = pa.py_buffer(struct.pack(f"<{rows + 1}i", *places, rows))
        return pa.Array.from_buffers(pa.list_(text.type), rows, [None, offsets], children=[text])
    if kind == "list_view":
        offsets, sizes = (pa.py_buffer(struct.pack(f"<{rows}i", *p)) for p in (places, [1] * rows))
        return pa.Array.from_buffers(pa.list_view(text.type), rows, [None, offsets, sizes], children=[text])
    if kind == "run_ends":
        ends = pa.array([p + 1 for p in places], pa.int32())
        return pa.Array.from_buffers(pa.run_end_encoded(pa.int32(), pa.string()), rows, [None], children=[ends, text])
    return text
