"""What a terminal may send at any moment, and Textual does not expect: it ends nothing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from textual import events
from textual.actions import ActionParseResult
from textual.app import App
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.errors import NoWidget
from textual.screen import Screen

from attncli.errors import AttnError
from attncli.tui.pasting import as_text
from attncli.tui.screens.base import AttnScreen, fits
from attncli.tui.widgets.basics import KeyBar

_ENDING = frozenset({"ctrl+c", "ctrl+q"})


class UnexpectedInput(App[None]):
    """A click that meets what was just taken off the screen is nobody's, nor is a key for a screen half composed."""

    async def on_event(self, event: events.Event) -> None:
        if self._is_covered(event):
            return
        if isinstance(event, events.MouseEvent) and not event.is_forwarded and self._meets_nothing(event):
            return
        if isinstance(event, events.Paste):
            event.text = as_text(event.text)
        await super().on_event(event)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """What a key asks for; an error of the program is told."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except AttnError as error:
            self.tell(error)
            return True
        except NoMatches:
            if default_namespace is None or _is_whole(default_namespace):
                raise
            return True

    def _is_covered(self, event: events.Event) -> bool:
        """Whether it is for a screen that nobody sees, since the terminal is too small; the app can be left there."""
        if not isinstance(event, (events.InputEvent, events.Paste)) or event.is_forwarded or fits(self.size):
            return False
        return not (isinstance(event, events.Key) and event.key in _ENDING)

    @abstractmethod
    def tell(self, error: AttnError) -> None: ...

    def _meets_nothing(self, event: events.MouseEvent) -> bool:
        try:
            widget, _ = self.screen.get_widget_at(event.x, event.y)
        except NoWidget:
            return False
        return not widget.is_attached


def _is_whole(node: DOMNode) -> bool:
    """Whether it is on a screen, and if it is one, is composed to its end."""
    if isinstance(node, AttnScreen):
        return node.is_attached and bool(node.query(KeyBar))
    return node.is_attached and (not isinstance(node, Screen) or bool(node.children))
