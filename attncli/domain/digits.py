"""How many digits it takes to see that two numbers differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_DIGITS = 17


def digits_apart(shown: Mapping[str, Any], least: int) -> int:
    """The significant digits, at least `least`, at which a counterexample's first wrong entry is unlike the one due."""
    pair = [_entry(shown.get(key), shown.get("first_wrong_index")) for key in ("expected", "got")]
    if not all(isinstance(number, float) for number in pair) or pair[0] == pair[1]:
        return least
    apart = (digits for digits in range(least, MOST_DIGITS) if f"{pair[0]:.{digits}g}" != f"{pair[1]:.{digits}g}")
    return next(apart, MOST_DIGITS)


def _entry(tensor: Any, index: Any) -> Any:
    """The entry of a tensor in a report at an index; None where it is not shown."""
    if not isinstance(tensor, Mapping) or not isinstance(index, list) or len(index) != len(tensor.get("shape", ())):
        return None
    place = 0
    for size, step in zip(tensor["shape"], index, strict=True):
        place = place * size + step
    values = tensor.get("values", ())
    return values[place] if place < len(values) else None
