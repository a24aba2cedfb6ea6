"""A Markdown table in which every cell is read whole: columns share the width, cells wrap, words are not torn apart."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets._markdown import MarkdownTable

from attncli.domain.line_breaks import WORD
from attncli.tui.widgets.lined import Lined

_GAP = 2


def column_widths(cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """Widths in cells that add up, with gaps, to at most `width` where that is possible.

    Each column gets its longest word first; what is left goes where the lines are longest.
    """
    columns = list(zip(*cells, strict=True))
    natural = [max(1, *(cell_len(cell) for cell in column)) for column in columns]
    room = max(len(columns), width - _GAP * (len(columns) - 1))
    if sum(natural) <= room:
        return natural
    least = [
        max([1, *(cell_len(word.strip()) for cell in column for word in WORD.findall(cell))]) for column in columns
    ]
    if sum(least) > room:
        return [max(1, size * room // sum(least)) for size in least]
    spare, wish = room - sum(least), sum(natural) - sum(least)
    return [low + spare * (high - low) // wish for low, high in zip(least, natural, strict=True)]


class TableText(Lined):
    """The table as text: a heading, a rule, the rows; rules between rows where a cell takes several lines."""

    DEFAULT_CSS = """
    TableText { width: 1fr; height: auto; margin: 0 0 1 0; }
    """

    def __init__(self, headers: Sequence[Content], rows: Sequence[Sequence[Content]]) -> None:
        super().__init__()
        self._head = [header.stylize("bold $primary") for header in headers]
        self._body = [[*row, *[Content("")] * (len(headers) - len(row))][: len(headers)] for row in rows]

    def lines(self, width: int) -> list[Content]:
        widths = column_widths([[cell.plain for cell in row] for row in (self._head, *self._body)], width)
        rows = [_wrapped(row, widths) for row in self._body]
        rule = Content.styled("─" * min(width, sum(widths) + _GAP * (len(widths) - 1)), "$border")
        apart = any(len(row) > 1 for row in rows)
        lines = [*_wrapped(self._head, widths), rule]
        for number, row in enumerate(rows):
            lines += [rule, *row] if apart and number else row
        return lines


def _wrapped(row: Sequence[Content], widths: Sequence[int]) -> list[Content]:
    cells = [cell.wrap(width) or [Content("")] for cell, width in zip(row, widths, strict=True)]
    height = max(len(cell) for cell in cells)
    lines = []
    for index in range(height):
        parts = [cell[index] if index < len(cell) else Content("") for cell in cells]
        padded = [part + " " * (width - part.cell_length) for part, width in zip(parts, widths, strict=True)]
        lines.append(Content(" " * _GAP).join(padded).rstrip())
    return lines


class CardTable(MarkdownTable):
    """Textual's table block, drawn by `TableText`."""

    DEFAULT_CSS = """
    CardTable { background: transparent; margin: 0; }
    """

    def compose(self) -> ComposeResult:
        headers, rows = self._get_headers_and_rows()
        yield TableText(headers, rows)
