"""Links of cards: to other cards, challenges, experiments, wrong solutions, errata and sources; repeated questions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from attncli.bank.problems import Finding, Way, did_you_mean, shown
from attncli.domain.text import IDEOGRAPHS
from attncli.i18n import Localised, _, quoted

LAST_ERRATUM = 113

_ARXIV = re.compile(r"(?:\d{2}(?:0[1-9]|1[0-2])\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,2})?\Z")
_DOI = re.compile(r"10\.\d{4,9}/\S+\Z")
_URL = re.compile(r"https?://[^\s/.]+\.[^\s]+\Z")

SIMILAR = 0.75
_SKETCH = 6
_MAX_BUCKET = 8
_WORD = re.compile(rf"[{IDEOGRAPHS}]|[^\W_{IDEOGRAPHS}]+")


@dataclass(frozen=True, slots=True)
class Known:
    """The ids that may be linked to; `formerly` maps a card's old id to its new one."""

    cards: Collection[str] = frozenset()
    formerly: Mapping[str, str] = field(default_factory=dict)
    challenges: Mapping[str, Path] = field(default_factory=dict)
    experiments: Collection[str] = frozenset()


def link_findings(card: Mapping[str, Any], known: Known) -> Iterator[Finding]:
    """Yield a finding for each link whose target does not exist."""
    for way, target in follow_up_cards(card):
        if target in known.formerly and target not in known.cards:
            yield Finding(way, _('card "{id}" is now "{new}"; write the new id', id=target, new=known.formerly[target]))
        else:
            yield from _link(way, _("card"), target, known.cards)
    for way, challenge in _challenges_of(card):
        yield from _link(way, _("challenge"), challenge, known.challenges)
    if experiment := card.get("experiment"):
        yield from _link(("experiment",), _("experiment"), experiment, known.experiments)
    if wrong := card.get("wrong"):
        yield from _wrong_link(wrong, known)


def _challenges_of(card: Mapping[str, Any]) -> Iterator[tuple[Way, str]]:
    """Yield the challenges of a card, one or a list, with the path to each."""
    named = card.get("challenge")
    if isinstance(named, list):
        yield from ((("challenge", number), challenge) for number, challenge in enumerate(named))
    elif named:
        yield ("challenge",), named


def follow_up_cards(card: Mapping[str, Any]) -> Iterator[tuple[Way, str]]:
    """Yield the cards that follow up on a card, with the path to each; a written question need not name one."""
    for number, entry in enumerate(card.get("follow_ups") or ()):
        if isinstance(entry, str):
            yield ("follow_ups", number), entry
        elif entry.get("card"):
            yield ("follow_ups", number, "card"), entry["card"]


def _link(way: Way, what: Localised, target: str, existing: Collection[str]) -> Iterator[Finding]:
    if target not in existing:
        guess = did_you_mean(target, existing, _("correct the id or remove the link"))
        yield Finding(way, _("there is no {what} {id}; {guess}", what=what, id=shown(target, 60), guess=guess))


def _wrong_link(wrong: str, known: Known) -> Iterator[Finding]:
    challenge, _slash, mistake = wrong.partition("/")
    if challenge not in known.challenges:
        yield from _link(("wrong",), _("challenge"), challenge, known.challenges)
        return
    files = sorted(path.stem for path in (known.challenges[challenge] / "wrong").glob("*.py"))
    if mistake not in files:
        names = _("its wrong files are {names}", names=", ".join(files)) if files else _("it has no wrong files")
        message = _(
            "challenge {challenge} has no wrong/{mistake}.py; {guess}",
            challenge=challenge,
            mistake=mistake[:40],
            guess=did_you_mean(mistake, files, names),
        )
        yield Finding(("wrong",), message)


def errata_findings(card: Mapping[str, Any]) -> Iterator[Finding]:
    """Find errata ids that are not in the list."""
    for key in ("pitfalls", "options"):
        for number, entry in enumerate(card.get(key) or ()):
            erratum = entry.get("errata")
            if erratum and not 1 <= int(erratum[1:]) <= LAST_ERRATUM:
                message = _("there is no {erratum}; the errata are E01 … E{last}", erratum=erratum, last=LAST_ERRATUM)
                yield Finding((key, number, "errata"), message)


def source_findings(card: Mapping[str, Any]) -> Iterator[Finding]:
    """Find sources that are not valid identifiers."""
    for number, source in enumerate(card.get("sources") or ()):
        scheme, _colon, name = source["id"].partition(":")
        way: Way = ("sources", number, "id")
        written = shown(source["id"], 60)
        if scheme not in _SCHEMES:
            message = _(
                "source {source} is not an identifier; write arxiv:1706.03762, doi:10.1000/x, url:https://… or isbn:…",
                source=written,
            )
            yield Finding(way, message)
        elif not _SCHEMES[scheme][0](name):
            example = _SCHEMES[scheme][1]
            yield Finding(
                way, _("source {source} is malformed; write it like {example}", source=written, example=example)
            )


def _is_isbn(text: str) -> bool:
    digits = text.replace("-", "")
    if len(digits) == 13 and digits.isascii() and digits.isdigit():
        return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10 == 0
    if len(digits) == 10 and digits.isascii() and digits[:9].isdigit() and (digits[9].isdigit() or digits[9] in "xX"):
        values = [10 if digit in "xX" else int(digit) for digit in digits]
        return sum(value * (10 - place) for place, value in enumerate(values)) % 11 == 0
    return False


_SCHEMES: dict[str, tuple[Callable[[str], object], Localised]] = {
    "arxiv": (_ARXIV.match, quoted("arxiv:1706.03762")),
    "doi": (_DOI.match, quoted("doi:10.1162/neco.1997.9.8.1735")),
    "url": (_URL.match, quoted("url:https://example.org/page")),
    "isbn": (_is_isbn, _("isbn:978-0-262-03561-3 (with a valid check digit)")),
}


def card_faults(card: str, known: Known) -> Iterator[Localised]:
    """Yield a message if a card does not exist."""
    if card not in known.cards:
        guess = did_you_mean(card, known.cards, _("correct the id or remove it"))
        yield _("there is no card {id}; {guess}", id=shown(card, 60), guess=guess)


# Repeated questions


@dataclass(frozen=True, slots=True)
class Match:
    """Question `later` repeats `earlier`, with the `same` words or nearly."""

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
    """Match each question with the first earlier one that is equal or shares `SIMILAR` of its words and word pairs.

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
