"""A question that wants yes or no."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from attncli.tui.widgets.plain import Plain

_CHOICES = "[@click=screen.dismiss(True)]$yes[/]    [@click=screen.dismiss(False)]$no[/]"


class ConfirmScreen(ModalScreen[bool]):
    """y gives True; n and Escape give False."""

    CSS_PATH = Path(__file__).with_name("confirm.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "challenge.yes", show=False),
        Binding("n,escape,q", "dismiss(False)", "challenge.no", show=False),
    ]

    def __init__(self, question: str, yes: str, no: str) -> None:
        super().__init__()
        self.question, self.yes, self.no = question, yes, no

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Plain(self.question)
            yield Plain(Content.from_markup(_CHOICES, yes=self.yes, no=self.no))
