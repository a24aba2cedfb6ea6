"""Render documents: the summary as Markdown, HTML and PDF, and the report on a class as HTML.

An HTML page is one self-contained file: formulas are MathML, nothing is fetched, and there are no scripts. Cards and
code are untrusted. They are escaped, or pass `sanitised`, nh3's allowlist of tags and attributes. The policy of the
page also forbids scripts, requests, forms and foreign styles. In PDFs formulas are drawings, since the engine does not
support MathML.
"""

from __future__ import annotations

import html
import logging
import re
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin

from attncli.domain.grade_report_text import REASONS
from attncli.domain.text import beyond_limits, code_block, hidden_in, printable
from attncli.errors import EnvironmentFailure
from attncli.export.summary import PARTS, SHEET_WEAK, Summary, SummaryPart, TopicLine, day_ahead, environment, summarise
from attncli.i18n import NOTHING, Lang, Localised, _
from attncli.paths import write_text
from attncli.practice.plan import local_date
from attncli.practice.workspace import Workspace

if TYPE_CHECKING:
    from nh3 import Cleaner

_ALIGNED = {f"text-align:{side}": f"to-{side}" for side in ("left", "center", "right")}


# Markdown

_REFERENCE = re.compile(r"&(?=(#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};))")


def to_markdown(*summaries: Summary, parts: Sequence[SummaryPart] = PARTS) -> str:
    """Return the summary as Markdown, in one language or in several, one after the other; formulas stay `$…$`."""
    jinja = environment(autoescape=False)
    jinja.filters["shown"] = shown
    page = jinja.get_template("summary.md.j2").render(
        languages=summaries, parts=parts, code_block=code_block, bar=bar, SHEET_WEAK=SHEET_WEAK
    )
    return printable(page).strip() + "\n"


def bar(topic: TopicLine) -> str:
    """Return the readiness of a topic as a bar of ten blocks; lighter ones are seen but not ready."""
    ready = round(10 * topic.readiness_on_day)
    seen = max(round(10 * topic.seen / topic.total) if topic.total else 0, ready)
    return "█" * ready + "▒" * (seen - ready) + "░" * (10 - seen)


def shown(text: str) -> str:
    """Return Markdown in which no reference such as `&#x202e;` becomes a hidden character when it is rendered."""

    def escape_hidden(found: re.Match[str]) -> str:
        meant = html.unescape(f"&{found[1]}")
        return "&" if meant and not hidden_in(meant) else "&amp;"

    return _REFERENCE.sub(escape_hidden, text)


# HTML


def to_html(*summaries: Summary, parts: Sequence[SummaryPart] = PARTS) -> str:
    """Return one page with the summary in one language or in several, one after the other."""
    return printable(_summary_page(summaries, parts, with_policy=True))


def write_summary(workspace: Workspace) -> Path:
    """Write the page, in the language of the workspace, to the folder of the learner's data. Returns its path.

    A page of the same day is replaced. Raises UsageError if it cannot be written, EnvironmentFailure if there is no
    space.
    """
    page = to_html(summarise(workspace, workspace.lang, day_ahead(workspace)))
    file = workspace.home.summaries / f"{local_date(workspace)}-{workspace.lang}.html"
    write_text(file, page, _("write it elsewhere with `attn export summary -o FILE`"))
    return file


def _summary_page(
    summaries: Sequence[Summary],
    parts: Sequence[SummaryPart],
    *,
    with_policy: bool = False,
    draw: Callable[[str, float], str] = lambda fragment, size: fragment,
) -> str:
    """Return the page; `draw` replaces the formulas of a fragment by drawings of a size in pixels."""
    jinja = environment(autoescape=True)
    jinja.filters["highlighted"] = highlighted
    parser = _parser()
    style = jinja.get_template("summary.css").render()
    return jinja.get_template("summary.html.j2").render(
        languages=summaries,
        parts=parts,
        SHEET_WEAK=SHEET_WEAK,
        style=Markup(style),
        policy=policy(style) if with_policy else "",
        markdown=lambda text: Markup(draw(sanitised(parser.render(text)), SIZE_PX)),
        inline=lambda text: Markup(draw(sanitised(parser.renderInline(text)), SIZE_PX)),
        fact=lambda text: Markup(draw(sanitised(parser.renderInline(text)), SHEET_SIZE_PX)),
    )


