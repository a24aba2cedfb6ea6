"""Card text for Textual: Markdown with `$…$` and `$$…$$` formulas.

Textual's Markdown knows no formulas, so `for_markdown` rewrites them first: an inline one becomes one line of Unicode,
a display one a fenced block named `formula` that `widgets/markdown_card.py` draws. `inline` does without the Markdown
widget: one-line texts (points, options, table cells) become a Textual `Content`.
"""

from __future__ import annotations

import re

from textual.content import Content

from attncli.domain.chinese_characters import FULL_WIDTH
from attncli.domain.markdown_parts import PART
from attncli.domain.printable import printable
from attncli.tui.latex import UnreadableLatex, one_line

FORMULA_FENCE = "formula"

_FOLD = re.compile(rf"(?<=[{FULL_WIDTH}])(?: |\n *)(?=[{FULL_WIDTH}])")
_MARKDOWN_SIGN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~&])")
_LINE_START = re.compile(r"\s*(?:(?:[-*+]|\d+[.)]|>)\s+)*")
_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>.+?)\*\*|(?<![\w*])\*(?P<em>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|\[(?P<link>[^\[\]]+)\]\([^)\s]{1,2000}\)|\\(?P<escaped>[\\*_`\[\]$])"
)
_STYLES = {"code": "$text-warning", "strong": "bold", "em": "italic", "link": "underline", "escaped": ""}


def unfolded(text: str) -> str:
    """Without hidden characters, and without the blanks that folding in YAML leaves between two Chinese ones."""
    return _FOLD.sub("", printable(text))


def for_markdown(text: str) -> str:
    """Markdown that Textual can show, formulas rewritten; code is left as it is."""

    def rewritten(match: re.Match[str]) -> str:
        if match["display"] is not None:
            return _display(match)
        if match["inline"] is not None:
            return _formula_in_markdown(match["inline"])
        return match[0]

    return PART.sub(rewritten, unfolded(text))


def _display(match: re.Match[str]) -> str:
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    tex = " ".join(match["display"].split())
    if line.lstrip().startswith("|"):
        return _formula_in_markdown(tex)
    start = _LINE_START.match(line)
    indent = re.sub(r"[^\s>]", " ", start[0]) if start else ""
    return f"\n{indent}\n{indent}```{FORMULA_FENCE}\n{indent}{tex}\n{indent}```\n{indent}\n{indent}"


def _formula_in_markdown(tex: str) -> str:
    try:
        return _MARKDOWN_SIGN.sub(r"\\\1", one_line(tex))
    except UnreadableLatex:
        return f"`{tex}`"


def inline(text: str) -> Content:
    """One paragraph as Content: code, bold, emphasis and formulas; every other sign stands for itself."""
    whole = Content("")
    position = 0
    text = unfolded(text)
    for match in PART.finditer(text):
        tex = match["inline"] if match["inline"] is not None else match["display"]
        if tex is None:
            continue
        whole += _styled(text[position : match.start()]) + _formula(tex)
        position = match.end()
    return whole + _styled(text[position:])


def _formula(tex: str) -> Content:
    try:
        return Content(one_line(" ".join(tex.split())))
    except UnreadableLatex:
        return Content.styled(tex, _STYLES["code"])


def _styled(text: str) -> Content:
    whole = Content("")
    position = 0
    for match in _INLINE.finditer(text):
        kind = str(match.lastgroup)
        whole += Content(text[position : match.start()]) + Content.styled(match[kind], _STYLES[kind])
        position = match.end()
    return whole + Content(text[position:])
