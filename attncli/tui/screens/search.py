"""Search over all cards, English and Chinese; Enter opens a card."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, cast

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.worker import Worker, WorkerCancelled

from attncli.errors import AttnError
from attncli.practice.cards.search_filters import STATES, FoundCards, browse
from attncli.practice.search import MOST_CHARACTERS, require_length
from attncli.tui.app_errors import fault_text
from attncli.tui.columns import left
from attncli.tui.markup import inline
from attncli.tui.routes import Routes
from attncli.tui.screens.base import AttnScreen
from attncli.tui.search_thread import SearchThread
from attncli.tui.widgets.line_field import LineField
from attncli.tui.widgets.option_rows import Rows, row_width
from attncli.tui.widgets.plain import Plain
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say, say_counted

_AT_ONCE, _MOST_ROWS, _ID = 40, 200, 10
_REST_AFTER_SECONDS = 0.25
"""The rows below the screen come when the typing rests: they would cost each key most of its time."""


class SearchField(LineField):
    """Typing searches at once; Enter and ↓ go to what was found. Of a longer text the beginning is kept."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,down", "screen.to_results", "key.open", key_display="Enter"),
    ]

    def replace(self, text: str, start: int, end: int) -> None:
        value = f"{self.value[:start]}{text}{self.value[end:]}"
        with cast("Routes", self.app).telling():
            require_length(value)
        super().replace(text[: max(0, len(text) + MOST_CHARACTERS - len(value))], start, end)


class SearchScreen(AttnScreen):
    """The query stays when a card is opened and closed again."""

    CSS_PATH = Path(__file__).with_name("search.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "to_query", "key.search", key_display="/"),
        Binding("a", "add", "key.add-card"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.query_text = ""
        self.found: FoundCards | None = None
        self._lookup: Worker[None] | None = None

    @cached_property
    def _searches(self) -> SearchThread:
        return SearchThread(self.workspace)

    def title_bar(self) -> TitleBar:
        return TitleBar(say("search.title", self.lang))

    def body(self) -> Iterable[Widget]:
        yield SearchField(self.query_text, placeholder=say("search.prompt", self.lang))
        yield Plain(say("search.filters", self.lang, states="|".join(STATES)), id="filters")
        yield Plain("", id="nothing")
        yield Rows(id="found")

    def focus_first(self) -> None:
        self._search()
        self.query_one(SearchField).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._look_for(event.value)

    def _look_for(self, line: str) -> None:
        if line != self.query_text:
            self.query_text = line
            self._search()

    def _search(self) -> None:
        """Show all cards at once, or those that the query means as soon as they are found."""
        self._lookup = None
        if self.query_text.strip():
            self._lookup = self.run_worker(partial(self._find, self.query_text), group="search", exclusive=True)
        else:
            self.workers.cancel_group(self, "search")
            self._show(browse(self.workspace, "", _MOST_ROWS))

    async def _find(self, line: str) -> None:
        try:
            found, fault = await self._searches.find(line, _MOST_ROWS), ""
        except AttnError as error:
            found, fault = FoundCards([], 0, {}, ()), fault_text(error, self.lang)
        self._show(found, fault)

    def _show(self, found: FoundCards, fault: str = "") -> None:
        self.found = found
        self.query_one(Rows).show_rows(self._rows(found, 0, _AT_ONCE), stay=False)
        self.set_timer(_REST_AFTER_SECONDS, partial(self._show_rest, found))
        count = found.count
        status = say_counted("search.found", self.lang, count)
        if count > _MOST_ROWS:
            status = say("search.first", self.lang, shown=_MOST_ROWS, count=count)
        self.query_one(TitleBar).show(say("search.title", self.lang), status=status)
        nothing = self.query_one("#nothing", Plain)
        said = [say("search.unknown", self.lang, filters=" ".join(found.unknown))] if found.unknown else []
        said += [] if found.cards else [fault or say("search.nothing", self.lang, query=self.query_text)]
        nothing.display = bool(said)
        nothing.update(Content("\n".join(said)))

    async def searched(self) -> None:
        """Wait until what is in the field was looked for."""
        self._look_for(self.query_one(SearchField).value)
        while (running := self._lookup) is not None and not running.is_finished:
            with suppress(WorkerCancelled):
                await running.wait()

    def _show_rest(self, found: FoundCards) -> None:
        """Nothing if something else was looked for meanwhile."""
        for rows in self.query(Rows) if found is self.found else ():
            rows.add_rows(self._rows(found, _AT_ONCE, _MOST_ROWS))

    def _rows(self, found: FoundCards, first: int, end: int) -> list[tuple[str, Content]]:
        return [(card.id, self._row(found, card.id, card.question(self.lang))) for card in found.cards[first:end]]

    def _row(self, found: FoundCards, id: str, question: str) -> Content:
        """A flag and tags stand before the question."""
        said = found.annotations.get(id)
        marks = " ".join([f"#{tag}" for tag in said.tags] + ["✎"] * bool(said.note)) if said else ""
        return Content.assemble(
            (left(id, _ID), "$text-muted"),
            (f"{marks} " if marks else "", "$accent"),
            inline(" ".join(question.split())),
        ).truncate(row_width(self.app.size.width), ellipsis=True)

    async def action_to_results(self) -> None:
        await self.searched()
        self.query_one(Rows).enter()

    def on_unmount(self) -> None:
        self._searches.close()

    async def on_screen_resume(self) -> None:
        """Before anything is drawn, and again whenever tags, notes and own cards may have come meanwhile."""
        if self.query(Rows):
            self._search()

    def action_add(self) -> None:
        self.attn.open_add_card()

    def action_to_query(self) -> None:
        field = self.query_one(SearchField)
        field.focus()
        field.select_all()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self.attn.open_card(event.option_id, question_first=True)
