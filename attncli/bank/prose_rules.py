"""Rules for texts: lengths, formulas, hidden characters and code blocks.

Every formula is rendered in both ways that the program shows it: drawn for a terminal, and as MathML for exports.
"""

from __future__ import annotations

import ast
import inspect
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from textwrap import dedent
from typing import Any
from xml.etree import ElementTree

from attncli.bank.problems import Finding, Way, shown
from attncli.domain.text import IDEOGRAPHS, MOST_CHARACTERS, MOST_DEPTH, hidden_in, nesting_depth, part_pattern
from attncli.i18n import LANGS, Localised, _, ngettext, quoted

LENGTHS = {"short": ((50, 120), (100, 260)), "lead": ((45, 70), (80, 140))}
"""(fewest, most) English words, then Chinese characters: of the answer with its lead, and of the lead."""

_CHINESE_UNIT = re.compile(rf"[{IDEOGRAPHS}]|[^\W{IDEOGRAPHS}]+(?:[.'-][^\W{IDEOGRAPHS}]+)*")


def english_words(text: str) -> int:
    """Count the words between spaces that have at least one letter or digit."""
    return sum(any(char.isalnum() for char in word) for word in text.split())


def chinese_units(text: str) -> int:
    """Count Chinese characters; each Latin word, symbol name or number counts as one."""
    return len(_CHINESE_UNIT.findall(text))


def length_findings(card: Mapping[str, Any]) -> Iterator[Finding]:
    """Check the lengths of the lead, and of the lead and the short answer together, in both languages."""
    lead = card.get("lead") or {"en": "", "zh": ""}
    for key in (key for key in LENGTHS if card.get(key)):
        words, characters = LENGTHS[key]
        text = {lang: f"{lead[lang]} {card[key][lang]}" for lang in LANGS} if key == "short" else lead
        for lang, length, (least, most) in (
            ("en", english_words(text["en"]), words),
            ("zh", chinese_units(text["zh"]), characters),
        ):
            if not least <= length <= most:
                yield Finding((key, lang), _wrong_length(key, lang, length, least, most))


def _wrong_length(key: str, lang: str, length: int, least: int, most: int) -> Localised:
    text = _("the short answer") if key == "short" else _("the lead")
    remedy = _("say more") if length < least else _("move details to the explain field")
    if lang == "en":
        return _(
            "{text} has {length} words; it needs {least} to {most}; {remedy}",
            text=text,
            length=length,
            least=least,
            most=most,
            remedy=remedy,
        )
    return _(
        "{text} has {length} characters (a Latin word or number counts as one); it needs {least} to {most}; {remedy}",
        text=text,
        length=length,
        least=least,
        most=most,
        remedy=remedy,
    )


def fix_findings(card: Mapping[str, Any]) -> Iterator[Finding]:
    """Find backticks in a fix: it is shown as code everywhere, so they would turn prose into code."""
    for lang, text in (card.get("fix") or {}).items():
        if "`" in text:
            yield Finding(("fix", lang), _("a fix is shown as code; remove the backticks and write prose as a comment"))


# Formulas

_ALIASES = (
    (re.compile(r"\\operatorname\*?(?![A-Za-z])"), r"\\mathrm"),
    (re.compile(r"\\[lr]Vert(?![A-Za-z])"), r"\\|"),
)
_MATHML = frozenset(
    "math mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd mstyle"
    " mpadded mphantom menclose mmultiscripts".split()
)
_PLACEHOLDER = re.compile(r"\{\{\s*\w+\s*\}\}")
_LIBRARY_FAULTS = (ValueError, LookupError, TypeError, AttributeError, RecursionError, StopIteration)


