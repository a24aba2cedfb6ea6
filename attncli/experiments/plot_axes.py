"""Where a value stands on an axis, and which values are written beside it; for plots in a terminal and in a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WANTED_TICKS, MANY_POWERS = 5, 3
MARKS_A_LINE = 8
"""A line of so few points has each of them marked, and written below."""
PLAIN_FROM, WHOLE_BELOW = 1e-3, 1_000_000
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`; `ticks` are the values that are written."""

    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Where `value` stands: 0 at the low end, 1 at the high one."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def axis(values: Sequence[float], log: bool, marks: Sequence[float] = ()) -> Axis:
    """An axis that holds all `values`; `marks` are written instead of round numbers."""
    low, high = min(values), max(values)
    if log:
        low, high = (low / 2, high * 2) if low == high else (low, high)
        ticks = tuple(marks) or _powers(low, high)
        return Axis(min(ticks[0], low), max(ticks[-1], high), True, ticks)
    if low == high:
        low, high = low - 0.5, high + 0.5
    if marks:
        return Axis(low, high, False, tuple(marks))
    step = _step((high - low) / WANTED_TICKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(number * step, 12) for number in range(first, last + 1))
    return Axis(min(ticks[0], low), max(ticks[-1], high), False, ticks)


def bar_axis(values: Sequence[float], log: bool) -> Axis:
    """An axis for bars, which begin at zero, or a power of ten below the least where it is logarithmic."""
    if log:
        return axis([10.0 ** math.floor(math.log10(min(values)) - 1e-9), *values], True)
    return axis([0.0, *values], False)


def _step(wanted: float) -> float:
    magnitude = 10.0 ** math.floor(math.log10(wanted))
    return next(step for step in _STEPS if step * magnitude >= wanted * (1 - 1e-9)) * magnitude


def _powers(low: float, high: float) -> tuple[float, ...]:
    """Powers of ten, a few of them; with 2 and 5 times those where there are few, and the ends where there is none."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < MANY_POWERS - 1:
        finer = [step * 10.0**power for power in range(first - 1, last + 1) for step in (1, 2, 5)]
        inside = tuple(tick for tick in finer if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9))
        return inside if len(inside) > 1 else (low, high)
    thin = max(1, math.ceil((last - first) / WANTED_TICKS))
    return tuple(10.0**power for power in range(first, last + 1, thin))


def number(value: float) -> str:
    """A number as it is written beside an axis: three digits that count, whole numbers whole."""
    if abs(value) < WHOLE_BELOW and float(value).is_integer():
        return str(int(value))
    if PLAIN_FROM <= abs(value) < WHOLE_BELOW:
        return f"{value:.3g}"
    mantissa, _, power = f"{value:.2e}".partition("e")
    return f"{float(mantissa):g}e{int(power)}"
