"""Rows with a mark in front, one of them under a cursor: points to tick, options to choose, items to order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.errors import NoWidget
from textual.message import Message
from textual.style import Style

from attncli.tui.widgets.even import Even
from attncli.tui.widgets.lined import Lined

_APART = Style.from_meta({"apart": True})
"""What stands between a mark and its text looks like both, and is drawn as neither: they are two columns."""


class MarkedRow(Lined):
    """A mark and a text that may wrap beside it; clicking it chooses it."""

    DEFAULT_CSS = """
    MarkedRow { height: auto; width: 1fr; }
    """

    class Chosen(Message):
        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, index: int, mark: str, text: Content, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.index = index
        self._mark, self._text = mark, text

    def show(self, mark: str, text: Content) -> None:
        if mark != self._mark or not text.is_same(self._text):
            self._mark, self._text = mark, text
            self.refresh(layout=True)

    def lines(self, width: int) -> list[Content]:
        room = cell_len(self._mark) + 1
        first, *others = self._text.wrap(max(1, width - room)) or [Content("")]
        return [
            Content.assemble(self._mark, (" ", _APART), first),
            *(Content.assemble((" " * room, _APART), line) for line in others),
        ]

    def on_click(self) -> None:
        self.post_message(self.Chosen(self.index))


class MarkedRows(Even, Vertical, can_focus=True):
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
            under_cursor = "-cursor" if self._is_under_cursor(index) else None
            yield MarkedRow(index, self._marked(index), self.text(index), classes=under_cursor)

    def close(self) -> None:
        """The answer is handed in: nothing is chosen any more, and the rows say what was right."""
        self.closed = True
        self.refresh_rows()

    def refresh_rows(self) -> None:
        for row in self.query(MarkedRow):
            row.show(self._marked(row.index), self.text(row.index))
            row.set_class(self._is_under_cursor(row.index), "-cursor")

    def press(self, letter: str) -> bool:
        """Chooses the row that `letter` (a, b, c …) names; False where there is none."""
        index = ord(letter) - ord("a") if len(letter) == 1 else -1
        if self.closed or not 0 <= index < len(self.texts):
            return False
        self.cursor = index
        self.choose(index)
        self._show_cursor()
        return True

    def action_cursor(self, step: int) -> None:
        target = self.cursor + step
        if self.closed or not 0 <= target < len(self.texts) or not self._visible(self.cursor):
            raise SkipAction
        self.cursor = target
        self._show_cursor()

    def _show_cursor(self) -> None:
        """Nothing is to be seen of rows that are not mounted yet, or any more."""
        self.refresh_rows()
        for row in self.query(MarkedRow):
            if row.index == self.cursor:
                row.scroll_visible(animate=False)

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
        pointer = "›" if self._is_under_cursor(index) else " "
        return pointer + self.mark(index)

    def _is_under_cursor(self, index: int) -> bool:
        return index == self.cursor and not self.closed

    def _visible(self, index: int) -> bool:
        rows = [row for row in self.query(MarkedRow) if row.index == index]
        try:
            return bool(rows) and bool(self.screen.find_widget(rows[0]).visible_region)
        except NoWidget:  # in a terminal that is too small nothing is laid out
            return False
