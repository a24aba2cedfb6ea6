"""`attn bank check`: find all problems of the given bank files.

Errors make a bank invalid. Notes do not. In a learner's own bank, a code block that does not run and a file name that
does not fit are only notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from attncli.bank.card_rules import age_findings, number_findings
from attncli.bank.challenge_rules import folder_problems, follow_up_findings, repair_problems, statement_findings
from attncli.bank.checked_files import (
    Readable,
    Surroundings,
    challenge_rules,
    checked_file,
    compare_files,
    files_in,
    files_of,
    readable,
    topic_rules,
)
from attncli.bank.link_rules import Known, errata_findings, link_findings, source_findings
from attncli.bank.loader import CHALLENGE, BankFile, bank_files, lies_below
from attncli.bank.problems import Finding, Problem, shown_path
from attncli.bank.prose_rules import fix_findings, formula_findings, hidden_findings, length_findings, snippet_findings
from attncli.domain.card import FROM_ANKI
from attncli.i18n import _, ngettext

MUST_KNOW_OF = 6


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a check. `cards` counts those in files without an error."""

    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    cards: int
    files: int


def check(paths: Iterable[Path], around: Surroundings, today: date | None = None) -> Report:
    """Check files and folders, or the bundled bank and the learner's own if none are given.

    With `today`, cards whose facts are more than a year old get a note.

    Raises:
        NotFound: a path that does not exist, or a folder without bank files.
    """
    chosen = [file for path in paths for file in files_of(path)]
    everything = not chosen
    if everything:
        chosen = [file for folder in around.bank_folders for file in files_in(folder)]
    files = [checked_file(path, around.is_own(path)) for path in dict.fromkeys(chosen)]
    known = _known(files, around)
    compare_files(files)
    for file in files:
        file.findings += _file_findings(file, known, around)
        if file.role == "challenge":
            _check_challenge(file, known, around.is_bundled(file.path))
        if today:
            file.findings += [
                finding.below(("cards", entry.number))
                for entry in readable(file)
                for finding in age_findings(entry.card, today)
            ]
        file.findings = [found for found in file.findings if not lies_below(found.path, file.filled)]
    notes = list(_summed_up(files, around)) if everything and any(file.own for file in files) else []
    notes += _too_many_must_know(files, around) if everything else ()
    return _report(files, notes)


def check_challenges(paths: Iterable[Path], known: Known, around: Surroundings) -> tuple[Problem, ...]:
    """Check some challenges and the files in their folders, without running anything."""
    files = [checked_file(path) for path in paths]
    for file in files:
        file.findings += hidden_findings(file.value)
        _check_challenge(file, known, around.is_bundled(file.path))
    return _report(files, []).problems


def _check_challenge(file: BankFile, known: Known, bundled: bool) -> None:
    """Add the findings about a challenge and the files beside it."""
    value = file.value
    if file.sound:
        file.findings += challenge_rules(file, known)
        file.findings += formula_findings(value)
        file.findings += source_findings(value)
        file.findings += follow_up_findings(value, bundled)
    file.findings += statement_findings(value if isinstance(value, dict) else {})
    file.beside += folder_problems(file, known)
    file.beside += repair_problems(file.path.parent, value)


def _known(files: Sequence[BankFile], around: Surroundings) -> Known:
    """Collect all targets of links: the checked cards and those around them, valid or not."""
    seen = {file.path.absolute() for file in files}
    others = [path for folder in around.bank_folders for path in bank_files(folder) if path.absolute() not in seen]
    cards: set[str] = set()
    formerly: dict[str, str] = {}
    for file in [*files, *map(checked_file, others)]:
        for _unused, card in file.cards:
            if isinstance(identity := card.get("id"), str):
                cards.add(identity)
                old = card.get("formerly")
                if isinstance(old, list):
                    formerly.update((was, identity) for was in old if isinstance(was, str))
    yamls = [path for folder in around.challenge_folders for path in folder.glob(f"*/*/{CHALLENGE}")]
    challenges = {path.parent.name: path.parent for path in yamls}
    experiments = {path.stem for path in (around.impl / "experiments").glob("*.py")}
    return Known(cards, formerly, challenges, experiments)


def _file_findings(file: BankFile, known: Known, around: Surroundings) -> Iterator[Finding]:
    yield from hidden_findings(file.value)
    bundled = around.in_quizbank(file.path)
    if file.role == "cards":
        yield from topic_rules(file, known, bundled)
    for entry in readable(file):
        if file.own and FROM_ANKI in (entry.card.get("tags") or ()):
            continue  # imported from Anki: only its shape is checked
        for finding in _card_rules(entry, known, file.own):
            yield finding.below(("cards", entry.number))
        if file.own:
            continue
        for finding in snippet_findings(entry.card):
            yield replace(finding.below(("cards", entry.number)), error=finding.error and bundled)


def _card_rules(entry: Readable, known: Known, own: bool) -> Iterator[Finding]:
    card = entry.card
    if not own:
        yield from length_findings(card)
        yield from fix_findings(card)
    yield from formula_findings(card)
    if not entry.faulty:
        yield from number_findings(card)
    yield from link_findings(card, known)
    yield from errata_findings(card)
    yield from source_findings(card)


def _summed_up(files: Iterable[BankFile], around: Surroundings) -> Iterator[Problem]:
    """Replace all notes about the bundled bank by one line if a learner's own files are checked too."""
    count = 0
    for file in files:
        if not file.own:
            count += sum(not finding.error for finding in file.findings)
            file.findings = [finding for finding in file.findings if finding.error]
    if count:
        message = ngettext(
            "{count} note about the bundled bank is not shown; run `attn bank check` on this folder to list it",
            "{count} notes about the bundled bank are not shown; run `attn bank check` on this folder to list them",
            count,
        )
        yield Problem(shown_path(around.quizbank), 1, 1, message)


def _too_many_must_know(files: Iterable[BankFile], around: Surroundings) -> Iterator[Problem]:
    """Note if more than one bundled card in MUST_KNOW_OF is marked must-know: the list must stay short."""
    cards = [card for file in files if not file.own for _number, card in file.cards]
    marked = sum(card.get("must_know") is True for card in cards)
    if marked * MUST_KNOW_OF > len(cards):
        message = _(
            "{marked} of {cards} cards are must_know; mark at most one in {of}, what nearly every interview asks",
            marked=marked,
            cards=len(cards),
            of=MUST_KNOW_OF,
        )
        yield Problem(shown_path(around.quizbank), 1, 1, message)


def _report(files: Sequence[BankFile], notes: list[Problem]) -> Report:
    problems = [problem for file in files for problem in file.problems]
    notes += [note for file in files for note in file.notes]
    cards = sum(len(file.cards) for file in files if not file.problems)
    return Report(tuple(problems), tuple(notes), cards, len(files))
