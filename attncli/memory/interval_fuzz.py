"""Intervals spread a little, so that cards learned together do not stay together.

The spread depends on the card and the repetition alone: the button shows what is applied, undo changes nothing, and
every machine agrees. Ranges are FSRS's; the draw is floored, since rounding it reaches one day past the range.
"""

from __future__ import annotations

import math
from hashlib import sha256

SMALLEST_FUZZED_DAYS = 2.5
_RANGES = ((2.5, 7.0, 0.15), (7.0, 20.0, 0.1), (20.0, math.inf, 0.05))


def fuzz_range(interval_days: int, maximum_days: int) -> tuple[int, int]:
    """The least and the greatest number of days that `interval_days` may become."""
    delta = 1.0 + sum(factor * max(min(float(interval_days), end) - start, 0.0) for start, end, factor in _RANGES)
    greatest = min(round(interval_days + delta), maximum_days)
    return min(max(2, round(interval_days - delta)), greatest), greatest


def fuzzed_days(interval_days: int, maximum_days: int, subject: str, repetition: int) -> int:
    """`interval_days` moved within its range by the hash of (subject, repetition)."""
    if interval_days < SMALLEST_FUZZED_DAYS:
        return interval_days
    least, greatest = fuzz_range(interval_days, maximum_days)
    digest = sha256(f"{subject}\n{repetition}".encode()).digest()
    fraction = int.from_bytes(digest[:8], "big") / 2**64
    return least + math.floor(fraction * (greatest - least + 1))
