"""Which cards a line of search means: words as `search` finds them, and filters such as `#tag` and `is:leech`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from unicodedata import normalize

from attncli.domain.card import KINDS, LEVELS
from attncli.memory.annotations import Annotation
from attncli.memory.replay import is_leech
from attncli.practice.cards.tag_flag_note import annotated_cards
from attncli.practice.cards.weakness import weak_cards
from attncli.practice.queue import reviews_today
from attncli.practice.workspace import Workspace
from attncli.store.bank_index import CardSummary

STATES = ("new", "seen", "due", "suspended", "buried", "leech", "weak", "own", "flagged", "noted")
"""What `is:` knows."""


@dataclass(frozen=True, slots=True)
class FoundCards:
    """The cards, the best first, of `count` that there are; `annotations` of those that have one; `unknown` are filters
    that mean nothing."""

    cards: list[CardSummary]
    count: int
    annotations: dict[str, Annotation]
    unknown: tuple[str, ...]


def browse(workspace: Workspace, line: str, most: int | None = None) -> FoundCards:
    """The cards that have all the words and fit all the filters, `most` of them at most; a filter that means nothing
    narrows nothing."""
    return _Browse(workspace).find(line, most)


class _Browse:
    """One look at the cards; what a filter needs is read where the line has one."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.moment = workspace.moment()

    @cached_property
    def annotations(self) -> dict[str, Annotation]:
        return annotated_cards(self.workspace)

    def find(self, line: str, most: int | None) -> FoundCards:
        words, filters, unknown = list[str](), list[Callable[[CardSummary], bool]](), list[str]()
        for word in normalize("NFC", line).split():
            fits = self._filter(word)
            if fits is not None:
                filters.append(fits)
            else:
                (unknown if word.lower().startswith(("is:", "kind:", "level:", "topic:")) else words).append(word)
        library = self.workspace.library
        if most is not None and not words and not filters:
            return FoundCards(library.first_cards(most), library.count_cards(), self.annotations, tuple(unknown))
        cards = [card for card in library.cards(" ".join(words)) if all(fits(card) for fits in filters)]
        return FoundCards(cards[:most], len(cards), self.annotations, tuple(unknown))

    def _filter(self, word: str) -> Callable[[CardSummary], bool] | None:
        name, _, value = word.lower().partition(":")
        if word.startswith("#") and len(word) > 1:
            tagged = {id for id, said in self.annotations.items() if word[1:].lower() in said.tags}
            return lambda card: card.id in tagged
        if name == "kind" and value in KINDS:
            return lambda card: card.kind == value
        if name == "level" and value in LEVELS:
            return lambda card: card.level == value
        if name == "topic" and value in {topic.id for topic in self.workspace.library.topics()}:
            return lambda card: card.topic == value
        if name == "is" and value in STATES:
            ids = set(self._in_state(value))
            return lambda card: card.id in ids
        return None

    def _in_state(self, state: str) -> Iterable[str]:
        store = self.workspace.store
        match state:
            case "due":
                waiting = [store.queue.learning(self.moment), reviews_today(self.workspace, self.moment, None)]
                return [card.id for cards in waiting for card in cards]
            case "weak":
                return weak_cards(self.workspace, self.moment)
            case "flagged":
                return [id for id, said in self.annotations.items() if said.flagged]
            case "noted":
                return [id for id, said in self.annotations.items() if said.note]
            case "leech":
                return [id for id, schedule in store.schedules.all() if is_leech(schedule)]
            case "seen":
                return [id for id, _ in store.schedules.all()]
            case "new":
                return {*store.index.card_ids()} - {id for id, _ in store.schedules.all()}
        return [id for id in store.index.card_ids() if self._is_kept(state, id)]

    def _is_kept(self, state: str, id: str) -> bool:
        if state == "own":
            return Path(self.workspace.store.index.owner(id)).is_relative_to(self.workspace.home.banks)
        suspended, buried_day = self.workspace.store.schedules.hold(id)
        return suspended if state == "suspended" else buried_day == self.moment.day
