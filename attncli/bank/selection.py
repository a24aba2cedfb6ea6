"""Which files a check looks at, and each of them as it was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from attncli.bank.loader import GLOSSARY, SUFFIXES, Judged, bank_files, judge
from attncli.bank.problems import Finding, Way, shown_path
from attncli.bank.validate import challenge_findings, glossary_findings, topic_findings
from attncli.errors import NotFound

CHALLENGE = "challenge.yaml"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What lies around the files that are checked: the bundled bank and challenges, and the learner's own."""

    quizbank: Path
    impl: Path
    own_banks: Path | None = None
    own_challenges: Path | None = None

    @property
    def bank_folders(self) -> list[Path]:
        return [self.quizbank, *([self.own_banks] if self.own_banks else [])]

    @property
    def challenge_folders(self) -> list[Path]:
        return [self.impl, *([self.own_challenges] if self.own_challenges else [])]


_JUDGES: dict[str, Callable[[Any], list[Finding]]] = {
    "cards": topic_findings,
    "glossary": glossary_findings,
    "challenge": challenge_findings,
}


@dataclass
class Checked:
    """A file that was judged, and what else is found about it. `role` is cards, glossary or challenge."""

    path: Path
    role: str
    judged: Judged
    findings: list[Finding] = field(default_factory=list)

    @staticmethod
    def of(path: Path) -> Checked:
        role = {GLOSSARY: "glossary", CHALLENGE: "challenge"}.get(path.name, "cards")
        return Checked(path, role, judge(path, _JUDGES[role]))

    @cached_property
    def cards(self) -> list[tuple[int, dict[str, Any]]]:
        """The cards that were read, good or bad, with their position."""
        value = self.judged.value
        cards = value.get("cards") if isinstance(value, dict) and self.role == "cards" else None
        if not isinstance(cards, list):
            return []
        return [(number, card) for number, card in enumerate(cards) if isinstance(card, dict)]

    @cached_property
    def sound_cards(self) -> list[tuple[int, dict[str, Any]]]:
        """The cards that shape and rules have no objection to; the others are not worth a closer look yet."""
        if any(not finding.path for finding in self.judged.findings) or not self.judged.whole:
            return []
        faulty = {way[1] for way in self._faulty_ways() if way[:1] == ("cards",) and len(way) > 1}
        return [(number, card) for number, card in self.cards if number not in faulty]

    def _faulty_ways(self) -> Iterator[Way]:
        yield from (finding.path for finding in self.judged.findings)
        yield from self.judged.broken


def files_of(path: Path) -> list[Path]:
    """A file itself, or what there is to check in a folder.

    Raises:
        NotFound: it does not exist, or is a folder without bank files.
    """
    if path.is_dir() and path.suffix not in SUFFIXES:
        files = files_in(path)
        if not files:
            raise NotFound(f"{shown_path(path)} has no .yaml files; give a bank file or a folder of them")
        return files
    if not path.exists() and not path.is_symlink():
        raise NotFound(f"there is no {shown_path(path)}; give a bank file or a folder of them")
    return [path]


def files_in(folder: Path) -> list[Path]:
    """The bank files of a folder, its glossary, and the challenges below it."""
    if not folder.is_dir():
        return []
    glossary = folder / GLOSSARY
    challenges = [*folder.glob(CHALLENGE), *folder.glob(f"*/{CHALLENGE}"), *folder.glob(f"*/*/{CHALLENGE}")]
    banks = [path for path in bank_files(folder) if path.name != CHALLENGE]
    return [*banks, *([glossary] if glossary.exists() else []), *sorted(challenges)]
