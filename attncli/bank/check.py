"""`attn bank check`: all problems of some bank files at once, and the ledger of readings.

Errors make a bank invalid. Notes do not: links to planned cards, and outside the bundled bank also style, terms and
file names. The ledger says which text of each card was read by somebody who had not written it, when, and how it was
checked; the check names cards that have changed since.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

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
from attncli.bank.link_rules import (
    PLANNED,
    Known,
    errata_findings,
    experiment_findings,
    link_findings,
    load_planned,
    source_findings,
)
from attncli.bank.loader import CHALLENGE, GLOSSARY, LEDGER, BankFile, bank_files, lies_below, load_glossary
from attncli.bank.problems import Finding, Problem, did_you_mean, shown, shown_path
from attncli.bank.prose_rules import (
    Terms,
    fix_findings,
    formula_findings,
    hidden_findings,
    length_findings,
    measured_findings,
    snippet_findings,
    style_findings,
)
from attncli.bank.yaml_reader import UnreadableYaml, parse, read_text
from attncli.domain.card import FROM_ANKI
from attncli.domain.text import LANGS

Card = Mapping[str, Any]
Readings = Mapping[str, Mapping[str, str]]

HASH_DIGITS = 12
SHOWN = 5
_NAMES = {"en": "English", "zh": "Chinese"}
_NOT_READ = frozenset({"topic", "core", "must_know", "tags", "formerly", "challenge", "experiment"})
_HEAD = """\
# Who reads a card again, sentence by sentence and without having written it, writes it down with
# `python -m attncli.bank read CARD... --on DATE --checked "what was checked, and by which run or source"`.
# The hashes are of the text in each language; `attn bank check` names cards that were changed since.
cards:
"""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a check. `cards` counts those in files without an error."""

    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    cards: int
    files: int


def check(paths: Iterable[Path], around: Surroundings, today: date | None = None) -> Report:
    """Check files and folders, or the bundled bank and the learner's own where none are given.

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
    terms = _terms(files, around)
    compare_files(files)
    readings = load_readings(around.quizbank)
    for file in files:
        file.findings += _file_findings(file, known, terms, around)
        if file.role == "challenge":
            _check_challenge(file, known, around.is_bundled(file.path))
            file.findings += () if file.own else terms.findings(file.value)
        file.findings += _ledger_findings(file, readings, known, around)
        if today:
            file.findings += [
                finding.below(("cards", entry.number))
                for entry in readable(file)
                for finding in age_findings(entry.card, today)
            ]
        file.findings = [found for found in file.findings if not lies_below(found.path, file.filled)]
    planned = [*_missing_cards(files, known, around), *_unread_cards(files, readings, around)] if everything else []
    if everything and any(file.own for file in files):
        planned = list(_summed_up(files, planned, around))
    return _report(files, planned)


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
    """Collect what may be linked to: the checked cards and those around them, valid or not."""
    seen = {file.path.absolute() for file in files}
    others = [path for folder in around.bank_folders for path in bank_files(folder) if path.absolute() not in seen]
    cards: set[str] = set()
    formerly: dict[str, str] = {}
    for file in [*files, *map(checked_file, others)]:
        for _, card in file.cards:
            if isinstance(identity := card.get("id"), str):
                cards.add(identity)
                old = card.get("formerly")
                if isinstance(old, list):
                    formerly.update((was, identity) for was in old if isinstance(was, str))
    yamls = [path for folder in around.challenge_folders for path in folder.glob(f"*/*/{CHALLENGE}")]
    challenges = {path.parent.name: path.parent for path in yamls}
    experiments = {path.stem for path in (around.impl / "experiments").glob("*.py")}
    return Known(cards, formerly, challenges, experiments, load_planned(around.quizbank))


def _terms(files: Iterable[BankFile], around: Surroundings) -> Terms:
    checked = [file for file in files if file.role == "glossary"]
    glossaries = checked or [load_glossary(around.quizbank / GLOSSARY)]
    return Terms.of(term for glossary in glossaries for term in glossary.documents)


def _file_findings(file: BankFile, known: Known, terms: Terms, around: Surroundings) -> Iterator[Finding]:
    yield from hidden_findings(file.value)
    bundled = around.in_quizbank(file.path)
    if file.role == "cards":
        yield from topic_rules(file, known, bundled)
    for entry in readable(file):
        if file.own and FROM_ANKI in (entry.card.get("tags") or ()):
            continue  # written elsewhere: its shape is enough
        for finding in _card_rules(entry, known, file.own):
            yield finding.below(("cards", entry.number))
        if file.own:
            continue
        for finding in (*style_findings(entry.card), *terms.findings(entry.card), *snippet_findings(entry.card)):
            yield replace(finding.below(("cards", entry.number)), error=finding.error and bundled)


def _card_rules(entry: Readable, known: Known, own: bool) -> Iterator[Finding]:
    card = entry.card
    if not own:
        yield from length_findings(card)
        yield from fix_findings(card)
        yield from measured_findings(card)
    yield from formula_findings(card)
    if not entry.faulty:
        yield from number_findings(card)
    yield from link_findings(card, known)
    yield from experiment_findings(card, known)
    yield from errata_findings(card)
    yield from source_findings(card)


def _ledger_findings(file: BankFile, readings: Readings, known: Known, around: Surroundings) -> Iterator[Finding]:
    """Yield the findings of the ledger about a file of the bundled bank."""
    if not around.in_quizbank(file.path):
        return
    if file.role == "ledger" and file.sound:
        yield from stranger_findings(readings, known.cards)
    for entry in readable(file) if file.role == "cards" else ():
        for finding in reading_findings(entry.card, readings):
            yield finding.below(("cards", entry.number))


def _missing_cards(files: Iterable[BankFile], known: Known, around: Surroundings) -> Iterator[Problem]:
    present = {card.get("id") for file in files for _, card in file.cards}
    missing = [identity for identity in known.planned.cards if identity not in present]
    if missing:
        message = f"open: {len(missing)} planned cards are not there yet: {', '.join(missing)}"
        yield Problem(shown_path(around.quizbank / PLANNED), 1, 1, message)


def _unread_cards(files: Iterable[BankFile], readings: Readings, around: Surroundings) -> Iterator[Problem]:
    """Note how many cards the ledger lacks, if there is one."""
    ledger = around.quizbank / LEDGER
    bundled = [file for file in files if around.in_quizbank(file.path)]
    cards = [card["id"] for file in bundled for _, card in file.cards if isinstance(card.get("id"), str)]
    if ledger.is_file() and (message := unread(readings, cards)):
        yield Problem(shown_path(ledger), 1, 1, message)


def _summed_up(files: Iterable[BankFile], planned: list[Problem], around: Surroundings) -> Iterator[Problem]:
    """Replace all notes about the bundled bank by one line, where a learner's own files are checked with it."""
    count = len(planned)
    for file in files:
        if not file.own:
            count += sum(not finding.error for finding in file.findings)
            file.findings = [finding for finding in file.findings if finding.error]
    if count:
        message = f"{count} notes about the bundled bank are left out; `attn bank check` of this folder lists them"
        yield Problem(shown_path(around.quizbank), 1, 1, message)


