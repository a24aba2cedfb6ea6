"""Collect the files of a check with their findings; rules for file names, topics and ids."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from attncli.bank.challenge_rules import repair_findings
from attncli.bank.link_rules import Known, card_faults, follow_up_cards, matches
from attncli.bank.loader import (
    CHALLENGE,
    GLOSSARY,
    SUFFIXES,
    BankFile,
    bank_files,
    glossary_findings,
    load,
    load_challenge,
    load_file,
)
from attncli.bank.problems import Finding, shown, shown_path
from attncli.bank.schema import SHAPES, UNKNOWN_KIND
from attncli.domain.card import types_of
from attncli.domain.challenge import REPAIRS
from attncli.errors import NotFound, unreadable
from attncli.i18n import LANGS, Localised, _


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The folders around the checked files: the bundled bank and challenges, and the learner's own.

    With `complete`, for authors of the bank, every file must meet the rules for bundled ones.
    """

    quizbank: Path
    impl: Path
    own_banks: Path | None = None
    own_challenges: Path | None = None
    complete: bool = False

    def is_own(self, path: Path) -> bool:
        """Return True if a bank file is not in the bundled bank: it is the learner's, and fewer rules apply."""
        return not self.complete and not self.in_quizbank(path)

    def in_quizbank(self, path: Path) -> bool:
        """Return True if a file lies in the bundled bank."""
        return path.absolute().parent == self.quizbank.absolute()

    def is_bundled(self, challenge: Path) -> bool:
        """Return True if a `challenge.yaml` is bundled, or must meet the same rules."""
        return self.complete or challenge.absolute().is_relative_to(self.impl.absolute())

    @property
    def bank_folders(self) -> list[Path]:
        return [self.quizbank, *([self.own_banks] if self.own_banks else [])]

    @property
    def challenge_folders(self) -> list[Path]:
        return [self.impl, *([self.own_challenges] if self.own_challenges else [])]


@dataclass(frozen=True, slots=True)
class Readable:
    """A card reduced to the keys with a valid shape; `faulty` are the other keys."""

    number: int
    card: dict[str, Any]
    faulty: Collection[str]

    @staticmethod
    def of(number: int, card: dict[str, Any], faulty: Collection[str]) -> Readable:
        if not faulty:
            return Readable(number, card, faulty)
        known = types_of(SHAPES.get(str(card.get("kind")), UNKNOWN_KIND))
        return Readable(number, {key: card[key] for key in known if key in card and key not in faulty}, faulty)


def checked_file(path: Path, own: bool = False) -> BankFile:
    """Load a file with the findings about it alone; its name determines its role."""
    if path.name == GLOSSARY:
        return load(path, "glossary", glossary_findings)
    if path.name == CHALLENGE:
        return load_challenge(path)
    if path.name == REPAIRS:
        return load(path, "repairs", partial(repair_findings, folder=path.parent))
    return load_file(path, own)


def readable(file: BankFile) -> list[Readable]:
    """Return the cards that rules can check; none if the file as a whole has the wrong shape."""
    shapeless = [finding.path for finding in file.findings if finding.shape]
    if file.role != "cards" or not file.parsed.whole or () in shapeless:
        return []
    faulty: dict[int, set[str]] = {}
    for way in (*shapeless, *file.parsed.broken):
        if way[:1] == ("cards",) and len(way) > 2:
            faulty.setdefault(int(way[1]), set()).add(str(way[2]))
    return [Readable.of(number, card, faulty.get(number, frozenset())) for number, card in file.cards]


def files_of(path: Path) -> list[Path]:
    """Return a file itself, or the files to check in a folder.

    Raises:
        NotFound: it does not exist, or is a folder without bank files.
    """
    try:
        is_folder = path.is_dir() and path.suffix not in SUFFIXES
        exists = path.exists() or path.is_symlink()
    except OSError as error:
        raise NotFound(unreadable(shown_path(path), error, _("check the path"))) from None
    if not exists:
        raise NotFound(_("there is no {path}; give a bank file or a folder of them", path=shown_path(path)))
    files = files_in(path) if is_folder else [path]
    if not files:
        raise NotFound(_("{path} has no .yaml files; give a bank file or a folder of them", path=shown_path(path)))
    return files


