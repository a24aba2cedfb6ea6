"""What a term is also called: the spellings of the glossary, so that a card is found by words it does not use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from attncli.store.search_text import searchable

_SPELLINGS = ("en", "zh", "abbreviation")
_LISTS = ("also_en", "also_zh", "avoid_en", "avoid_zh")


class Synonyms:
    """Groups of spellings that mean one thing, each as a line of search tokens."""

    def __init__(self, glossary: Iterable[Mapping[str, Any]]) -> None:
        self._groups = [group for term in glossary if len(group := _spellings(term)) > 1]
        self._starting: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for number, group in enumerate(self._groups):
            for spelling in group:
                self._starting[spelling.split(" ", 1)[0]].append((number, spelling))

    def beside(self, line: str) -> str:
        """The spellings that a line of tokens does not have, of every term that it has one of."""
        whole = f" {line} "
        there: dict[int, set[str]] = defaultdict(set)
        for token in set(line.split()) & self._starting.keys():
            for number, spelling in self._starting[token]:
                if f" {spelling} " in whole:
                    there[number].add(spelling)
        return " ".join(
            other for number in sorted(there) for other in self._groups[number] if other not in there[number]
        )


def _spellings(term: Mapping[str, Any]) -> tuple[str, ...]:
    said = [term[key] for key in _SPELLINGS if term.get(key)]
    said += [word for key in _LISTS for word in term.get(key) or ()]
    return tuple(dict.fromkeys(filter(None, (searchable([word]) for word in said))))
