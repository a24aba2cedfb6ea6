"""The form in which a counterexample is kept in the log, checked before anything is built from it."""

from __future__ import annotations

import base64
import binascii
import re
from math import prod
from typing import Any

from attncli.domain.challenge import CHECK_NAMES
from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.seeds import STREAMS

MOST_DRAWS = 1024
LARGEST_DRAW = 4096
MOST_TENSORS = 256
MOST_DIMENSIONS = 8
LARGEST_BYTES = 256 * 1024
_ITEM_BYTES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "complex64": 8,
    "complex128": 16,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}


def check_counterexample(stored: Any) -> None:
    """Raises ValueError where `stored` is not what the judge keeps of a counterexample."""
    _require(isinstance(stored, dict) and set(stored) >= _KEYS, "no counterexample")
    _require(set(stored) <= _KEYS | {"stream"}, "a counterexample with unknown parts")
    stream = stored.get("stream", 0)
    _require(type(stream) is int and 0 <= stream < STREAMS, "a counterexample of no stream")
    _require(stored["check"] in CHECK_NAMES, "a counterexample of an unknown check")
    _require(_is_name(stored["record"]) and _is_name(stored["profile"]), "a counterexample without record or profile")
    draws, values = stored["draws"], stored["values"]
    _require(isinstance(draws, list) and len(draws) <= MOST_DRAWS, "a counterexample with too many draws")
    _require(all(type(d) is int and abs(d) <= LARGEST_DRAW for d in draws), "a counterexample with impossible draws")
    _require(isinstance(values, list) and len(values) <= MOST_TENSORS, "a counterexample with too many tensors")
    room = LARGEST_BYTES
    for tensor in values:
        room -= _bytes_of(tensor)
        _require(room >= 0, "a counterexample that is too large")


def is_counterexample(stored: Any) -> bool:
    """Whether `stored` is what the judge keeps of a counterexample."""
    try:
        check_counterexample(stored)
    except ValueError:
        return False
    return True


def counterexamples_of(row: LogRow) -> list[dict[str, Any]]:
    """What an attempt kept for the next grading; what is unusable counts as absent."""
    told = row.payload.get("stored") if row.kind is RowKind.ATTEMPT and isinstance(row.payload, dict) else None
    return [stored for stored in told if is_counterexample(stored)] if isinstance(told, list) else []


_KEYS = frozenset({"check", "record", "profile", "draws", "values"})


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[A-Za-z][A-Za-z0-9_-]{0,99}", value) is not None


def _bytes_of(tensor: Any) -> int:
    """How many bytes the tensor `[dtype, shape, base64]` has."""
    _require(isinstance(tensor, list) and len(tensor) == 3, "a counterexample with a tensor of no form")
    dtype, shape, encoded = tensor
    _require(isinstance(dtype, str) and dtype in _ITEM_BYTES, "a counterexample with an unknown dtype")
    _require(isinstance(shape, list) and len(shape) <= MOST_DIMENSIONS, "a counterexample with too many dimensions")
    _require(all(type(n) is int and 0 <= n <= LARGEST_BYTES for n in shape), "a counterexample with impossible sizes")
    count: int = prod(shape) * _ITEM_BYTES[dtype]
    fits = isinstance(encoded, str) and len(encoded) == 4 * ((count + 2) // 3)
    _require(fits and count <= LARGEST_BYTES, "a counterexample with a tensor of another size")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("a counterexample that is no base64") from None
    _require(len(raw) == count, "a counterexample with a tensor of another size")
    return count
