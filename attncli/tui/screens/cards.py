"""The screens on which cards are read, searched and written: CardScreen, SearchScreen and AddCardScreen.

Typed text survives a change of language, an error and, as a draft, the end of the app. A search runs in its own thread,
so that keys are handled meanwhile; the newest query wins.
"""

from __future__ import annotations

from asyncio import wrap_future
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.worker import Worker, WorkerCancelled

from attncli.domain.log_row import RowKind
from attncli.errors import AttnError
from attncli.i18n import N_, Localised, _, ngettext
from attncli.memory.replay import ANNOTATIONS, HOLDS
from attncli.practice.authoring import CardDraft, add_card, drop_draft, keep_draft, read_draft
from attncli.practice.library import MOST_CHARACTERS, require_length
from attncli.practice.marking import Asked
from attncli.practice.queue import STATES, FoundCards, browse
from attncli.practice.record import annotation, hold, set_note, take_back, toggle_tag
from attncli.practice.workspace import Workspace
from attncli.tui.formulas import inline
from attncli.tui.screens.base import AttnScreen, Navigation, edit_externally, error_text
from attncli.tui.widgets.answers import Rows, row_width
from attncli.tui.widgets.basics import LineField, PassingField, Plain, TitleBar, heading, left, mount_anew
from attncli.tui.widgets.card import Sheet, asked_parts

if TYPE_CHECKING:
    from textual.widgets import TextArea

# Reading a card

_UNDONE: dict[RowKind, Localised] = {
    RowKind.REVIEW: _("Undone: rating of {card}"),
    **dict.fromkeys(HOLDS, _("Undone: bury, suspend or unsuspend of {card}")),
    **dict.fromkeys(ANNOTATIONS, _("Undone: last tag or note of {card}")),
    RowKind.FIT: _("Undone: last fit of the parameters"),
    RowKind.MOCK: _("Undone: last step of the mock interview"),
    **dict.fromkeys((RowKind.ATTEMPT, RowKind.REPAIR), _("Undone: last attempt at {card}")),
}
_HELD: dict[str, Localised] = {
    "bury": _("{card} buried until tomorrow"),
    "suspend": _("{card} suspended"),
    "unsuspend": _("{card} unsuspended"),
}


