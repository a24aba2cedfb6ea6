"""The texts of a card, and what in them is prose, code or formula."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from attncli.bank.problems import Way
from attncli.domain.markdown_parts import PART


def localised(value: Any, way: Way = ()) -> Iterator[tuple[Way, Mapping[str, str]]]:
    """Every {en, zh} text below a value, with the way to it."""
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
    """A Markdown text taken apart: its formulas, and its prose with code and formulas cut out."""

    formulas: tuple[str, ...]
    prose: str


def parts_of(text: str) -> Parts:
    """Formulas and prose of a text; each cut leaves one space, an escaped dollar sign the word `dollar`."""
    if "$" not in text and "`" not in text and "~~~" not in text:
        return Parts((), text)
    formulas: list[str] = []

    def cut(found: re.Match[str]) -> str:
        if formula := found["display"] or found["inline"]:
            formulas.append(formula)
        return "dollar" if found["escape"] == r"\$" else " "

    prose = PART.sub(cut, text)
    return Parts(tuple(formulas), prose)
