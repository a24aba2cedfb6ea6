"""Every formula is rendered both ways the program shows it: drawn for a terminal, and as MathML for exports."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import lru_cache
from xml.etree import ElementTree

from attncli.bank.problems import Finding, shown
from attncli.bank.reading.card_texts import localised, parts_of
from attncli.domain.formula_limits import beyond_limits
from attncli.domain.text import LANGS

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


def formula_findings(value: object) -> Iterator[Finding]:
    """Formulas that cannot be shown, and dollar signs that belong to none, in every text below a value."""
    for way, text in localised(value):
        for lang in LANGS:
            if "$" not in text[lang]:
                continue
            parts = parts_of(text[lang])
            if "$" in parts.prose:
                said = f"a $ near {shown(_around(parts.prose), 40)} opens or closes no formula"
                yield Finding((*way, lang), f"{said}; close the formula on its line, or write \\$ for a dollar sign")
            for formula in parts.formulas:
                if fault := fault_of(formula):
                    yield Finding((*way, lang), f"formula {shown(formula)} {fault}")


def _around(prose: str) -> str:
    at = prose.index("$")
    return prose[max(0, at - 12) : at + 20]


@lru_cache(maxsize=20_000)
def fault_of(formula: str) -> str:
    """Why a formula cannot be shown, with the remedy; empty when it can."""
    tex = _PLACEHOLDER.sub("2", formula).strip()
    return beyond_limits(formula) or _terminal_fault(tex) or _mathml_fault(tex)


def _terminal_fault(tex: str) -> str:
    from texicode.pipeline import init_arts, render_tex_rows

    init_arts({"fonts": "normal"})
    for pattern, replacement in _ALIASES:
        tex = pattern.sub(replacement, tex)
    try:
        rows = [str(row) for row in render_tex_rows(tex, False)]
    except _LIBRARY_FAULTS as error:
        return f"cannot be drawn in a terminal ({shown(error, 40)}); use simpler LaTeX"
    said = next((row for row in rows if row.startswith("TeXicode:")), "")
    if said:
        return f"is not valid LaTeX ({said.partition(': ')[2][:60]}); check braces, scripts and \\left … \\right"
    if not any(row.strip() for row in rows):
        return "is drawn as nothing; write a formula or remove the dollar signs"
    if "?" not in tex and any("?" in row for row in rows):
        return f"uses a command the terminal cannot draw ({_commands(tex)}); use a common one"
    return ""


def _commands(tex: str) -> str:
    """The commands of a formula that are drawn as a question mark."""
    from texicode.pipeline import render_tex_rows

    unknown = []
    for command in dict.fromkeys(re.findall(r"\\[A-Za-z]+", tex)):
        try:
            rows = render_tex_rows(command + " ", False)
        except _LIBRARY_FAULTS:
            continue
        if any("?" in row for row in rows):
            unknown.append(command)
    return ", ".join(unknown[:3]) or "unknown"


def _mathml_fault(tex: str) -> str:
    from latex2mathml import exceptions
    from latex2mathml.converter import convert

    named = inspect.getmembers(exceptions, inspect.isclass)
    faults: tuple[type[Exception], ...] = (*_LIBRARY_FAULTS, *(one for _, one in named if issubclass(one, Exception)))
    try:
        mathml = convert(tex)
    except faults as error:
        return f"cannot be written as MathML ({type(error).__name__}); check braces, scripts and \\left … \\right"
    try:
        elements = [element.tag.rpartition("}")[2] for element in ElementTree.fromstring(mathml).iter()]
    except ElementTree.ParseError:
        return "cannot be written as MathML (a bare & or <); use & inside a matrix only"
    if foreign := next((name for name in elements if name not in _MATHML), ""):
        return f"has the mark-up <{foreign[:20]}>; write < and > as words or outside \\text"
    if unknown := re.search(r">(\\[A-Za-z]+)", mathml):
        return f"uses a command MathML has no sign for ({unknown.group(1)}); use a common one"
    return ""
