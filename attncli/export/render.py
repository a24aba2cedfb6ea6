"""The summary as one self-contained HTML page: formulas as MathML, no script, nothing fetched.

Whatever cards and code say comes in escaped or through `sanitised`, and the page's own policy forbids the browser what
might slip through: scripts, requests, forms, and every style but the page's own.
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

from attncli.domain.text import Lang, beyond_limits, hidden_in, printable
from attncli.errors import EnvironmentFailure
from attncli.export.summary import Summary, TopicLine, code_block, day_ahead, environment, summarise, topic_map
from attncli.paths import put_text
from attncli.practice.plan import local_date
from attncli.practice.workspace import Workspace
from attncli.words.cohort_texts import REPORT, RUNG, graded_by, left_out_text
from attncli.words.grade_report_texts import REASONS

if TYPE_CHECKING:
    from nh3 import Cleaner


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


# The summary as Markdown; formulas stay `$…$`.

_REFERENCE = re.compile(r"&(?=(#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};))")


def to_markdown(*parts: Summary) -> str:
    """The summary in one language or, one part after the other, in several."""
    jinja = environment(autoescape=False)
    jinja.filters["shown"] = shown
    page = jinja.get_template("summary.md.j2").render(parts=parts, code_block=code_block, bar=bar)
    return printable(page).strip() + "\n"


def bar(topic: TopicLine) -> str:
    """A topic's readiness on the day as a bar of ten: full blocks, and lighter ones for what was only seen."""
    ready = round(10 * topic.readiness_on_day)
    seen = max(round(10 * topic.seen / topic.total) if topic.total else 0, ready)
    return "█" * ready + "▒" * (seen - ready) + "░" * (10 - seen)


def shown(text: str) -> str:
    """A card's Markdown, in which no `&#x202e;` becomes a hidden character once somebody renders it."""
    return _REFERENCE.sub(lambda found: "&" if _is_seen(f"&{found[1]}") else "&amp;", text)


def _is_seen(reference: str) -> bool:
    meant = html.unescape(reference)
    return bool(meant) and not hidden_in(meant)


# What of a card's Markdown may come into a page: lists of tags and attributes, held by nh3 (ammonia).

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
    """A fragment with nothing in it that acts, fetches or covers anything: the rest is dropped, its text stays."""
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
    """The value if it is a short word, number, length or colour, or the address of a link, which nh3 has checked."""
    if attribute in ("href", "class", "rel"):
        return value
    return value if _VALUE.fullmatch(value) else None


# The Markdown of cards, read for a page: CommonMark with tables and formulas.
#
# Raw HTML in a card is shown and not obeyed, and a picture is its description.


def card_parser(formula: Callable[[str, dict[str, bool]], str]) -> MarkdownIt:
    """`formula` writes a formula, given its source and whether it stands on lines of its own (`display_mode`)."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.use(dollarmath_plugin, renderer=formula, label_renderer=lambda _: "", allow_space=True, double_inline=True)
    parser.add_render_rule("image", _picture)
    return parser


def _picture(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f"[{escape(renderer.renderInlineAsText(tokens[index].children, options, env))}]"


# The interview summary as a file beside the learner's data: one page a day and language.


def write_summary(workspace: Workspace) -> Path:
    """The page in the workspace's language, and where it is; one of the same day gives way to it.

    Raises UsageError where it cannot be written, EnvironmentFailure without room.
    """
    page = to_html(summarise(workspace, workspace.lang, day_ahead(workspace)))
    file = workspace.home.summaries / f"{local_date(workspace)}-{workspace.lang}.html"
    put_text(file, page, "write it elsewhere with `attn export summary -o FILE`")
    return file


# The report on a class as one self-contained HTML page: no script, nothing fetched, and it prints.
#
# Names, messages and diagnoses are other people's: all of it is escaped, and the page's own policy forbids the rest.


def to_page(report: Mapping[str, Any], lang: Lang) -> str:
    """The page; `report` is the document that `attn cohort --json` prints."""
    jinja = environment(autoescape=True)
    jinja.filters["said"] = lambda found, name: found.get(f"{name}_zh", found[name]) if lang == "zh" else found[name]
    jinja.filters["why"] = lambda left: left_out_text(left["reason"], left["detail"])[lang]
    jinja.filters["reason"] = lambda word: REASONS[word][lang] if word in REASONS else ""
    style = jinja.get_template("cohort.css").render()
    page = jinja.get_template("cohort.html.j2").render(
        report=report,
        lang=lang,
        l={name: text[lang] for name, text in REPORT.items()},
        rung={name: text[lang] for name, text in RUNG.items()},
        reached={learner["learner"]: _reached(learner) for learner in report["learners"]},
        open=list(_open(report)),
        by=graded_by(report, lang),
        files=sum(learner["graded"] for learner in report["learners"]),
        style=Markup(style),
        policy=policy(style),
    )
    return printable(page)


def _reached(learner: Mapping[str, Any]) -> dict[str, str]:
    """The rung of each file of a learner, by challenge."""
    return {result["challenge"]: result["rung"] for result in learner["results"]}


def _open(report: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every result that something stopped, with the learner's name."""
    for learner in report["learners"]:
        yield from ((learner["learner"], result) for result in learner["results"] if result["stopped_by"])


