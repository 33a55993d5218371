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


FLAT = [
    pa.int64(), pa.bool_(), pa.null(), pa.binary(4), pa.decimal128(10, 2), pa.string(), pa.large_binary(),
    pa.string_view(), pa.dictionary(pa.int32(), pa.string()),
]  # fmt: skip


def without_buffers(random, depth=0):
    """Draw a column without rows, of any type, that has as few buffers as Arrow itself takes for valid."""
    nothing = pa.py_buffer(b"")
    if depth == 3 or random.random() < 0.25:
        kind = random.choice(FLAT)
        if pa.types.is_dictionary(kind):
            return pa.DictionaryArray.from_buffers(kind, 0, [None, None], _flat_without_buffers(pa.string()))
        return _flat_without_buffers(kind)
    inner = without_buffers(random, depth + 1)
    kind = random.choice(
        [
            pa.list_(inner.type), pa.large_list(inner.type), pa.list_view(inner.type), pa.list_(inner.type, 2),
            pa.struct([("f", inner.type)]), pa.map_(pa.string(), inner.type),
        ]
    )  # fmt: skip
    buffers, children = [None, None], [inner]
    if pa.types.is_list_view(kind):
        buffers = [None, nothing, nothing]  # which Arrow wants
    elif pa.types.is_struct(kind) or pa.types.is_fixed_size_list(kind):
        buffers = [None]
    elif pa.types.is_map(kind):
        entries = pa.struct([kind.key_field, kind.item_field])
        children = [pa.Array.from_buffers(entries, 0, [None], children=[_flat_without_buffers(pa.string()), inner])]
    return pa.Array.from_buffers(kind, 0, buffers, children=children)


def _flat_without_buffers(kind):
    nothing = pa.py_buffer(b"")
    if kind == pa.string_view():
        return pa.Array.from_buffers(kind, 0, [None, nothing])
    return pa.Array.from_buffers(kind, 0, [None, None, nothing][: kind.num_buffers])


def around(random, empty, rows):
    """Give a column of some rows that has an empty one within it, and its values."""
    zeros = pa.py_buffer(bytes(8 * rows + 8))
    kinds = [pa.list_, pa.large_list, pa.list_view, "dense union", "dictionary", "struct"]
    way = random.choice([k for k in kinds if k != "dictionary" or empty.type == pa.string()])
    if way == "dense union":
        places = pa.array(range(rows), pa.int32())
        column = pa.UnionArray.from_dense(pa.array([0] * rows, pa.int8()), places, [pa.array(range(rows)), empty])
        return column, list(range(rows))
    if way == "dictionary":
        kind = pa.dictionary(pa.int32(), pa.string())
        return pa.DictionaryArray.from_buffers(kind, rows, [_bits([True] * rows), zeros], empty), [None] * rows
    if way == "struct":
        inner, values = around(random, empty, rows)
        return pa.StructArray.from_arrays([inner], ["f"]), [{"f": v} for v in values]
    kind = way(empty.type)
    buffers = [None, zeros, zeros][: kind.num_buffers]
    return pa.Array.from_buffers(kind, rows, buffers, children=[empty]), [[] for _ in range(rows)]
