"""Cards from Anki as files of the learner's own bank: one topic for each deck, added to and never rewritten."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from attncli.bank.loader import BankFile, load_file
from attncli.bank.own_cards import completed
from attncli.bank.problems import shown_path
from attncli.bank.validate import topic_findings
from attncli.bank.yaml_reader import parse
from attncli.domain.card import FROM_ANKI
from attncli.domain.chinese_characters import is_chinese
from attncli.domain.printable import printable
from attncli.errors import UsageError
from attncli.files import put_text

PREFIX = "anki"
LONGEST_SLUG = 30
LONGEST_TITLE = 120
_HEAD = "# Written by `attn import anki`, which adds cards and changes none: correct them as you like.\n"
_WORDS = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class NewOwnCard:
    """A card to be written: `key` names it for ever, whatever its deck is called."""

    key: str
    deck: str
    question: str
    answer: str

    @property
    def topic(self) -> str:
        """`anki-deep-learning` for the deck “Deep Learning”; any name that this does not tell whole has a hash too."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.deck.lower()).strip("-")
        if _WORDS.fullmatch(self.deck) and 2 <= len(slug) <= LONGEST_SLUG:
            return f"{PREFIX}-{slug}"
        shown = slug[:LONGEST_SLUG].strip("-")
        hashed = sha256(self.deck.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return "-".join(part for part in (PREFIX, shown, hashed) if part)

    @property
    def title(self) -> str:
        """The name of the deck as it may be shown."""
        return " ".join(printable(self.deck).split())[:LONGEST_TITLE] or self.topic

    @property
    def id(self) -> str:
        return f"{self.topic}-{self.key}"

    @property
    def value(self) -> dict[str, Any]:
        """What stands in the file."""
        return {
            "id": self.id,
            "question": {_lang(self.question): self.question},
            "short": {_lang(self.answer): self.answer},
            "tags": [FROM_ANKI],
        }


def _lang(text: str) -> str:
    return "zh" if is_chinese(text) else "en"


def usable(cards: Iterable[NewOwnCard]) -> list[NewOwnCard]:
    """Those that a bank takes: the others have a text that no card may have."""
    cards = list(cards)
    whole, _ = completed({"topic": PREFIX, "cards": [card.value for card in cards]})
    faulty = {finding.path[1] for finding in topic_findings(whole, own=True) if len(finding.path) > 1}
    return [card for number, card in enumerate(cards) if number not in faulty]


def texts_of(banks: Path, cards: Iterable[NewOwnCard]) -> dict[Path, str]:
    """The files of `banks` with the cards added to what is there. Raises UsageError for a file with a problem."""
    decks = defaultdict[str, list[NewOwnCard]](list)
    for card in cards:
        decks[card.topic].append(card)
    return {path: _with(path, topic, added) for topic, added in decks.items() if (path := banks / f"{topic}.yaml")}


def _with(path: Path, topic: str, cards: list[NewOwnCard]) -> str:
    there = load_file(path, own=True) if path.exists() else BankFile(path, topic)
    if there.problems:
        raise UsageError(f"{there.problems[0]}; correct it first, then import again; nothing was imported")
    title = json.dumps(cards[0].title, ensure_ascii=False)
    before = (
        path.read_text(encoding="utf-8").rstrip("\n")
        if path.exists()
        else f"{_HEAD}topic: {topic}\ntitle: {title}\ncards:"
    )
    text = "\n".join([before, *(_entry(card) for card in cards), ""])
    parsed = parse(shown_path(path), text)
    whole, _ = completed(parsed.value)
    is_whole = not parsed.problems and not topic_findings(whole, own=True)
    if not is_whole or len(whole["cards"]) != len(there.documents) + len(cards):
        raise UsageError(f"{shown_path(path)} does not end in a list of cards to add to; move it away and import again")
    return text


def _entry(card: NewOwnCard) -> str:
    value = card.value
    lines = [f"  - id: {value.pop('id')}"]
    return "\n".join([*lines, *(f"    {key}: {_flow(told)}" for key, told in value.items())])


def _flow(value: Mapping[str, str] | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    return "{" + ", ".join(f"{lang}: {json.dumps(text, ensure_ascii=False)}" for lang, text in value.items()) + "}"


def write_files(texts: Mapping[Path, str]) -> None:
    """Puts each file in place at one stroke. Raises UsageError, EnvironmentFailure where there is no room."""
    for path, text in texts.items():
        put_text(path, text, "make it writable and import again: what is here already counts once")


def keys_there(ids: Collection[str]) -> dict[str, str]:
    """Key → id of the cards that came from Anki before, whatever deck they were in then."""
    return {id.rpartition("-")[2]: id for id in ids if id.startswith(f"{PREFIX}-")}
