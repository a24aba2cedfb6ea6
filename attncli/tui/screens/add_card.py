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
from attncli.practice.cards.new_card import add_card
from attncli.tui.faults import fault_text
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widgets.plain import Plain
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say

OWN_TOPIC = "mine"


class AddCardScreen(AttnScreen):
    """What was typed stays until it is kept, over a change of language and over an error too."""

    CSS_PATH = Path(__file__).with_suffix(".tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "key.save", key_display="Ctrl+S", priority=True),
        Binding("escape", "back", "key.back", key_display="Esc", priority=True),
    ]

    def __init__(self, topic: str | None = None) -> None:
        super().__init__()
        self.topic, self.question, self.answer = topic or OWN_TOPIC, "", ""

    def title_bar(self) -> TitleBar:
        return TitleBar(say("add.title", self.lang), status=str(self.workspace.home.banks))

    def body(self) -> Iterable[Widget]:
        with Vertical(id="fields"):
            yield Plain(say("add.topic", self.lang), classes="heading")
            yield Input(self.topic, id="topic")
            yield Plain(say("add.question", self.lang), classes="heading")
            yield Input(self.question, id="question")
            yield Plain(say("add.answer", self.lang), classes="heading")
            yield TextArea(self.answer, id="answer", tab_behavior="focus")
        yield Plain(say("add.note", self.lang), id="note")

    def focus_first(self) -> None:
        self.query_one("#question", Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "topic":
            self.topic = event.value
        else:
            self.question = event.value

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self.answer = event.text_area.text

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.focus_next()

    def action_back(self) -> None:
        self._leave()

    @work
    async def _leave(self) -> None:
        """What was typed goes only where that is meant."""
        from attncli.tui.screens.confirm import ConfirmScreen

        texts = [say(key, self.lang) for key in ("add.leave", "add.yes", "add.no")]
        is_empty = not (self.question.strip() or self.answer.strip())
        if is_empty or await self.app.push_screen_wait(ConfirmScreen(*texts)):
            self.attn.go_back()

    def action_save(self) -> None:
        note = self.query_one("#note", Plain)
        # Where keys come fast, what changed is told after the key that followed it.
        self.topic, self.question = (self.query_one(f"#{name}", Input).value for name in ("topic", "question"))
        self.answer = self.query_one(TextArea).text
        if not self.question.strip() or not self.answer.strip():
            note.update(say("add.incomplete", self.lang))
            return
        try:
            new = add_card(self.workspace, self.topic, self.question, self.answer)
            self.workspace.read_banks()
        except AttnError as error:
            note.update(fault_text(error, self.lang))
            return
        self.notify(say("add.kept", self.lang, card=new.id, file=new.path))
        self.attn.go_back()
