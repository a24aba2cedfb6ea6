"""Texts and queries as the search sees them: tokens, stems, and full-text conditions (SQLite's FTS5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from unicodedata import normalize

from attncli.domain.text import IDEOGRAPHS, KANA

_CJK = f"{IDEOGRAPHS}{KANA}\uac00-\ud7af\U00020000-\U0003ffff"
# Compiled by `re` at the first search: `attn due` starts without.
_TOKEN = f"[{_CJK}]+|[^\\W_{_CJK}]+"
_IS_CJK = f"[{_CJK}]"
_ENDING = r"(?<=[a-z]{4})(?:ations?|ing|ed|(?<!s)e?s)$"
SHORTEST_TAKEN_APART = 3
_NOT_TEXT = frozenset(
    {"kind", "level", "core", "compute", "compute_unit", "tolerance", "numbers", "sources", "licence"}
)


def searchable(parts: Iterable[Any]) -> str:
    """All text in nested documents as one line of tokens; a root is found by the name that people type."""
    return " ".join(token for part in parts for text in _texts(part) for token in _tokens(text.replace("√", " sqrt ")))


def runs_of(query: str) -> list[str]:
    """Return the words of a text or query, composed (NFC): Latin ones, and runs of Chinese."""
    return re.findall(_TOKEN, normalize("NFC", query.lower()))


def starting_with(run: str) -> str:
    """What finds a Latin word by its stem, and a Chinese run anywhere."""
    return beginning_with(stem(run))


def beginning_with(run: str) -> str:
    """What finds a Latin word by its beginning, and a Chinese run anywhere."""
    if re.match(_IS_CJK, run):
        return '"' + " ".join(run) + '"'
    return f'"{run}"*'


def stem(word: str) -> str:
    """A longer word without its ending, so that `derivation` finds `derive`."""
    found = re.search(_ENDING, word)
    return word[: found.start()] if found else word


def parts_of_run(run: str) -> list[str]:
    """What finds each two characters of a longer Chinese run, so that a wrong one leaves the others; else nothing."""
    if not re.match(_IS_CJK, run) or len(run) < SHORTEST_TAKEN_APART:
        return []
    return list(dict.fromkeys(starting_with(run[place : place + 2]) for place in range(len(run) - 1)))


def every_of(conditions: Iterable[str]) -> str:
    return " AND ".join(conditions)


def any_of(conditions: Iterable[str]) -> str:
    """One condition that holds where one of these does; empty for none."""
    joined = " OR ".join(f"({condition})" for condition in conditions)
    return f"({joined})" if joined else ""


def all_but_one(conditions: Sequence[str]) -> str:
    """Return one condition that holds where at most one of these does not; of n it has n·log n parts, not n².

    Empty for a single condition: then nothing has to hold.
    """
    if len(conditions) < 2:
        return ""
    half = len(conditions) // 2
    left, right = conditions[:half], conditions[half:]
    return any_of(
        every_of(filter(None, both))
        for both in ((every_of(left), all_but_one(right)), (all_but_one(left), every_of(right)))
    )


def in_question(expression: str) -> str:
    """The same, for the question alone."""
    return f"question : ({expression})"


def _tokens(text: str) -> Iterable[str]:
    for run in runs_of(text):
        yield from (run if re.match(_IS_CJK, run) else (run,))


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _NOT_TEXT:
                yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
