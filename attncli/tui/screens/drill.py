"""Drill: which cards to practise beyond the schedule, chosen by topic, kind, level and weakness."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList

from attncli.domain.card import KINDS, LEVELS
from attncli.errors import NothingFits
from attncli.practice.queue import Wish, fitting, without
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widgets.answers import Rows, row_width
from attncli.tui.widgets.basics import Plain, TitleBar, left
from attncli.words.app_texts import say

# What the screens share on which a sitting is chosen: rows whose values change, and a row that starts.

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


COUNTS = (5, 10, 20, 50, 100)


class DrillScreen(WishScreen[Wish]):
    """Begins with `wish`; what is left open there is chosen here."""

    CSS_PATH = Path(__file__).with_name("drill.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("s", "start", "key.start")]
    FIELDS = ("topic", "kind", "level", "weak", "count", "cram")

    def title_bar(self) -> TitleBar:
        return TitleBar(say("drill.title", self.lang))

    def body(self) -> Iterable[Widget]:
        yield WishRows(self.rows(), id="wish")
        yield Plain(say("drill.note", self.lang), id="note")

    def rows(self) -> list[tuple[str, Content]]:
        return [(START, self._start_row()), *((name, self.row(name)) for name in self.FIELDS)]

    def _start_row(self) -> Content:
        lang = self.lang
        if count := len(fitting(self.workspace, self.wish)):
            asked = min(self.wish.count, count)
            return Content.styled(f"▶ {say('drill.start', lang, asked=asked, count=count)}", "bold $primary")
        named = without(self.workspace, self.wish)
        less = [say("drill.without", lang, name=say(f"drill.{name}", lang), count=n) for name, n in named.items()]
        return Content.assemble((f"✗ {say('drill.nothing', lang)} ", "bold $warning"), " · ".join(less)).truncate(
            row_width(self.app.size.width), ellipsis=True
        )

    def label(self, name: str) -> str:
        return say(f"drill.{name}", self.lang)

    def named(self, name: str, value: Any) -> str:
        lang = self.lang
        if name == "count":
            return say("drill.cards", lang, count=value)
        if isinstance(value, bool):
            return say("drill.yes" if value else "drill.no", lang)
        if name == "topic":
            return self.topic_title(value) if value else say("home.all", lang)
        return say(f"review.{name}-{value}", lang) if value else say("drill.any", lang)

    def values(self, name: str) -> Sequence[Any]:
        match name:
            case "topic":
                return [None, *(topic.id for topic in self.workspace.library.topics())]
            case "kind":
                return [None, *KINDS]
            case "level":
                return [None, *LEVELS]
            case "count":
                return sorted({*COUNTS, self.wish.count})
        return [False, True]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_id == START:
            self.action_start()
        elif event.option_id is not None:
            self.change(event.option_id, 1)

    def action_start(self) -> None:
        """The queue of what fits; a row says already where nothing does."""
        try:
            self.attn.start_drill(self.wish)
        except NothingFits:
            self.show_anew()
