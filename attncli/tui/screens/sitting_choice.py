"""What the screens share on which a sitting is chosen: rows whose values change, and a row that starts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar

from textual.binding import Binding, BindingType
from textual.content import Content

from attncli.tui.columns import left
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widgets.option_rows import Rows

START = "start"

W = TypeVar("W")


class WishRows(Rows):
    """Enter or a click takes the next value of a row, and starts on the first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "screen.change(-1)", "key.change", show=False),
        Binding("right", "screen.change(1)", "key.change", key_display="←/→"),
        Binding("enter,space", "select", "key.change", show=False),
    ]


class WishScreen(AttnScreen, Generic[W]):
    """Begins with `wish`, a frozen dataclass; its `FIELDS` are rows."""

    FIELDS: ClassVar[tuple[str, ...]]
    NAME_CELLS: ClassVar[int] = 20

    def __init__(self, wish: W) -> None:
        super().__init__()
        self.wish = wish

    @abstractmethod
    def rows(self) -> list[tuple[str, Content]]: ...

    @abstractmethod
    def values(self, name: str) -> Sequence[Any]:
        """What a row may be, in the order in which it is gone through."""

    @abstractmethod
    def label(self, name: str) -> str: ...

    @abstractmethod
    def named(self, name: str, value: Any) -> str: ...

    def focus_first(self) -> None:
        self.query_one(Rows).focus()

    def row(self, name: str) -> Content:
        value = self.named(name, getattr(self.wish, name))
        label = left(self.label(name), self.NAME_CELLS)
        return Content.assemble("  ", (label, "$text-muted"), f"‹ {value} ›")

    def action_change(self, step: int) -> None:
        row = self.query_one(Rows).highlighted_option
        if row is not None and row.id in self.FIELDS:
            self.change(row.id, step)

    def change(self, name: str, step: int) -> None:
        values = self.values(name)
        place = values.index(getattr(self.wish, name)) + step
        self.wish = replace(self.wish, **{name: values[place % len(values)]})  # type: ignore[type-var]
        self.show_anew()

    def show_anew(self) -> None:
        self.query_one(Rows).show_rows(self.rows())