def highlighted(code: str) -> Markup:
    """Return Python code as HTML with a class for each kind of token; the style sheet colours a few."""
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    return Markup(highlight(code, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n"))


def policy(style: str) -> str:
    """Return a Content-Security-Policy: nothing is run or fetched, and only `style` applies."""
    own = b64encode(sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{own}'; base-uri 'none'; form-action 'none'"


def _parser() -> MarkdownIt:
    parser = card_parser(_formula)
    parser.add_render_rule("math_inline_double", _displayed)
    parser.core.ruler.push("aligned", _aligned)
    return parser


def _aligned(state: StateCore) -> None:
    """Align columns by classes, because the policy forbids style attributes."""
    for token in state.tokens:
        if wanted := _ALIGNED.get(str(token.attrs.pop("style", ""))):
            token.attrs["class"] = wanted


def _displayed(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """Render a display formula inside a paragraph."""
    return _formula(tokens[index].content, {"display_mode": True})


def _formula(source: str, options: dict[str, bool]) -> str:
    """Return MathML, or the LaTeX source if it cannot be converted."""
    display = "block" if options.get("display_mode") else "inline"
    plain = html.unescape(source)
    try:
        if not beyond_limits(plain) and _is_mathml(formula := convert(plain, display=display)):
            return formula
    except Exception:  # noqa: BLE001 - latex2mathml raises many kinds; the source is always readable
        pass
    return f"<code>{escape(plain)}</code>"


def _is_mathml(text: str) -> bool:
    """Return True for MathML whose words and operators hold only text: `\\text{…}` lets mark-up through."""
    try:
        formula = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return False
    elements = [(element.tag.rpartition("}")[2], len(element)) for element in formula.iter()]
    return all(tag in MATHML_TAGS and not (tag in MATHML_WORDS and children) for tag, children in elements)


def to_page(report: Mapping[str, Any], standard: Localised, lang: Lang) -> str:
    """Return the report on a class as a page; `report` is the document that `attn cohort --json` prints.

    `standard` is the line with the seed, limits and sandbox of the grading.
    """
    jinja = environment(autoescape=True)
    jinja.filters["said"] = lambda found, name: found.get(f"{name}_zh", found[name]) if lang == "zh" else found[name]
    jinja.filters["reason"] = lambda word: REASONS[word][lang] if word in REASONS else ""
    style = jinja.get_template("cohort.css").render()
    page = jinja.get_template("cohort.html.j2").render(
        report=report,
        lang=lang,
        reached={
            learner["learner"]: {result["challenge"]: result["rung"] for result in learner["results"]}
            for learner in report["learners"]
        },
        open=[
            (learner["learner"], result)
            for learner in report["learners"]
            for result in learner["results"]
            if result["stopped_by"]
        ],
        by=standard[lang],
        files=sum(learner["graded"] for learner in report["learners"]),
        style=Markup(style),
        policy=policy(style),
    )
    return printable(page)


# Sanitising

TEXT_TAGS = frozenset(
    "p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s a table thead tbody tr th td".split()
)
MATHML_TAGS = frozenset(
    "math mrow mi mo mn ms mtext mspace msup msub msubsup mover munder munderover mfrac msqrt mroot mtable mtr mtd "
    "mstyle mpadded mphantom menclose merror mmultiscripts mprescripts none semantics annotation".split()
)
MATHML_WORDS = frozenset({"mi", "mo", "mn", "ms", "mtext", "annotation"})
ATTRIBUTES: dict[str, frozenset[str]] = {
    "*": frozenset(),
    "a": frozenset({"href"}),
    "ol": frozenset({"start"}),
    "math": frozenset({"display"}),
    "mi": frozenset({"mathvariant"}),
    "mn": frozenset({"mathvariant"}),
    "mtext": frozenset({"mathvariant"}),
    "mo": frozenset("stretchy fence form separator accent largeop movablelimits minsize maxsize lspace rspace".split()),
    "mover": frozenset({"accent"}),
    "munder": frozenset({"accentunder"}),
    "munderover": frozenset({"accent", "accentunder"}),
    "mspace": frozenset({"width"}),
    "mfrac": frozenset({"linethickness"}),
    "mstyle": frozenset({"displaystyle", "scriptlevel", "mathcolor", "mathsize"}),
    "mtable": frozenset({"columnalign", "rowspacing", "columnspacing", "columnlines", "rowlines", "frame"}),
    "mtd": frozenset({"columnalign", "columnspan", "rowspan"}),
    "menclose": frozenset({"notation"}),
}
ALIGNMENTS = frozenset({"to-left", "to-center", "to-right"})
SCHEMES = frozenset({"http", "https"})

_LENGTH = r"-?0?\.\d{1,3}(?:em|ex)|\d{1,2}(?:\.\d{1,3})?(?:em|ex|pt|px|%)?"
_WORDS = r"[a-z-]{1,30}(?: [a-z-]{1,30}){0,9}"
_VALUE = re.compile(rf"#[0-9a-fA-F]{{3,6}}|{_WORDS}|(?:{_LENGTH})(?: (?:{_LENGTH})){{0,9}}")


def sanitised(html: str) -> str:
    """Return the fragment without tags and attributes that are not allowed; their text stays."""
    return _cleaner().clean(html)


@cache
def _cleaner() -> Cleaner:
    from nh3 import Cleaner

    return Cleaner(
        tags=TEXT_TAGS | MATHML_TAGS,
        attributes=ATTRIBUTES,
        attribute_filter=_value,
        allowed_classes={"th": ALIGNMENTS, "td": ALIGNMENTS},
        url_schemes=SCHEMES,
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )


def _value(tag: str, attribute: str, value: str) -> str | None:
    """Return the value if it is a short word, number, length or colour, or an address, which nh3 has checked."""
    if attribute in ("href", "class", "rel"):
        return value
    return value if _VALUE.fullmatch(value) else None


def card_parser(formula: Callable[[str, dict[str, bool]], str]) -> MarkdownIt:
    """Return a parser of card Markdown: CommonMark with tables and formulas; raw HTML and pictures become text.

    `formula` renders a formula, given its source and options, of which only `display_mode` matters.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.use(
        dollarmath_plugin, renderer=formula, label_renderer=lambda label: "", allow_space=True, double_inline=True
    )
    parser.add_render_rule("image", _picture)
    return parser


def _picture(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f"[{escape(renderer.renderInlineAsText(tokens[index].children, options, env))}]"


# PDF

CHARACTERS_NAMED = 8
_MISSING = _(
    "PDF needs WeasyPrint and ziamath, which are not installed: pip install 'attncli[pdf]', or use --format html"
)
_HAN_FONTS = _("Debian has fonts-noto-cjk, Fedora google-noto-sans-cjk-fonts")
_OTHER_FONTS = _("Debian has fonts-noto-core and fonts-dejavu, Fedora dejavu-sans-fonts")


def to_pdf(*summaries: Summary, parts: Sequence[SummaryPart] = PARTS) -> bytes:
    """Return one PDF with the summary in one language or in several; the same summary gives the same bytes.

    Raises EnvironmentFailure without WeasyPrint or Pango, and if no installed font has a character of the text.
    """
    weasyprint = _engine()
    page = printable(_summary_page(summaries, parts, draw=drawn))
    with _missing_characters() as missing:
        document = weasyprint.HTML(string=page, url_fetcher=_refuse).write_pdf(pdf_tags=True)
    if missing:
        raise EnvironmentFailure(_missing_font_message(missing))
    return bytes(document)


def _engine() -> Any:
    try:
        import weasyprint
        import ziamath  # noqa: F401 - imported here, so that one error covers both
    except ImportError as error:
        raise EnvironmentFailure(_MISSING) from error
    except OSError as error:
        raise EnvironmentFailure(
            _(
                "WeasyPrint cannot find Pango: install libpango-1.0-0 and libpangoft2-1.0-0 "
                "(Debian) or pango (Homebrew); or use --format html and print it"
            )
        ) from error
    return weasyprint


def _refuse(url: str, *args: object, **kwargs: object) -> NoReturn:
    raise ValueError(f"the summary fetches nothing, not {url}")


@contextmanager
def _missing_characters() -> Iterator[set[str]]:
    """Collect the characters that no font has, from the warnings of the engine."""
    missing = set[str]()

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.msg.startswith(".notdef") and isinstance(record.args, tuple):
                missing.add(str(record.args[0]))

    logger, listener = logging.getLogger("weasyprint"), Listener(logging.WARNING)
    propagate = logger.propagate
    logger.addHandler(listener)
    logger.propagate = False
    try:
        yield missing
    finally:
        logger.removeHandler(listener)
        logger.propagate = propagate


def _missing_font_message(missing: set[str]) -> Localised:
    named = sorted(missing)[:CHARACTERS_NAMED]
    shown = ", ".join(f"{sign} (U+{ord(sign):04X})" if sign.isprintable() else f"U+{ord(sign):04X}" for sign in named)
    more = _(" and {count} more", count=len(missing) - len(named)) if len(missing) > len(named) else NOTHING
    is_han = any("CJK" in unicodedata.name(sign, "") for sign in missing)
    return _(
        "no installed font has {shown}{more}; install one ({han_fonts}), or use --format html",
        shown=shown,
        more=more,
        han_fonts=_HAN_FONTS if is_han else _OTHER_FONTS,
    )


# Formulas as drawings

SIZE_PX, SHEET_SIZE_PX = 15.0, 8.5
MARGIN_PX = 1.0
MOST_LAYOUTS = 10_000
"""The largest number of laid-out elements (about three seconds); the longest formula of the bank takes 2,000."""
_ROWS = frozenset({"math", "mrow", "msqrt", "mtd", "mstyle", "mpadded", "mphantom", "menclose"})
_SCRIPTS = frozenset({"msub", "msup", "msubsup", "munder", "mover", "munderover"})
_MATHML = re.compile(r"<math\b[^>]*>.*?</math>", re.DOTALL)


def drawn(fragment: str, size: float = SIZE_PX) -> str:
    """Return a sanitised HTML fragment with an SVG drawing, of `size` pixels, in place of each MathML formula."""
    return _MATHML.sub(lambda found: _drawing(found[0], size), fragment)


@cache
def _drawing(mathml: str, size: float) -> str:
    """Return the formula as SVG on the baseline, or its text if a character has no glyph or it nests too deeply."""
    from ziafont import config
    from ziamath import Math

    config.svg2 = False
    formula = ElementTree.fromstring(mathml.replace("&nbsp;", "\u00a0"))
    words = " ".join("".join(formula.itertext()).split())
    if _layouts(formula) > MOST_LAYOUTS:
        return f"<code>{html.escape(words)}</code>"
    _fix_operator_sizes(formula)
    try:
        math = Math(ElementTree.tostring(formula, encoding="unicode"), size=size, margin=MARGIN_PX)
    except Exception:  # noqa: BLE001 - ziamath raises many kinds; the words are always readable
        return f"<code>{html.escape(words)}</code>"
    if not all(char.isspace() or math.font.glyphindex(char) for char in words if ord(char) > 0x7F):
        return f"<code>{html.escape(words)}</code>"
    svg = math.svgxml()
    _, top, _, height = (float(number) for number in svg.get("viewBox", "0 0 0 0").split())
    depth = top + height  # below the baseline, which is y = 0
    svg.set("style", f"vertical-align: {-depth:.3f}px")
    svg.set("role", "img")
    svg.set("aria-label", words)
    picture = ElementTree.tostring(svg, encoding="unicode")
    return f'<span class="formula">{picture}</span>' if formula.get("display") == "block" else picture


def _layouts(formula: ElementTree.Element) -> int:
    """Return the number of elements that ziamath lays out: each row twice, so a row inside a row four times."""
    return 1 + (1 + (_tag(formula) in _ROWS)) * sum(_layouts(child) for child in formula)


def _fix_operator_sizes(formula: ElementTree.Element) -> None:
    """Mark Σ and other operators with limits as not stretchy, which ziamath would stretch without end."""
    for script in formula.iter():
        base = next(iter(script), None)
        if _tag(script) in _SCRIPTS and base is not None and _tag(base) == "mo" and "stretchy" not in base.attrib:
            base.set("stretchy", "false")


def _tag(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]