# Formulas as drawings, for the PDF engine, which knows no MathML.

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


# The summary as PDF, laid out by WeasyPrint from the page that a browser would print; nothing is fetched for it.

CHARACTERS_NAMED = 8
_EXTRA = "PDF needs WeasyPrint and ziamath, which are not installed: pip install 'attncli[pdf]', or take --format html"
_HAN = "Debian has fonts-noto-cjk, Fedora google-noto-sans-cjk-fonts"
_OTHER = "Debian has fonts-noto-core and fonts-dejavu, Fedora dejavu-sans-fonts"


def to_pdf(*parts: Summary) -> bytes:
    """One document with the summary in one language or several; the same summary gives the same bytes.

    Raises EnvironmentFailure without the engine, without Pango, and where no font here has a character of the text:
    a row of boxes is no summary.
    """
    weasyprint = _engine()
    page = to_print(parts, drawn)
    with _missing_characters() as missing:
        document = weasyprint.HTML(string=page, url_fetcher=_refuse).write_pdf(pdf_tags=True)
    if missing:
        raise EnvironmentFailure(_without_font(missing))
    return bytes(document)


def _engine() -> Any:
    try:
        import weasyprint
        import ziamath  # noqa: F401 - asked for here, so that both are missed at once
    except ImportError as error:
        raise EnvironmentFailure(_EXTRA) from error
    except OSError as error:
        raise EnvironmentFailure(
            "WeasyPrint finds no Pango here: Debian has libpango-1.0-0 and libpangoft2-1.0-0, Homebrew pango; "
            "or take --format html and print it"
        ) from error
    return weasyprint


def _refuse(url: str, *args: object, **kwargs: object) -> NoReturn:
    raise ValueError(f"the summary fetches nothing, not {url}")


@contextmanager
def _missing_characters() -> Iterator[set[str]]:
    """Collects the characters that no font has; the engine says so while it draws."""
    missing = set[str]()

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.msg.startswith(".notdef") and isinstance(record.args, tuple):
                missing.add(str(record.args[0]))

    logger, listener = logging.getLogger("weasyprint"), Listener(logging.WARNING)
    spoke = logger.propagate
    logger.addHandler(listener)
    logger.propagate = False
    try:
        yield missing
    finally:
        logger.removeHandler(listener)
        logger.propagate = spoke


def _without_font(missing: set[str]) -> str:
    named = sorted(missing)[:CHARACTERS_NAMED]
    shown = ", ".join(f"{sign} (U+{ord(sign):04X})" if sign.isprintable() else f"U+{ord(sign):04X}" for sign in named)
    more = f" and {len(missing) - len(named)} more" if len(missing) > len(named) else ""
    is_han = any("CJK" in unicodedata.name(sign, "") for sign in missing)
    return f"no font here has {shown}{more}; install one ({_HAN if is_han else _OTHER}), or take --format html"
