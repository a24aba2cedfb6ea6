"""Laying text out in cells: a Chinese character takes two."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from attncli.domain.printable import printable

LEAST_BESIDE = 10


def cut(text: str, width: int) -> str:
    """`text` in at most `width` cells, with `…` where something was left out."""
    text = printable(text)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + "…" if width > 0 else ""


def left(text: str, width: int) -> str:
    """`text` in exactly `width` cells, aligned left."""
    text = cut(text, width)
    return text + " " * (width - cell_len(text))


def right(text: str, width: int) -> str:
    """`text` in exactly `width` cells, aligned right."""
    text = cut(text, width)
    return " " * (width - cell_len(text)) + text


def beside(head: Content, text: Content, width: int) -> list[Content]:
    """`head`, and `text` in the room beside it: in as many lines as it takes, none of them below `head`."""
    first, *more = text.wrap(max(LEAST_BESIDE, width - head.cell_length)) or [Content()]
    return [head + first, *(Content(" " * head.cell_length) + line for line in more)]


def bar(share: float, width: int, style: str) -> Content:
    """A bar of `width` cells, filled for `share` in 0…1; any share above 0 shows, only 1 fills it."""
    filled = round(min(1.0, max(0.0, share)) * width)
    if share > 0:
        filled = max(1, filled)
    if share < 1:
        filled = min(width - 1, filled)
    return Content.assemble(("━" * filled, style), ("─" * (width - filled), "$text-muted"))
