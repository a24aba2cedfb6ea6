"""`attn bank check`: everything that is wrong with some bank files, at once.

Errors make a bank invalid. Notes do not: links to what is planned, style, file names outside the bundled bank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from attncli.bank.duplicates import matches
from attncli.bank.formulas import formula_findings
from attncli.bank.links import Known, errata_findings, link_findings, source_findings
from attncli.bank.loader import GLOSSARY, SUFFIXES, Judged, bank_files, judge, locate
from attncli.bank.planned import PLANNED, load_planned
from attncli.bank.problems import Finding, Problem, Way, shown, shown_path
from attncli.bank.prose import Terms, short_findings, style_findings
from attncli.bank.quantities import number_findings
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


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found. `cards` counts those in files without an error."""

    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    cards: int
    files: int


def check(paths: Iterable[Path], around: Surroundings) -> Report:
    """Checks files and folders, or the bundled bank and the learner's own where none are given.

    Raises:
        NotFound: a path that does not exist, or a folder without bank files.
    """
    chosen = [file for path in paths for file in _files_of(path)]
    everything = not chosen
    if everything:
        chosen = [file for folder in around.bank_folders for file in _files_in(folder)]
    files = [_Checked(path, judge(path, _JUDGES[_role(path)])) for path in dict.fromkeys(chosen)]
    known = _known(files, around)
    terms = _terms(files, around)
    for file in files:
        file.findings += _file_findings(file, known, terms, around)
    _across_files(files)
    notes = [_missing_cards(files, around)] if everything else []
    return _report(files, [note for note in notes if note])


@dataclass
class _Checked:
    path: Path
    judged: Judged
    findings: list[Finding] = field(default_factory=list)

    @property
    def role(self) -> str:
        return _role(self.path)

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


def _role(path: Path) -> str:
    return {GLOSSARY: "glossary", CHALLENGE: "challenge"}.get(path.name, "cards")


_JUDGES: dict[str, Callable[[Any], list[Finding]]] = {
    "cards": topic_findings,
    "glossary": glossary_findings,
    "challenge": challenge_findings,
}


def _files_of(path: Path) -> list[Path]:
    if path.is_dir() and path.suffix not in SUFFIXES:
        files = _files_in(path)
        if not files:
            raise NotFound(f"{shown_path(path)} has no .yaml files; give a bank file or a folder of them")
        return files
    if not path.exists() and not path.is_symlink():
        raise NotFound(f"there is no {shown_path(path)}; give a bank file or a folder of them")
    return [path]


