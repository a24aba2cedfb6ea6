"""A turn: one recording of a challenge's `case`, with what is held fixed in it and how all else is chosen."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Style = Literal["as-written", "by-keyword", "by-position", "left-out"]
STYLES: tuple[Style, ...] = ("as-written", "by-keyword", "by-position", "left-out")
LEADS: tuple[tuple[int, ...], ...] = ((), (2,), (2, 3), (3, 1, 2), (2, 1, 3, 2), (2, 1, 3, 1, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What motifs hold fixed. Turns of consecutive numbers take every branch of a `case` one after the other.

    `sizes` by axis; `every` for all others, as far as their range allows; `lead`: how many leading dimensions,
    or their sizes; `scores`, `mask`: which extreme, which shape; `empty_rows`: a mask hides whole rows; `same`:
    arguments of equal shape are one tensor.
    """

    number: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)
    every: int | None = None
    lead: int | tuple[int, ...] | None = None
    scores: str = ""
    mask: int | None = None
    empty_rows: bool = False
    style: Style = "as-written"
    same: bool = False

    def choose(self, kind: str, low: int, high: int, ordinal: int) -> int:
        """A choice in low … high: branches in turn, sizes large at first."""
        span = high - low + 1
        if kind in ("pick", "flag"):
            return low + (self.number + ordinal * (self.number // 2)) % span
        if kind == "seed":
            return low + self.number % span
        if self.number == 0:
            return high
        return low + zlib.crc32(bytes((self.number % 251, ordinal % 251))) % span

    def size(self, name: str, low: int, high: int, ordinal: int) -> int:
        if name in self.sizes:
            return self.sizes[name]
        if self.every is not None:
            return min(max(self.every, low), high)
        return self.choose("size", low, high, ordinal)


def in_turns(record: Callable[..., object], turns: Sequence[Turn]) -> Callable[..., None]:
    """Records `record` once for each turn, as one program."""

    def recorded(make: object) -> None:
        for turn in turns:
            make.begin(turn)  # type: ignore[attr-defined]
            record(make)

    return recorded
