"""`attn export anki`: the cards as notes of one type in a deck with a subdeck for each topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from attncli.anki.exporter import EMPTY, side, sources
from attncli.domain.anki import own_guid
from attncli.domain.card import FROM_ANKI, Card
from attncli.domain.text import LANGS, Lang, Localised
from attncli.errors import NothingFound
from attncli.export.anki_markup import plain
from attncli.export.anki_note_type import note_type
from attncli.practice.anki.write_anki import AnkiWritten, write_package
from attncli.practice.workspace import Workspace

if TYPE_CHECKING:
    import genanki

DECK = "attn"
CORE = "core"


@dataclass(frozen=True, slots=True)
class DeckWritten:
    """What was written, and how many cards were left out because they came from Anki."""

    package: AnkiWritten
    from_anki: int


def export_deck(
    workspace: Workspace, write: Callable[[bytes], object], topic: str | None, langs: Sequence[Lang]
) -> DeckWritten:
    """Gives `write` the cards (of one topic), with the texts of `langs`; the learner's language comes first.

    What came from Anki is left out unless its topic is named: Anki has it. Raises NotFound for an unknown topic,
    NothingFound where there is no card.
    """
    cards = [workspace.library.card(summary.id) for summary in workspace.library.cards(topic=topic)]
    kept = [card for card in cards if topic is not None or FROM_ANKI not in card.tags]
    if not kept:
        raise NothingFound("there is no card to export; `attn bank check` says whether a bank is broken")
    first = workspace.lang if workspace.lang in langs else langs[0]
    decks = _decks(workspace, kept, langs, first)
    notes = {own_guid(card.id, card.formerly): card.id for card in kept}

    def fill(cursor: Any, at: float, ids: Iterator[int]) -> None:
        import genanki

        genanki.Package(decks).write_to_db(cursor, at, ids)

    return DeckWritten(write_package(workspace, write, notes, fill), len(cards) - len(kept))


def _decks(workspace: Workspace, cards: Sequence[Card], langs: Sequence[Lang], first: Lang) -> list[genanki.Deck]:
    import genanki

    def asked_of(id: str) -> Localised:
        return workspace.library.card(id).listed

    model, decks = note_type(), dict[str, genanki.Deck]()
    titles = {topic.id: topic.title[first].strip() or topic.id for topic in workspace.library.topics()}
    for place, card in enumerate(cards, 1):
        if card.topic not in decks:
            name = titles.get(card.topic, card.topic).replace("::", ":")
            decks[card.topic] = genanki.Deck(_deck_number(card.topic), f"{DECK}::{name}")
        sides = [side(card, lang, asked_of) if lang in langs else EMPTY for lang in LANGS]
        fields = [card.id, *(text for each in sides for text in each.fields), _about(card), sources(card), first]
        decks[card.topic].add_note(
            genanki.Note(model, fields, tags=_tags(card), guid=own_guid(card.id, card.formerly), due=place)
        )
    return list(decks.values())


def _deck_number(topic: str) -> int:
    """The same for a topic in every export."""
    return 1_700_000_000_000 + int.from_bytes(sha256(f"{DECK}:{topic}".encode()).digest()[:4], "big")


def _about(card: Card) -> str:
    return plain(f"{card.id} · {card.topic} · {card.kind} · {card.level}")


def _tags(card: Card) -> list[str]:
    """Nested under `attn`, as Anki's sidebar shows them; a space would end a tag."""
    named = [f"topic::{card.topic}", f"kind::{card.kind}", f"level::{card.level}", *([CORE] if card.core else [])]
    return [f"{DECK}::{name}" for name in named] + ["-".join(tag.split()) for tag in card.tags]
