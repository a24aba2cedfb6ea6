"""The points an interviewer would tick off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attncli.domain.text import Lang, Localised
from attncli.tui.markup import inline
from attncli.tui.widget_events import PointsTicked
from attncli.tui.widgets.answers import MarkedRows


class Points(MarkedRows):
    """Ticked with the letters a to g, with the mouse, or with arrows and Space."""

    def __init__(self, points: Sequence[Localised], lang: Lang, ticked: Iterable[int] = ()) -> None:
        super().__init__([inline(point[lang]) for point in points])
        self.ticked = set(ticked)

    def mark(self, index: int) -> str:
        return f"{chr(ord('a') + index)} [{'x' if index in self.ticked else ' '}]"

    def choose(self, index: int) -> None:
        self.ticked ^= {index}
        self.post_message(PointsTicked())
