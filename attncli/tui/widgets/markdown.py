"""The Markdown of cards and statements, with drawn formulas and wrapping tables.

Imports Textual's Markdown, which takes some 60 ms: import this module only when a card is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Markdown
from textual.widgets._markdown import MarkdownBlock, MarkdownFence, MarkdownTable

from attncli.domain.text import word_pattern
from attncli.tui.formulas import FORMULA_FENCE, UnreadableLatex, draw_within, for_markdown
from attncli.tui.widgets.basics import LineWidget, SolidBackground

# Tables

_GAP = 2


def column_widths(cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return column widths in cells that add up, with gaps, to at most `width` if possible.

    Each column gets its longest word first; the rest goes to the columns with the longest lines.
    """
    columns = list(zip(*cells, strict=True))
    natural = [max(1, *(cell_len(cell) for cell in column)) for column in columns]
    room = max(len(columns), width - _GAP * (len(columns) - 1))
    if sum(natural) <= room:
        return natural
    words = word_pattern().findall
    least = [max([1, *(cell_len(word.strip()) for cell in column for word in words(cell))]) for column in columns]
    if sum(least) > room:
        return [max(1, size * room // sum(least)) for size in least]
    spare, missing = room - sum(least), sum(natural) - sum(least)
    return [low + spare * (high - low) // missing for low, high in zip(least, natural, strict=True)]


class TableText(LineWidget):
    """A table as text: heading, rule, rows with wrapped cells; rules between rows if a cell takes several lines."""

    DEFAULT_CSS = "TableText { margin: 0 0 1 0; }"

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


# The Markdown widget and its blocks


class CardFence(MarkdownFence):
    """A block of code, or a display formula."""

    DEFAULT_CSS = """
    CardFence { overflow: hidden; margin: 0 0 1 0; background: $surface; color: $foreground; }
    CardFence.-formula { background: transparent; margin: 0; }
    CardFence > Label { padding: 0 2; width: 1fr; }
    """

    @classmethod
    def highlight(cls, code: str, language: str, ansi: bool = False, dark: bool = False) -> Content:
        """Return highlighted code; a formula is drawn later, so it needs no colours."""
        return Content(code) if language == FORMULA_FENCE else super().highlight(code, language, ansi, dark)

    def on_mount(self) -> None:
        self.set_class(self.lexer == FORMULA_FENCE, "-formula")

    def compose(self) -> ComposeResult:
        if self.lexer == FORMULA_FENCE:
            yield Formula(self.code)
        else:
            yield from super().compose()


_LINKS = {"link_open": "em_open", "link_close": "em_close"}


@cache
def _parser() -> MarkdownIt:
    """Return Textual's Markdown parser, changed so that a link is its text and a picture its description."""
    parser = MarkdownIt("gfm-like").disable("linkify")
    parser.core.ruler.push("unlinked", _remove_links)
    parser.core.ruler.push("in-one-word", _shorten_fence_info)
    return parser


def _shorten_fence_info(state: StateCore) -> None:
    """Keep the first word behind a fence: `python sketch` is highlighted as python."""
    for token in state.tokens:
        if token.type == "fence":
            token.info = token.info.strip().partition(" ")[0]


def _remove_links(state: StateCore) -> None:
    for child in (child for token in state.tokens for child in token.children or ()):
        if child.type in _LINKS:
            child.type = _LINKS[child.type]
        elif child.type == "image":
            child.type, child.children = "text", None


class CardMarkdown(SolidBackground, Markdown):
    """Card text with drawn formulas and joined Chinese paragraphs."""

    DEFAULT_CSS = """
    CardMarkdown { padding: 0; height: auto; }
    CardMarkdown MarkdownParagraph { margin: 0 0 1 0; }
    CardMarkdown MarkdownHeader { margin: 0 0 1 0; content-align: left middle; color: $primary; }
    """

    BLOCKS: dict[str, type[MarkdownBlock]] = {  # noqa: RUF012 - Textual declares it as an instance attribute
        **Markdown.BLOCKS,
        "fence": CardFence,
        "code_block": CardFence,
        "table_open": CardTable,
    }

    def __init__(self, text: str, *, classes: str | None = None) -> None:
        super().__init__(for_markdown(text), classes=classes, open_links=False, parser_factory=_parser)

    @property
    def _is_built_at_once(self) -> bool:
        """Return True if Textual has the two private names by which the blocks are composed with the widget.

        Without them Textual parses the text in a thread, and the blocks come later.
        """
        return hasattr(self, "_build_from_source") and hasattr(self, "_initial_markdown")

    def compose(self) -> ComposeResult:
        if self._is_built_at_once:
            yield from self._build_from_source(self._initial_markdown or "")

    def on_mount(self, event: events.Mount) -> None:
        if self._is_built_at_once:
            event.prevent_default()


class Formula(Widget):
    """A display formula in two dimensions, broken if it is too wide; its source if it cannot be drawn."""

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
