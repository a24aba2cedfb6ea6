"""Something long to read."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

from attncli.tui.widgets.even import Even


class Page(Even, VerticalScroll, can_focus=True):
    """Scrolls with the arrows, Page up and down, j and k, and the wheel."""

    DEFAULT_CSS = """
    Page { height: 1fr; padding: 1 2 0 2; scrollbar-gutter: stable; }
    Page > Static { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "key.down", show=False, key_display="↓ j"),
        Binding("k", "scroll_up", "key.up", show=False, key_display="↑ k"),
    ]

    def watch_has_focus(self, _has_focus: bool) -> None:
        """It looks different itself when it gets the keys; Textual would style all that it holds anew."""
        self.app.stylesheet.update_nodes([self])
