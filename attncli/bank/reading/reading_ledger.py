"""The ledger of readings: which text of each card somebody read who had not written it, when, and how it was checked.

A card that was changed since is named by the check until it has been read again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from attncli.bank.loader import LEDGER
from attncli.bank.problems import Finding, did_you_mean, shown
from attncli.bank.yaml_reader import UnreadableYaml, parse, read_text
from attncli.domain.text import LANGS

Card = Mapping[str, Any]
Readings = Mapping[str, Mapping[str, str]]

HASH_DIGITS = 12
SHOWN = 5
_NAMES = {"en": "English", "zh": "Chinese"}
_NOT_READ = frozenset({"topic", "core", "tags", "formerly", "challenge", "experiment"})
_HEAD = """\
# Who reads a card again, sentence by sentence and without having written it, writes it down with
# `python -m attncli.bank read CARD... --on DATE --checked "what was checked, and by which run or source"`.
# The hashes are of the text in each language; `attn bank check` names cards that were changed since.
cards:
"""


def text_hash(card: Card, lang: str) -> str:
    """A hash of all that a reader in one language sees of a card, and of the answer that it is marked by."""
    read = {key: _in(value, lang) for key, value in card.items() if key not in _NOT_READ}
    return sha256(json.dumps(read, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:HASH_DIGITS]


def _in(value: Any, lang: str) -> Any:
    if isinstance(value, list):
        return [_in(inner, lang) for inner in value]
    if not isinstance(value, Mapping):
        return value
    others = [other for other in LANGS if other != lang]
    return {key: _in(inner, lang) for key, inner in value.items() if key not in others or lang not in value}


def load_readings(folder: Path) -> Readings:
    """The ledger of a bank folder; empty where there is none. One that is malformed is named by the check."""
    path = folder / LEDGER
    try:
        value = parse(str(path), read_text(path)).value if path.is_file() else None
    except UnreadableYaml:
        return {}
    cards = value.get("cards") if isinstance(value, dict) else None
    return {id: entry for id, entry in cards.items() if isinstance(entry, dict)} if isinstance(cards, dict) else {}


def reading_findings(card: Card, readings: Readings) -> Iterator[Finding]:
    """A note for each language in which a card is not what was read."""
    entry = readings.get(card.get("id", ""))
    if entry is None:
        return
    for lang in LANGS:
        if entry.get(lang) != text_hash(card, lang):
            said = f"the {_NAMES[lang]} text of {card['id']} is not the one that was read on {entry.get('date')}"
            yield Finding(("id",), f"{said}; read it again", error=False)


def stranger_findings(readings: Readings, known: Collection[str]) -> Iterator[Finding]:
    """Readings of cards that there are not."""
    for id in readings:
        if id not in known:
            guess = did_you_mean(id, known) or "remove the entry"
            yield Finding(("cards", id), f"there is no card {shown(id, 60)}; {guess}", at_key=True)


def unread(readings: Readings, cards: Collection[str]) -> str:
    """How many cards nobody has read again, and which come first; empty if all have been."""
    left = [id for id in cards if id not in readings]
    if not left:
        return ""
    some = ", ".join(left[:SHOWN]) + (", …" if len(left) > SHOWN else "")
    return f"open: {len(left)} of {len(cards)} cards have not been read again yet: {some}"


def written(readings: Readings) -> Iterator[str]:
    """The ledger as it is kept, a line a card."""
    yield _HEAD if readings else _HEAD.replace("cards:\n", "cards: {}\n")
    for id in sorted(readings):
        entry = readings[id]
        fields = [f"{key}: {json.dumps(entry[key], ensure_ascii=False)}" for key in ("date", *LANGS, "checked")]
        yield f"  {id}: {{{', '.join(fields)}}}\n"


def reading(card: Card, date: str, checked: str) -> dict[str, str]:
    """What is written down of one reading."""
    return {"date": date, **{lang: text_hash(card, lang) for lang in LANGS}, "checked": checked}
