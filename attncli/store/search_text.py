"""Text made ready for full-text search, in both languages.

SQLite's stock tokenizers take a Chinese run as one word. Here every Chinese character becomes a token of its own, and
a Chinese query becomes a phrase of them: substrings of any length are found, one and two characters too. Latin words
are lower-cased; in a query each is a prefix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af\U00020000-\U0003ffff"
_TOKEN = re.compile(f"[{_CJK}]+|[^\\W_{_CJK}]+")
_IS_CJK = re.compile(f"[{_CJK}]")
_NOT_TEXT = frozenset(
    {"kind", "level", "core", "compute", "compute_unit", "tolerance", "numbers", "sources", "licence"}
)


def searchable(parts: Iterable[Any]) -> str:
    """All text in nested documents as one line of tokens."""
    return " ".join(token for part in parts for text in _texts(part) for token in _tokens(text))


def match_expression(query: str) -> str:
    """The full-text expression that finds every word of `query`; empty if it has none that are indexed."""
    return " AND ".join(_condition(run) for run in _TOKEN.findall(query.lower()))


def _condition(run: str) -> str:
    if _IS_CJK.match(run):
        return '"' + " ".join(run) + '"'
    return f'"{run}"*'


def _tokens(text: str) -> Iterable[str]:
    for run in _TOKEN.findall(text.lower()):
        yield from (run if _IS_CJK.match(run) else (run,))


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
