"""Reviews a day as a calendar of weeks; the shade is a different character, so it can be read without colour."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from attncli.domain.cells import SHADES
from attncli.domain.text import Lang
from attncli.tui.columns import left
from attncli.words.app_texts import say

_LEVELS = (1, 5, 15, 30)


def shade(count: int) -> str:
    """The character for a day with `count` reviews."""
    return SHADES[sum(count >= level for level in _LEVELS)]


def heatmap_rows(counts: Mapping[date, int], today: date, weeks: int) -> list[str]:
    """Seven rows, Monday first; one column of two cells a week, `today` in the last one; days to come are blank."""
    monday = today - timedelta(days=today.weekday() + 7 * (weeks - 1))
    rows = []
    for weekday in range(7):
        days = [monday + timedelta(days=7 * week + weekday) for week in range(weeks)]
        rows.append(" ".join(shade(counts.get(day, 0)) if day <= today else " " for day in days))
    return rows


class Heatmap(Widget):
    """As many weeks as fit, at most a year, with months above and a legend below."""

    DEFAULT_CSS = """
    Heatmap { height: 9; width: 1fr; }
    """

    def __init__(self, counts: Mapping[date, int], today: date, lang: Lang) -> None:
        super().__init__()
        self.counts, self.today = dict(counts), today
        self.lang: Lang = lang

    def render(self) -> Content:
        names = say("stats.weekdays", self.lang).split()
        margin = max(cell_len(name) for name in names) + 1
        weeks = max(1, min(53, (self.size.width - margin) // 2))
        rows = heatmap_rows(self.counts, self.today, weeks)
        lines = [Content.styled(" " * margin + self._months(weeks), "$text-muted")]
        for index, (name, row) in enumerate(zip(names, rows, strict=True)):
            label = name if index % 2 == 0 else ""
            lines.append(Content.assemble((left(label, margin), "$text-muted"), (row, "$success")))
        return Content("\n").join([*lines, self._legend(margin)])

    def _months(self, weeks: int) -> str:
        monday = self.today - timedelta(days=self.today.weekday() + 7 * (weeks - 1))
        line = ""
        for week in range(weeks):
            day = monday + timedelta(days=7 * week)
            starts = any((day + timedelta(days=offset)).day == 1 for offset in range(7)) or week == 0
            month = (day + timedelta(days=6)).month
            if starts and len(line) <= 2 * week:
                line += " " * (2 * week - len(line)) + f"{month:>2} "
        return line.rstrip()

    def _legend(self, margin: int) -> Content:
        bounds = ["0", *(f"{level}+" for level in _LEVELS)]
        parts = "  ".join(f"{sign} {bound}" for sign, bound in zip(SHADES, bounds, strict=True))
        return Content.styled(" " * margin + parts, "$text-muted")
