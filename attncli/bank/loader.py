"""Bank files to the documents of cards and challenges. A file with a problem contributes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from attncli.bank.own_cards import completed
from attncli.bank.problems import Finding, Problem, Way, shown_path
from attncli.bank.reading.yaml_places import located
from attncli.bank.validate import Document, card_document, challenge_findings, glossary_findings, topic_findings
from attncli.bank.yaml_reader import UnreadableYaml, parse, read_text
from attncli.domain.repairs import REPAIRS

CHALLENGE = "challenge.yaml"
GLOSSARY = "glossary.yaml"
ERRATA = "errata.yaml"
LEDGER = "review.yaml"
SUFFIXES = frozenset({".yaml", ".yml"})
NOT_CARDS = frozenset({GLOSSARY, ERRATA, LEDGER, REPAIRS, "planned.yaml"})


@dataclass(frozen=True, slots=True)
class CheckedFile:
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


def judge(path: Path, findings_in: Callable[[Any], list[Finding]], own: bool = False) -> CheckedFile:
    """A file read and judged; never raises for what is in it. What a learner's `own` leaves out is filled in before."""
    try:
        parsed = parse(shown_path(path), read_text(path))
    except UnreadableYaml as stop:
        return CheckedFile(path, problems=(stop.problem,), whole=False)
    value, filled = completed(parsed.value) if own else (parsed.value, frozenset())
    found = findings_in(value) if parsed.whole else []
    broken = frozenset(parsed.broken)
    found = [finding for finding in found if not lies_below(finding.path, broken | filled)]
    return CheckedFile(path, value, tuple(parsed.problems), tuple(found), broken, filled, parsed.whole)


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
    except UnreadableYaml as stop:
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


def load_glossary(path: Path) -> BankFile:
    """A glossary file; a missing one is empty."""
    if not path.exists():
        return BankFile(path)
    judged = judge(path, glossary_findings)
    return BankFile(path, documents=tuple(judged.value["terms"]) if judged.sound else (), problems=judged.located)


def load_challenge(path: Path) -> BankFile:
    """One `challenge.yaml`, as the document of an `attncli.domain.challenge.Challenge`."""
    judged = judge(path, lambda value: challenge_findings(value, path.parent))
    documents = (challenge_document(judged.value, path.parent),) if judged.sound else ()
    return BankFile(path, documents=documents, problems=judged.located)


def challenge_document(value: dict[str, Any], folder: Path) -> Document:
    """A valid challenge with every optional key filled in, its id and track, and its place on disk."""
    lists: Document = {key: [] for key in ("badges", "forbidden", "cards", "follow_ups", "sources")}
    optional = {"version": 1, "kernel": False, "hardened": {"en": "", "zh": ""}, **lists}
    place = folder.absolute()
    return {**optional, **value, "id": place.name, "track": place.parent.name, "folder": str(folder)}
