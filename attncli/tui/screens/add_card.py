"""A card of one's own, written in the app: a topic, a question, an answer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input, TextArea

from attncli.errors import AttnError
from attncli.practice.cards.card_draft import CardDraft, drop_draft, keep_draft, read_draft
from attncli.practice.new_card import add_card
from attncli.tui.app_errors import fault_text
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widgets.plain import Plain, heading
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say

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
        from attncli.tui.screens.confirm import ConfirmScreen

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