def formula_findings(value: Mapping[str, Any]) -> Iterator[Finding]:
    """Find formulas that cannot be shown, and stray dollar signs, in every text below a card or challenge."""
    if (formula := value.get("formula")) and (fault := fault_of(formula)):
        yield Finding(("formula",), fault)
    for way, text in localised(value):
        for lang in LANGS:
            if "$" not in text[lang]:
                continue
            parts = parts_of(text[lang])
            if "$" in parts.prose:
                at = parts.prose.index("$")
                message = _(
                    "unpaired $ near {text}; close the formula on the same line, or write \\$ for a dollar sign",
                    text=shown(parts.prose[max(0, at - 12) : at + 20], 40),
                )
                yield Finding((*way, lang), message)
            for formula in parts.formulas:
                if fault := fault_of(formula):
                    yield Finding((*way, lang), fault)


@lru_cache(maxsize=20_000)
def fault_of(formula: str) -> Localised | None:
    """Return why a formula cannot be shown, with the remedy; None if it can."""
    tex, name = _PLACEHOLDER.sub("2", formula).strip(), shown(formula)
    if len(formula) > MOST_CHARACTERS:
        return _("formula {formula} is longer than {most} characters; split it", formula=name, most=MOST_CHARACTERS)
    if nesting_depth(formula) > MOST_DEPTH:
        return _("formula {formula} is nested deeper than {most}; split it", formula=name, most=MOST_DEPTH)
    return _terminal_fault(tex, name) or _mathml_fault(tex, name)


def _terminal_fault(tex: str, name: str) -> Localised | None:
    from texicode.pipeline import init_arts, render_tex_rows

    init_arts({"fonts": "normal"})
    for pattern, replacement in _ALIASES:
        tex = pattern.sub(replacement, tex)
    try:
        rows = [str(row) for row in render_tex_rows(tex, False)]
    except _LIBRARY_FAULTS as error:
        return _(
            "formula {formula} cannot be drawn in a terminal ({reason}); use simpler LaTeX",
            formula=name,
            reason=shown(error, 40),
        )
    complaint = next((row for row in rows if row.startswith("TeXicode:")), "")
    if complaint:
        return _(
            "formula {formula} is not valid LaTeX ({reason}); check braces, scripts and \\left … \\right",
            formula=name,
            reason=complaint.partition(": ")[2][:60],
        )
    if not any(row.strip() for row in rows):
        return _("formula {formula} is drawn as nothing; write a formula or remove the dollar signs", formula=name)
    if "?" not in tex and any("?" in row for row in rows):
        return _(
            "formula {formula} uses a command the terminal cannot draw ({command}); use a common one",
            formula=name,
            command=_commands(tex),
        )
    return None


def _commands(tex: str) -> str:
    """List the commands of a formula that are drawn as a question mark."""
    from texicode.pipeline import render_tex_rows

    unknown = []
    for command in dict.fromkeys(re.findall(r"\\[A-Za-z]+", tex)):
        try:
            rows = render_tex_rows(command + " ", False)
        except _LIBRARY_FAULTS:
            continue
        if any("?" in row for row in rows):
            unknown.append(command)
    return ", ".join(unknown[:3]) or "?"


def _mathml_fault(tex: str, name: str) -> Localised | None:
    from latex2mathml import exceptions
    from latex2mathml.converter import convert

    classes = [
        found for _unused, found in inspect.getmembers(exceptions, inspect.isclass) if issubclass(found, Exception)
    ]
    faults: tuple[type[Exception], ...] = (*_LIBRARY_FAULTS, *classes)
    try:
        mathml = convert(tex)
    except faults as error:
        return _(
            "formula {formula} cannot be written as MathML ({reason}); check braces, scripts and \\left … \\right",
            formula=name,
            reason=type(error).__name__,
        )
    try:
        elements = [element.tag.rpartition("}")[2] for element in ElementTree.fromstring(mathml).iter()]
    except ElementTree.ParseError:
        return _(
            "formula {formula} cannot be written as MathML (a bare & or <); use & only inside a matrix", formula=name
        )
    if foreign := next((tag for tag in elements if tag not in _MATHML), ""):
        return _(
            "formula {formula} contains the tag <{tag}>; write < and > as words or outside \\text",
            formula=name,
            tag=foreign[:20],
        )
    if unknown := re.search(r">(\\[A-Za-z]+)", mathml):
        return _(
            "formula {formula} uses a command that MathML lacks ({command}); use a common one",
            formula=name,
            command=unknown.group(1),
        )
    return None


