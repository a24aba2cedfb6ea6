"""The 21 weights of FSRS-6, as a log row holds them. `answer` loads this where there is a fit: it imports nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LOWEST_WEIGHTS = (
    *(0.001, 0.001, 0.001, 0.001, 1.0, 0.001, 0.001, 0.001, 0.0, 0.0, 0.001),
    *(0.001, 0.001, 0.001, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.1),
)
HIGHEST_WEIGHTS = (
    *(100.0, 100.0, 100.0, 100.0, 10.0, 4.0, 4.0, 0.75, 4.5, 0.8, 3.5),
    *(5.0, 0.25, 0.9, 4.0, 1.0, 6.0, 2.0, 2.0, 0.8, 0.8),
)
"""Between these FSRS-6 takes its 21 weights."""


def fitted(payload: Mapping[str, Any]) -> tuple[float, ...]:
    """The weights of a fit; empty for the published ones. Raises ValueError for what FSRS cannot use."""
    weights = payload.get("parameters") if isinstance(payload, Mapping) else None
    check_weights(weights)
    return tuple(weights or ())


def check_weights(value: Any) -> None:
    """Raises ValueError for what is no list of weights that FSRS-6 can use."""
    if not isinstance(value, list) or len(value) not in (0, len(LOWEST_WEIGHTS)):
        raise ValueError("not the 21 weights of FSRS-6")
    for number, low, high in zip(value, LOWEST_WEIGHTS, HIGHEST_WEIGHTS, strict=False):
        if type(number) not in (int, float) or not low <= number <= high:
            raise ValueError("weights that FSRS-6 cannot use")
