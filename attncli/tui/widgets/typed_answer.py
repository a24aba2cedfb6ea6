"""Answers that are typed: one field for a number, one for each blank of a cloze."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from attncli.domain.text import Lang
from attncli.practice.cards.ask import Asked
from attncli.tui.widget_events import Answered
from attncli.tui.widgets.plain import Plain
from attncli.tui.widgets.typed_in_order import KeysInOrder
from attncli.words.app_texts import say

_TYPED_SIGNS = frozenset({"minus", "slash"})
_COMMANDS = frozenset({"u", "l", "q", "exclamation_mark", "question_mark"})


class AnswerField(KeysInOrder, Input):
    """A one-line field; Enter goes on to the next one, or answers.

    With `numbers`, an empty field leaves the keys with which no number begins to the screen, so that undo, help and
    the like need no Escape first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "key.submit", show=True),
        Binding("escape", "leave", "key.leave-field", key_display="Esc"),
        Binding("up", "app.focus_previous", "key.up", show=False),
        Binding("down", "app.focus_next", "key.down", show=False),
    ]

    def __init__(self, value: str, numbers: bool, name: str, disabled: bool) -> None:
        super().__init__(value, name=name, disabled=disabled, select_on_focus=False)
        self.numbers = numbers

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Whether the key is typed; Textual does not count `minus` and `slash` among the characters."""
        if self._leaves(key):
            return False
        return super().check_consume_key(key, character) or key in _TYPED_SIGNS

    async def on_key(self, event: events.Key) -> None:
        if self._leaves(event.key):
            event.prevent_default()  # and what is mixed in is not asked

    def _leaves(self, key: str) -> bool:
        return self.numbers and not self.value and key in _COMMANDS

    def action_leave(self) -> None:
        """So that the single-letter keys of the screen work again."""
        self.screen.set_focus(None)


class TypedAnswer(Vertical):
    """`labels` in front of the fields, `unit` behind; what is typed goes to `asked.texts` at once."""

    DEFAULT_CSS = """
    TypedAnswer { height: auto; width: 1fr; margin: 0 0 1 0; }
    TypedAnswer Horizontal { height: 1; }
    TypedAnswer .label, TypedAnswer .unit { width: auto; padding: 0 1 0 0; }
    TypedAnswer .unit { padding: 0 1; color: $text-muted; }
    TypedAnswer AnswerField { width: 32; height: 1; border: none; padding: 0 1; background: $panel; }
    TypedAnswer AnswerField:focus { background: $primary 25%; border: none; }
    """

    numbers: ClassVar[bool] = False

    def __init__(self, asked: Asked, labels: list[str], unit: str, lang: Lang) -> None:
        super().__init__()
        self.asked, self.labels, self.unit = asked, labels, unit
        self.lang: Lang = lang

    def compose(self) -> ComposeResult:
        for index, label in enumerate(self.labels):
            with Horizontal():
                yield Plain(f"{label}{self._sign(index)}", classes="label")
                yield AnswerField(self.asked.texts[index], self.numbers, str(index), self.asked.revealed)
                yield Plain(self.unit, classes="unit")

    def _sign(self, index: int) -> str:
        marked = self.asked.marked
        if marked is None:
            return ""
        right = marked.parts[index] if index < len(marked.parts) else marked.correct
        return " ✓" if right else " ✗"

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        place = int(event.input.name or 0)
        emptied_or_begun = bool(self.asked.texts[place]) != bool(event.value)
        self.asked.texts[place] = event.value
        if emptied_or_begun:  # other keys are the screen's now, and the key bar says which
            self.screen.refresh_bindings()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        fields = list(self.query(AnswerField))
        # Where keys come fast, what changed is told after the Enter that followed it.
        self.asked.texts[:] = [field.value for field in fields]
        place = fields.index(event.input) if isinstance(event.input, AnswerField) else 0
        if place + 1 < len(fields):
            self.screen.set_focus(fields[place + 1])
        else:
            self.post_message(Answered())


class ClozeAnswer(TypedAnswer):
    """The fields stand in the order of the blanks."""

    def __init__(self, asked: Asked, lang: Lang) -> None:
        labels = [say("cloze.prompt", lang, n=number) for number in range(1, len(asked.texts) + 1)]
        super().__init__(asked, labels, "", lang)


class NumericAnswer(TypedAnswer):
    """One field; `48`, `1.5e3`, `3/4`, `1.2 TiB` and `1750亿` are all understood."""

    numbers = True

    def __init__(self, asked: Asked, lang: Lang) -> None:
        super().__init__(asked, [say("numeric.prompt", lang)], asked.task.unit if asked.task else "", lang)
