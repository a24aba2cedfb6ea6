"""How far off an answer may be: `2%` of the right one, or `0.5`."""

from __future__ import annotations

_ROUNDING = 1e-9


def is_within(value: float, right: float, tolerance: str) -> bool:
    """Whether `value` counts as `right`; a tolerance is relative when it ends in `%`, absolute otherwise."""
    rounding = abs(right) * _ROUNDING
    allowed = tolerance.strip()
    if allowed.endswith("%"):
        return abs(value - right) <= abs(right) * float(allowed[:-1]) / 100 + rounding
    return abs(value - right) <= float(allowed) + rounding