def files_in(folder: Path) -> list[Path]:
    """Return the bank files of a folder, its glossary, and the challenges below it."""
    if not folder.is_dir():
        return []
    beside = [path] if (path := folder / GLOSSARY).exists() else []
    challenges = [*folder.glob(CHALLENGE), *folder.glob(f"*/{CHALLENGE}"), *folder.glob(f"*/*/{CHALLENGE}")]
    banks = [path for path in bank_files(folder) if path.name != CHALLENGE]
    return [*banks, *beside, *sorted(challenges)]


# Topics, ids and repeated questions


def topic_rules(file: BankFile, known: Known, bundled: bool) -> Iterator[Finding]:
    """Check that file name, topic and ids match."""
    value = file.value
    topic = value.get("topic") if isinstance(value, dict) else None
    if (
        not file.parsed.whole
        or not isinstance(topic, str)
        or any(finding.shape and finding.path == ("topic",) for finding in file.findings)
    ):
        return
    cards = [entry for entry in readable(file) if "id" in entry.card and entry.number not in file.repeated]
    ids = [entry.card["id"] for entry in cards]
    if len(ids) > 1 and not any(identity.startswith(f"{topic}-") for identity in ids):
        yield Finding(
            ("topic",),
            _('topic "{topic}" does not match its cards, e.g. {id}; correct the topic', topic=topic, id=ids[0]),
        )
        return
    if file.path.stem != topic:
        message = _('topic "{topic}" is in {name}; rename the file to {topic}.yaml', topic=topic, name=file.path.name)
        yield Finding(("topic",), message, error=bundled)
    for entry in cards:
        if entry.card["id"] in known.challenges:
            message = _(
                'id "{id}" is already the id of a challenge, and both share one log; give this card another id',
                id=entry.card["id"],
            )
            yield Finding(("cards", entry.number, "id"), message)
    for key in ("title", "licence"):
        if bundled and key not in value:
            yield Finding((), _('missing "{key}": every topic of the bundled bank has one', key=key))
    elsewhere = {identity.rpartition("-")[0] for identity in known.cards if identity not in ids}
    for entry in cards:
        identity = entry.card["id"]
        if not identity.startswith(f"{topic}-"):
            is_note = not bundled and identity.rpartition("-")[0] in elsewhere
            message = _('id "{id}" does not start with its topic; write {topic}-…', id=identity, topic=topic)
            yield Finding(("cards", entry.number, "id"), message, error=not is_note)


def compare_files(files: Sequence[BankFile]) -> None:
    """Add to each file the findings that need the others: repeated ids and questions."""
    _repeated_ids(files)
    asked = [(file, entry) for file in files for entry in readable(file) if entry.number not in file.repeated]
    asked = [(file, entry) for file, entry in asked if "question" in entry.card]
    reported: set[int] = set()
    for lang in LANGS:
        for match in matches(entry.card["question"][lang] for _unused, entry in asked):
            if match.later not in reported:
                reported.add(match.later)
                file, entry = asked[match.later]
                message = _repetition(asked[match.earlier][1].card, match.same)
                file.findings.append(Finding(("cards", entry.number, "question", lang), message))


def _repetition(earlier: Mapping[str, Any], same: bool) -> Localised:
    id = earlier.get("id") or _("an earlier card")
    if same:
        return _("the question is the same as that of {id}; ask something else, or keep one", id=id)
    return _("the question is nearly the same as that of {id}; ask something else, or keep one", id=id)


def _repeated_ids(files: Sequence[BankFile]) -> None:
    first: dict[str, BankFile] = {}
    for file in files:
        own: set[str] = set()
        for number, card in file.cards:
            identity = card.get("id")
            if not isinstance(identity, str):
                continue
            if identity in own:
                file.repeated.add(number)  # already reported by the rules for its own file
            own.add(identity)
            earlier = first.setdefault(identity, file)
            if earlier is not file:
                file.repeated.add(number)
                message = _(
                    "id {id} is already used in {path}; give this card another id",
                    id=shown(identity, 60),
                    path=shown_path(earlier.path),
                )
                file.findings.append(Finding(("cards", number, "id"), message))


def challenge_rules(file: BankFile, known: Known) -> Iterator[Finding]:
    """Check that no card has the id of a challenge, and that the cards it names exist."""
    name = file.path.absolute().parent.name
    if name in known.cards:
        message = _(
            '"{name}" is already the id of a card, and both share one log; rename this challenge\'s folder', name=name
        )
        yield Finding((), message)
    value = file.value
    cards = [(("cards", number), card) for number, card in enumerate(value.get("cards") or ())]
    for way, card in (*cards, *follow_up_cards(value)):
        yield from (Finding(way, message) for message in card_faults(card, known))