def _report(files: Sequence[BankFile], notes: list[Problem]) -> Report:
    problems = [problem for file in files for problem in file.problems]
    notes += [note for file in files for note in file.notes]
    cards = sum(len(file.cards) for file in files if not file.problems)
    return Report(tuple(problems), tuple(notes), cards, len(files))


# The ledger of readings


def text_hash(card: Card, lang: str) -> str:
    """Hash all that a reader in one language sees of a card, and the answer by which it is marked."""
    text = {key: _in(value, lang) for key, value in card.items() if key not in _NOT_READ}
    return sha256(json.dumps(text, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:HASH_DIGITS]


def _in(value: Any, lang: str) -> Any:
    if isinstance(value, list):
        return [_in(inner, lang) for inner in value]
    if not isinstance(value, Mapping):
        return value
    others = [other for other in LANGS if other != lang]
    return {key: _in(inner, lang) for key, inner in value.items() if key not in others or lang not in value}


def load_readings(folder: Path) -> Readings:
    """Load the ledger of a bank folder; empty if there is none, or if it is malformed, which the check reports."""
    path = folder / LEDGER
    try:
        value = parse(str(path), read_text(path)).value if path.is_file() else None
    except UnreadableYaml:
        return {}
    cards = value.get("cards") if isinstance(value, dict) else None
    return {id: entry for id, entry in cards.items() if isinstance(entry, dict)} if isinstance(cards, dict) else {}


def reading_findings(card: Card, readings: Readings) -> Iterator[Finding]:
    """Note each language in which a card has changed since it was read."""
    entry = readings.get(card.get("id", ""))
    if entry is None:
        return
    for lang in LANGS:
        if entry.get(lang) != text_hash(card, lang):
            message = f"the {_NAMES[lang]} text of {card['id']} is not the one that was read on {entry.get('date')}"
            yield Finding(("id",), f"{message}; read it again", error=False)


def stranger_findings(readings: Readings, known: Collection[str]) -> Iterator[Finding]:
    """Report readings of cards that do not exist."""
    for id in readings:
        if id not in known:
            guess = did_you_mean(id, known) or "remove the entry"
            yield Finding(("cards", id), f"there is no card {shown(id, 60)}; {guess}", at_key=True)


def unread(readings: Readings, cards: Collection[str]) -> str:
    """Say how many cards have not been read again, and name the first; empty if all have been."""
    left = [id for id in cards if id not in readings]
    if not left:
        return ""
    some = ", ".join(left[:SHOWN]) + (", …" if len(left) > SHOWN else "")
    return f"open: {len(left)} of {len(cards)} cards have not been read again yet: {some}"


def written(readings: Readings) -> Iterator[str]:
    """Yield the lines of the ledger file, one line per card."""
    yield _HEAD if readings else _HEAD.replace("cards:\n", "cards: {}\n")
    for id in sorted(readings):
        entry = readings[id]
        fields = [f"{key}: {json.dumps(entry[key], ensure_ascii=False)}" for key in ("date", *LANGS, "checked")]
        yield f"  {id}: {{{', '.join(fields)}}}\n"


def reading(card: Card, date: str, checked: str) -> dict[str, str]:
    """Return the ledger entry of a reading."""
    return {"date": date, **{lang: text_hash(card, lang) for lang in LANGS}, "checked": checked}
