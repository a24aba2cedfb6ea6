"""What a terminal may send at any moment, and Textual does not expect: it ends nothing."""

from __future__ import annotations

from textual import events
from textual.app import App
from textual.errors import NoWidget


class SteadyApp(App[None]):
    """A click that meets what was just taken off the screen is nobody's."""

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.MouseEvent) and not event.is_forwarded and self._meets_nothing(event):
            return
        await super().on_event(event)

    def _meets_nothing(self, event: events.MouseEvent) -> bool:
        try:
            widget, _ = self.screen.get_widget_at(event.x, event.y)
        except NoWidget:
            return False
        return not widget.is_attached
