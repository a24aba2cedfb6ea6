"""Rows with a mark in front, one of them under a cursor: points to tick, options to choose, items to order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.errors import NoWidget
from textual.message import Message

from attncli.tui.widgets.plain import Plain


class MarkedRow(Horizontal):
    """A mark and a text that may wrap; clicking it chooses it."""

    DEFAULT_CSS = """
    MarkedRow { height: auto; width: 1fr; }
    MarkedRow > .mark { width: auto; padding: 0 1 0 0; }
    MarkedRow > .text { width: 1fr; }
    """

    class Chosen(Message):
        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, index: int, mark: str, text: Content) -> None:
        super().__init__()
        self.index = index
        self._mark, self._text = mark, text

    def compose(self) -> ComposeResult:
        yield Plain(self._mark, classes="mark")
        yield Plain(self._text, classes="text")

    def show(self, mark: str, text: Content) -> None:
        """Where a key came before the row is composed, it is composed so."""
        self._mark, self._text = mark, text
        for part, shown in ((".mark", mark), (".text", text)):
            for plain in self.query(part).results(Plain):
                plain.update(shown)

    def on_click(self) -> None:
        self.post_message(self.Chosen(self.index))


class MarkedRows(Vertical, can_focus=True):
    """The rows of `texts`. Subclasses say how a row is marked and what choosing it does."""

    DEFAULT_CSS = """
    MarkedRows { height: auto; width: 1fr; margin: 0 0 1 0; }
    MarkedRows:focus > MarkedRow.-cursor { background: $panel; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor(-1)", "key.up", show=False),
        Binding("down", "cursor(1)", "key.down", show=False),
        Binding("space", "choose_cursor", "key.tick", show=False),
    ]

    def __init__(self, texts: Sequence[Content]) -> None:
        super().__init__()
        self.texts = list(texts)
        self.cursor = 0
        self.closed = False

    def mark(self, index: int) -> str:
        raise NotImplementedError

    def choose(self, index: int) -> None:
        raise NotImplementedError

    def text(self, index: int) -> Content:
        return self.texts[index]

    def compose(self) -> ComposeResult:
        for index in range(len(self.texts)):
            yield MarkedRow(index, self._marked(index), self.text(index))

    def on_mount(self) -> None:
        self.refresh_rows()

    def refresh_rows(self) -> None:
        for row in self.query(MarkedRow):
            row.show(self._marked(row.index), self.text(row.index))
            row.set_class(row.index == self.cursor and not self.closed, "-cursor")

    def press(self, letter: str) -> bool:
        """Chooses the row that `letter` (a, b, c …) names; False where there is none."""
        index = ord(letter) - ord("a") if len(letter) == 1 else -1
        if self.closed or not 0 <= index < len(self.texts):
            return False
        self.cursor = index
        self.choose(index)
        self.refresh_rows()
        self.query(MarkedRow)[index].scroll_visible(animate=False)
        return True

    def action_cursor(self, step: int) -> None:
        target = self.cursor + step
        if self.closed or not 0 <= target < len(self.texts) or not self._visible(self.cursor):
            raise SkipAction
        self.cursor = target
        self.refresh_rows()
        self.query(MarkedRow)[target].scroll_visible(animate=False)

    def action_choose_cursor(self) -> None:
        if self.closed:
            raise SkipAction
        self.choose(self.cursor)
        self.refresh_rows()

    def on_marked_row_chosen(self, message: MarkedRow.Chosen) -> None:
        message.stop()
        if not self.closed:
            self.cursor = message.index
            self.choose(message.index)
            self.refresh_rows()

    def _marked(self, index: int) -> str:
        pointer = "›" if index == self.cursor and not self.closed else " "
        return pointer + self.mark(index)

    def _visible(self, index: int) -> bool:
        row = self.query(MarkedRow)[index]
        try:
            return bool(self.screen.find_widget(row).visible_region)
        except NoWidget:  # in a terminal that is too small nothing is laid out
            return False
