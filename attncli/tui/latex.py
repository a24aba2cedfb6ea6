r"""LaTeX for a terminal: `draw` in two dimensions, `one_line` for formulas inside a sentence.

TeXicode draws fractions, roots, sums and matrices well, but fails quietly: an unknown command becomes `?`, a syntax
error a row of prose, and its italics are missing in many terminal fonts. So commands that have an equal are rewritten
first, the upright font is chosen, scripts drawn with another letter (a subscript V as v) or with rare glyphs are
switched off, and every sign of failure raises `UnreadableLatex`; the caller then shows the source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from rich.cells import cell_len

from attncli.domain.formula_limits import beyond_limits
from attncli.tui.formulas import linear
from attncli.tui.latex_spacing import GAPS, RELATIONS, SIGNS, spaced, split_at

_ALIASES = tuple(
    (re.compile(rf"\\(?:{names})(?![A-Za-z])"), to)
    for names, to in (
        (r"operatorname\*?|mathbf|boldsymbol|bm|mathit", r"\\mathrm"),
        ("textbf|textit|textrm|textsf|texttt|mbox|textnormal", r"\\text"),
        ("lVert|rVert|Vert", r"\\|"),
        ("lvert|rvert|vert", "|"),
        ("limits|nolimits|displaystyle|textstyle|scriptstyle", ""),
        ("implies", r"\\Rightarrow "),
        ("dots[bcmio]?", r"\\dots "),
        ("argmax", r"\\mathrm{argmax}"),
        ("argmin", r"\\mathrm{argmin}"),
        ("coloneqq", ":="),
        (r"left\s*\\langle", r"\\langle "),
        (r"right\s*\\rangle", r"\\rangle "),
        ("leqslant", r"\\le "),
        ("geqslant", r"\\ge "),
    )
)
_CONTINUED = "  "
_WRONG_LETTER = {"V": (1,), "S": (0, 1), "X": (0, 1), "Z": (0,), "Y": (0, 1), "I": (1,), "F": (0,), "y": (1,)}
_RARE_GLYPH = {"C": (0,), "Q": (0,), "q": (0,), "Y": (0,), "!": (0,)}
_FAILURES = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


class UnreadableLatex(ValueError):
    """This LaTeX cannot be drawn; show its source."""


@lru_cache(maxsize=512)
def draw(tex: str) -> tuple[str, ...]:
    """The rows of the formula for a fixed-width font, without blank margins. Raises `UnreadableLatex`."""
    from texicode.pipeline import render_tex_rows

    source = _prepared(tex)
    try:
        rows = ["".join(row) for row in render_tex_rows(source, False)]
    except _FAILURES as error:
        raise UnreadableLatex(str(error)) from error
    if any(row.startswith("TeXicode:") for row in rows) or ("?" not in tex and any("?" in row for row in rows)):
        raise UnreadableLatex(tex)
    return _trimmed(rows)


def draw_within(tex: str, width: int) -> tuple[str, ...]:
    """`draw`, broken at wide gaps, then before relations, then before signs, where it is wider than `width` cells.

    A part that is still too wide is left so. Raises `UnreadableLatex`.
    """
    if _width(draw(tex)) <= width:
        return draw(tex)
    lines = _broken(tex, width, (GAPS, RELATIONS, SIGNS))
    return tuple(margin + row for margin, line in lines for row in draw(line))


def _broken(tex: str, width: int, marks: Sequence[frozenset[str]]) -> list[tuple[str, str]]:
    """(margin, part) for every line; parts after a gap start at the edge, continued ones are set in."""
    if not marks or _width(draw(tex)) <= width:
        return [("", tex)]
    margin = "" if marks[0] is GAPS else _CONTINUED
    lines: list[tuple[str, str]] = []
    for part in split_at(tex, marks[0]):
        for inner, piece in _broken(part, width - len(margin), marks[1:]):
            joined = f"{lines[-1][1]} {piece}" if lines else ""
            if lines and not inner and _width(draw(joined)) + len(lines[-1][0]) <= width:
                lines[-1] = (lines[-1][0], joined)
            else:
                lines.append(
                    ((margin if lines else "") + inner, piece.removeprefix(r"\qquad ").removeprefix(r"\quad "))
                )
    return lines


def _width(rows: Sequence[str]) -> int:
    return max(cell_len(row) for row in rows)


@lru_cache(maxsize=2048)
def one_line(tex: str) -> str:
    """The formula in one line of Unicode, its spaces unbreakable. Raises `UnreadableLatex`."""
    from texicode.lexer import lexer
    from texicode.parser import parse

    try:
        return linear(parse(lexer(_prepared(tex), False), False)).strip().replace(" ", "\u00a0")
    except _FAILURES as error:
        raise UnreadableLatex(str(error)) from error


def _prepared(tex: str) -> str:
    bare = tex.replace("\\{", "").replace("\\}", "")
    if not tex.strip() or bare.count("{") != bare.count("}") or beyond_limits(tex):
        raise UnreadableLatex(tex)
    scripts = _script_glyphs()
    for pattern, replacement in _ALIASES:
        tex = pattern.sub(replacement, tex)

    def short(mark: str, text: str) -> bool:
        row = 0 if mark == "^" else 1
        return all(scripts.get(letter, "  ")[row] != " " for letter in _letters(text))

    return spaced(tex.strip(), short)


def _letters(text: str) -> str:
    return text.replace("\\top ", "⊤")


@cache
def _script_glyphs() -> dict[str, Any]:
    """TeXicode's table of small letters, corrected in place: {letter: [superscript, subscript]}."""
    from texicode import arts

    arts.font = arts.font_normal
    table: dict[str, Any] = arts.unicode_scripts
    table["⊤"] = ["ᵀ", " "]
    for corrections in (_WRONG_LETTER, _RARE_GLYPH):
        for letter, places in corrections.items():
            for place in places:
                table[letter][place] = " "
    return table


def _trimmed(rows: list[str]) -> tuple[str, ...]:
    """Without empty rows above and below, and without the common margin on the left."""
    while rows and not rows[0].strip():
        rows = rows[1:]
    while rows and not rows[-1].strip():
        rows = rows[:-1]
    if not rows:
        raise UnreadableLatex("nothing to draw")
    margin = min(len(row) - len(row.lstrip()) for row in rows if row.strip())
    return tuple(row[margin:].rstrip() for row in rows)