class CardScreen(AttnScreen):
    """A card with the learner's tags and note, with `question_first` behind a reveal. Reading changes no schedule."""

    CSS_PATH = "cards.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "reveal", N_("Show answer"), key_display="Space"),
        Binding("f", "flag", N_("Flag")),
        Binding("t", "write('tag')", N_("Tag")),
        Binding("n", "write('note')", N_("Note")),
        Binding("e", "edit", N_("Edit")),
        Binding("minus", "hold('bury')", N_("Bury"), show=False, key_display="-"),
        Binding("exclamation_mark", "hold('suspend')", N_("Suspend"), key_display="!"),
        Binding("equals_sign", "hold('unsuspend')", N_("Unsuspend"), key_display="="),
        Binding("u", "undo", N_("Undo")),
        Binding("x", "experiment", N_("Run the experiment")),
    ]

    def __init__(self, id: str, question_first: bool = False, write: str = "") -> None:
        super().__init__()
        self.card_id, self.question_first, self.write = id, question_first, write
        self.asked: Asked | None = None
        self.field_holds = "note"

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
            parts.append(Plain(_("Press Space or Enter for the answer.")[self.lang], classes="note"))
        return parts

    def focus_first(self) -> None:
        self.query_one(Sheet).focus()
        self._show_annotation()
        if self.write:
            self.action_write(self.write)
            self.write = ""

    def _annotation(self) -> Content:
        found = annotation(self.workspace, self.card_id)
        lines = []
        if found.tags:
            lines.append(Content.styled(" ".join(f"#{tag}" for tag in found.tags), "$accent"))
        if found.note:
            lines.append(Content.assemble((_("Your note")[self.lang] + ": ", "$text-muted"), found.note))
        return Content("\n").join(lines)

    def _show_annotation(self) -> None:
        widget = self.query_one("#annotation", Plain)
        widget.update(text := self._annotation())
        widget.display = bool(text)

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
        self.attn.show("experiment", self._asked().card.experiment)

    def action_flag(self) -> None:
        self.flag(self.card_id)
        self._show_annotation()

    def action_write(self, what: str) -> None:
        field = self.query_one(PassingField)
        self.field_holds = what
        placeholder = (
            _("Your note on this card; Enter saves")
            if what == "note"
            else _("Tag to add, or to remove if the card has it; Enter saves")
        )
        field.placeholder = placeholder[self.lang]
        field.value = annotation(self.workspace, self.card_id).note if what == "note" else ""
        field.display = True
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        with self.attn.showing_errors():
            if self.field_holds == "note":
                set_note(self.workspace, self.card_id, event.value)
            elif event.value.strip():
                toggle_tag(self.workspace, self.card_id, event.value)
            self.action_leave_field()
            self._show_annotation()

    def action_leave_field(self) -> None:
        self.query_one(PassingField).display = False
        self.query_one(Sheet).focus()

    async def action_edit(self) -> None:
        """Open the learner's own card in their editor; a bundled card cannot be edited."""
        file = Path(self.workspace.store.index.owner(self._asked().card.id))
        if not file.is_relative_to(self.workspace.home.banks):
            text = _("{card} is a bundled card and cannot be edited. Add a note instead.", card=self.card_id)
            self.notify(text[self.lang])
            return
        edit_externally(self, file)
        self.workspace.read_banks()
        self.asked = None
        await self.switch_language()

    def action_undo(self) -> None:
        done = take_back(self.workspace)
        self.notify(_UNDONE[done.kind].format(card=done.subject)[self.lang])
        self._show_annotation()

    def action_hold(self, kind: str) -> None:
        """Suspend, bury or unsuspend the card."""
        hold(self.workspace, RowKind(kind), self.card_id)
        self.notify(_HELD[kind].format(card=self.card_id)[self.lang])


# Search

_AT_ONCE, _MOST_ROWS, _ID = 40, 200, 10
_REST_AFTER_SECONDS = 0.25
"""Rows below the screen are added when typing pauses: they would take most of the time of each key."""


