"""What every screen has: a title bar, a key bar, the language, and a friendly line where the terminal is too small."""

from __future__ import annotations

from asyncio import Lock
from collections.abc import Iterable
from contextlib import suppress
from typing import ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from attncli.domain.card import Card
from attncli.domain.text import Lang, Localised
from attncli.errors import NotFound
from attncli.practice.workspace import Workspace
from attncli.tui.routes import Routes
from attncli.tui.widgets.basics import KeyBar
from attncli.tui.widgets.even import Even
from attncli.tui.widgets.plain import Plain
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say

LEAST_WIDTH, LEAST_HEIGHT = 60, 18
READ_SECONDS = 0.01
"""Between two portions of a long reading, so that keys come in."""


def fits(size: Size) -> bool:
    """Whether a terminal is large enough for the screens."""
    return size.width >= LEAST_WIDTH and size.height >= LEAST_HEIGHT


class TooSmall(Plain):
    """Stands in for the screen in a terminal below 60×18."""


class AttnScreen(Even, Screen[None]):
    """Subclasses give `title_bar` and `body`; `focus_first` says where keys go after (re)composing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "back", "key.back", key_display="Esc"),
        Binding("question_mark,fullwidth_question_mark,f1", "help", "key.help", key_display="?"),
    ]
    AUTO_FOCUS: ClassVar[str | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.composing = Lock()
        """Held by what changes the screen's parts: a key may compose it anew while a grading ends."""
        self._had_keys: Widget | None = None
        self._was_left = False

    @property
    def attn(self) -> Routes:
        return cast("Routes", self.app)

    @property
    def workspace(self) -> Workspace:
        return self.attn.workspace

    @property
    def lang(self) -> Lang:
        return self.attn.lang

    def question_of(self, card: str) -> Localised | None:
        """The question of a card, or None: links may name cards that are still to be written."""
        try:
            return self.workspace.library.card(card).listed
        except NotFound:
            return None

    def topic_title(self, id: str) -> str:
        return self.workspace.library.topic(id).title[self.lang]

    def kind_and_level(self, card: Card) -> str:
        return f"{say(f'review.kind-{card.kind}', self.lang)} · {say(f'review.level-{card.level}', self.lang)}"

    def title_bar(self) -> TitleBar:
        raise NotImplementedError

    def body(self) -> Iterable[Widget]:
        raise NotImplementedError

    def focus_first(self) -> None:
        """Called after composing; the default leaves the focus where it is."""

    async def look_again(self) -> None:
        """Called when the screen comes back after another one, which may have changed what it shows."""

    def lay_out(self) -> None:
        """Shows what depends on the size anew; called when that has changed."""

    def on_screen_suspend(self) -> None:
        self._was_left = True

    async def on_screen_resume(self) -> None:
        if self._was_left:
            self._was_left = False
            await self.look_again()

    def compose(self) -> ComposeResult:
        yield self.title_bar()
        yield from self.body()
        yield KeyBar(self.lang)
        yield TooSmall(classes="too-small")

    def on_mount(self) -> None:
        if self.AUTO_FOCUS is None:
            self.call_after_refresh(self._focus_what_is_there)

    def _focus_what_is_there(self) -> None:
        """Nothing while the screen is composed anew: the language was switched as soon as it had opened."""
        with suppress(NoMatches):
            self.focus_first()

    async def in_other_language(self) -> None:
        """The language has changed: everything is composed anew from the state of the screen."""
        async with self.composing:
            await self._compose_anew()

    async def _compose_anew(self) -> None:
        await self.recompose()
        self.focus_first()

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        small = not fits(event.size)
        if small and not self.has_class("-too-small"):
            self._had_keys = self.focused
        elif not small and self._had_keys is not None:
            self.call_after_refresh(self._give_keys_back)
        self.set_class(small, "-too-small")
        with suppress(NoMatches):  # the screen may be composed anew just now
            if small:
                sizes = {"width": width, "height": height, "least_width": LEAST_WIDTH, "least_height": LEAST_HEIGHT}
                self.query_one(TooSmall).update(say("app.too-small", self.lang, **sizes))
            self.lay_out()

    def _give_keys_back(self) -> None:
        """To what had them before the terminal became too small: Textual takes them from whatever is hidden.

        As focus that the terminal itself had lost, it selects nothing: the next key goes on with what was typed.
        """
        widget, self._had_keys = self._had_keys, None
        if widget is not None and widget.is_attached and self.focused is None:
            self.set_focus(widget, from_app_focus=True)

    def action_back(self) -> None:
        self.attn.go_back()

    def action_help(self) -> None:
        self.attn.open_help(self)
