"""Questions that are asked twice, found without comparing every pair."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from zlib import crc32

from attncli.domain.chinese_characters import IDEOGRAPHS

SIMILAR = 0.75
_SKETCH = 6
_MAX_BUCKET = 8
_WORD = re.compile(rf"[{IDEOGRAPHS}]|[^\W_{IDEOGRAPHS}]+")


@dataclass(frozen=True, slots=True)
class Match:
    """Question `later` asks what `earlier` asks: the `same` words, or nearly."""

    earlier: int
    later: int
    same: bool


@dataclass(frozen=True, slots=True)
class _Question:
    shingles: frozenset[int]
    numbers: tuple[str, ...]

    @staticmethod
    def of(words: list[str]) -> _Question:
        pairs = [f"{first} {second}" for first, second in itertools.pairwise(words)]
        numbers = tuple(word for word in words if any(char.isdigit() for char in word))
        return _Question(frozenset(crc32(part.encode()) for part in (*words, *pairs)), numbers)

    @property
    def sketch(self) -> list[int]:
        return sorted(self.shingles)[:_SKETCH]

    def resembles(self, other: _Question) -> bool:
        shared = len(self.shingles & other.shingles)
        return self.numbers == other.numbers and shared >= SIMILAR * len(self.shingles | other.shingles)


def matches(questions: Iterable[str]) -> Iterator[Match]:
    """For each question the first earlier one that is equal, or shares at least `SIMILAR` of words and word pairs.

    Case, punctuation and spaces do not count; questions whose numbers differ are different. Only questions that share
    one of the shingles with the smallest hashes are compared, and few of each: the work is linear in the questions.
    """
    exact: dict[str, int] = {}
    buckets: dict[int, list[tuple[int, _Question]]] = {}
    for number, text in enumerate(questions):
        words = _WORD.findall(text.lower())
        if not words:
            continue
        folded = " ".join(words)
        if folded in exact:
            yield Match(exact[folded], number, same=True)
            continue
        exact[folded] = number
        question = _Question.of(words)
        near = _first_near(question, buckets)
        if near is not None:
            yield Match(near, number, same=False)
        for part in question.sketch:
            bucket = buckets.setdefault(part, [])
            if len(bucket) < _MAX_BUCKET:
                bucket.append((number, question))


def _first_near(question: _Question, buckets: dict[int, list[tuple[int, _Question]]]) -> int | None:
    candidates = {number: other for part in question.sketch for number, other in buckets.get(part, ())}
    return next((number for number, other in sorted(candidates.items()) if question.resembles(other)), None)
