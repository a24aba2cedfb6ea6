"""A finished English line in Chinese: errors, usage, help.

These are worded where they arise, in English, which scripts and logs rely on; only for a reader of Chinese is a line
looked up again, so that nobody else pays for the tables. A line is one text of theirs, or several joined by `; `.
What stands in the places of its English is put into those of its Chinese as it is. Three names mean more: a `clause`
is itself such a line, or this one is another; a `reason` is one where the tables have it; a `key` is one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from string import Formatter
from typing import NamedTuple

from attncli.i18n import Lang, Localised, _

SEMICOLON = _("; ")
_ONE_WORD, _ANYTHING = r"\S+?", ".+?"


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
    if SEMICOLON["en"] in line:
        yield from _joined(SEMICOLON["zh"], [_read(clause) for clause in line.split(SEMICOLON["en"])])
    for text, literals in _with_places():
        if all(literal in line for literal in literals) and (found := _pattern(text.en).fullmatch(line)):
            parts = {name: _part(name.partition("_")[0], said) for name, said in found.groupdict().items()}
            for whole in _joined("", parts.values()):
                chinese = text.zh.format(**{name: part.chinese for name, part in parts.items() if part})
                yield _Reading(whole.taken_over, chinese)


def _joined(between: str, readings: Iterable[_Reading | None]) -> Iterator[_Reading]:
    """One of all; none where one of them is missing."""
    known = list(readings)
    found = [reading for reading in known if reading]
    if len(found) == len(known):
        yield _Reading(sum(part.taken_over for part in found), between.join(part.chinese for part in found))


def _part(kind: str, said: str) -> _Reading | None:
    """What goes into a place of the Chinese; None where a clause is in no table."""
    found = _read(said) if kind in ("clause", "reason") else None
    return found if kind == "clause" else found or _Reading(len(said), said)


@cache
def tables() -> tuple[tuple[Localised, ...], ...]:
    """Every table; read when the first line is looked up, as whoever never does so should not wait for them."""
    from attncli.words import (
        error_challenge_texts,
        error_practice_texts,
        error_store_texts,
        error_texts,
        help_option_texts,
        help_texts,
        usage_texts,
    )

    return (
        help_texts.COMMAND_HELP,
        help_option_texts.OPTION_HELP,
        usage_texts.USAGE,
        usage_texts.METAVARS,
        usage_texts.USAGE_ERRORS,
        error_texts.REMEDIES,
        error_texts.REASONS,
        error_texts.PLACES,
        error_texts.SETTINGS,
        error_texts.PROGRAM,
        error_store_texts.DATABASE,
        error_store_texts.BACKUPS,
        error_store_texts.LOGS,
        error_store_texts.ANKI,
        error_practice_texts.CARDS,
        error_practice_texts.INTERVIEWS,
        error_practice_texts.EXPORTS,
        error_practice_texts.FITS,
        error_challenge_texts.CHALLENGES,
        error_challenge_texts.GRADING,
        error_challenge_texts.CLASSES,
        error_challenge_texts.EXPERIMENTS,
        *_findings(),
    )


def _findings() -> tuple[tuple[Localised, ...], ...]:
    """What is told of banks and of the state of things, and to an assistant."""
    from attncli.words import assistant_error_texts, doctor_texts

    return (assistant_error_texts.ASSISTANT, doctor_texts.FINDINGS)


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
    for literal, name, *_rest in Formatter().parse(english):
        pattern += re.escape(literal)
        if name:
            pattern += f"(?P={name})" if name in seen else rf"(?P<{name}>{_ONE_WORD if name == 'key' else _ANYTHING})"
            seen.add(name)
    return re.compile(pattern, re.DOTALL)


def _texts() -> Iterable[Localised]:
    return (text for table in tables() for text in table)
