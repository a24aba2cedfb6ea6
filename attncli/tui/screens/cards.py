"""One card to read, the question first where it was looked up; and what the learner marks and writes on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from attncli.practice.cards import hold
from attncli.practice.cards.ask import Asked
from attncli.practice.cards.tag_flag_note import annotation, set_note, toggle_flag, toggle_tag
from attncli.practice.log.undo import sort_of_act, take_back
from attncli.practice.workspace import Workspace
from attncli.tui.choose_editor import edit_outside
from attncli.tui.mounting import mount_anew
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widgets.card import Sheet, asked_parts
from attncli.tui.widgets.line_field import PassingField
from attncli.tui.widgets.plain import Plain
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say


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
        self._hold(hold.suspend, "review.suspended")

    def action_bury(self) -> None:
        self._hold(hold.bury, "review.buried")

    def action_unsuspend(self) -> None:
        self._hold(hold.unsuspend, "review.unsuspended")

    def _hold(self, change: Callable[[Workspace, str], str], text: str) -> None:
        change(self.workspace, self.card_id)
        self.notify(say(text, self.lang, card=self.card_id))
