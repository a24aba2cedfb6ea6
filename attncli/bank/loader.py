"""Bank folders to cards and challenges. A file with a problem contributes nothing, the other files all they have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from attncli.bank.places import located
from attncli.bank.problems import Finding, Problem
from attncli.bank.reading import Unreadable, parse, read_text
from attncli.bank.validate import Document, card_document, challenge_findings, glossary_findings, topic_findings
from attncli.domain.card import Card, card_of

GLOSSARY = "glossary.yaml"
NOT_CARDS = frozenset({GLOSSARY, "planned.yaml"})


@dataclass(frozen=True, slots=True)
class BankFile:
    """One file as it was read: either documents (of cards), or problems. `value` is the raw tree."""

    path: Path
    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    value: Any = None
    text: str = ""

    @property
    def topic(self) -> str:
        return str(self.value["topic"]) if self.documents else ""


@dataclass(frozen=True)
class Bank:
    """The valid cards of some files, and what is wrong with the other files."""

    documents: tuple[Document, ...] = ()
    glossary: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    files: tuple[BankFile, ...] = field(default=())

    @cached_property
    def cards(self) -> tuple[Card, ...]:
        return tuple(card_of(document) for document in self.documents)


def load_file(path: Path) -> BankFile:
    """One bank file; never raises for what is in it."""
    return _load(path, topic_findings, _cards_of)


def _cards_of(value: dict[str, Any]) -> Iterable[Document]:
    return (card_document(value["topic"], card) for card in value["cards"])


def _load(
    path: Path, judge: Callable[[Any], list[Finding]], documents: Callable[[Any], Iterable[Document]]
) -> BankFile:
    name = str(path)
    try:
        text = read_text(path)
    except Unreadable as stop:
        return BankFile(path, problems=(stop.problem,))
    parsed = parse(name, text)
    problems = list(parsed.problems)
    if parsed.whole:
        findings = [found for found in judge(parsed.value) if found.error and not _below(found, parsed.broken)]
        problems += located(name, text, findings)
    if problems:
        return BankFile(path, problems=tuple(sorted(set(problems))), value=parsed.value, text=text)
    return BankFile(path, documents=tuple(documents(parsed.value)), value=parsed.value, text=text)


def _below(found: Finding, broken: set[tuple[str | int, ...]]) -> bool:
    return any(found.path[:length] in broken for length in range(len(found.path) + 1)) if broken else False


def bank_files(folder: Path) -> list[Path]:
    """The card files of a bank folder, by name."""
    return sorted(path for path in folder.glob("*.yaml") if path.name not in NOT_CARDS)


def load_bank(folder: Path) -> Bank:
    """Every card file of a folder and its glossary; a folder that does not exist is an empty bank."""
    if not folder.is_dir():
        return Bank()
    return assemble([load_file(path) for path in bank_files(folder)], load_glossary(folder / GLOSSARY))


def load_glossary(path: Path) -> BankFile:
    """A glossary file; a missing one is empty."""
    if not path.exists():
        return BankFile(path)
    return _load(path, glossary_findings, lambda value: value["terms"])


def assemble(files: Iterable[BankFile], glossary: BankFile) -> Bank:
    """One bank of several files. Of two files that use the same id, the later one contributes nothing."""
    used: dict[str, Path] = {}
    kept: list[BankFile] = []
    for file in files:
        file = _without_taken_ids(file, used)
        used.update((document["id"], file.path) for document in file.documents)
        kept.append(file)
    return Bank(
        documents=tuple(document for file in kept for document in file.documents),
        glossary=glossary.documents,
        problems=tuple(problem for file in (*kept, glossary) for problem in file.problems),
        files=tuple(kept),
    )


def _without_taken_ids(file: BankFile, used: dict[str, Path]) -> BankFile:
    findings = [
        Finding(("cards", number, "id"), f'id "{taken}" is already used in {used[taken]}; give this card another id')
        for number, document in enumerate(file.documents)
        if (taken := document["id"]) in used
    ]
    if not findings:
        return file
    return BankFile(file.path, problems=tuple(located(str(file.path), file.text, findings)), value=file.value)


def load_challenges(folder: Path) -> tuple[tuple[Document, ...], tuple[Problem, ...]]:
    """Every `<track>/<id>/challenge.yaml` below a folder, as documents of `attncli.domain.challenge.Challenge`."""
    files = [load_challenge(path) for path in sorted(folder.glob("*/*/challenge.yaml"))]
    documents = tuple(document for file in files for document in file.documents)
    return documents, tuple(problem for file in files for problem in file.problems)


def load_challenge(path: Path) -> BankFile:
    """One `challenge.yaml`."""
    return _load(path, challenge_findings, lambda value: [challenge_document(value, path.parent)])


def challenge_document(value: dict[str, Any], folder: Path) -> Document:
    """A valid challenge with every optional key filled in, and its place on disk."""
    optional: Document = {"version": 1, "badges": [], "forbidden": [], "cards": []}
    return {**optional, **value, "folder": str(folder)}
