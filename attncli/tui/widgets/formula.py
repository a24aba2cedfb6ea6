"""A display formula in the place that it has: drawn in two dimensions, in parts if it is too wide."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from attncli.tui.latex import UnreadableLatex, draw_within


class Formula(Widget):
    """Shows `tex`; its source in code style where it cannot be drawn."""

    DEFAULT_CSS = """
    Formula { width: 1fr; height: auto; margin: 1 0; padding: 0 0 0 4; }
    """

    def __init__(self, tex: str) -> None:
        super().__init__()
        self.tex = tex

    def render(self) -> Content:
        try:
            return Content("\n".join(draw_within(self.tex, self.size.width)))
        except UnreadableLatex:
            return Content.styled(self.tex, "$text-warning")

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        try:
            return len(draw_within(self.tex, width))
        except UnreadableLatex:
            return super().get_content_height(container, viewport, width)
