"""Look up cards, topics and challenges in the index, search cards, and find the files behind the index.

The index holds the bundled files and the learner's own. Looking up reads no file; YAML is loaded only if a bank or
challenge file has changed (`SourceFiles.index_into`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

from attncli import paths
from attncli.domain.text import (
    all_but_one,
    any_of,
    beginning_with,
    every_of,
    in_question,
    parts_of_run,
    runs_of,
    starting_with,
)
from attncli.domain.vocabulary import reading_order
from attncli.errors import InvalidInput, NotFound, did_you_mean
from attncli.i18n import Localised, _
from attncli.store.database import Database
from attncli.store.index import BankIndex, CardSummary, Stamp

if TYPE_CHECKING:
    from attncli.domain.card import Card, Document
    from attncli.domain.challenge import Challenge

# Search: the longest query, and which words are corrected by one letter.
MOST_CHARACTERS = 200
SHORTEST_CORRECTED, LONGEST_CORRECTED, MOST_CORRECTED, MOST_CORRECTIONS = 4, 24, 4, 6
LEAST_FOR_ALL_BUT_ONE = 3
_ID = re.compile(r"([a-z]+)[\s_-]*(\d{1,3})")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_STOP_WORDS = frozenset(
    "a an and are as at be by can do does for from how in is it its many much of on or should so than that the there"
    " this to vs was what when where which who why will with you your".split()
)


class Topic(NamedTuple):
    """A topic with its number of cards, `cards`, and its weight in interviews, `asked`."""

    id: str
    title: Localised
    cards: int
    asked: int


class Library:
    """Looks up cards, topics and challenges in the index; reads no file."""

    def __init__(self, store: Database) -> None:
        self._store = store

    def card(self, id: str) -> Card:
        """Return the card `id`, which may be a former id. Raises NotFound with the nearest id."""
        from attncli.domain.card_kinds import card_of  # not loaded by `attn due`

        return self._linked(card_of(self.document(id)))

    def card_id(self, id: str) -> str:
        """Return the current id of the card `id` without reading the card. Raises NotFound with the nearest id."""
        id, index = _readable(id), self._store.index
        if current := id if index.owner(id) else index.renames().get(id):
            return current
        raise NotFound(_("unknown card {id}; {hint}", id=id, hint=_nearest(id, index.card_ids(), "`attn cards`")))

    def document(self, id: str) -> Document:
        """Return the document of the card `id` as its bank has it, in both languages. Raises NotFound."""
        document = self._store.index.card(self.card_id(id))
        assert document is not None
        return document

    def _linked(self, card: Card) -> Card:
        """Drop links to challenges and experiments that do not exist; banks name planned ones too."""
        challenges = tuple(filter(self._store.index.challenge_owner, card.challenges))
        known = card.experiment and (paths.bundled_impl() / "experiments" / f"{card.experiment}.py").exists()
        return replace(card, challenge=challenges, experiment=card.experiment if known else "")

    def cards(self, query: str | None = None, topic: str | None = None) -> list[CardSummary]:
        """Return all cards, or those that `query` finds (best first), of one `topic` if given. Raises NotFound,
        InvalidInput.
        """
        if topic is not None:
            topic = self.topic(topic).id
        if not query or not query.strip():
            return self._store.index.list_cards(topic)
        return find(self._store.index, _readable(query), topic)

    def count_cards(self) -> int:
        return sum(topic.cards for topic in self.topics())

    def topics(self, id: str | None = None) -> list[Topic]:
        """Return every topic that has cards, or only the topic `id` if it has."""
        return [Topic(id, Localised(en, zh), *counts) for id, en, zh, *counts in self._store.index.topics(id)]

    def topic(self, id: str) -> Topic:
        """Return the topic `id`, in upper or lower case. Raises NotFound with the nearest topic and all topics."""
        meant = _readable(id.strip().lower())
        if found := self.topics(meant):
            return found[0]
        topics = {topic.id: topic for topic in self.topics()}
        guess = _meant_topic(meant, topics.values())
        names = ", ".join(sorted(topics))
        if guess:
            hint = _("did you mean {id}? use one of {names}", id=guess.id, names=names)
        else:
            hint = _("use one of {names}", names=names) if names else _("there are no topics")
        raise NotFound(_("unknown topic {id}; {hint}", id=_readable(id), hint=hint))

    def challenges(self, track: str | None = None) -> list[Challenge]:
        """Return all challenges, or those of one track, in reading order. Raises NotFound for an unknown track."""
        challenges = [challenge_of(document) for document in self._store.index.challenges()]
        challenges.sort(key=lambda challenge: reading_order(challenge.track))
        if track is None:
            return challenges
        tracks = sorted({challenge.track for challenge in challenges})
        if track not in tracks:
            hint = _nearest(track, tracks, "`attn challenges`")
            raise NotFound(_("unknown track {track}; {hint}", track=track, hint=hint))
        return [challenge for challenge in challenges if challenge.track == track]

    def challenge(self, id: str) -> Challenge:
        """Return the challenge `id`. Raises NotFound with the nearest id."""
        id = _readable(id)
        document = self._store.index.challenge(id)
        if document is None:
            ids = self._store.index.challenge_ids()
            raise NotFound(_("unknown challenge {id}; {hint}", id=id, hint=_nearest(id, ids, "`attn challenges`")))
        return challenge_of(document)


def _meant_topic(name: str, topics: Collection[Topic]) -> Topic | None:
    """Return the topic whose title has the word, whose id is similar, or whose title has a similar word."""
    from difflib import get_close_matches

    titles = {topic.id: f"{topic.title.en} {topic.title.zh}".lower() for topic in topics}
    words = {word: id for id, title in reversed(titles.items()) for word in title.split()}
    titled = sorted((id for id, title in titles.items() if name in title), key=lambda id: titles[id].find(name))
    near = titled if len(name) > 3 or not name.isascii() else []
    near = near or get_close_matches(name[:40], titles, n=1)
    near = near or [words[word] for word in get_close_matches(name[:40], words, n=1)]
    return next((topic for topic in topics if topic.id in near[:1]), None)


def _readable(id: str) -> str:
    """Return `id` composed (NFC), without the stray bytes that a shell may hand over and no database takes."""
    return normalize("NFC", id.encode("utf-8", "replace").decode())


def _nearest(id: str, known: Sequence[str], command: str) -> Localised:
    return did_you_mean(id, known, _("{command} lists them all", command=command))


def challenge_of(document: dict[str, Any]) -> Challenge:
    """Build a challenge from a validated document (see `attncli.bank.schema`)."""
    from attncli.bank.mistakes import Mistakes
    from attncli.domain.card import build
    from attncli.domain.challenge import Challenge

    challenge: Challenge = build(Challenge, document)
    return replace(challenge, mistakes=Mistakes(Path(challenge.folder)))


# Search


def find(index: BankIndex, query: str, topic: str | None) -> list[CardSummary]:
    """Return the cards that match `query`, best first; a match in the question ranks before one in the text.

    A question may lack one of three or more words, and one part of a Chinese run. If nothing is found, words that no
    card has are corrected by one letter; after that, a card may lack one of three or more words altogether.

    Raises InvalidInput for a query longer than `MOST_CHARACTERS`.
    """
    require_length(query)
    runs = list(dict.fromkeys(runs_of(query)))
    if not runs:
        return index.containing_cards(query.strip(), topic)
    words = [run for run in runs if run not in _STOP_WORDS] or runs
    for conditions in _attempts(index, words):
        every, most = every_of(conditions), _all_but_one(conditions)
        looser = [in_question(condition) for condition in (most, _in_parts(words)) if condition]
        wanted = " OR ".join([f"({every})", *looser])
        if found := index.matching_cards(wanted, [every, most or every], topic, meant_id(query)):
            return found
    return index.matching_cards(most, [most], topic) if most else []


def require_length(query: str) -> None:
    """Raise InvalidInput for a query of more than `MOST_CHARACTERS`."""
    if len(query) > MOST_CHARACTERS:
        message = _(
            "the search has {query} characters; use at most {most_characters}",
            query=len(query),
            most_characters=MOST_CHARACTERS,
        )
        raise InvalidInput(message, "search-length", count=f"{len(query)}", most=f"{MOST_CHARACTERS}")


def meant_id(query: str) -> str:
    """Return the card id that a query looks like, `kv-05` for `KV 5`; empty for any other query."""
    match = _ID.fullmatch(query.strip().lower())
    return f"{match[1]}-{int(match[2]):02d}" if match else ""


def _all_but_one(conditions: list[str]) -> str:
    return all_but_one(conditions) if len(conditions) >= LEAST_FOR_ALL_BUT_ONE else ""


def _in_parts(runs: list[str]) -> str:
    """Build the condition with each Chinese run split into parts, one of which may be missing."""
    apart = [_all_but_one(parts_of_run(run)) for run in runs]
    return every_of(of or starting_with(run) for run, of in zip(runs, apart, strict=True)) if any(apart) else ""


def _attempts(index: BankIndex, runs: list[str]) -> Iterator[list[str]]:
    """Yield the conditions for each word: as written, then with corrections."""
    whole = [starting_with(run) if len(run) > 1 or len(runs) == 1 else f'"{run}"' for run in runs]
    yield whole
    unknown = [number for number, run in enumerate(runs) if not index.has_text(beginning_with(run))]
    for number in unknown[:MOST_CORRECTED]:
        whole[number] = any_of([*_near(index, runs[number]), whole[number]])
    yield whole


def _near(index: BankIndex, run: str) -> Iterable[str]:
    """Return conditions for corrections of a run that no card has."""
    if parts := parts_of_run(run):
        return parts
    if not SHORTEST_CORRECTED <= len(run) <= LONGEST_CORRECTED:
        return []
    slips = sorted(index.known_words(one_slip_away(run)), key=lambda word: (word[0] != run[0], word))
    return [starting_with(word) for word in slips[:MOST_CORRECTIONS]]


def one_slip_away(word: str) -> set[str]:
    """Return all strings that differ from `word` by one letter dropped, doubled, changed, added or swapped."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    dropped = {head + tail[1:] for head, tail in cuts if tail}
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    changed = {head + letter + tail[1:] for head, tail in cuts if tail for letter in _LETTERS}
    added = {head + letter + tail for head, tail in cuts for letter in _LETTERS}
    return (dropped | swapped | changed | added) - {word}


