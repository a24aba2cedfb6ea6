"""A card's Markdown as Anki shows it: HTML, formulas for its MathJax, code with plain marks."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import cache
from keyword import kwlist
from typing import Any
from xml.sax.saxutils import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from attncli.domain.printable import printable
from attncli.export.card_parser import card_parser
from attncli.export.sanitising import sanitised

_CODE = re.compile(
    r"(?P<text>[rbf]?\"[^\"\n]*\"|[rbf]?'[^'\n]*')|(?P<em>\#[^\n]*)"
    rf"|\b(?P<strong>{'|'.join(kwlist)})\b",
    re.IGNORECASE,
)
_ANKI_TAG = re.compile(r"\[(?=(?:sound|anki|/?latex|/?\$\$?)[:\]])", re.IGNORECASE)


def block(text: str) -> str:
    """A text of paragraphs, lists, tables and code."""
    return _safe(_parser().render(text).strip())


def inline(text: str) -> str:
    """A text that stands in a line."""
    return _safe(_parser().renderInline(text.strip()))


def code(source: str, numbered: bool = False) -> str:
    """Code as it is, keywords strong and comments apart; its lines may bear numbers."""
    lines = highlighted(source.rstrip()).split("\n")
    if numbered:
        lines = [f"{number:>2}  {line}" for number, line in enumerate(lines, 1)]
    return _safe("<pre><code>" + "\n".join(lines) + "</code></pre>")


def plain(text: str) -> str:
    """Text in which nothing is mark-up."""
    return _safe(escape(text))


def highlighted(source: str) -> str:
    """The source as HTML: `<strong>` for keywords, `<em>` for comments."""
    parts, at = list[str](), 0
    for found in _CODE.finditer(source):
        parts.append(escape(source[at : found.start()]))
        tag = "" if found["text"] or (found["strong"] and found[0] not in kwlist) else found.lastgroup
        parts.append(f"<{tag}>{escape(found[0])}</{tag}>" if tag else escape(found[0]))
        at = found.end()
    return "".join([*parts, escape(source[at:])])


def _safe(text: str) -> str:
    """Sanitised, without what hides, and without the tags that Anki itself would obey."""
    return _ANKI_TAG.sub("&#91;", sanitised(printable(text)))


@cache
def _parser() -> MarkdownIt:
    parser = card_parser(_formula)
    parser.add_render_rule("fence", _fence)
    return parser


def _formula(source: str, options: dict[str, bool]) -> str:
    """For MathJax, which finds a formula between `\\(` and `\\)`, or `\\[` and `\\]`."""
    opened, closed = ("\\[", "\\]") if options.get("display_mode") else ("\\(", "\\)")
    return f"{opened}{escape(html.unescape(source).strip())}{closed}"


def _fence(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    shown = highlighted(token.content.rstrip()) if token.info.startswith("python") else escape(token.content.rstrip())
    return f"<pre><code>{shown}</code></pre>\n"
