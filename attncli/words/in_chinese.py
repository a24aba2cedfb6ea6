"""A finished English line in Chinese: errors, usage, help.

These are worded where they arise, in English, which scripts and logs rely on; only for a reader of Chinese is a line
looked up again, so that nobody else pays for the tables. What stands in the places of its English is put into those
of its Chinese as it is, but for three names: a `clause` is itself a line of the tables, `clauses` are several of
them, joined by `; `, and without theirs the line is not this one; a `reason` is one where the tables have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from string import Formatter
from typing import NamedTuple

from attncli.domain.text import Lang, Localised
from attncli.words import help_option_texts, help_texts, usage_texts

SEMICOLON = Localised("; ", "；")
TABLES: tuple[tuple[Localised, ...], ...] = (
    help_texts.COMMAND_HELP,
    help_option_texts.OPTION_HELP,
    usage_texts.USAGE,
    usage_texts.METAVARS,
    usage_texts.USAGE_ERRORS,
)


class _Reading(NamedTuple):
    """A line as one text of the tables; so many of its characters were taken over as they are."""

    taken_over: int
    chinese: str


def in_chinese(line: str) -> str | None:
    """The Chinese of `line`; None for one that no table has."""
    reading = _read(line)
    return reading.chinese if reading else None


def told_in(lang: Lang, line: str) -> str:
    """`line` in the language of the reader; what no table has stays English."""
    return (in_chinese(line) if lang == "zh" else None) or line


def _read(line: str) -> _Reading | None:
    """The reading that understands most of the line."""
    if (whole := _whole_lines().get(line)) is not None:
        return _Reading(0, whole)
    return min(_readings(line), default=None)


def _readings(line: str) -> Iterator[_Reading]:
    for text, literals in _with_places():
        if all(literal in line for literal in literals) and (found := _pattern(text.en).fullmatch(line)):
            parts = {name: _part(name.partition("_")[0], said) for name, said in found.groupdict().items()}
            known = {name: part for name, part in parts.items() if part}
            if len(known) == len(parts):
                chinese = text.zh.format(**{name: part.chinese for name, part in known.items()})
                yield _Reading(sum(part.taken_over for part in known.values()), chinese)


def _part(kind: str, said: str) -> _Reading | None:
    """What goes into a place of the Chinese; None where a clause is in no table."""
    if kind == "clause":
        return _read(said)
    if kind == "clauses":
        pieces = [_read(piece) for piece in said.split(SEMICOLON["en"])]
        told = [piece for piece in pieces if piece]
        whole = _Reading(sum(piece.taken_over for piece in told), SEMICOLON["zh"].join(piece.chinese for piece in told))
        return whole if len(told) == len(pieces) else None
    return (_read(said) if kind == "reason" else None) or _Reading(len(said), said)


@cache
def _whole_lines() -> dict[str, str]:
    return {text.en: text.zh for text in _texts() if "{" not in text.en}


@cache
def _with_places() -> list[tuple[Localised, list[str]]]:
    """The texts that have places, each with what it says by itself."""
    return [
        (text, [literal for literal, *_ in Formatter().parse(text.en) if literal])
        for text in _texts()
        if "{" in text.en
    ]


@cache
def _pattern(english: str) -> re.Pattern[str]:
    pattern, seen = "", set[str]()
    for literal, name, _, _ in Formatter().parse(english):
        pattern += re.escape(literal)
        if name:
            pattern += f"(?P={name})" if name in seen else f"(?P<{name}>.+?)"
            seen.add(name)
    return re.compile(pattern, re.DOTALL)


def _texts() -> Iterable[Localised]:
    return (text for table in TABLES for text in table)