# The files behind the index


class SourceFiles(NamedTuple):
    """The folders with bank and challenge files; a missing folder counts as empty."""

    quizbank: Path
    impl: Path
    own_banks: Path
    own_challenges: Path

    def stamps(self) -> dict[str, Stamp]:
        """Return every bank and challenge file with its size and modification time, bundled ones first."""
        files = [
            *_bank_files(self.quizbank, ".yaml"),
            *_challenge_files(self.impl),
            *_bank_files(self.own_banks, ".yaml"),
            *_bank_files(self.own_banks, ".yml"),
            *_challenge_files(self.own_challenges),
        ]
        return {path: _stamp(path) for path in files}

    def challenge_files(self) -> list[Path]:
        """Return every `challenge.yaml`, valid or not."""
        return [Path(path) for path in (*_challenge_files(self.impl), *_challenge_files(self.own_challenges))]

    def is_own(self, file: Path) -> bool:
        """Return True if `file` is the learner's."""
        return file.is_relative_to(self.own_banks) or file.is_relative_to(self.own_challenges)

    def index_into(self, store: Database, moved: Callable[[list[str]], None]) -> None:
        """Index the files that have changed.

        `moved` gets the ids of cards and challenges that came, went or were renamed. A broken file contributes nothing
        and is reported by `BankFiles.problems`.
        """
        stamps = self.stamps()
        if stamps == store.files.stamps():
            return
        from attncli.practice.indexing import reindex

        reindex(store, stamps, self.is_own, moved)


def _bank_files(folder: Path, suffix: str) -> list[str]:
    return [f"{folder}/{name}" for name in _names(str(folder)) if name.endswith(suffix)]


def _challenge_files(folder: Path) -> list[str]:
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
