"""Reviews due on each of the next days, as bars with their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from textual.content import Content
from textual.widget import Widget

from attncli.domain.text import Lang
from attncli.practice.stats import ForecastDay
from attncli.tui.columns import left, right
from attncli.words.app_texts import say


class Forecast(Widget):
    """One line a day."""

    DEFAULT_CSS = """
    Forecast { height: auto; width: 1fr; }
    """

    def __init__(self, days: Sequence[ForecastDay], lang: Lang) -> None:
        super().__init__()
        self.days = days
        self.lang: Lang = lang

    def render(self) -> Content:
        most = max((day.due for day in self.days), default=0)
        width = max(1, min(60, self.size.width - 20))
        return Content("\n").join(self._line(day, most, width) for day in self.days)

    def _line(self, day: ForecastDay, most: int, width: int) -> Content:
        when = date.fromisoformat(day.date)
        weekday = say("stats.weekdays", self.lang).split()[when.weekday()]
        filled = max(1, round(width * day.due / most)) if day.due else 0
        return Content.assemble(
            (left(f"{weekday} {when.month}-{when.day:02d}", 11), "$text-muted"),
            right(str(day.due), 5),
            "  ",
            ("█" * filled, "$primary"),
        )
