"""The statistics screen: figures, calendar, forecast, readiness by topic, and recall; and the summary's export."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from functools import partial
from typing import Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from attncli.errors import AttnError
from attncli.i18n import N_, _, ngettext
from attncli.practice.plan_text import countdown_line
from attncli.practice.stats import (
    FORECAST_DAYS,
    RETENTION_DAYS,
    ProgressStats,
    RecallRecord,
    TopicStatus,
    minutes_by_day,
    progress,
)
from attncli.practice.workspace import Workspace
from attncli.tui.screens.base import READ_SECONDS, AttnScreen, error_text
from attncli.tui.widgets.basics import Page, Plain, TitleBar, bar, heading, left, right
from attncli.tui.widgets.charts import Forecast, Heatmap, RecallReport

_TOPIC, _BAR = 40, 20
CARDS_AT_ONCE = 5
"""Cards whose reviews are read between two keys."""
SECONDS_SHOWN = 10


class StatsScreen(AttnScreen):
    """The statistics on one page; e exports the interview summary."""

    CSS_PATH = "stats.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("e", "app.export_summary", N_("Export summary"), key_display="e")]

    def title_bar(self) -> TitleBar:
        self.stats: ProgressStats = progress(self.workspace)
        if not hasattr(self, "record"):
            self.record, self.minutes = RecallRecord(self.workspace), minutes_by_day(self.workspace)
        return TitleBar(_("Statistics")[self.lang])

    def body(self) -> Iterable[Widget]:
        yield Page(*self._parts(), id="stats")

    def on_mount(self) -> None:
        super().on_mount()
        self._read_on()

    def _read_on(self) -> None:
        """Read a few cards at a time, so that keys are handled; draw the report when all are read."""
        if self.record.read_on(CARDS_AT_ONCE):
            self.set_timer(READ_SECONDS, self._read_on)
        else:
            for report in self.query(RecallReport):
                report.refresh(layout=True)

    def focus_first(self) -> None:
        self.query_one("#stats").focus()

    def _parts(self) -> Iterable[Widget]:
        stats, lang = self.stats, self.lang
        if (interview := stats.interview) is not None:
            line = countdown_line(interview.days_left, interview.recall)[lang]
            yield Plain(Content.styled(line, "bold $accent"), classes="countdown")
        yield Plain(self._figures(), classes="figures")
        yield heading(_("Reviews per day")[lang])
        counts = {date.fromisoformat(day): count for day, count in stats.per_day.items()}
        yield Heatmap(counts, date.fromisoformat(stats.forecast[0].date), lang)
        yield heading(_("Due in the next {days} days", days=FORECAST_DAYS)[lang])
        yield Forecast(stats.forecast, lang)
        titles = {topic.id: topic.title[lang] for topic in self.workspace.library.topics()}
        yield heading(_("Readiness by topic")[lang])
        lines = [self._topic(titles[id], topic) for id, topic in stats.topics.items()]
        yield Plain(Content("\n").join(lines), classes="topics")
        yield RecallReport(self.record, self.minutes, titles, lang)

    def _figures(self) -> Content:
        stats, lang = self.stats, self.lang
        if not stats.reviews:
            return Content(_("No reviews yet: rate a few cards first.")[lang])
        retained = "-" if stats.retention is None else f"{stats.retention:.0%}"
        window = _("last {days} days", days=RETENTION_DAYS)[lang]
        figures = [
            (_("Retention")[lang], _("{share} ({window})", share=retained, window=window)[lang]),
            (_("Streak")[lang], ngettext("{count} day", "{count} days", stats.streak_days)[lang]),
            (_("Reviews")[lang], _("{total} ({today} today)", total=stats.reviews, today=stats.today)[lang]),
            (_("Cards seen")[lang], f"{stats.seen}/{stats.cards}"),
            (_("Challenges solved")[lang], f"{stats.challenges['solved']}/{stats.challenges['total']}"),
            (_("Must-know")[lang], stats.must_know.text[lang]),
        ]
        lines = [Content.assemble((left(name, 20), "$text-muted"), (value, "bold")) for name, value in figures]
        return Content("\n").join(lines)

    def _topic(self, title: str, topic: TopicStatus) -> Content:
        return Content.assemble(
            left(title, _TOPIC),
            " ",
            bar(topic.readiness, _BAR, "$success"),
            right(f"{topic.readiness:.0%}", 5),
            (right(f"{topic.seen}/{topic.total}", 8), "$text-muted"),
        )


def export_summary(app: App[Any], opened: Workspace) -> None:
    """Write the interview summary in a thread, because it reads the whole history, and show its path."""
    app.run_worker(partial(_export, app, opened), group="summary", exclusive=True, thread=True)


def _export(app: App[Any], opened: Workspace) -> None:
    from attncli.export.render import write_summary

    lang = opened.lang
    try:
        with opened.beside() as workspace:
            file = write_summary(workspace)
    except AttnError as error:
        app.notify(error_text(error, lang), severity="warning")
    else:
        app.notify(_("Interview summary: {file}", file=file)[lang], timeout=SECONDS_SHOWN)
