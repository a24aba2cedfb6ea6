"""Drill: which cards to practise beyond the schedule, chosen by topic, kind, level and weakness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList

from attncli.domain.card import KINDS, LEVELS
from attncli.errors import NothingFits
from attncli.practice.cards.choose_cards import Wish, fitting, without
from attncli.tui.screens.sitting_choice import START, WishRows, WishScreen
from attncli.tui.widgets.option_rows import row_width
from attncli.tui.widgets.plain import Plain
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say

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
