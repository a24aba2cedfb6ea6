"""`attn bank check`: everything that is wrong with some bank files, at once.

Errors make a bank invalid. Notes do not: links to what is planned, and outside the bundled bank also style, terms
and file names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from attncli.bank.challenge_rules import folder_problems
from attncli.bank.checked_files import Checked, Readable, Surroundings, files_in, files_of
from attncli.bank.link_rules import Known, errata_findings, experiment_findings, link_findings, source_findings
from attncli.bank.loader import CHALLENGE, GLOSSARY, LEDGER, bank_files, judge, lies_below, locate
from attncli.bank.problems import Finding, Problem, shown_path
from attncli.bank.prose_rules import Terms, fix_findings, measured_findings, short_findings, style_findings
from attncli.bank.reading.code_snippets import snippet_findings
from attncli.bank.reading.planned_ids import PLANNED, load_planned
from attncli.bank.reading.reading_ledger import Readings, load_readings, reading_findings, stranger_findings, unread
from attncli.bank.rules.dated_facts import age_findings
from attncli.bank.rules.formula_rules import formula_findings
from attncli.bank.rules.hidden_characters import hidden_findings
from attncli.bank.rules.id_rules import challenge_rules, compare_files, topic_rules
from attncli.bank.rules.repair_rules import repair_problems
from attncli.bank.rules.statement_rules import follow_up_findings, statement_findings
from attncli.bank.rules.written_numbers import number_findings
from attncli.bank.validate import glossary_findings
from attncli.domain.card import FROM_ANKI


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found. `cards` counts those in files without an error."""

    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    cards: int
    files: int


def check(paths: Iterable[Path], around: Surroundings, today: date | None = None) -> Report:
    """Checks files and folders, or the bundled bank and the learner's own where none are given.

    Cards whose facts are more than a year old by `today` are noted; without it no age is looked at.

    Raises:
        NotFound: a path that does not exist, or a folder without bank files.
    """
    chosen = [file for path in paths for file in files_of(path)]
    everything = not chosen
    if everything:
        chosen = [file for folder in around.bank_folders for file in files_in(folder)]
    files = [Checked.of(path, around.is_own(path)) for path in dict.fromkeys(chosen)]
    known = _known(files, around)
    terms = _terms(files, around)
    compare_files(files)
    readings = load_readings(around.quizbank)
    for file in files:
        file.findings += _file_findings(file, known, terms, around)
        if file.role == "challenge":
            _look_into(file, known, around.is_bundled(file.path))
            file.findings += () if file.own else terms.findings(file.judged.value)
        file.findings += _readings(file, readings, known, around)
        if today:
            file.findings += _ages(file, today)
        file.findings = [found for found in file.findings if not lies_below(found.path, file.judged.filled)]
    planned = [*_missing_cards(files, known, around), *_unread_cards(files, readings, around)] if everything else []
    if everything and any(file.own for file in files):
        planned = list(_summed_up(files, planned, around))
    return _report(files, planned)


def check_challenges(paths: Iterable[Path], known: Known, around: Surroundings) -> tuple[Problem, ...]:
    """What reading shows to be wrong with some challenges and the files in their folders; nothing of them is run."""
    files = [Checked.of(path) for path in paths]
    for file in files:
        file.findings += hidden_findings(file.judged.value)
        _look_into(file, known, around.is_bundled(file.path))
    return _report(files, []).problems


def _look_into(file: Checked, known: Known, bundled: bool) -> None:
    """Adds what is found about a challenge and the files beside it."""
    value = file.judged.value
    if file.judged.sound:
        file.findings += challenge_rules(file, known)
        file.findings += formula_findings(value)
        file.findings += source_findings(value)
        file.findings += follow_up_findings(value, bundled)
    file.findings += statement_findings(value if isinstance(value, dict) else {})
    file.beside += folder_problems(file.path, value, known)
    file.beside += repair_problems(file.path.parent, value)


def _known(files: Sequence[Checked], around: Surroundings) -> Known:
    """What may be linked to: the cards that are checked and those around them, good or bad."""
    seen = {file.path.absolute() for file in files}
    others = [path for folder in around.bank_folders for path in bank_files(folder) if path.absolute() not in seen]
    cards: set[str] = set()
    formerly: dict[str, str] = {}
    for file in [*files, *map(Checked.of, others)]:
        for _, card in file.cards:
            if isinstance(identity := card.get("id"), str):
                cards.add(identity)
                old = card.get("formerly")
                if isinstance(old, list):
                    formerly.update((was, identity) for was in old if isinstance(was, str))
    return Known(cards, formerly, _challenges(around), _experiments(around), load_planned(around.quizbank))


