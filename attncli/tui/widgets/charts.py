"""Charts of the statistics screen: heatmap, forecast, minutes a day, and recall against prediction.

Shades and bars are different characters, so that every chart can be read without colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from attncli.domain.text import SHADES
from attncli.domain.vocabulary import KIND_NAMES
from attncli.i18n import Lang, Localised, _, ngettext, quoted
from attncli.practice.stats import DAYS_FROM, PREDICTED_FROM, ForecastDay, RecallRecord, RecallShare
from attncli.tui.widgets.basics import LineWidget, left, right

_LEVELS = (1, 5, 15, 30)


def shade(count: int) -> str:
    """Return the character for a day with `count` reviews."""
    return SHADES[sum(count >= level for level in _LEVELS)]


def heatmap_rows(counts: Mapping[date, int], today: date, weeks: int) -> list[str]:
    """Return seven rows, Monday first, with two cells a week; `today` is in the last column, later days are blank."""
    monday = _first_monday(today, weeks)
    rows = []
    for weekday in range(7):
        days = [monday + timedelta(days=7 * week + weekday) for week in range(weeks)]
        rows.append(" ".join(shade(counts.get(day, 0)) if day <= today else " " for day in days))
    return rows


def _first_monday(today: date, weeks: int) -> date:
    return today - timedelta(days=today.weekday() + 7 * (weeks - 1))


class Heatmap(Widget):
    """Reviews per day as a calendar of as many weeks as fit, at most a year, with months above and a legend below."""

    DEFAULT_CSS = """
    Heatmap { height: 9; width: 1fr; }
    """

    def __init__(self, counts: Mapping[date, int], today: date, lang: Lang) -> None:
        super().__init__()
        self.counts, self.today = dict(counts), today
        self.lang: Lang = lang

    def render(self) -> Content:
        names = _("Mon Tue Wed Thu Fri Sat Sun")[self.lang].split()
        margin = max(cell_len(name) for name in names) + 1
        weeks = max(1, min(53, (self.size.width - margin) // 2))
        rows = heatmap_rows(self.counts, self.today, weeks)
        lines = [Content.styled(" " * margin + self._months(weeks), "$text-muted")]
        for index, (name, row) in enumerate(zip(names, rows, strict=True)):
            label = name if index % 2 == 0 else ""
            lines.append(Content.assemble((left(label, margin), "$text-muted"), (row, "$success")))
        return Content("\n").join([*lines, self._legend(margin)])

    def _months(self, weeks: int) -> str:
        monday = _first_monday(self.today, weeks)
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


class Forecast(Widget):
    """Reviews due on each of the next days: a number and a bar per line."""

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
        return Content("\n").join(
            _day_line(date.fromisoformat(day.date), right(str(day.due), 5), day.due, most, width, self.lang)
            for day in self.days
        )


def _day_line(day: date, number: str, value: float, most: float, width: int, lang: Lang) -> Content:
    """Return weekday and date, `number`, and a bar: `width` cells at `most`, one or more above 0."""
    weekday = _("Mon Tue Wed Thu Fri Sat Sun")[lang].split()[day.weekday()]
    filled = max(1, round(width * value / most)) if value else 0
    return Content.assemble(
        (left(f"{weekday} {day.month}-{day.day:02d}", 11), "$text-muted"), number, "  ", ("█" * filled, "$primary")
    )


_NAME, _NUMBER, _BAR, _MOST = 34, 11, 40, 96
LEAST_POINTS = 3
"""Groups of days from which a curve is drawn."""


class RecallReport(LineWidget):
    """Minutes per day, then recall by prediction, interval, kind and topic, once the record is read completely."""

    def __init__(
        self, record: RecallRecord, minutes: Sequence[tuple[date, float]], topics: Mapping[str, str], lang: Lang
    ) -> None:
        super().__init__()
        self._record, self._minutes, self._topics = record, minutes, topics
        self._lang: Lang = lang
        self._drawn_for: tuple[int, bool] = (0, False)
        self._drawn: list[Content] = []

    def lines(self, width: int) -> list[Content]:
        """Return the lines, cached per width: they take tens of milliseconds, and Textual asks for the height first."""
        if self._drawn_for != (drawn_for := (width, self._record.is_whole)):
            self._drawn_for, self._drawn = drawn_for, list(self._sections(width))
        return self._drawn

    def _sections(self, width: int) -> Iterator[Content]:
        wide = max(20, min(width, _MOST))
        yield from self._time(wide)
        yield from self._heading(_("Actual vs. predicted recall"))
        if not self._record.is_whole:
            yield Content(_("Loading your review history…")[self._lang])
            return
        if not self._record.recalls:
            yield from Content(_("No card has been reviewed on a later day yet.")[self._lang]).wrap(wide)
            return
        sample = _(
            "The {cards} most recently reviewed cards, {reviews} reviews on later days (the first of each day).",
            cards=self._record.cards,
            reviews=len(self._record.recalls),
        )[self._lang]
        yield from Content.styled(sample, "$text-muted").wrap(wide)
        yield from self._table(wide, _("By predicted recall"), self._record.by_prediction(), _predicted_names())
        yield from self._curve(wide)
        kinds: dict[str, str] = {kind: name[self._lang] for kind, name in KIND_NAMES.items()}
        yield from self._table(wide, _("By kind"), self._record.by_kind(), kinds, timed=True)
        yield from self._table(wide, _("By topic"), self._record.by_topic(), self._topics, timed=True)

    def _heading(self, title: Localised) -> Iterator[Content]:
        yield Content("")
        yield Content.styled(title[self._lang], "bold $primary")

    def _table(
        self, width: int, title: Localised, shares: Sequence[RecallShare], names: Mapping[str, str], timed: bool = False
    ) -> Iterator[Content]:
        yield from self._heading(title)
        heads = [_("Reviews"), _("recalled"), _("predicted"), *[_("seconds")] * timed]
        titles = "".join(right(head[self._lang], _NUMBER) for head in heads)
        room = max(8, min(_NAME, width - len(heads) * _NUMBER))
        yield Content.styled(left("", room) + titles, "$text-muted")
        for share in shares:
            numbers = [str(share.reviews), f"{share.recalled:.0%}", f"{share.predicted:.0%}"]
            if timed:
                numbers.append("-" if share.seconds is None else f"{share.seconds:.0f}")
            yield Content(left(names.get(share.name, share.name), room) + "".join(right(n, _NUMBER) for n in numbers))

    def _curve(self, width: int) -> Iterator[Content]:
        """Yield recall and prediction by days since the last review, as a table and, with enough points, a curve."""
        from attncli.experiments.plots import drawn
        from attncli.experiments.runner import Plot, Series

        shares = self._record.by_days()
        if len(shares) >= LEAST_POINTS:
            yield from self._heading(_("Your forgetting curve"))
            recalled = Series(_("recalled"), tuple(100 * share.recalled for share in shares))
            predicted = Series(_("predicted by FSRS"), tuple(100 * share.predicted for share in shares))
            days = tuple(round(share.elapsed_days) for share in shares)
            plot = Plot(
                "line",
                quoted(_("% recalled, by days since the last review")[self._lang]),
                days,
                (recalled, predicted),
                "x",
            )
            yield from map(Content, drawn(plot, width, self._lang))
        yield from self._table(width, _("By days since the last review"), shares, self._day_names())

    def _day_names(self) -> dict[str, str]:
        ends: list[int | None] = [begin - 1 for begin in DAYS_FROM[1:]]
        return {
            str(begin): (
                _("{first}+ days", first=begin)
                if end is None
                else ngettext("{count} day", "{count} days", begin)
                if begin == end
                else _("{first}–{last} days", first=begin, last=end)
            )[self._lang]
            for begin, end in zip(DAYS_FROM, [*ends, None], strict=True)
        }

    def _time(self, width: int) -> Iterator[Content]:
        yield from self._heading(_("Review minutes per day"))
        most = max(minutes for _day, minutes in self._minutes)
        if not most:
            yield Content(_("No timed reviews in recent days.")[self._lang])
            return
        for day, minutes in self._minutes:
            yield _day_line(day, right(f"{minutes:.1f}", 6), minutes, most, min(_BAR, width - 20), self._lang)


def _predicted_names() -> dict[str, str]:
    ends = [*PREDICTED_FROM[1:], 1.0]
    return {str(begin): f"{begin:.0%} – {end:.0%}" for begin, end in zip(PREDICTED_FROM, ends, strict=True)}
