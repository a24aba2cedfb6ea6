"""Update the index from the bank, challenge and glossary files that have changed.

This module loads the bank room and with it YAML, so it is imported only if there is something to read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from attncli.bank.loader import CHALLENGE, GLOSSARY, NOT_CARDS, load_challenge, load_file, load_glossary
from attncli.bank.problems import Problem
from attncli.domain.text import searchable
from attncli.i18n import _
from attncli.practice.derive import rebuild_queue
from attncli.store.database import Database
from attncli.store.index import Stamp

# The keys of a glossary entry that hold one spelling, and those that hold a list of them.
_SPELLINGS = ("en", "zh", "abbreviation")
_LISTS = ("also_en", "also_zh", "avoid_en", "avoid_zh")
_DUPLICATE_CARD = _("card {id} is skipped: {owner} has the same id; give the card another id")
_DUPLICATE_CHALLENGE = _("challenge {id} is skipped: {owner} has the same id; give the challenge another id")


def reindex(
    store: Database, stamps: Mapping[str, Stamp], own: Callable[[Path], bool], moved: Callable[[list[str]], None]
) -> None:
    """Read the changed files in one transaction, then call `moved`.

    `stamps` maps every file to its size and time. `own` returns True for the learner's files. They are read after the
    bundled ones, whose ids take precedence, and all again whenever anything has changed. If a glossary has changed, all
    files are read again, because it adds the synonyms by which cards are found.

    `moved` gets the ids of cards, challenges and renames that came, went or changed topic, because these decide which
    schedule their log rows count for.
    """
    with store.transaction():
        indexed, before, topics = store.files.stamps(), _known_ids(store), store.index.card_topics()
        changed = {path for path in {*indexed, *stamps} if indexed.get(path) != stamps.get(path)}
        removed = changed - set(stamps)
        all_anew = any(Path(path).name == GLOSSARY for path in changed)
        stale = [path for path in stamps if all_anew or path in changed or own(Path(path))]
        for path in [*removed, *stale]:
            store.files.remove(path)
        glossaries = [load_glossary(Path(path)) for path in stamps if Path(path).name == GLOSSARY]
        synonyms = Synonyms(term for glossary in glossaries for term in glossary.documents)
        for path in stale:
            _read(store, path, stamps[path], synonyms, own(Path(path)))
        ids = {id for entry in before ^ _known_ids(store) for id in entry[1:]}
        ids |= {id for id, topic in store.index.card_topics().items() if topics.get(id, topic) != topic}
        if ids:
            moved(sorted(ids))
        rebuild_queue(store)


def _known_ids(store: Database) -> set[tuple[str, ...]]:
    """Return every known id with its kind: cards, challenges, and renames from one id to another."""
    index = store.index
    renames = {("rename", *rename) for rename in index.renames().items()}
    return renames | {("card", id) for id in index.card_ids()} | {("challenge", id) for id in index.challenge_ids()}


def _read(store: Database, path: str, stamp: Stamp, synonyms: Synonyms, own: bool) -> None:
    file, index = Path(path), store.index
    if file.name in NOT_CARDS:
        store.files.put(path, stamp, [])
        return
    is_challenge = file.name == CHALLENGE
    found = load_challenge(file) if is_challenge else load_file(file, own)
    ids = [document["id"] for document in found.documents]
    # The file that already has each id: cards and challenges share the log, and so their ids.
    owners = {id: index.owner(id) or index.challenge_owner(id) for id in ids}
    message = _DUPLICATE_CHALLENGE if is_challenge else _DUPLICATE_CARD
    taken = [Problem(path, 1, 1, message.format(id=id, owner=owner)) for id, owner in owners.items() if owner]
    store.files.put(path, stamp, [problem.text for problem in (*found.problems, *taken)])
    if found.title and not is_challenge:
        index.add_topic(found.topic, found.title["en"], found.title["zh"], path)
    for position, document in enumerate(found.documents):
        if is_challenge and not owners[document["id"]]:
            index.add_challenge(document, path)
        elif not owners[document["id"]]:
            index.add_card(document, position, path, synonyms.beside)


# Synonyms from the glossary: a card is found by words it does not use


class Synonyms:
    """Groups of spellings of one term from the glossary, each spelling as a line of search tokens."""

    def __init__(self, glossary: Iterable[Mapping[str, Any]]) -> None:
        self._groups = [group for term in glossary if len(group := _spellings(term)) > 1]
        self._starting: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for number, group in enumerate(self._groups):
            for spelling in group:
                self._starting[spelling.split(" ", 1)[0]].append((number, spelling))

    def beside(self, line: str) -> str:
        """Return the other spellings of every term that `line` contains."""
        padded = f" {line} "
        present: dict[int, set[str]] = defaultdict(set)
        for token in set(line.split()) & self._starting.keys():
            for number, spelling in self._starting[token]:
                if f" {spelling} " in padded:
                    present[number].add(spelling)
        return " ".join(
            other for number in sorted(present) for other in self._groups[number] if other not in present[number]
        )


def _spellings(term: Mapping[str, Any]) -> tuple[str, ...]:
    spellings = [term[key] for key in _SPELLINGS if term.get(key)]
    spellings += [word for key in _LISTS for word in term.get(key) or ()]
    return tuple(dict.fromkeys(filter(None, (searchable([word]) for word in spellings))))
