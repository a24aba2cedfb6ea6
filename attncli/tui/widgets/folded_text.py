"""A part of a text that is folded away under its title."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget

from attncli.domain.text import Lang
from attncli.tui.widgets.plain import Plain, heading
from attncli.words.app_texts import say


class Fold(Vertical):
    """Its title says how to open it; a click on the title does as well."""

    DEFAULT_CSS = """
    Fold { height: auto; margin: 0 0 1 0; }
    Fold > .heading { height: auto; }
    """

    @dataclass
    class Turned(Message):
        """It was opened or closed."""

        unfolded: bool

    def __init__(self, title: str, content: Widget, lang: Lang, unfolded: bool) -> None:
        super().__init__()
        self.title = title
        self.content = content
        self.lang: Lang = lang
        self.unfolded = unfolded

    def compose(self) -> ComposeResult:
        self.content.display = self.unfolded
        yield heading(self._heading())
        yield self.content

    def _heading(self) -> str:
        return say("challenge.fold" if self.unfolded else "challenge.unfold", self.lang, title=self.title)

    def turn(self) -> None:
        """Opens it, with its title at the top of what is seen, or closes it."""
        self.unfolded = self.content.display = not self.unfolded
        self.query_one(".heading", Plain).update(self._heading())
        self.post_message(self.Turned(self.unfolded))
        if self.unfolded:
            self.call_after_refresh(self.scroll_visible, top=True, animate=False)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self.query_one(".heading"):
            self.turn()