class SearchField(LineField):
    """A field that searches while one types; Enter opens the first result, ↓ goes to the list. A long text is cut."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.open_first", N_("Open"), key_display="Enter"),
        Binding("down", "screen.to_results", N_("Results"), key_display="↓"),
    ]

    def replace(self, text: str, start: int, end: int) -> None:
        value = f"{self.value[:start]}{text}{self.value[end:]}"
        with cast(Navigation, self.app).showing_errors():
            require_length(value)
        super().replace(text[: max(0, len(text) + MOST_CHARACTERS - len(value))], start, end)


class SearchScreen(AttnScreen):
    """Search over all cards in English and Chinese; the query stays while a card is open."""

    CSS_PATH = "cards.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "to_query", N_("Search"), key_display="/"),
        Binding("a", "add", N_("Add a card")),
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
        return TitleBar(_("Search")[self.lang])

    def body(self) -> Iterable[Widget]:
        yield SearchField(self.query_text, placeholder=_("Search questions and answers, English or Chinese")[self.lang])
        yield Plain(
            _("Filters: #tag · is:{states} · kind:numeric · level:screen · topic:kv", states="|".join(STATES))[
                self.lang
            ],
            id="filters",
        )
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
        """Show all cards at once for an empty query, else the matches as soon as they are found."""
        self._lookup = None
        if self.query_text.strip():
            self._lookup = self.run_worker(partial(self._find, self.query_text), group="search", exclusive=True)
        else:
            self.workers.cancel_group(self, "search")
            self._show(browse(self.workspace, "", _MOST_ROWS))

    async def _find(self, line: str) -> None:
        try:
            found, problem = await self._searches.find(line, _MOST_ROWS), ""
        except AttnError as error:
            found, problem = FoundCards([], 0, {}, ()), error_text(error, self.lang)
        self._show(found, problem)

    def _show(self, found: FoundCards, problem: str = "") -> None:
        self.found = found
        self.query_one(Rows).show_rows(self._rows(found, 0, _AT_ONCE), stay=False)
        self.set_timer(_REST_AFTER_SECONDS, partial(self._show_rest, found))
        count = found.count
        status = ngettext("{count} card", "{count} cards", count)[self.lang]
        if count > _MOST_ROWS:
            status = _("{shown} of {count} cards; type more", shown=_MOST_ROWS, count=count)[self.lang]
        self.query_one(TitleBar).show(_("Search")[self.lang], status=status)
        lines = (
            [_("Unknown filter, ignored: {filters}", filters=" ".join(found.unknown))[self.lang]]
            if found.unknown
            else []
        )
        lines += [] if found.cards else [problem or _("No cards match “{query}”.", query=self.query_text)[self.lang]]
        nothing = self.query_one("#nothing", Plain)
        nothing.display = bool(lines)
        nothing.update(Content("\n".join(lines)))

    async def searched(self) -> None:
        """Wait until the text in the field has been searched for."""
        self._look_for(self.query_one(SearchField).value)
        while (running := self._lookup) is not None and not running.is_finished:
            with suppress(WorkerCancelled):
                await running.wait()

    def _show_rest(self, found: FoundCards) -> None:
        """Add the rows that were held back, unless another search has replaced them."""
        for rows in self.query(Rows) if found is self.found else ():
            rows.add_rows(self._rows(found, _AT_ONCE, _MOST_ROWS))

    def _rows(self, found: FoundCards, first: int, end: int) -> list[tuple[str, Content]]:
        return [(card.id, self._row(found, card.id, card.question[self.lang])) for card in found.cards[first:end]]

    def _row(self, found: FoundCards, id: str, question: str) -> Content:
        noted = found.annotations.get(id)
        marks = " ".join([f"#{tag}" for tag in noted.tags] + ["✎"] * bool(noted.note)) if noted else ""
        return Content.assemble(
            (left(id, _ID), "$text-muted"),
            (f"{marks} " if marks else "", "$accent"),
            inline(" ".join(question.split())),
        ).truncate(row_width(self.app.size.width), ellipsis=True)

    async def action_open_first(self) -> None:
        await self.searched()
        self.query_one(Rows).action_select()

    async def action_to_results(self) -> None:
        await self.searched()
        self.query_one(Rows).enter()

    def on_unmount(self) -> None:
        self._searches.close()

    async def on_screen_resume(self) -> None:
        """Search before the first frame, and again when tags, notes and own cards may have changed."""
        if self.query(Rows):
            self._search()

    def action_add(self) -> None:
        self.attn.show("add-card")

    def action_to_query(self) -> None:
        field = self.query_one(SearchField)
        field.focus()
        field.select_all()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self.attn.show("card", event.option_id, question_first=True)


class SearchThread:
    """Runs one search at a time in a thread, over a workspace that belongs to the thread."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._thread = ThreadPoolExecutor(1, "search")
        self._reader: Workspace | None = None

    async def find(self, line: str, most: int) -> FoundCards:
        """Return the result of `browse`. A search cancelled before its turn does not run. Raises as `browse`."""
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


# Adding a card

OWN_TOPIC = "mine"
SECONDS_BETWEEN_DRAFTS = 5.0
"""The most typing that a killed process loses."""