def _files_in(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    glossary = folder / GLOSSARY
    challenges = [*folder.glob(CHALLENGE), *folder.glob(f"*/{CHALLENGE}"), *folder.glob(f"*/*/{CHALLENGE}")]
    banks = [path for path in bank_files(folder) if path.name != CHALLENGE]
    return [*banks, *([glossary] if glossary.exists() else []), *sorted(challenges)]


def _known(files: Iterable[_Checked], around: Surroundings) -> Known:
    cards: set[str] = set()
    formerly: dict[str, str] = {}
    checked = list(files)
    seen = {file.path.absolute() for file in checked}
    others = [path for folder in around.bank_folders for path in _banks_in(folder) if path.absolute() not in seen]
    for file in [*checked, *(_Checked(path, judge(path, topic_findings)) for path in others)]:
        for _, card in file.cards:
            if isinstance(identity := card.get("id"), str):
                cards.add(identity)
                old = card.get("formerly")
                if isinstance(old, list):
                    formerly.update((was, identity) for was in old if isinstance(was, str))
    return Known(cards, formerly, _challenges(around), _experiments(around), load_planned(around.quizbank))


def _banks_in(folder: Path) -> list[Path]:
    return bank_files(folder) if folder.is_dir() else []


def _challenges(around: Surroundings) -> dict[str, Path]:
    found = (path.parent for folder in around.challenge_folders for path in folder.glob(f"*/*/{CHALLENGE}"))
    return {folder.name: folder for folder in found}


def _experiments(around: Surroundings) -> set[str]:
    return {path.stem for path in (around.impl / "experiments").glob("*.py")}


def _terms(files: Iterable[_Checked], around: Surroundings) -> Terms:
    checked = [file.judged for file in files if file.role == "glossary"]
    judged = checked or [judge(around.quizbank / GLOSSARY, glossary_findings)]
    return Terms.of(term for one in judged if one.sound for term in one.value["terms"])


def _file_findings(file: _Checked, known: Known, terms: Terms, around: Surroundings) -> Iterator[Finding]:
    if file.role == "glossary":
        return
    if file.role == "challenge":
        yield from formula_findings(file.judged.value) if file.judged.sound else ()
        return
    bundled = file.path.absolute().parent == around.quizbank.absolute()
    yield from _topic_rules(file, known, bundled)
    for number, card in file.sound_cards:
        for finding in _card_rules(card, known, terms):
            yield Finding(("cards", number, *finding.path), finding.message, at_key=finding.at_key, error=finding.error)


def _card_rules(card: Mapping[str, Any], known: Known, terms: Terms) -> Iterator[Finding]:
    yield from short_findings(card)
    yield from formula_findings(card)
    yield from number_findings(card)
    yield from link_findings(card, known)
    yield from errata_findings(card)
    yield from source_findings(card)
    yield from style_findings(card)
    yield from terms.findings(card)


def _topic_rules(file: _Checked, known: Known, bundled: bool) -> Iterator[Finding]:
    value = file.judged.value
    topic = value.get("topic") if isinstance(value, dict) else None
    if not isinstance(topic, str) or any(finding.path == ("topic",) for finding in file.judged.findings):
        return
    if file.path.stem != topic:
        message = f'topic "{topic}" is in {file.path.name}; name the file {topic}.yaml'
        yield Finding(("topic",), message, error=bundled)
    for key in ("title", "licence"):
        if bundled and key not in value:
            yield Finding((), f'missing "{key}": every topic of the bundled bank says its {key}')
    for number, card in file.sound_cards:
        yield from _identity_rules(("cards", number), card, topic, known, bundled)


def _identity_rules(way: Way, card: Mapping[str, Any], topic: str, known: Known, bundled: bool) -> Iterator[Finding]:
    identity = card["id"]
    if not identity.startswith(f"{topic}-"):
        elsewhere = identity.rpartition("-")[0] in known.planned.topics
        message = f'id "{identity}" does not start with its topic; write {topic}-…'
        yield Finding((*way, "id"), message, error=bundled or not elsewhere)
    planned = known.planned.cards.get(identity)
    if not bundled or planned is None:
        return
    for key, found, wanted in (
        ("kind", card["kind"], planned.kind),
        ("level", card["level"], planned.level),
        ("core", bool(card.get("core")), planned.core),
    ):
        if found != wanted:
            said = f"{identity} is planned as {key}: {str(wanted).lower()}, found {str(found).lower()}"
            yield Finding((*way, key), f"{said}; correct one of the two", at_key=True)


def _across_files(files: Iterable[_Checked]) -> None:
    cards = [(file, number, card) for file in files for number, card in file.cards]
    _repeated_ids(cards)
    sound = [(file, number, card) for file in files for number, card in file.sound_cards]
    told: set[int] = set()
    for lang in ("en", "zh"):
        for match in matches(card["question"][lang] for _, _, card in sound):
            if match.later in told:
                continue
            told.add(match.later)
            file, number, _ = sound[match.later]
            said = "asks the same as" if match.same else "asks nearly the same as"
            earlier = sound[match.earlier][2]["id"]
            message = f"the question {said} {earlier}; ask something else or remove one of the two"
            file.findings.append(Finding(("cards", number, "question", lang), message))


def _repeated_ids(cards: Iterable[tuple[_Checked, int, Mapping[str, Any]]]) -> None:
    first: dict[str, _Checked] = {}
    for file, number, card in cards:
        identity = card.get("id")
        if not isinstance(identity, str):
            continue
        earlier = first.setdefault(identity, file)
        if earlier is not file:
            where = shown_path(earlier.path)
            message = f"id {shown(identity, 60)} is already used in {where}; give this card another id"
            file.findings.append(Finding(("cards", number, "id"), message))


def _missing_cards(files: Iterable[_Checked], around: Surroundings) -> Problem | None:
    present = {card.get("id") for file in files for _, card in file.cards}
    missing = [identity for identity in load_planned(around.quizbank).cards if identity not in present]
    if not missing:
        return None
    message = f"open: {len(missing)} planned cards are not there yet: {', '.join(missing)}"
    return Problem(shown_path(around.quizbank / PLANNED), 1, 1, message)


def _report(files: list[_Checked], notes: list[Problem]) -> Report:
    problems: list[Problem] = []
    cards = 0
    for file in files:
        errors = [finding for finding in (*file.judged.findings, *file.findings) if finding.error]
        found = {*file.judged.problems, *locate(file.path, errors)}
        problems += sorted(found)
        notes += sorted({*locate(file.path, [finding for finding in file.findings if not finding.error])})
        cards += 0 if found else len(file.cards)
    return Report(tuple(problems), tuple(notes), cards, len(files))
