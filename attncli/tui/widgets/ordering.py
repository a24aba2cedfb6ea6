"""The items of an ordering card, moved up and down."""

from __future__ import annotations

from typing import ClassVar

from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content

from attncli.domain.card import OrderingCard
from attncli.domain.text import Lang
from attncli.practice.cards.ask import Asked
from attncli.tui.markup import inline
from attncli.tui.widgets.answers import MarkedRows


class OrderingAnswer(MarkedRows):
    """Arrows (j, k) choose an item, with Shift (J, K) they move it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+up,K", "move(-1)", "key.move-item", key_display="Shift+↑/↓"),
        Binding("shift+down,J", "move(1)", "key.item-down", show=False),
        Binding("k", "cursor(-1)", "key.up", show=False),
        Binding("j", "cursor(1)", "key.down", show=False),
    ]

    def __init__(self, asked: Asked, card: OrderingCard, lang: Lang) -> None:
        self.asked = asked
        self._names = {key: inline(text[lang]) for key, text in card.items}
        super().__init__(list(self._names.values()))
        self.closed = asked.revealed

    def mark(self, index: int) -> str:
        return f"{index + 1}."

    def text(self, index: int) -> Content:
        return self._names[self.asked.item_order[index]]

    def choose(self, index: int) -> None:
        """A click or a letter only moves the cursor."""

    def press(self, letter: str) -> bool:
        return False

    def action_move(self, step: int) -> None:
        if self.closed:
            raise SkipAction
        target = self.cursor + step
        if 0 <= target < len(self.asked.item_order):
            order = self.asked.item_order
            order[self.cursor], order[target] = order[target], order[self.cursor]
            self.cursor = target
            self._show_cursor()
