"""The cards and challenges there are: bundled ones and the learner's own, from the index."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING
from unicodedata import normalize

from attncli import paths
from attncli.errors import NotFound

if TYPE_CHECKING:
    from attncli.domain.card import Card, Document
    from attncli.domain.challenge import Challenge
    from attncli.domain.text import Localised
    from attncli.store.bank_index import CardSummary
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
        from attncli.practice.search import find

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
        from attncli.practice.challenge_documents import challenge_of
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
        from attncli.practice.challenge_documents import challenge_of

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
