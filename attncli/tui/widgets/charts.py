"""What reviews showed of memory, drawn: recall against prediction, forgetting, minutes a day, kinds, topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from textual.content import Content

from attncli.domain.text import Lang, quoted
from attncli.experiments.results import Plot, Series
from attncli.experiments.terminal_plot import drawn
from attncli.practice.recall_stats import DAYS_FROM, PREDICTED_FROM, RecallRecord, RecallShare
from attncli.tui.columns import left, right
from attncli.tui.widgets.lined import Lined
from attncli.words.app_texts import say
from attncli.words.command_texts import counted
from attncli.words.stats_texts import PREDICTED, RECALLED

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
