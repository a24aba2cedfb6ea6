"""The home screen: cards due today, the streak, the topics, and keys to all other screens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList

from attncli.i18n import N_, Localised, _, ngettext, pgettext
from attncli.practice.plan_text import code_text, countdown_line, standstill
from attncli.practice.queue import CardFilter, default_level
from attncli.practice.record import interval_text
from attncli.practice.stats import Overview, overview
from attncli.practice.today import DueCounts, cards_left, due_counts
from attncli.tui.formulas import inline
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widgets.answers import Rows, row_width
from attncli.tui.widgets.basics import Plain, TitleBar, bar, left, right
from attncli.tui.widgets.charts import shade

ALL = "*"
_NUMBER, _BAR, _PERCENT = 7, 10, 5
WIDE, LEFT_CELLS = 116, 52
"""Cells from which on today's list stands beside the topics, and its cells then."""
_CARDS_SHOWN = 20

_WHY: dict[str, Localised] = {
    "empty": _("No cards yet. Press a to add one, or run `attn bank check`."),
    "suspended": _("All cards are suspended. Press / to find and unsuspend them."),
    "limit": _("Today's {introduced} new cards are done; {unseen} are still unseen."),
    "minutes": _("Today's minutes are used up; {unseen} cards are still unseen."),
    "planned": _("Today's list is done; {unseen} cards are still unseen."),
    "off": _("New cards per day is set to 0 (press , to change it); {unseen} are unseen."),
    "buried": _("Buried until tomorrow: {buried}."),
    "waiting": _("All cards are learned; none is due yet."),
}
"""Why nothing is due, by the reason of a `Standstill`."""


