"""The Markdown of cards, read for a page: CommonMark with tables and formulas.

Raw HTML in a card is shown and not obeyed, and a picture is its description.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from xml.sax.saxutils import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin


def card_parser(formula: Callable[[str, dict[str, bool]], str]) -> MarkdownIt:
    """`formula` writes a formula, given its source and whether it stands on lines of its own (`display_mode`)."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.use(dollarmath_plugin, renderer=formula, label_renderer=lambda _: "", allow_space=True, double_inline=True)
    parser.add_render_rule("image", _picture)
    return parser


def _picture(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f"[{escape(renderer.renderInlineAsText(tokens[index].children, options, env))}]"
