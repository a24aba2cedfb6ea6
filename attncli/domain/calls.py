"""The calls of a counterexample that come before the failing one, as far as people would read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_SHOWN = 4


def earlier_calls(shown: Mapping[str, Any]) -> list[tuple[int, Mapping[str, Any]]]:
    """Number and call of each, where they are few and it is told what they were given; of many the names say enough."""
    calls = list(shown.get("calls") or ())[: int(shown.get("call", 1)) - 1]
    if len(calls) > MOST_SHOWN:
        return []
    return [(number, call) for number, call in enumerate(calls, 1) if call.get("args")]
