"""The cards and challenges there are: bundled ones and the learner's own, from the index."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from attncli import paths
from attncli.bank.mistakes import Mistakes
from attncli.domain.card import follow_ups_of, sources_of
from attncli.domain.challenge import Challenge
from attncli.domain.text import Localised
from attncli.errors import NotFound, Unfit
from attncli.store.bank_index import BankIndex, CardSummary
from attncli.store.search_text import (
    all_but_one,
    any_of,
    beginning_with,
    every_of,
    in_question,
    parts_of_run,
    runs_of,
    starting_with,
)

if TYPE_CHECKING:
    from attncli.domain.card import Card, Document
    from attncli.store.bank_files import Stamp
    from attncli.store.database import Database


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and how many cards it has."""

    id: str
    title: Localised
    cards: int


class Library:
    """Looks things up; nothing here reads a file."""

    def __init__(self, store: Database) -> None:
        self._store = store

    def problems(self) -> list[str]:
        """What is wrong in bank and challenge files, as `file:line:column: message`."""
        return self._store.files.problems()

    def card(self, id: str) -> Card:
        """The card `id`, or the one that used to be called so. Raises NotFound with the nearest id."""
        from attncli.domain.card import card_of

        return self._linked(card_of(self.document(id)))

    def card_id(self, id: str) -> str:
        """What the card `id` is called now; reads nothing else of it. Raises NotFound with the nearest id."""
        id, index = _readable(id), self._store.index
        if index.has_card(id):
            return id
        if index.has_card(renamed := index.renamed_to(id)):
            return renamed
        raise self._no_card(id)

    def document(self, id: str) -> Document:
        """The document of the card `id` as its bank has it, in both languages. Raises NotFound."""
        id, index = _readable(id), self._store.index
        if document := index.card(id) or index.card(index.renamed_to(id)):
            return document
        raise self._no_card(id)

    def _no_card(self, id: str) -> NotFound:
        return NotFound(f"there is no card {id}; " + _nearest(id, self._store.index.card_ids(), "`attn cards`"))

    def _linked(self, card: Card) -> Card:
        """The card with the links whose targets are there; banks name planned challenges and experiments too."""
        challenges = tuple(challenge for challenge in card.challenges if challenge in self._challenge_ids)
        known = card.experiment and (paths.bundled_impl() / "experiments" / f"{card.experiment}.py").exists()
        return replace(card, challenges=challenges, experiment=card.experiment if known else "")

    @cached_property
    def _challenge_ids(self) -> frozenset[str]:
        return frozenset(self._store.index.challenge_ids())

    def cards(self, query: str | None = None, topic: str | None = None) -> list[CardSummary]:
        """All cards, or those that `query` means (the best first), in one `topic` if it is given."""
        if topic is not None:
            topic = self.topic(topic).id
        if not query or not query.strip():
            return self._store.index.list_cards(topic)

        return find(self._store.index, _readable(query), topic)

    def first_cards(self, most: int) -> list[CardSummary]:
        """The first cards in bank order."""
        return self._store.index.list_cards(None, most)

    def count_cards(self) -> int:
        return sum(topic.cards for topic in self.topics())

    def topics(self, id: str | None = None) -> list[Topic]:
        """Every topic that has cards, or this one alone if it has."""
        from attncli.domain.text import Localised

        return [Topic(id, Localised(en, zh), count) for id, en, zh, count in self._store.index.topics(id)]

    def topic(self, id: str) -> Topic:
        """The topic `id`, in whatever case it is written. Raises NotFound with the nearest one and all there are."""
        meant = _readable(id.strip().lower())
        if found := self.topics(meant):
            return found[0]
        topics = {topic.id: topic for topic in self.topics()}
        guess = _meant_topic(meant, topics.values())
        said = f"did you mean {guess.id}? " if guess else ""
        raise NotFound(f"there is no topic {_readable(id)}; {said}topics are {', '.join(sorted(topics)) or 'none'}")

    def challenges(self, track: str | None = None) -> list[Challenge]:
        """All challenges, or those of one track, in reading order. Raises NotFound for an unknown track."""
        from attncli.words.track_texts import reading_order

        challenges = [challenge_of(document) for document in self._store.index.challenges()]
        challenges.sort(key=lambda challenge: reading_order(challenge.track))
        if track is None:
            return challenges
        tracks = sorted({challenge.track for challenge in challenges})
        if track not in tracks:
            raise NotFound(f"there is no track {track}; " + _nearest(track, tracks, "`attn challenges`"))
        return [challenge for challenge in challenges if challenge.track == track]

    def challenge(self, id: str) -> Challenge:
        """The challenge `id`. Raises NotFound with the nearest id."""

        id = _readable(id)
        document = self._store.index.challenge(id)
        if document is None:
            ids = self._store.index.challenge_ids()
            raise NotFound(f"there is no challenge {id}; " + _nearest(id, ids, "`attn challenges`"))
        return challenge_of(document)


