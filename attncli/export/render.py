"""The summary as one self-contained HTML page: formulas as MathML, no script, nothing fetched.

Whatever cards and code say comes in escaped or through `sanitised`, and the page's own policy forbids the browser what
might slip through: scripts, requests, forms, and every style but the page's own.
"""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup

from attncli.domain.formula_limits import beyond_limits
from attncli.domain.printable import printable
from attncli.export.card_parser import card_parser
from attncli.export.sanitising import MATHML_TAGS, MATHML_WORDS, sanitised
from attncli.export.summary import Summary
from attncli.export.summary_phrases import environment
from attncli.export.topic_map import topic_map

_ALIGNED = {f"text-align:{side}": f"to-{side}" for side in ("left", "center", "right")}


def to_html(*parts: Summary) -> str:
    """One page with the summary in one language or, one part after the other, in several."""
    return printable(_page("summary.html.j2", parts, lambda fragment: fragment))


def to_print(parts: Sequence[Summary], draw: Callable[[str], str]) -> str:
    """The same page for a PDF engine: `draw` turns the MathML of a clean fragment into what the engine can show."""
    return printable(_page("summary.print.html.j2", parts, draw))


def _page(template: str, parts: Sequence[Summary], draw: Callable[[str], str]) -> str:
    jinja = environment(autoescape=True)
    parser = _parser()
    style = jinja.get_template("summary.css").render()
    return jinja.get_template(template).render(
        parts=parts,
        style=Markup(style),
        policy=policy(style),
        picture=lambda summary, says: Markup(topic_map(summary.started, summary.lang, says)),
        markdown=lambda text: Markup(draw(sanitised(parser.render(text)))),
        inline=lambda text: Markup(draw(sanitised(parser.renderInline(text)))),
    )


def policy(style: str) -> str:
    """What the page asks of the browser: nothing is run or fetched, and `style` alone is obeyed."""
    own = b64encode(sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{own}'; base-uri 'none'; form-action 'none'"


def _parser() -> MarkdownIt:
    parser = card_parser(_formula)
    parser.add_render_rule("math_inline_double", _displayed)
    parser.core.ruler.push("aligned", _aligned)
    return parser


def _aligned(state: StateCore) -> None:
    """Columns are aligned by classes: the page obeys no style but its own."""
    for token in state.tokens:
        if wanted := _ALIGNED.get(str(token.attrs.pop("style", ""))):
            token.attrs["class"] = wanted


def _displayed(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """A formula on lines of its own that stands within a paragraph."""
    return _formula(tokens[index].content, {"display_mode": True})


def _formula(source: str, options: dict[str, bool]) -> str:
    """MathML, or the LaTeX itself where it cannot be converted."""
    display = "block" if options.get("display_mode") else "inline"
    plain = html.unescape(source)
    try:
        if not beyond_limits(plain) and _is_mathml(formula := convert(plain, display=display)):
            return formula
    except Exception:  # noqa: BLE001 - latex2mathml raises many kinds; the source is always readable
        pass
    return f"<code>{escape(plain)}</code>"


def _is_mathml(text: str) -> bool:
    """Whether it is MathML with nothing but text in its words and signs: `\\text{…}` lets mark-up through."""
    try:
        formula = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return False
    elements = [(element.tag.rpartition("}")[2], len(element)) for element in formula.iter()]
    return all(tag in MATHML_TAGS and not (tag in MATHML_WORDS and children) for tag, children in elements)
