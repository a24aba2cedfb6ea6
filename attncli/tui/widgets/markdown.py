"""The Markdown of cards and statements, with drawn formulas. Loads Textual's Markdown (some 60 ms): import it late."""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Markdown
from textual.widgets._markdown import MarkdownBlock, MarkdownFence

from attncli.tui.markup import FORMULA_FENCE, for_markdown
from attncli.tui.widgets.even import Even
from attncli.tui.widgets.formula import Formula
from attncli.tui.widgets.markdown_table import CardTable

_LINKS = {"link_open": "em_open", "link_close": "em_close"}


class CardFence(MarkdownFence):
    """A block of code, or a display formula."""

    DEFAULT_CSS = """
    CardFence { overflow: hidden; margin: 0 0 1 0; background: $surface; color: $foreground; }
    CardFence.-formula { background: transparent; margin: 0; }
    CardFence > Label { padding: 0 2; width: 1fr; }
    """

    @classmethod
    def highlight(cls, code: str, language: str, ansi: bool = False, dark: bool = False) -> Content:
        """A formula is drawn, so nobody looks for its colours."""
        return Content(code) if language == FORMULA_FENCE else super().highlight(code, language, ansi, dark)

    def on_mount(self) -> None:
        self.set_class(self.lexer == FORMULA_FENCE, "-formula")

    def compose(self) -> ComposeResult:
        if self.lexer == FORMULA_FENCE:
            yield Formula(self.code)
        else:
            yield from super().compose()


@cache
def _parser() -> MarkdownIt:
    """Textual's own Markdown, with nothing to click: a link is its text, a picture its description."""
    parser = MarkdownIt("gfm-like").disable("linkify")
    parser.core.ruler.push("unlinked", _unlinked)
    parser.core.ruler.push("in-one-word", _in_one_word)
    return parser


def _in_one_word(state: StateCore) -> None:
    """`python sketch` behind a fence is coloured as python."""
    for token in state.tokens:
        if token.type == "fence":
            token.info = token.info.strip().partition(" ")[0]


def _unlinked(state: StateCore) -> None:
    for child in (child for token in state.tokens for child in token.children or ()):
        if child.type in _LINKS:
            child.type = _LINKS[child.type]
        elif child.type == "image":
            child.type, child.children = "text", None


class CardMarkdown(Even, Markdown):
    """Card text; formulas are drawn, Chinese paragraphs joined."""

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
        """By two private names of Textual; without them it reads the text in a thread, and the blocks come later."""
        return hasattr(self, "_build_from_source") and hasattr(self, "_initial_markdown")

    def compose(self) -> ComposeResult:
        if self._is_built_at_once:
            yield from self._build_from_source(self._initial_markdown or "")

    def on_mount(self, event: events.Mount) -> None:
        if self._is_built_at_once:
            event.prevent_default()
