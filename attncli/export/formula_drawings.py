"""Formulas as drawings, for the PDF engine, which knows no MathML."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from functools import cache
from xml.etree import ElementTree

SIZE_PX = 15.0
MARGIN_PX = 1.0
MOST_LAYOUTS = 10_000
"""Some three seconds; the longest formula of the bank takes 2,000."""
_ROWS = frozenset({"math", "mrow", "msqrt", "mtd", "mstyle", "mpadded", "mphantom", "menclose"})
_SCRIPTS = frozenset({"msub", "msup", "msubsup", "munder", "mover", "munderover"})
_MATHML = re.compile(r"<math\b[^>]*>.*?</math>", re.DOTALL)


def drawn(fragment: str) -> str:
    """A clean HTML fragment with an SVG drawing in the place of each MathML formula."""
    return _MATHML.sub(lambda found: _drawing(found[0]), fragment)


@cache
def _drawing(mathml: str) -> str:
    """Return the formula as SVG that sits on the line; its words if a sign is not in the font, or it nests too deep."""
    from ziafont import config
    from ziamath import Math

    config.svg2 = False
    formula = ElementTree.fromstring(mathml.replace("&nbsp;", "\u00a0"))
    words = " ".join("".join(formula.itertext()).split())
    if _layouts(formula) > MOST_LAYOUTS:
        return f"<code>{html.escape(words)}</code>"
    _hold_signs_with_limits(formula)
    try:
        math = Math(ElementTree.tostring(formula, encoding="unicode"), size=SIZE_PX, margin=MARGIN_PX)
    except Exception:  # noqa: BLE001 - ziamath raises many kinds; the words are always readable
        return f"<code>{html.escape(words)}</code>"
    if not _has_signs(math.font.glyphindex, words):
        return f"<code>{html.escape(words)}</code>"
    svg = math.svgxml()
    depth = _depth(svg)
    svg.set("style", f"vertical-align: {-depth:.3f}px")
    svg.set("role", "img")
    svg.set("aria-label", words)
    picture = ElementTree.tostring(svg, encoding="unicode")
    return f'<span class="formula">{picture}</span>' if formula.get("display") == "block" else picture


def _layouts(formula: ElementTree.Element) -> int:
    """Return how many elements ziamath lays out: it lays out each row twice, and so each row in a row four times."""
    return 1 + (1 + (_plain(formula) in _ROWS)) * sum(_layouts(child) for child in formula)


def _hold_signs_with_limits(formula: ElementTree.Element) -> None:
    """Says that Σ and its like are of one size: with limits ziamath takes them, and brackets around, for endless."""
    for script in formula.iter():
        base = next(iter(script), None)
        if _plain(script) in _SCRIPTS and base is not None and _plain(base) == "mo" and "stretchy" not in base.attrib:
            base.set("stretchy", "false")


def _plain(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _depth(svg: ElementTree.Element) -> float:
    """How far the drawing reaches below its baseline, which is y = 0."""
    _, top, _, height = (float(number) for number in svg.get("viewBox", "0 0 0 0").split())
    return top + height


def _has_signs(glyph_of: Callable[[str], int], words: str) -> bool:
    return all(sign.isspace() or glyph_of(sign) for sign in words if ord(sign) > 0x7F)
