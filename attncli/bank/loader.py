"""Bank folders to cards and challenges. A file with a problem contributes nothing, the other files all they have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from attncli.bank.own import completed
from attncli.bank.places import located
from attncli.bank.problems import Finding, Problem, Way, shown_path
from attncli.bank.validate import Document, card_document, challenge_findings, glossary_findings, topic_findings
from attncli.bank.yaml_reading import Unreadable, parse, read_text
from attncli.domain.card import Card, card_of

CHALLENGE = "challenge.yaml"
GLOSSARY = "glossary.yaml"
ERRATA = "errata.yaml"
LEDGER = "review.yaml"
SUFFIXES = frozenset({".yaml", ".yml"})
NOT_CARDS = frozenset({GLOSSARY, ERRATA, LEDGER, "planned.yaml"})


@dataclass(frozen=True, slots=True)
class Judged:
    """A file as it was read: its value, what was wrong in reading it, and what shape and rules say of the value."""

    path: Path
    value: Any = None
    problems: tuple[Problem, ...] = ()
    findings: tuple[Finding, ...] = ()
    broken: frozenset[Way] = frozenset()
    filled: frozenset[Way] = frozenset()
    whole: bool = True

    @property
    def sound(self) -> bool:
        return not self.problems and not self.findings

    @property
    def located(self) -> tuple[Problem, ...]:
        return tuple(sorted({*self.problems, *locate(self.path, self.findings)}))


@dataclass(frozen=True, slots=True)
class BankFile:
    """One file for use: either documents, or problems."""

    path: Path
    topic: str = ""
    title: dict[str, str] | None = None
    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()


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


def judge(path: Path, findings_in: Callable[[Any], list[Finding]], own: bool = False) -> Judged:
    """A file read and judged; never raises for what is in it. What a learner's `own` leaves out is filled in before."""
    try:
        parsed = parse(shown_path(path), read_text(path))
    except Unreadable as stop:
        return Judged(path, problems=(stop.problem,), whole=False)
    value, filled = completed(parsed.value) if own else (parsed.value, frozenset())
    found = findings_in(value) if parsed.whole else []
    broken = frozenset(parsed.broken)
    found = [finding for finding in found if not lies_below(finding.path, broken | filled)]
    return Judged(path, value, tuple(parsed.problems), tuple(found), broken, filled, parsed.whole)


def lies_below(path: Way, ways: Collection[Way]) -> bool:
    """Whether a path is one of some ways or goes on from it."""
    return bool(ways) and any(path[:length] in ways for length in range(len(path) + 1))


def locate(path: Path, findings: Iterable[Finding]) -> list[Problem]:
    """Findings about a file as problems with line and column; the file is read again for the places."""
    findings = list(findings)
    if not findings:
        return []
    name = shown_path(path)
    try:
        return located(name, read_text(path), findings)
    except Unreadable as stop:
        return [stop.problem, *(Problem(name, 1, 1, finding.message) for finding in findings)]


def load_file(path: Path, own: bool = False) -> BankFile:
    """One bank file, bundled or a learner's `own`; never raises for what is in it."""
    judged = judge(path, partial(topic_findings, own=own), own)
    if not judged.sound:
        return BankFile(path, problems=judged.located)
    value = judged.value
    documents = tuple(card_document(value["topic"], card) for card in value["cards"])
    return BankFile(path, value["topic"], value.get("title"), documents)


def bank_files(folder: Path) -> list[Path]:
    """The card files of a bank folder, by name."""
    return sorted(path for path in folder.glob("*.y*ml") if path.suffix in SUFFIXES and path.name not in NOT_CARDS)


def load_bank(folder: Path) -> Bank:
    """Every card file of a folder and its glossary; a folder that does not exist is an empty bank."""
    return load_banks([folder])


def load_banks(folders: Iterable[Path]) -> Bank:
    """The card files of the bundled folder and then of own ones, and the glossary of the first."""
    folders = list(folders)
    files = (load_file(path, number > 0) for number, folder in enumerate(folders) for path in bank_files(folder))
    return assemble(files, load_glossary(folders[0] / GLOSSARY))


def load_glossary(path: Path) -> BankFile:
    """A glossary file; a missing one is empty."""
    if not path.exists():
        return BankFile(path)
    judged = judge(path, glossary_findings)
    return BankFile(path, documents=tuple(judged.value["terms"]) if judged.sound else (), problems=judged.located)


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
        Finding(
            ("cards", number, "id"),
            f'id "{taken}" is already used in {shown_path(used[taken])}; give this card another id',
        )
        for number, document in enumerate(file.documents)
        if (taken := document["id"]) in used
    ]
    if not findings:
        return file
    return BankFile(file.path, problems=tuple(locate(file.path, findings)))


def load_challenge(path: Path) -> BankFile:
    """One `challenge.yaml`, as the document of an `attncli.domain.challenge.Challenge`."""
    judged = judge(path, lambda value: challenge_findings(value, path.parent))
    documents = (challenge_document(judged.value, path.parent),) if judged.sound else ()
    return BankFile(path, documents=documents, problems=judged.located)


def challenge_document(value: dict[str, Any], folder: Path) -> Document:
    """A valid challenge with every optional key filled in, its id and track, and its place on disk."""
    lists: Document = {key: [] for key in ("badges", "forbidden", "cards", "follow_ups", "sources")}
    optional = {"version": 1, "hardened": {"en": "", "zh": ""}, **lists}
    place = folder.absolute()
    return {**optional, **value, "id": place.name, "track": place.parent.name, "folder": str(folder)}
