"""One card to read, the question first where it was looked up; and what the learner marks and writes on it."""

from __future__ import annotations

from asyncio import wrap_future
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, cast

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, TextArea
from textual.worker import Worker, WorkerCancelled

from attncli.errors import AttnError
from attncli.practice import record
from attncli.practice.library import MOST_CHARACTERS, require_length
from attncli.practice.marking import Asked
from attncli.practice.new_card import CardDraft, add_card, drop_draft, keep_draft, read_draft
from attncli.practice.queue import STATES, FoundCards, browse
from attncli.practice.record import annotation, set_note, sort_of_act, take_back, toggle_flag, toggle_tag
from attncli.practice.workspace import Workspace
from attncli.tui.formulas import inline
from attncli.tui.screens.base import AttnScreen, Routes, fault_text
from attncli.tui.screens.editor import edit_outside
from attncli.tui.widgets.answers import Rows, row_width
from attncli.tui.widgets.basics import LineField, PassingField, Plain, TitleBar, heading, left, mount_anew
from attncli.tui.widgets.card import Sheet, asked_parts
from attncli.words.app_texts import say, say_counted


class CardScreen(AttnScreen):
    """Reading changes no schedule; a suspended or buried card can be taken back into the queue."""

    CSS_PATH = Path(__file__).with_name("card.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "reveal", "key.reveal", key_display="Space"),
        Binding("f", "flag", "key.flag"),
        Binding("t", "write('tag')", "key.tag"),
        Binding("n", "write('note')", "key.note"),
        Binding("e", "edit", "key.edit"),
        Binding("minus", "bury", "key.bury", show=False, key_display="-"),
        Binding("exclamation_mark", "suspend", "key.suspend", key_display="!"),
        Binding("equals_sign", "unsuspend", "key.unsuspend", key_display="="),
        Binding("u", "undo", "key.undo"),
        Binding("x", "experiment", "key.experiment"),
    ]

    def __init__(self, id: str, question_first: bool = False) -> None:
        super().__init__()
        self.card_id, self.question_first = id, question_first
        self.asked: Asked | None = None
        self.written = "note"

    def _asked(self) -> Asked:
        if self.asked is None:
            self.asked = Asked.of(self.workspace.library.card(self.card_id), self.attn.rng)
            if not self.question_first:
                self.asked.lay_open()
        return self.asked

    def title_bar(self) -> TitleBar:
        card = self._asked().card
        return TitleBar(self.topic_title(card.topic), self.kind_and_level(card), card.id)

    def body(self) -> Iterable[Widget]:
        yield Plain(self._annotation(), id="annotation")
        field = PassingField()
        field.display = False
        yield field
        yield Sheet(*self._parts())

    def _parts(self) -> list[Widget]:
        asked = self._asked()
        parts = list(asked_parts(asked, self.lang, self.question_of))
        if asked.is_marked_automatically and not asked.revealed:
            parts.append(Plain(say("card.question-first", self.lang), classes="note"))
        return parts

    def _annotation(self) -> Content:
        said = annotation(self.workspace, self.card_id)
        tags = Content.styled(" ".join(f"#{tag}" for tag in said.tags), "$accent")
        note = (
            Content.assemble((f"{say('card.note', self.lang)}: ", "$text-muted"), said.note)
            if said.note
            else Content("")
        )
        return Content("\n").join(line for line in (tags, note) if line)

    def focus_first(self) -> None:
        self.query_one(Sheet).focus()
        self._show_annotation()

    def _show_annotation(self) -> None:
        shown = self.query_one("#annotation", Plain)
        shown.update(text := self._annotation())
        shown.display = bool(text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "reveal":
            return self.asked is None or not self.asked.revealed
        return action != "experiment" or bool(self._asked().card.experiment)

    async def action_reveal(self) -> None:
        self._asked().lay_open()
        sheet = self.query_one(Sheet)
        await mount_anew(sheet, self._parts())
        sheet.focus()
        self.refresh_bindings()

    def action_experiment(self) -> None:
        self.attn.open_experiment(self._asked().card.experiment)

    def action_flag(self) -> None:
        on = toggle_flag(self.workspace, self.card_id)
        self.notify(say("card.flagged" if on else "card.unflagged", self.lang, card=self.card_id))
        self._show_annotation()

    def action_write(self, what: str) -> None:
        field = self.query_one(PassingField)
        self.written = what
        field.placeholder = say(f"card.{what}-prompt", self.lang)
        field.value = annotation(self.workspace, self.card_id).note if what == "note" else ""
        field.display = True
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        with self.attn.telling():
            if self.written == "note":
                set_note(self.workspace, self.card_id, event.value)
            elif event.value.strip():
                toggle_tag(self.workspace, self.card_id, event.value)
            self.action_leave_field()
            self._show_annotation()

    def action_leave_field(self) -> None:
        self.query_one(PassingField).display = False
        self.query_one(Sheet).focus()

    async def action_edit(self) -> None:
        """A card of the learner's own, in their editor; a bundled one stays as it is."""
        file = Path(self.workspace.store.index.owner(self._asked().card.id))
        if not file.is_relative_to(self.workspace.home.banks):
            self.notify(say("card.not-yours", self.lang, card=self.card_id))
            return
        edit_outside(self, file)
        self.workspace.read_banks()
        self.asked = None
        await self.in_other_language()

    def action_undo(self) -> None:
        done = take_back(self.workspace)
        what = say(f"card.undone-{sort_of_act(done)}", self.lang)
        self.notify(say("card.undone", self.lang, what=what, card=done.subject))
        self._show_annotation()

    def action_suspend(self) -> None:
        self._hold(record.suspend, "review.suspended")

    def action_bury(self) -> None:
        self._hold(record.bury, "review.buried")

    def action_unsuspend(self) -> None:
        self._hold(record.unsuspend, "review.unsuspended")

    def _hold(self, change: Callable[[Workspace, str], str], text: str) -> None:
        change(self.workspace, self.card_id)
        self.notify(say(text, self.lang, card=self.card_id))


# Search over all cards, English and Chinese; Enter opens a card.

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


# A card of one's own, written in the app: a topic, a question, an answer.

OWN_TOPIC = "mine"
SECONDS_BETWEEN_DRAFTS = 5.0
"""What a process that is killed may cost at most."""


class AddCardScreen(AttnScreen):
    """What was typed stays until it is kept, over a change of language, over an error, and over the end of the app."""

    CSS_PATH = Path(__file__).with_name("add_card.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "key.save", key_display="Ctrl+S", priority=True),
        Binding("escape", "back", "key.back", key_display="Esc", priority=True),
    ]

    def __init__(self, topic: str | None = None) -> None:
        super().__init__()
        self.draft = CardDraft(topic or OWN_TOPIC)
        self.said = ""
        self.kept = self.draft

    def title_bar(self) -> TitleBar:
        return TitleBar(say("add.title", self.lang), status=str(self.workspace.home.banks))

    def body(self) -> Iterable[Widget]:
        self._take_up()
        with Vertical(id="fields"):
            yield heading(say("add.topic", self.lang))
            yield Input(self.draft.topic, id="topic", select_on_focus=False)
            yield heading(say("add.question", self.lang))
            yield Input(self.draft.question, id="question", select_on_focus=False)
            yield heading(say("add.answer", self.lang))
            yield TextArea(self.draft.answer, id="answer", tab_behavior="focus")
        yield Plain(self.said or say("add.note", self.lang), id="note")

    def _take_up(self) -> None:
        """Where nothing is typed yet, what was typed when the app ended."""
        self.said = ""
        if self.draft.is_empty:
            try:
                self.draft = self.kept = read_draft(self.workspace.home.card_draft, self.draft)
            except AttnError as error:
                self.said = fault_text(error, self.lang)

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(SECONDS_BETWEEN_DRAFTS, self._keep_meanwhile)

    def focus_first(self) -> None:
        self.query_one("#question", Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._typed()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._typed()

    def _typed(self) -> None:
        if self.query(TextArea):  # not while the language is being changed
            self._read_fields()
            self.attn.keep = None if self.draft.is_empty and self.kept.is_empty else self._keep

    def _read_fields(self) -> None:
        """Where keys come fast, what changed is told after the key that followed it."""
        topic, question = (self.query_one(f"#{name}", Input).value for name in ("topic", "question"))
        self.draft = CardDraft(topic, question, self.query_one(TextArea).text)

    def _keep(self) -> bool:
        """A draft that was emptied again is forgotten."""
        self._read_fields()
        path = self.workspace.home.card_draft
        try:
            drop_draft(path) if self.draft.is_empty else keep_draft(path, self.draft)
        except AttnError as error:
            self.query_one("#note", Plain).update(fault_text(error, self.lang))
            return False
        self.kept = self.draft
        return True

    def _keep_meanwhile(self) -> None:
        """Not over a draft that could not be read."""
        if self.query(TextArea) and not self.said and self.draft != self.kept:
            self._keep()

    def on_unmount(self) -> None:
        self.attn.keep = None

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.focus_next()

    def action_back(self) -> None:
        self._leave()

    @work
    async def _leave(self) -> None:
        """What was typed goes only where that is meant."""
        from attncli.tui.screens.base import ConfirmScreen

        texts = [say(key, self.lang) for key in ("add.leave", "add.yes", "add.no")]
        if self.draft.is_empty or await self.app.push_screen_wait(ConfirmScreen(*texts)):
            self._done()

    def action_save(self) -> None:
        self._read_fields()
        note, draft = self.query_one("#note", Plain), self.draft
        if not draft.question.strip() or not draft.answer.strip():
            note.update(say("add.incomplete", self.lang))
            return
        try:
            new = add_card(self.workspace, draft.topic, draft.question, draft.answer)
            self.workspace.read_banks()
        except AttnError as error:
            note.update(fault_text(error, self.lang))
            return
        self.notify(say("add.kept", self.lang, card=new.id, file=new.path))
        self._done()

    def _done(self) -> None:
        """Back, and nothing is left over of what was typed."""
        self.attn.keep = None
        try:
            drop_draft(self.workspace.home.card_draft)
        except AttnError as error:
            self.notify(fault_text(error, self.lang), severity="error")
        self.attn.go_back()


# Searching beside the screen's thread: keys come in while a search runs, and the newest query wins.


class SearchThread:
    """One search at a time, over a connection that belongs to the thread."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._thread = ThreadPoolExecutor(1, "search")
        self._reader: Workspace | None = None

    async def find(self, line: str, most: int) -> FoundCards:
        """Return what `browse` finds. A search that is cancelled before its turn does not run. Raises as `browse`."""
        return await wrap_future(self._thread.submit(self._find, line, most))

    def close(self) -> None:
        self._thread.submit(self._close)
        self._thread.shutdown(wait=False)

    def _find(self, line: str, most: int) -> FoundCards:
        if self._reader is None:
            self._reader = self._workspace.reader()
        self._reader.adopt(self._workspace.settings)
        return browse(self._reader, line, most)

    def _close(self) -> None:
        if self._reader is not None:
            self._reader.store.close()
