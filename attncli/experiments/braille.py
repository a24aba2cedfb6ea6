"""A canvas of Braille dots, two across and four down in each cell of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_ACROSS, _DOWN = 2, 4
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BLANK = 0x2800


class Canvas:
    """`width` by `height` cells; points are given as shares, (0, 0) at the lower left."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._dots = [[0] * width for _ in range(height)]
        self._signs: dict[tuple[int, int], str] = {}

    def path(self, points: Sequence[tuple[float, float]]) -> None:
        """Straight lines from each point to the next."""
        places = [self._dot(*point) for point in points]
        for (x0, y0), (x1, y1) in zip(places, places[1:] or places, strict=False):
            steps = max(1, abs(x1 - x0), abs(y1 - y0))
            for step in range(steps + 1):
                self._set(round(x0 + (x1 - x0) * step / steps), round(y0 + (y1 - y0) * step / steps))

    def sign(self, x: float, y: float, sign: str, meeting: str) -> bool:
        """Writes `sign` over the dots, or `meeting` where another one stands; whether there was one."""
        place = (self.row(y), self._dot(x, y)[0] // _ACROSS)
        met = self._signs.get(place, sign) != sign
        self._signs[place] = meeting if met else sign
        return met

    def row(self, y: float) -> int:
        """The line in which the height `y` lies."""
        return self._dot(0.0, y)[1] // _DOWN

    def lines(self) -> Iterator[str]:
        """From the top to the bottom."""
        for row, dots in enumerate(self._dots):
            yield "".join(
                self._signs.get((row, column)) or (chr(_BLANK + dot) if dot else " ") for column, dot in enumerate(dots)
            )

    def _dot(self, x: float, y: float) -> tuple[int, int]:
        return round(x * (self.width * _ACROSS - 1)), round((1 - y) * (self.height * _DOWN - 1))

    def _set(self, x: int, y: int) -> None:
        self._dots[y // _DOWN][x // _ACROSS] |= _DOTS[x % _ACROSS][y % _DOWN]
