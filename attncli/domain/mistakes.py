"""What a wrong solution gets wrong, as its docstring says it.

    Divides by D − 1 (the default of torch.var).
    方差除以了 D − 1（torch.var 的默认行为）。

    symptom: Off by √((D−1)/D).
    症状：差一个 √((D−1)/D)。

    cards: norm-05
    rung: solved

What it is in English, then in Chinese; then fields, each of which may go on in the next line. `rung` is the one that
the file must not reach.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from attncli.domain.chinese_characters import FULL_WIDTH, IDEOGRAPHS, is_chinese
from attncli.domain.rungs import CaseRung
from attncli.domain.text import Localised

SUMMARY = "summary"
SUMMARY_ZH = "Chinese summary"
SYMPTOM = "symptom"
SYMPTOM_ZH = "症状"
CARDS = "cards"
RUNG = "rung"
FIELDS = (SUMMARY, SUMMARY_ZH, SYMPTOM, SYMPTOM_ZH, CARDS, RUNG)

_NAMED = re.compile(rf"(?P<name>[A-Za-z_]+|[{IDEOGRAPHS}]{{1,6}})[ \t]*[:：](?P<text>.*)")
_FOLD = re.compile(rf"(?<=[{FULL_WIDTH}])\n|\n(?=[{FULL_WIDTH}])")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake in both languages, the cards that explain it, and the rung that code with it does not reach."""

    says: Localised
    symptom: Localised
    cards: tuple[str, ...]
    rung: CaseRung


@dataclass(frozen=True, slots=True)
class Field:
    """A part of the docstring; `line` counts from 1, the line of the opening quotes."""

    name: str
    text: str
    line: int


def fields_in(docstring: str) -> list[Field]:
    """The fields of a docstring in their order, unknown ones and repeated ones too."""
    return [Field(name, _folded(lines), line) for name, lines, line in _pieces(docstring)]


def mistake_in(docstring: str) -> Mistake:
    """The mistake that a docstring tells. What is missing is empty, and the rung then the first: the strictest."""
    told: dict[str, str] = {}
    for field in fields_in(docstring):
        told.setdefault(field.name, field.text)
    return Mistake(
        says=Localised(told.get(SUMMARY, ""), told.get(SUMMARY_ZH, "") or told.get(SUMMARY, "")),
        symptom=Localised(told.get(SYMPTOM, ""), told.get(SYMPTOM_ZH, "") or told.get(SYMPTOM, "")),
        cards=listed(told.get(CARDS, "")),
        rung="hardened" if told.get(RUNG) == "hardened" else "solved",
    )


def listed(text: str) -> tuple[str, ...]:
    """What stands between commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _pieces(docstring: str) -> Iterator[tuple[str, list[str], int]]:
    """(name, lines, number of the first line) of each field."""
    current: tuple[str, list[str], int] | None = None
    in_summary = True
    for number, raw in enumerate(docstring.splitlines(), 1):
        line = raw.strip()
        in_summary = in_summary and (bool(line) or current is None)
        begun = _begun(line, current[0] if current else "", in_summary)
        if begun is not None:
            if current:
                yield current
            current = (begun[0], [begun[1]], number)
        elif line and current:
            current[1].append(line)
    if current:
        yield current


def _begun(line: str, before: str, in_summary: bool) -> tuple[str, str] | None:
    """The field that begins in this line, and the line's part of its text; `before` is the one above."""
    named = _NAMED.match(line)
    if named and (named["name"] in FIELDS or not in_summary):
        return named["name"], named["text"].strip()
    if line and (not before or (before == SUMMARY and is_chinese(line))):
        return SUMMARY_ZH if is_chinese(line) else SUMMARY, line
    return None


def _folded(lines: list[str]) -> str:
    """Lines as one: Chinese goes on without a space."""
    return _FOLD.sub("", "\n".join(lines)).replace("\n", " ").strip()
