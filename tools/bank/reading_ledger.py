"""Keep the ledger of proofreadings, `quizbank/review.yaml`: which card texts were reread, when, and how checked.

`python tools/bank/reading_ledger.py` lists cards that have changed since, and entries without a card.
`python tools/bank/reading_ledger.py CARD... --on DATE --checked TEXT` records that somebody who did not write the
cards has read them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from attncli.bank.loader import LEDGER, bank_files, load_file
from attncli.bank.yaml_reader import UnreadableYaml, parse, read_text
from attncli.i18n import LANGS
from attncli.paths import bundled_quizbank

Card = Mapping[str, Any]
Readings = Mapping[str, Mapping[str, str]]

HASH_DIGITS = 12
KEYS = ("date", *LANGS, "checked")
NAMES = {"en": "English", "zh": "Chinese"}
NOT_READ = frozenset({"topic", "core", "must_know", "tags", "formerly", "challenge", "experiment"})
HEAD = """\
# Who reads a card again, sentence by sentence and without having written it, writes it down with
# `python tools/bank/reading_ledger.py CARD... --on DATE --checked "what was checked, and by which run or source"`.
# The hashes are of the text in each language; without arguments it names cards that were changed since.
cards:
"""


def main(arguments: list[str], quizbank: Path) -> int:
    """Print the ledger's problems, or record a reading; return 1 for problems, 2 for invalid arguments."""
    parser = argparse.ArgumentParser("reading_ledger.py")
    parser.add_argument("cards", nargs="*", metavar="CARD")
    parser.add_argument("--on", metavar="DATE")
    parser.add_argument("--checked", metavar="TEXT")
    options = parser.parse_args(arguments)
    cards = {card["id"]: card for path in bank_files(quizbank) for card in load_file(path).documents}
    try:
        readings = load_readings(quizbank)
    except (UnreadableYaml, ValueError) as error:
        print(f"{quizbank / LEDGER}: {error}", file=sys.stderr)
        return 1
    if not options.cards:
        strangers = [id for id in readings if id not in cards]
        for line in (*changed(readings, cards), *(f"there is no card {id}; remove the entry" for id in strangers)):
            print(line)
        print(f"{len(cards.keys() - readings.keys())} of {len(cards)} cards have not been read again yet")
        return 1 if strangers else 0
    missing = [id for id in options.cards if id not in cards]
    if missing or not options.on or not options.checked:
        print(f"there is no card {missing[0]}" if missing else "give --on DATE and --checked TEXT", file=sys.stderr)
        return 2
    new = {id: reading(cards[id], options.on, options.checked) for id in options.cards}
    (quizbank / LEDGER).write_text("".join(written({**readings, **new})), encoding="utf-8")
    return 0


def text_hash(card: Card, lang: str) -> str:
    """Hash all that a reader in one language sees of a card, and the answer that marks it."""
    text = {key: _in(value, lang) for key, value in card.items() if key not in NOT_READ}
    return sha256(json.dumps(text, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:HASH_DIGITS]


def _in(value: Any, lang: str) -> Any:
    if isinstance(value, list):
        return [_in(inner, lang) for inner in value]
    if not isinstance(value, Mapping):
        return value
    others = [other for other in LANGS if other != lang]
    return {key: _in(inner, lang) for key, inner in value.items() if key not in others or lang not in value}


def load_readings(folder: Path) -> Readings:
    """Load the ledger of a bank folder; empty if there is none.

    Raises:
        UnreadableYaml: the file is not YAML.
        ValueError: an entry is malformed.
    """
    path = folder / LEDGER
    value = parse(str(path), read_text(path)).value if path.is_file() else {"cards": {}}
    cards = value.get("cards") if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(cards, dict):
        raise ValueError("a ledger is a mapping with the key cards alone")
    for id, entry in cards.items():
        if not isinstance(entry, dict) or set(entry) != set(KEYS):
            raise ValueError(f"{id}: an entry has {', '.join(KEYS)}")
        if not all(re.fullmatch(f"[0-9a-f]{{{HASH_DIGITS}}}", str(entry[lang])) for lang in LANGS):
            raise ValueError(f"{id}: a hash has {HASH_DIGITS} digits; let this tool write it")
    return cards


def changed(readings: Readings, cards: Mapping[str, Card]) -> Iterator[str]:
    """Name each card and language whose text has changed since it was read."""
    for id, card in cards.items():
        for lang in LANGS if id in readings else ():
            if readings[id][lang] != text_hash(card, lang):
                yield f"the {NAMES[lang]} text of {id} is not the one that was read on {readings[id]['date']}"


def written(readings: Readings) -> Iterator[str]:
    """Yield the lines of the ledger file, one line per card."""
    yield HEAD if readings else HEAD.replace("cards:\n", "cards: {}\n")
    for id in sorted(readings):
        fields = [f"{key}: {json.dumps(readings[id][key], ensure_ascii=False)}" for key in KEYS]
        yield f"  {id}: {{{', '.join(fields)}}}\n"


def reading(card: Card, date: str, checked: str) -> dict[str, str]:
    """Return the ledger entry of a reading."""
    return {"date": date, **{lang: text_hash(card, lang) for lang in LANGS}, "checked": checked}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], bundled_quizbank()))
