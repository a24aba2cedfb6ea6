"""Containers whose lines are all alike, a screen, a page, a group of widgets: one line is drawn for all of them."""

from __future__ import annotations

from typing import cast

from textual.geometry import Region
from textual.strip import Strip


class Even:
    """Mixed into a container without a border above or below."""

    def render_lines(self, crop: Region) -> list[Strip]:
        line = super().render_lines(Region(crop.x, 0, crop.width, 1))  # type: ignore[misc]
        return cast("list[Strip]", line) * crop.height
