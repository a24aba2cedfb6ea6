"""A click on a row that was taken away after it was drawn chooses nothing, in whatever list: the palette's too."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.widgets import OptionList


def install() -> None:
    """Makes Textual's lists look whether the row is still there; they would end the app."""
    choose: Any = getattr(OptionList, "_on_click", None)
    if choose is None or hasattr(choose, "looks_first"):
        return

    async def click(self: OptionList, event: events.Click) -> None:
        row = event.style.meta.get("option")
        if row is None or row < self.option_count:
            await choose(self, event)

    click.looks_first = True  # type: ignore[attr-defined]
    OptionList._on_click = click  # type: ignore[method-assign]
