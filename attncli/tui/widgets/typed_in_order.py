"""Keys of a field in the order in which they were pressed.

Textual handles a character in the field, but Backspace, the arrows and Enter only after the event has gone up to the
app. Keys that arrive together, as over a slow line, would overtake each other: `a Backspace b` would become `a`.
"""

from __future__ import annotations

from typing import cast

from textual import events
from textual.widget import Widget


class KeysInOrder:
    """Mixed into a field, it does what its own bindings say at once; those of the screen and the app stay theirs."""

    async def on_key(self, event: events.Key) -> None:
        field = cast(Widget, self)
        for binding in field._bindings.key_to_bindings.get(event.key, ()):
            is_own = not binding.priority and "." not in binding.action
            if is_own and await field.app.run_action(binding.action, field):
                event.stop()
                event.prevent_default()
                return
