"""What is drawn line by line, and is as high as its lines are many at the width that it is given."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget


class Lined(Widget):
    """Subclasses give their `lines`."""

    def lines(self, width: int) -> list[Content]:
        raise NotImplementedError

    def render(self) -> Content:
        return Content("\n").join(self.lines(self.size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.lines(width))
