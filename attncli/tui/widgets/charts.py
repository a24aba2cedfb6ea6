"""What reviews showed of memory, drawn: recall against prediction, forgetting, minutes a day, kinds, topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from attncli.domain.text import SHADES, Lang, quoted
from attncli.experiments.plots import drawn
from attncli.experiments.runner import Plot, Series
from attncli.practice.stats import DAYS_FROM, PREDICTED_FROM, ForecastDay, RecallRecord, RecallShare
from attncli.tui.widgets.basics import Lined, left, right
from attncli.words.app_texts import say
from attncli.words.command_texts import counted
from attncli.words.stats_texts import PREDICTED, RECALLED

# Reviews a day as a calendar of weeks; the shade is a different character, so it can be read without colour.

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


# Reviews due on each of the next days, as bars with their numbers.


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


_NAME, _NUMBER, _BAR, _MOST = 34, 11, 40, 96
LEAST_POINTS = 3
"""A curve is drawn from so many groups of days on."""


class RecallReport(Lined):
    """The record, once it is whole; a line until then."""

    DEFAULT_CSS = """
    RecallReport { height: auto; width: 1fr; }
    """

    def __init__(
        self, record: RecallRecord, minutes: Sequence[tuple[date, float]], topics: Mapping[str, str], lang: Lang
    ) -> None:
        super().__init__()
        self._record, self._minutes, self._topics = record, minutes, topics
        self._lang: Lang = lang
        self._of: tuple[int, bool] = (0, False)
        self._drawn: list[Content] = []

    def lines(self, width: int) -> list[Content]:
        """Drawn once for each width: tens of milliseconds, and Textual asks for the height first."""
        if self._of != (of := (width, self._record.is_whole)):
            self._of, self._drawn = of, list(self._sections(width))
        return self._drawn

    def _sections(self, width: int) -> Iterator[Content]:
        wide = max(20, min(width, _MOST))
        yield from self._time(wide)
        yield from self._heading("stats.recall")
        if not self._record.is_whole:
            yield Content(say("stats.reading", self._lang))
            return
        if not self._record.recalls:
            yield from Content(say("stats.no-recall", self._lang)).wrap(wide)
            return
        told = {"cards": self._record.cards, "reviews": len(self._record.recalls)}
        yield from Content.styled(say("stats.sampled", self._lang, **told), "$text-muted").wrap(wide)
        yield from self._table(wide, "stats.by-prediction", self._record.by_prediction(), _predicted_names())
        yield from self._curve(wide)
        kinds = {share.name: say(f"review.kind-{share.name}", self._lang) for share in self._record.by_kind()}
        yield from self._table(wide, "stats.by-kind", self._record.by_kind(), kinds, timed=True)
        yield from self._table(wide, "stats.by-topic", self._record.by_topic(), self._topics, timed=True)

    def _heading(self, key: str) -> Iterator[Content]:
        yield Content("")
        yield Content.styled(say(key, self._lang), "bold $primary")

    def _table(
        self, width: int, key: str, shares: Sequence[RecallShare], names: Mapping[str, str], timed: bool = False
    ) -> Iterator[Content]:
        yield from self._heading(key)
        heads = ["stats.reviews", "stats.column-recalled", "stats.column-predicted", *["stats.seconds"] * timed]
        titles = "".join(right(say(head, self._lang), _NUMBER) for head in heads)
        room = max(8, min(_NAME, width - len(heads) * _NUMBER))
        yield Content.styled(left("", room) + titles, "$text-muted")
        for share in shares:
            numbers = [str(share.reviews), f"{share.recalled:.0%}", f"{share.predicted:.0%}"]
            if timed:
                numbers.append("-" if share.seconds is None else f"{share.seconds:.0f}")
            yield Content(left(names.get(share.name, share.name), room) + "".join(right(n, _NUMBER) for n in numbers))

    def _curve(self, width: int) -> Iterator[Content]:
        """Recall by days since the last review, beside what was predicted; as a table where there is no curve yet."""
        shares = self._record.by_days()
        if len(shares) >= LEAST_POINTS:
            yield from self._heading("stats.curve")
            recalled = Series(RECALLED, tuple(100 * share.recalled for share in shares))
            predicted = Series(PREDICTED, tuple(100 * share.predicted for share in shares))
            days = tuple(round(share.elapsed_days) for share in shares)
            plot = Plot("line", quoted(say("stats.curve-axes", self._lang)), days, (recalled, predicted), "x")
            yield from map(Content, drawn(plot, width, self._lang))
        yield from self._table(width, "stats.by-days", shares, self._day_names())

    def _day_names(self) -> dict[str, str]:
        ends: list[int | None] = [begin - 1 for begin in DAYS_FROM[1:]]
        return {
            str(begin): say("stats.days-from", self._lang, first=begin)
            if end is None
            else counted(begin, "day")[self._lang]
            if begin == end
            else say("stats.days", self._lang, span=f"{begin}–{end}")
            for begin, end in zip(DAYS_FROM, [*ends, None], strict=True)
        }

    def _time(self, width: int) -> Iterator[Content]:
        yield from self._heading("stats.minutes")
        most = max(minutes for _, minutes in self._minutes)
        if not most:
            yield Content(say("stats.not-timed", self._lang))
            return
        for day, minutes in self._minutes:
            weekday = say("stats.weekdays", self._lang).split()[day.weekday()]
            filled = max(1, round(min(_BAR, width - 20) * minutes / most)) if minutes else 0
            yield Content.assemble(
                (left(f"{weekday} {day.month}-{day.day:02d}", 11), "$text-muted"),
                right(f"{minutes:.1f}", 6),
                "  ",
                ("█" * filled, "$primary"),
            )


def _predicted_names() -> dict[str, str]:
    ends = [*PREDICTED_FROM[1:], 1.0]
    return {str(begin): f"{begin:.0%} – {end:.0%}" for begin, end in zip(PREDICTED_FROM, ends, strict=True)}
