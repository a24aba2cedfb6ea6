"""A list to choose from, whose keys the key bar can name."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

_BESIDE, _MOST = 7, 110


def row_width(screen_width: int) -> int:
    """The cells that a row has on a screen: its margins, its padding and the scrollbar take the rest."""
    return max(20, min(_MOST, screen_width - _BESIDE))


class Rows(OptionList):
    """Rows with ids; Enter opens the one under the cursor (arrows, j and k)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "key.open", key_display="Enter"),
        Binding("j", "cursor_down", "key.down", show=False, key_display="↓ j"),
        Binding("k", "cursor_up", "key.up", show=False, key_display="↑ k"),
    ]

    def __init__(self, rows: list[tuple[str, Content]] | None = None, *, id: str | None = None) -> None:
        super().__init__(*(Option(row, id=row_id) for row_id, row in rows or ()), id=id, markup=False)
        if rows:
            self.highlighted = 0

    def enter(self) -> None:
        """Takes the focus, unless there is nothing to choose."""
        if self.option_count:
            self.focus()

    def show_rows(self, rows: list[tuple[str, Content]], stay: bool = True) -> None:
        """Replaces the rows; the cursor stays on the same id where it still exists, or goes to the first row."""
        before = self.highlighted_option.id if stay and self.highlighted_option else None
        self.clear_options()
        self.add_options([Option(row, id=id) for id, row in rows])
        ids = [id for id, _ in rows]
        self.highlighted = ids.index(before) if before in ids else (0 if rows else None)

    def add_rows(self, rows: list[tuple[str, Content]]) -> None:
        """More rows below those that are there."""
        self.add_options([Option(row, id=id) for id, row in rows])

    def action_page_up(self) -> None:
        if self.scrollable_content_region:
            super().action_page_up()

    def action_page_down(self) -> None:
        """Nothing where there is no room for a row: a page has no height then."""
        if self.scrollable_content_region:
            super().action_page_down()
