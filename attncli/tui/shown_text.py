"""What the app writes to the terminal: every line of every widget passes here last."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from attncli.domain.printable import printable


class ShownText(LineFilter):
    """Takes out what would steer the terminal or hide; a line stays as wide as it was laid out."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [_shown(segment) for segment in segments]


def _shown(segment: Segment) -> Segment:
    text = printable(segment.text)
    if text == segment.text:
        return segment
    return Segment(set_cell_size(text, cell_len(segment.text)), segment.style, segment.control)