class AddCardScreen(AttnScreen):
    """A topic, a question and an answer, which become a card of the learner's own; unsaved text is a draft."""

    CSS_PATH = "cards.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", N_("Save"), key_display="Ctrl+S", priority=True),
        Binding("escape", "back", N_("Back"), key_display="Esc", priority=True),
    ]

    def __init__(self, topic: str | None = None) -> None:
        super().__init__()
        self.draft = CardDraft(topic or OWN_TOPIC)
        self.problem = ""
        self.saved = self.draft

    def title_bar(self) -> TitleBar:
        return TitleBar(_("New card")[self.lang], status=str(self.workspace.home.banks))

    def body(self) -> Iterable[Widget]:
        from textual.widgets import TextArea  # loads a parser, which reading cards does not need

        self._restore_draft()
        with Vertical(id="fields"):
            yield heading(_("Topic")[self.lang])
            yield Input(self.draft.topic, id="topic", select_on_focus=False)
            yield heading(_("Question")[self.lang])
            yield Input(self.draft.question, id="question", select_on_focus=False)
            yield heading(_("Answer")[self.lang])
            yield TextArea(self.draft.answer, id="answer", tab_behavior="focus")
        yield Plain(
            self.problem or _("One language is enough. Write formulas in $…$, code in `…`. Ctrl+S saves.")[self.lang],
            id="note",
        )

    def _restore_draft(self) -> None:
        """Load the draft from the last run, unless something is typed already."""
        self.problem = ""
        if self.draft.is_empty:
            try:
                self.draft = self.saved = read_draft(self.workspace.home.card_draft, self.draft)
            except AttnError as error:
                self.problem = error_text(error, self.lang)

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(SECONDS_BETWEEN_DRAFTS, self._autosave)

    def focus_first(self) -> None:
        self.query_one("#question", Input).focus()

    def on_text_area_changed(self) -> None:
        self.on_input_changed()

    def on_input_changed(self) -> None:
        if self.query("#answer"):  # not while the language is being changed
            self._read_fields()
            self.attn.save_text = None if self.draft.is_empty and self.saved.is_empty else self._save_draft

    def _read_fields(self) -> None:
        """Update the draft from the fields: with fast keys, `Changed` arrives after the key that followed it."""
        topic, question = (self.query_one(f"#{name}", Input).value for name in ("topic", "question"))
        answer = cast("TextArea", self.query_one("#answer"))
        self.draft = CardDraft(topic, question, answer.text)

    def _save_draft(self) -> bool:
        """Save the draft, or delete one that was emptied; return False if that fails."""
        self._read_fields()
        path = self.workspace.home.card_draft
        try:
            drop_draft(path) if self.draft.is_empty else keep_draft(path, self.draft)
        except AttnError as error:
            self.query_one("#note", Plain).update(error_text(error, self.lang))
            return False
        self.saved = self.draft
        return True

    def _autosave(self) -> None:
        """Save the draft if it has changed, but never over one that could not be read."""
        if self.query("#answer") and not self.problem and self.draft != self.saved:
            self._save_draft()

    def on_unmount(self) -> None:
        self.attn.save_text = None

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.focus_next()

    def action_back(self) -> None:
        self._leave()

    @work
    async def _leave(self) -> None:
        """Leave, after asking if there is typed text."""
        question = _("Leave and discard what you typed?")
        if self.draft.is_empty or await self.confirm(question, _("y  Leave"), _("n  Keep writing")):
            self._done()

    def action_save(self) -> None:
        self._read_fields()
        note, draft = self.query_one("#note", Plain), self.draft
        if not draft.question.strip() or not draft.answer.strip():
            note.update(_("Enter a question and an answer.")[self.lang])
            return
        try:
            new = add_card(self.workspace, draft.topic, draft.question, draft.answer)
            self.workspace.read_banks()
        except AttnError as error:
            note.update(error_text(error, self.lang))
            return
        self.notify(_("Saved {card} in {file}", card=new.id, file=new.path)[self.lang])
        self._done()

    def _done(self) -> None:
        """Delete the draft and go back."""
        self.attn.save_text = None
        try:
            drop_draft(self.workspace.home.card_draft)
        except AttnError as error:
            self.notify(error_text(error, self.lang), severity="error")
        self.attn.go_back()