def _meant_topic(name: str, topics: Collection[Topic]) -> Topic | None:
    """The topic whose title has the word, whose id is like it, or whose title has a word like it."""
    from difflib import get_close_matches

    titles = {topic.id: f"{topic.title.en} {topic.title.zh}".lower() for topic in topics}
    words = {word: id for id, title in reversed(titles.items()) for word in title.split()}
    said = sorted((id for id, title in titles.items() if name in title), key=lambda id: titles[id].find(name))
    near = said if len(name) > 3 or not name.isascii() else []
    near = near or get_close_matches(name[:40], titles, n=1)
    near = near or [words[word] for word in get_close_matches(name[:40], words, n=1)]
    return next((topic for topic in topics if topic.id in near[:1]), None)


def _readable(id: str) -> str:
    """Return `id` composed (NFC), without the stray bytes that a shell may hand over and no database takes."""
    return normalize("NFC", id.encode("utf-8", "replace").decode())


def _nearest(id: str, known: Sequence[str], command: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(id, known, n=1)
    return f"did you mean {near[0]}?" if near else f"{command} lists them"


# Challenges from the plain documents that the index holds.


def challenge_of(document: dict[str, Any]) -> Challenge:
    """The challenge that a validated document (see `attncli.bank.schema`) describes."""
    told: dict[str, Any] = {key: document[key] for key in ("id", "track", "level", "version", "kernel", "folder")}
    told |= {key: tuple(document[key]) for key in ("entry", "required", "badges", "forbidden", "cards")}
    told |= {key: Localised.of(document[key]) for key in ("title", "statement")}
    told["hardened"] = Localised.of(document.get("hardened") or {"en": "", "zh": ""})
    told |= {"follow_ups": follow_ups_of(document), "sources": sources_of(document)}
    hints = tuple(Localised.of(hint) for hint in document["hints"])
    return Challenge(**told, hints=hints, mistakes=Mistakes(Path(document["folder"])))


# The bank and challenge files there are, and whether the index is still like them.


@dataclass(frozen=True)
class SourceFiles:
    """The folders that are looked at; a missing one is empty."""

    quizbank: Path
    impl: Path
    own_banks: Path
    own_challenges: Path

    def stamps(self) -> dict[str, Stamp]:
        """Every bank and challenge file with its size and time; bundled ones come first."""
        files = [
            *_banks(self.quizbank, ".yaml"),
            *_challenges(self.impl),
            *_banks(self.own_banks, ".yaml"),
            *_banks(self.own_banks, ".yml"),
            *_challenges(self.own_challenges),
        ]
        return {path: _stamp(path) for path in files}

    def challenge_files(self) -> list[Path]:
        """Every `challenge.yaml`, good or bad."""
        return [Path(path) for path in (*_challenges(self.impl), *_challenges(self.own_challenges))]

    def is_own(self, file: Path) -> bool:
        """Whether `file` is the learner's."""
        return file.is_relative_to(self.own_banks) or file.is_relative_to(self.own_challenges)

    def index_into(self, store: Database, moved: Callable[[list[str]], None]) -> None:
        """Reads the files that changed; `moved` is told the ids whose history is now another's or their own again, and
        those that came or went.

        A file that is broken is named by `Library.problems`; it contributes nothing, all others what they have.
        YAML is loaded only if there is something to read.
        """
        stamps = self.stamps()
        if stamps == store.files.stamps():
            return
        from attncli.practice.indexing import reindex

        reindex(store, stamps, self.is_own, moved)


def _banks(folder: Path, suffix: str) -> list[str]:
    return [f"{folder}/{name}" for name in _names(str(folder)) if name.endswith(suffix)]


def _challenges(folder: Path) -> list[str]:
    """Return the `challenge.yaml` in each folder of each track."""
    tracks = (f"{folder}/{track}" for track in _names(str(folder)))
    found = (f"{track}/{id}/challenge.yaml" for track in tracks for id in _names(track))
    return [path for path in found if os.path.exists(path)]  # noqa: PTH110 - `attn due` asks this 108 times


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return []


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return (-1, -1)
    return (status.st_size, status.st_mtime_ns)


# Finding the card that is meant: by its id, its words in any order, other words for them, or a slip away from them.

_ID = re.compile(r"([a-z]+)[\s_-]*(\d{1,3})")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SMALL = frozenset(
    "a an and are as at be by can do does for from how in is it its many much of on or should so than that the there"
    " this to vs was what when where which who why will with you your".split()
)
LEAST_MENDED, LONGEST_MENDED, MOST_MENDED, MOST_NEAR, LEAST_FOR_ALL_BUT_ONE = 4, 24, 4, 6, 3
MOST_CHARACTERS = 200
MOST_SECONDS = 0.1


def find(index: BankIndex, query: str, topic: str | None, seconds: float = MOST_SECONDS) -> list[CardSummary]:
    """Return the cards that `query` means, the best first; a match in the question ranks before one in the text.

    A question may lack one of three or more words, and one of the parts of a Chinese run. If nothing is found, words
    that no card has are corrected by one letter; after that, a card may lack one of three or more words altogether.

    Raises Unfit for a query of more than `MOST_CHARACTERS`, or one that takes more than `seconds` of processor time.
    """
    require_length(query)
    with index.within(seconds):
        return _find(index, query, topic)


def require_length(query: str) -> None:
    """Raise Unfit for a query of more than `MOST_CHARACTERS`."""
    if len(query) > MOST_CHARACTERS:
        said = f"the search has {len(query)} characters; use at most {MOST_CHARACTERS}"
        raise Unfit(said, "search-length", count=f"{len(query)}", most=f"{MOST_CHARACTERS}")


def _find(index: BankIndex, query: str, topic: str | None) -> list[CardSummary]:
    runs = list(dict.fromkeys(runs_of(query)))
    if not runs:
        return index.containing_cards(query.strip(), topic)
    asked = [run for run in runs if run not in _SMALL] or runs
    for conditions in _attempts(index, asked):
        every, most = every_of(conditions), _all_but_one(conditions)
        looser = [in_question(condition) for condition in (most, _in_parts(asked)) if condition]
        wanted = " OR ".join([f"({every})", *looser])
        if found := index.matching_cards(wanted, [every, most or every], topic, meant_id(query)):
            return found
    return index.matching_cards(most, [most], topic) if most else []


def meant_id(query: str) -> str:
    """The card id that a query looks like, `kv-05` for `KV 5`; empty where it looks like none."""
    match = _ID.fullmatch(query.strip().lower())
    return f"{match[1]}-{int(match[2]):02d}" if match else ""


def _all_but_one(conditions: list[str]) -> str:
    return all_but_one(conditions) if len(conditions) >= LEAST_FOR_ALL_BUT_ONE else ""


def _in_parts(runs: list[str]) -> str:
    """The words with each run of Chinese in its parts, one of which may be missing: others may stand between them."""
    apart = [_all_but_one(parts_of_run(run)) for run in runs]
    return every_of(of or starting_with(run) for run, of in zip(runs, apart, strict=True)) if any(apart) else ""


def _attempts(index: BankIndex, runs: list[str]) -> Iterator[list[str]]:
    """Yield the conditions for each word: as they are written, then with slips corrected."""
    whole = [starting_with(run) if len(run) > 1 or len(runs) == 1 else f'"{run}"' for run in runs]
    yield whole
    unknown = [number for number, run in enumerate(runs) if not index.has_text(beginning_with(run))]
    for number in unknown[:MOST_MENDED]:
        whole[number] = any_of([*_near(index, runs[number]), whole[number]])
    yield whole


def _near(index: BankIndex, run: str) -> Iterable[str]:
    """Return conditions for what a run that no card has may have been meant to be."""
    if parts := parts_of_run(run):
        return parts
    if not LEAST_MENDED <= len(run) <= LONGEST_MENDED:
        return []
    slips = sorted(index.known_words(one_slip_away(run)), key=lambda word: (word[0] != run[0], word))
    return [starting_with(word) for word in slips[:MOST_NEAR]]


def one_slip_away(word: str) -> set[str]:
    """What a word becomes by leaving out, doubling, changing, adding or exchanging one letter."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    out = {head + tail[1:] for head, tail in cuts if tail}
    exchanged = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    changed = {head + letter + tail[1:] for head, tail in cuts if tail for letter in _LETTERS}
    added = {head + letter + tail for head, tail in cuts for letter in _LETTERS}
    return (out | exchanged | changed | added) - {word}