class HomeScreen(AttnScreen):
    """Home. Enter reviews the topic under the cursor, or offers a drill if it has nothing today; r reviews all."""

    CSS_PATH = "home.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,space", "review_all", N_("Review"), key_display="r"),
        Binding("d", "drill", N_("Drill")),
        Binding("z", "quiz", N_("Quiz")),
        Binding("m", "go('mock')", N_("Mock")),
        Binding("c", "go('challenges')", N_("Challenges")),
        Binding("s", "go('stats')", N_("Stats")),
        Binding("comma", "go('settings')", N_("Settings"), key_display=","),
        Binding("a", "add_card", N_("Add a card")),
        Binding("p", "go('plan')", N_("Plan"), key_display="p"),
        Binding("slash", "go('search')", N_("Search"), key_display="/"),
        Binding("e", "app.export_summary", N_("Export summary"), show=False),
        Binding("q", "quit", N_("Quit"), key_display="q"),
        Binding("escape", "to_all_topics", N_("All topics"), show=False),
    ]

    AUTO_FOCUS = "#topics"

    due: DueCounts
    overview: Overview
    laid_out = (0, 0)

    def _load(self) -> None:
        self.due = due_counts(self.workspace)
        self.overview = overview(self.workspace)

    def title_bar(self) -> TitleBar:
        self._load()
        return TitleBar("attn", _("Today")[self.lang], self._streak())

    def body(self) -> Iterable[Widget]:
        width = self._topic_cells()
        self.laid_out = (width, id(self.overview))
        with Container(id="parts"):
            with Vertical(id="left"):
                yield Plain(self._summary(), id="summary")
                yield Plain(self._list() if self._is_wide() else "", id="list")
            with Vertical(id="right"):
                yield Plain(self._columns(width), id="columns")
                yield Rows(list(self._rows(width)), id="topics")

    def _is_wide(self) -> bool:
        """Return True if today's list fits beside the topics, and note it for the style sheet."""
        self.set_class(is_wide := self.app.size.width >= WIDE, "-wide")
        return is_wide

    def _topic_cells(self) -> int:
        width = self.app.size.width
        return row_width(width - LEFT_CELLS if self._is_wide() else width)

    def focus_first(self) -> None:
        self.query_one(Rows).focus()

    async def reload(self) -> None:
        with self.attn.showing_errors():
            self._load()
        self.query_one(TitleBar).show("attn", _("Today")[self.lang], self._streak())
        self.lay_out()

    def _streak(self) -> str:
        days = self.overview.streak_days
        return _("{days}-day streak", days=days)[self.lang] if days else _("no streak yet")[self.lang]

    def _summary(self) -> Content:
        due, lang, is_wide = self.due, self.lang, self._is_wide()
        if not due.due:
            lines = self._why_nothing()
        else:
            head = ngettext(
                "{count} card today, about {minutes} min",
                "{count} cards today, about {minutes} min",
                due.due,
                minutes=max(1, round(due.minutes)),
            )[lang]
            parts = _(
                "{new} new · {learning} learning · {review} due", new=due.new, learning=due.learning, review=due.review
            )[lang]
            lines = [Content.assemble((head, "bold $primary"), "\n" if is_wide else "   ", (parts, "$text-muted"))]
        if due.code and not is_wide:
            code = _(", ").join(code_text(id, minutes) for id, minutes in due.code.items())
            lines.append(Content.styled(_("Code today: {challenges}", challenges=code)[lang], "bold $accent"))
        elif due.challenges and not due.code:
            challenges = ngettext("{count} challenge due", "{count} challenges due", due.challenges)[lang]
            lines.append(Content.styled(challenges, "bold $accent"))
        if (interview := self.overview.interview) is not None:
            line = countdown_line(interview.days_left, interview.recall)[lang]
            lines.append(
                Content.assemble((line, "$text"), ("  ·  ", "$text-muted"), (_("p plan")[lang], "$text-muted"))
            )
        if known := self.overview.must_know.text[lang]:
            lines.append(Content.assemble((_("Must-know")[lang], "$text-muted"), "  ", known))
        if any(self.overview.recent):
            lines.append(self._weeks())
        return Content("\n").join(lines)

    def _list(self) -> Content:
        """Return today's list, code first: a line for each challenge and card, as many as are shown."""
        lang, library, cells = self.lang, self.workspace.library, LEFT_CELLS - 15
        code = ((library.challenge(id).title[lang], minutes) for id, minutes in self.due.code.items())
        listed = [(_("Code")[lang], Content(code_text(title, minutes)[lang])) for title, minutes in code]
        cards = cards_left(self.workspace, self.workspace.moment())
        listed += [(card.id, inline(library.card(card.id).wording[lang])) for card in cards[:_CARDS_SHOWN]]
        lines = [
            Content.assemble((left(id, 8), "$text-muted"), " ", text.truncate(cells, ellipsis=True))
            for id, text in listed
        ]
        if more := len(cards[_CARDS_SHOWN:]):
            lines.append(
                Content.styled(
                    ngettext("… and {count} more card", "… and {count} more cards", more)[lang], "$text-muted"
                )
            )
        return Content("\n").join(lines)

    def _why_nothing(self) -> list[Content]:
        """Return lines with the reason why nothing is due, the next due time, and what to do until then."""
        found, lang = standstill(self.workspace), self.lang
        why = _WHY[found.reason].format(**found._asdict())[lang]
        next_one = ""
        if found.next_at is not None:
            interval = interval_text(found.next_at - self.workspace.clock(), lang)
            next_one = _("Next card in {interval}.", interval=interval)[lang]
        meanwhile = (
            _("Meanwhile: d drill · z quiz · c challenges")[lang] if found.reason not in ("empty", "suspended") else ""
        )
        gap = " " if lang == "en" else ""
        nothing = Content.assemble((_("Nothing is due.")[lang], "bold $primary"), gap, why)
        return [nothing, Content(gap.join(filter(None, (next_one, meanwhile))))]

    def _weeks(self) -> Content:
        """Return one character per day, shaded as in the heatmap of the statistics; the last one is today."""
        signs = [shade(count) for count in self.overview.recent]
        weeks = " ".join("".join(signs[first : first + 7]) for first in range(0, len(signs), 7))
        return Content.assemble((weeks, "$success"), "  ", (_("last 4 weeks")[self.lang], "$text-muted"))

    def lay_out(self) -> None:
        """Lay out everything if the width or the counts have changed."""
        width = self._topic_cells()
        if self.laid_out != (width, id(self.overview)):
            self.laid_out = (width, id(self.overview))
            self.query_one("#summary", Plain).update(self._summary())
            self.query_one("#list", Plain).update(self._list() if self._is_wide() else "")
            self.query_one("#columns", Plain).update(self._columns(width))
            self.query_one(Rows).show_rows(list(self._rows(width)))

    def _columns(self, width: int) -> Content:
        lang = self.lang
        line = left(_("Topic")[lang], _title_width(width)) + right(pgettext("column", "today")[lang], _NUMBER)
        line += right(pgettext("column", "cards")[lang], _NUMBER) + "  " + pgettext("column", "ready")[lang]
        return Content.styled(line, "$text-muted")

    def _rows(self, width: int) -> Iterable[tuple[str, Content]]:
        overview = self.overview
        ready = sum(t.readiness * t.total for t in overview.topics.values()) / max(1, overview.cards)
        yield ALL, self._row(width, _("All topics")[self.lang], self.due.due, overview.cards, ready)
        for id, found in overview.topics.items():
            due = self.due.topics.get(id, 0)
            yield id, self._row(width, self.topic_title(id), due, found.total, found.readiness)

    def _row(self, width: int, title: str, due: int, cards: int, ready: float) -> Content:
        return Content.assemble(
            left(title, _title_width(width)),
            (right(str(due) if due else "-", _NUMBER), "bold" if due else "$text-muted"),
            (right(str(cards), _NUMBER), "$text-muted"),
            "  ",
            bar(ready, _BAR, "$success"),
            (right(f"{ready:.0%}", _PERCENT), "$text-muted"),
        )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_id == ALL or event.option_id in self.due.topics:
            self.attn.show("review", None if event.option_id == ALL else event.option_id)
        else:
            self.action_drill()

    def action_review_all(self) -> None:
        self.attn.show("review")

    def action_drill(self) -> None:
        self.attn.show("drill", CardFilter(topic=self._topic_under_cursor(), level=default_level(self.workspace)))

    def action_quiz(self) -> None:
        self.attn.show("quiz", topic=self._topic_under_cursor())

    def action_add_card(self) -> None:
        self.attn.show("add-card", self._topic_under_cursor())

    def _topic_under_cursor(self) -> str | None:
        row = self.query_one(Rows).highlighted_option
        return None if row is None or row.id == ALL else row.id

    def action_go(self, name: str) -> None:
        self.attn.show(name)

    def action_to_all_topics(self) -> None:
        """Move the cursor to the first row; Escape does not leave Home, q does."""
        self.query_one(Rows).highlighted = 0

    def action_quit(self) -> None:
        self.app.exit()


def _title_width(row_cells: int) -> int:
    return row_cells - 2 * _NUMBER - _BAR - _PERCENT - 2
