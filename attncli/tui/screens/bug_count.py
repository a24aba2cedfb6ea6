"""How many bugs a repair round is to have."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from attncli.domain.repairs import MOST_BUGS
from attncli.domain.text import Lang
from attncli.tui.widgets.plain import Plain
from attncli.words.app_texts import say


class BugCountScreen(ModalScreen[int]):
    """A digit gives that many bugs; Escape gives none."""

    CSS_PATH = Path(__file__).with_name("bug_count.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(bugs), f"dismiss({bugs})", "key.bugs", show=False) for bugs in range(1, MOST_BUGS + 1)),
        Binding("escape,q", "dismiss(0)", "challenge.no", show=False),
    ]

    def __init__(self, question: str, lang: Lang) -> None:
        super().__init__()
        self.question, self.lang = question, lang

    def compose(self) -> ComposeResult:
        choices = [f"[@click=screen.dismiss({bugs})] {bugs} [/]" for bugs in range(1, MOST_BUGS + 1)]
        leave = "[@click=screen.dismiss(0)]$leave[/]"
        with Vertical():
            yield Plain(self.question)
            shown = "   ".join([*choices, leave])
            yield Plain(Content.from_markup(shown, leave=say("challenge.repair-leave", self.lang)))