def _challenges(around: Surroundings) -> dict[str, Path]:
    found = (path.parent for folder in around.challenge_folders for path in folder.glob(f"*/*/{CHALLENGE}"))
    return {folder.name: folder for folder in found}


def _experiments(around: Surroundings) -> set[str]:
    return {path.stem for path in (around.impl / "experiments").glob("*.py")}


def _terms(files: Iterable[Checked], around: Surroundings) -> Terms:
    checked = [file.judged for file in files if file.role == "glossary"]
    judged = checked or [judge(around.quizbank / GLOSSARY, glossary_findings)]
    return Terms.of(term for one in judged if one.sound for term in one.value["terms"])


def _file_findings(file: Checked, known: Known, terms: Terms, around: Surroundings) -> Iterator[Finding]:
    yield from hidden_findings(file.judged.value)
    bundled = file.path.absolute().parent == around.quizbank.absolute()
    if file.role == "cards":
        yield from topic_rules(file, known, bundled)
    for entry in file.readable:
        if file.own and FROM_ANKI in (entry.card.get("tags") or ()):
            continue  # nobody here wrote it: its shape is enough
        for finding in _card_rules(entry, known, file.own):
            yield finding.below(("cards", entry.number))
        if file.own:
            continue
        for finding in (*style_findings(entry.card), *terms.findings(entry.card), *snippet_findings(entry.card)):
            yield replace(finding.below(("cards", entry.number)), error=finding.error and bundled)


def _card_rules(entry: Readable, known: Known, own: bool) -> Iterator[Finding]:
    card = entry.card
    if not own:
        yield from short_findings(card)
        yield from fix_findings(card)
        yield from measured_findings(card)
    yield from formula_findings(card)
    if not entry.faulty:
        yield from number_findings(card)
    yield from link_findings(card, known)
    yield from experiment_findings(card, known)
    yield from errata_findings(card)
    yield from source_findings(card)


def _readings(file: Checked, readings: Readings, known: Known, around: Surroundings) -> Iterator[Finding]:
    """What the ledger of the bundled bank says of a file in it."""
    if file.path.absolute().parent != around.quizbank.absolute():
        return
    if file.role == "ledger" and file.judged.sound:
        yield from stranger_findings(readings, known.cards)
    for entry in file.readable if file.role == "cards" else ():
        for finding in reading_findings(entry.card, readings):
            yield finding.below(("cards", entry.number))


def _ages(file: Checked, today: date) -> Iterator[Finding]:
    for entry in file.readable:
        for finding in age_findings(entry.card, today):
            yield finding.below(("cards", entry.number))


def _missing_cards(files: Iterable[Checked], known: Known, around: Surroundings) -> Iterator[Problem]:
    present = {card.get("id") for file in files for _, card in file.cards}
    missing = [identity for identity in known.planned.cards if identity not in present]
    if missing:
        message = f"open: {len(missing)} planned cards are not there yet: {', '.join(missing)}"
        yield Problem(shown_path(around.quizbank / PLANNED), 1, 1, message)


def _unread_cards(files: Iterable[Checked], readings: Readings, around: Surroundings) -> Iterator[Problem]:
    """What the ledger lacks, where there is one."""
    ledger = around.quizbank / LEDGER
    bundled = [file for file in files if file.path.absolute().parent == around.quizbank.absolute()]
    cards = [card["id"] for file in bundled for _, card in file.cards if isinstance(card.get("id"), str)]
    if ledger.is_file() and (message := unread(readings, cards)):
        yield Problem(shown_path(ledger), 1, 1, message)


def _summed_up(files: Iterable[Checked], planned: list[Problem], around: Surroundings) -> Iterator[Problem]:
    """One line for all notes about the bundled bank, beside a learner's own."""
    count = len(planned)
    for file in files:
        if not file.own:
            count += sum(not finding.error for finding in file.findings)
            file.findings = [finding for finding in file.findings if finding.error]
    if count:
        message = f"{count} notes about the bundled bank are left out; `attn bank check` of this folder lists them"
        yield Problem(shown_path(around.quizbank), 1, 1, message)


def _report(files: Sequence[Checked], notes: list[Problem]) -> Report:
    problems: list[Problem] = []
    cards = 0
    for file in files:
        errors = [finding for finding in (*file.judged.findings, *file.findings) if finding.error]
        found = {*file.judged.problems, *locate(file.path, errors), *file.beside}
        problems += sorted(found)
        notes += sorted({*locate(file.path, [finding for finding in file.findings if not finding.error])})
        cards += 0 if found else len(file.cards)
    return Report(tuple(problems), tuple(notes), cards, len(files))
