"""What the app says in passing: a notice is about the last key, and takes the place of those about earlier ones."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.app import App

from attncli.domain.printable import printable


class Notices(App[None]):
    """Notices that piled up would cover what is being read; what one key leads to may be told in several."""

    NOTIFICATION_TIMEOUT = 3
    _is_another_key = False

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded:
            self._is_another_key = True
        await super().on_event(event)

    def notify(self, message: str, **options: Any) -> None:
        """A message says what files and errors say: none of it is mark-up."""
        if self._is_another_key:
            self._is_another_key = False
            self.clear_notifications()
            self.call_later(self._take_places_away)  # a thread may tell something too
        super().notify(printable(message), **{**options, "markup": False})

    def _take_places_away(self) -> None:
        """Textual takes a cleared notice off the screen but not its place, below which the next one would come."""
        for screen in self.screen_stack:
            screen.query("ToastHolder").remove()
