"""The summary as one self-contained HTML page: formulas as MathML, no script, nothing fetched."""

from __future__ import annotations

import html
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin

from attncli.export.render import environment
from attncli.export.summary import Summary

MATHML = frozenset(
    "math mrow mi mo mn ms mtext mspace msup msub msubsup mover munder munderover mfrac msqrt mroot mtable mtr mtd "
    "mlabeledtr mstyle mpadded mphantom menclose merror mmultiscripts mprescripts none semantics annotation".split()
)


def to_html(summary: Summary) -> str:
    template = environment(autoescape=True).get_template("summary.html.j2")
    parser = _parser()
    return template.render(
        summary=summary,
        markdown=lambda text: Markup(parser.render(text)),
        inline=lambda text: Markup(parser.renderInline(text)),
    )


def _parser() -> MarkdownIt:
    """CommonMark with tables and formulas; raw HTML in a card is shown, not obeyed."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    return parser.use(dollarmath_plugin, renderer=_formula, allow_space=True)


def _formula(source: str, options: dict[str, bool]) -> str:
    """MathML, or the LaTeX itself where it cannot be converted."""
    display = "block" if options.get("display_mode") else "inline"
    plain = html.unescape(source)
    try:
        formula = convert(plain, display=display)
        if _is_mathml(formula):
            return formula
    except Exception:  # noqa: BLE001 - latex2mathml raises many kinds; the source is always readable
        pass
    return f"<code>{escape(plain)}</code>"


def _is_mathml(text: str) -> bool:
    """Whether there is nothing but MathML in it: latex2mathml lets mark-up in `\\text{…}` through."""
    try:
        tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()}
    except ElementTree.ParseError:
        return False
    return tags <= MATHML
