"""JSON from elsewhere, read strictly: no NaN, no number that overflows, no key twice, nothing too deep."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

DEEPEST = 12
LARGEST_WHOLE = 2**63 - 1
MOST_DIGITS = 19


def parse(text: str) -> Any:
    """The value that `text` is. Raises ValueError that says what is wrong with it."""
    try:
        value = json.loads(
            text,
            parse_constant=_no_constant,
            parse_int=_whole,
            parse_float=_finite,
            object_pairs_hook=_without_doubles,
        )
        text.encode()
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it holds half a character") from None
    if depth(value) > DEEPEST:
        raise ValueError("it is nested too deeply")
    return value


def depth(value: Any, above: int = 0) -> int:
    """How deeply lists and objects are nested; what is deeper than `DEEPEST` is not looked at."""
    if not isinstance(value, dict | list) or above > DEEPEST:
        return above
    inner = value.values() if isinstance(value, dict) else value
    return max((depth(item, above + 1) for item in inner), default=above + 1)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _whole(digits: str) -> int:
    if len(digits.lstrip("-")) > MOST_DIGITS or abs(value := int(digits)) > LARGEST_WHOLE:
        raise ValueError("a whole number is too large")
    return value


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands in it twice")
    return found
