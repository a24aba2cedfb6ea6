"""Putting widgets where a screen may have been left since: while one waited, a key pressed ahead took it away."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget


async def mount_in(place: Widget, parts: Iterable[Widget], before: int | None = None) -> None:
    """Mounts `parts` in `place`, if that is still shown."""
    if place.is_attached:
        await place.mount(*parts, before=before)


async def mount_anew(place: Widget, parts: Iterable[Widget]) -> None:
    """Mounts `parts` in the place of all that `place` holds, and draws it once."""
    with place.app.batch_update():
        await place.remove_children()
        await mount_in(place, parts)