# Hidden characters

MOST_NAMED = 3


def hidden_findings(value: object, way: Way = ()) -> Iterator[Finding]:
    """Find texts and keys below a value with characters that no reader sees, such as direction overrides."""
    if isinstance(value, str):
        if found := hidden_in(value):
            yield Finding(way, _hidden_message(found))
    elif isinstance(value, dict):
        for key, inner in value.items():
            if found := hidden_in(str(key)):
                yield Finding((*way, key), _("this key contains {found}", found=_hidden_message(found)), at_key=True)
            yield from hidden_findings(inner, (*way, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from hidden_findings(inner, (*way, number))


def _hidden_message(found: list[str]) -> Localised:
    names = [f"U+{ord(char):04X} ({unicodedata.name(char, 'control character').lower()})" for char in found]
    listed, more = ", ".join(names[:MOST_NAMED]), len(names) - MOST_NAMED
    if more > 0:
        return _("hidden characters {names} and {count} more; remove them", names=listed, count=more)
    return ngettext(
        "hidden character {names}; remove it", "hidden characters {names}; remove them", len(names), names=listed
    )


# Texts and their parts


def localised(value: Any, way: Way = ()) -> Iterator[tuple[Way, Mapping[str, str]]]:
    """Yield every {en, zh} text below a value, with the path to it."""
    if isinstance(value, dict):
        if isinstance(value.get("en"), str) and isinstance(value.get("zh"), str):
            yield way, value
            return
        for key, inner in value.items():
            yield from localised(inner, (*way, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from localised(inner, (*way, number))


@dataclass(frozen=True, slots=True)
class Parts:
    """The formulas of a Markdown text, and its prose without code and formulas."""

    formulas: tuple[str, ...]
    prose: str


def parts_of(text: str) -> Parts:
    """Split a text into formulas and prose; a cut becomes a space, an escaped dollar sign the word `dollar`."""
    if "$" not in text and "`" not in text and "~~~" not in text:
        return Parts((), text)
    formulas: list[str] = []

    def cut(found: re.Match[str]) -> str:
        if formula := found["display"] or found["inline"]:
            formulas.append(formula)
        return "dollar" if found["escape"] == r"\$" else " "

    prose = part_pattern().sub(cut, text)
    return Parts(tuple(formulas), prose)


# Code blocks

MOST_CODE = 10_000
KINDS = ("python", "python sketch", "text")
_FENCE = re.compile(
    r"^ *(?P<ticks>```+|~~~+)(?P<info>[^\n]*)\n(?P<code>.*?)^ *(?P=ticks)[`~]* *$", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A code block. `info`: `python` runs by itself, `python sketch` needs more than it shows, `text` is no code."""

    info: str
    code: str


def snippets_of(text: str) -> Iterator[Snippet]:
    """Yield the code blocks of a Markdown text."""
    for found in _FENCE.finditer(text):
        yield Snippet(" ".join(found["info"].split()), dedent(found["code"]))


def snippet_findings(value: object) -> Iterator[Finding]:
    """Find code blocks without a known mark, and Python that does not parse."""
    for way, text in localised(value):
        for lang in LANGS:
            for snippet in snippets_of(text[lang]):
                if snippet.info not in KINDS:
                    message = _(
                        "a code block is marked {info}; use ```python if it runs, ```python sketch or ```text",
                        info=shown(snippet.info, 30),
                    )
                    yield Finding((*way, lang), message)
                elif snippet.info != "text" and (fault := python_fault(snippet.code)):
                    message = _(
                        "the code block is not valid Python ({reason}); correct it or mark it as text", reason=fault
                    )
                    yield Finding((*way, lang), message)


def python_fault(code: str) -> Localised | None:
    """Return why a text is not Python, None if it is. Long texts are not parsed: Python takes minutes for some."""
    if len(code) > MOST_CODE:
        return _("over {most} characters long", most=MOST_CODE)
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return quoted(str(error))
    return None
