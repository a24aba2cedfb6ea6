"""What is empty itself, whatever stands on it: a screen, a page, a group of widgets."""

from __future__ import annotations

from typing import cast

from textual.geometry import Region
from textual.strip import Strip


class Even:
    """Mixed into a container without a border above or below: its lines are alike, and one is drawn for all."""

    def render_lines(self, crop: Region) -> list[Strip]:
        line = super().render_lines(Region(crop.x, 0, crop.width, 1))  # type: ignore[misc]
        return cast("list[Strip]", line) * crop.height
