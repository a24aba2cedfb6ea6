"""Bringing the index up to date with the bank files. The only place that loads the bank room, and with it YAML."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from attncli.bank.loader import CHALLENGE, GLOSSARY, NOT_CARDS, BankFile, load_challenge, load_file, load_glossary
from attncli.practice.derive import rebuild_queue
from attncli.store.bank_files import Stamp
from attncli.store.database import Database
from attncli.store.search_text import searchable


def reindex(
    store: Database,
    stamps: Mapping[str, Stamp],
    own: Callable[[Path], bool],
    moved: Callable[[list[str]], None],
) -> None:
    """Reads what changed, in one transaction; in it, `moved` is told both ids of each rename that came or went, and
    each card and challenge that did: what its rows count for depends on which of the two it is.

    `own` tells the learner's files from bundled ones. They are read after those and yield their ids to them, so they
    are all read again whenever anything has changed. All files are, where the glossary has: it says what else finds
    a card.
    """
    with store.transaction():
        known, before, topics = store.files.stamps(), _standing(store), store.index.card_topics()
        changed = {path for path in {*known, *stamps} if known.get(path) != stamps.get(path)}
        gone = changed - set(stamps)
        all_anew = any(Path(path).name == GLOSSARY for path in changed)
        stale = [path for path in stamps if all_anew or path in changed or own(Path(path))]
        for path in [*gone, *stale]:
            store.files.remove(path)
        synonyms = _synonyms(stamps)
        for path in stale:
            _read(store, path, stamps[path], synonyms, own(Path(path)))
        ids = {id for entry in before ^ _standing(store) for id in entry[1:]}
        ids |= {id for id, topic in store.index.card_topics().items() if topics.get(id, topic) != topic}
        if ids:
            moved(sorted(ids))
        rebuild_queue(store)


def _standing(store: Database) -> set[tuple[str, ...]]:
    """What there is a name for: cards, challenges, and renames from one id to another."""
    index = store.index
    renames = {("rename", *rename) for rename in index.renames().items()}
    return renames | {("card", id) for id in index.card_ids()} | {("challenge", id) for id in index.challenge_ids()}


def _synonyms(stamps: Iterable[str]) -> Synonyms:
    """What the glossaries say that terms are also called."""
    glossaries = [load_glossary(Path(path)) for path in stamps if Path(path).name == GLOSSARY]
    return Synonyms(term for glossary in glossaries for term in glossary.documents)


def _read(store: Database, path: str, stamp: Stamp, synonyms: Synonyms, own: bool) -> None:
    file = Path(path)
    if file.name in NOT_CARDS:
        store.files.put(path, stamp, [])
    elif file.name == CHALLENGE:
        _add_challenges(store, load_challenge(file), stamp)
    else:
        _add_cards(store, load_file(file, own), stamp, synonyms)


def _add_cards(store: Database, bank: BankFile, stamp: Stamp, synonyms: Synonyms) -> None:
    path, index = str(bank.path), store.index
    owners = _owners(store, bank)
    store.files.put(path, stamp, [*map(str, bank.problems), *_taken(path, "card", owners)])
    if bank.title:
        index.add_topic(bank.topic, bank.title["en"], bank.title["zh"], path)
    for position, document in enumerate(bank.documents):
        if not owners[document["id"]]:
            index.add_card(document, position, path, synonyms.beside)


def _add_challenges(store: Database, found: BankFile, stamp: Stamp) -> None:
    path, index = str(found.path), store.index
    owners = _owners(store, found)
    store.files.put(path, stamp, [*map(str, found.problems), *_taken(path, "challenge", owners)])
    for document in found.documents:
        if not owners[document["id"]]:
            index.add_challenge(document, path)


def _owners(store: Database, bank: BankFile) -> dict[str, str]:
    """The file that each id came from before, empty if none: cards and challenges share the log, and so their ids."""
    index = store.index
    ids = [document["id"] for document in bank.documents]
    return {id: index.owner(id) or index.challenge_owner(id) for id in ids}


def _taken(path: str, what: str, owners: Mapping[str, str]) -> list[str]:
    return [
        f"{path}:1:1: {what} {id} is left out, because {owner} has one of that id; give this one another id"
        for id, owner in owners.items()
        if owner
    ]


# What a term is also called: the spellings of the glossary, so that a card is found by words it does not use.

_SPELLINGS = ("en", "zh", "abbreviation")
_LISTS = ("also_en", "also_zh", "avoid_en", "avoid_zh")


class Synonyms:
    """Groups of spellings that mean one thing, each as a line of search tokens."""

    def __init__(self, glossary: Iterable[Mapping[str, Any]]) -> None:
        self._groups = [group for term in glossary if len(group := _spellings(term)) > 1]
        self._starting: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for number, group in enumerate(self._groups):
            for spelling in group:
                self._starting[spelling.split(" ", 1)[0]].append((number, spelling))

    def beside(self, line: str) -> str:
        """The spellings that a line of tokens does not have, of every term that it has one of."""
        whole = f" {line} "
        there: dict[int, set[str]] = defaultdict(set)
        for token in set(line.split()) & self._starting.keys():
            for number, spelling in self._starting[token]:
                if f" {spelling} " in whole:
                    there[number].add(spelling)
        return " ".join(
            other for number in sorted(there) for other in self._groups[number] if other not in there[number]
        )


def _spellings(term: Mapping[str, Any]) -> tuple[str, ...]:
    said = [term[key] for key in _SPELLINGS if term.get(key)]
    said += [word for key in _LISTS for word in term.get(key) or ()]
    return tuple(dict.fromkeys(filter(None, (searchable([word]) for word in said))))
