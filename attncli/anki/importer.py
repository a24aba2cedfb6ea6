"""`attn import anki`: notes of a package become own cards, answers become rows of the log. Twice is once.

A note that came from `attn export anki` is known by its GUID: its answers are the card's, and those that went out with
it are not counted again. An answer that came in before and is another one in this package, or counts no more there
because the card was reset, is taken back.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from attncli.anki.read_package import Answer, ReadCard, ReadPackage, own_id, read_in_child
from attncli.bank.loader import BankFile, completed, load_file, topic_findings
from attncli.bank.problems import shown_path
from attncli.bank.yaml_reader import parse
from attncli.domain.card import FROM_ANKI
from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.text import is_chinese, printable
from attncli.errors import UsageError
from attncli.memory.replay import standing
from attncli.paths import put_text
from attncli.practice.sync import Placed, merge
from attncli.practice.workspace import Workspace
from attncli.store.foreign_database import workshop

MACHINE = "anki"
SAME_MOMENT = timedelta(milliseconds=10)
"""Anki keeps milliseconds, and moves one of two answers of the same millisecond."""
LONGEST_ANSWER_MS = 24 * 3600 * 1000


@dataclass(slots=True)
class AnkiImported:
    """What is in a package, and what of it is new here; `unreadable` are cards with nothing to read on a side.

    `own` are cards that came from here, `gone` those of them that no bank has any more; `media` counts pictures and
    sounds that were left out of texts, `lost_reviews` answers that no card here could take. `forgotten` are answers
    from before a reset in Anki, which count no more; `taken_back` those here that the package corrects.
    """

    cards: int = 0
    new_cards: int = 0
    own: int = 0
    gone: int = 0
    unreadable: int = 0
    media: int = 0
    reviews: int = 0
    new_reviews: int = 0
    suspended: int = 0
    lost_reviews: int = 0
    forgotten: int = 0
    taken_back: int = 0
    files: list[Path] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """What `attn import anki --json` prints."""
        counts = {name: getattr(self, name) for name in self.__slots__ if name != "files"}
        return {**counts, "files": [str(path) for path in self.files]}


def import_package(workspace: Workspace, package: Path, dry_run: bool = False) -> AnkiImported:
    """Takes over the cards and reviews in `package`, or only counts them.

    Raises UsageError for a package or an own bank that cannot be used; then nothing is written.
    """
    taken = _Taken(workspace)
    with workshop(workspace.home.root) as room:
        read = read_in_child(package, room, taken.keys)
    done = taken.done = AnkiImported(cards=len(read.cards), lost_reviews=read.lost_reviews)
    subjects = taken.subjects(read)
    texts = texts_of(workspace.home.banks, taken.new)
    done.files = sorted(texts)
    rows = _new_rows(workspace, subjects, done)
    if dry_run:
        return done
    # Rows first: where the import ends in between, they wait for their cards, and a card without its history is asked.
    merge(workspace, (Placed(row, str(package)) for row in rows), conflict=lambda _: None)
    write_files(texts)
    workspace.read_banks()
    return done


class _Taken:
    """Finds the card here for each card there."""

    def __init__(self, workspace: Workspace) -> None:
        index = workspace.store.index
        self._ids, self._renames = {*index.card_ids()}, index.renames()
        self.keys = keys_there(self._ids)
        self.done = AnkiImported()
        self.new: list[NewOwnCard] = []

    def subjects(self, package: ReadPackage) -> list[tuple[str, ReadCard]]:
        """Each card that can be taken over, with the id that its rows are about."""
        known, wanted = list[tuple[str, ReadCard]](), list[tuple[NewOwnCard, ReadCard]]()
        for card in package.cards:
            if own := own_id(card.guid):
                known.append((self._own_id(own), card))
            elif id := self.keys.get(card.key):
                known.append((id, card))
            elif _can_be_asked(card):
                self.done.media += card.left_out
                wanted.append((NewOwnCard(card.key, card.deck, card.question, card.answer), card))
            else:
                self._leave_out(card)
        self.new = usable({made.key: made for made, _ in wanted}.values())
        fit = {made.key for made in self.new}
        self.done.new_cards = len(self.new)
        for made, card in wanted:
            if made.key in fit:
                known.append((made.id, card))
            else:
                self._leave_out(card)
        return known

    def _own_id(self, id: str) -> str:
        self.done.own += 1
        current = id if id in self._ids else self._renames.get(id, id)
        self.done.gone += current not in self._ids
        return current

    def _leave_out(self, card: ReadCard) -> None:
        self.done.unreadable += 1
        self.done.lost_reviews += len(card.answers)


def _can_be_asked(card: ReadCard) -> bool:
    """Whether there is more in front than punctuation, and behind something else, or at least no lost picture."""
    is_told = card.answer != "" and not (card.left_out and card.answer == card.question)
    return is_told and any(unicodedata.category(sign)[0] in "LNS" and sign not in "`|" for sign in card.question)


def _new_rows(workspace: Workspace, subjects: Iterable[tuple[str, ReadCard]], done: AnkiImported) -> list[LogRow]:
    """The rows that are not here yet, in the order of their moments."""
    known, rows = workspace.store.log.ids(), dict[str, LogRow]()
    for subject, card in subjects:
        done.reviews += len(card.answers)
        done.forgotten += len(card.forgotten)
        for row in _CardRows(workspace, subject, card, known).new():
            if row.id in known or row.id in rows:
                continue
            rows[row.id] = row
            done.new_reviews += row.kind is RowKind.REVIEW
            done.suspended += row.kind is RowKind.SUSPEND
            done.taken_back += row.kind is RowKind.UNDO
    return sorted(rows.values(), key=lambda row: (row.at, row.id))


class _CardRows:
    """The rows that bring the log of one card to what the package says.

    Their ids and their contents follow from the package and the log alone, so that two machines that import it write
    the same rows.
    """

    def __init__(self, workspace: Workspace, subject: str, card: ReadCard, known: set[str]) -> None:
        self._workspace, self._subject, self._card, self._known = workspace, subject, card, known
        self._is_own = bool(own_id(card.guid))
        self._logged = self._read_log()
        self._standing = [row for row in standing(self._logged) if row.is_usable_review]

    def _read_log(self) -> list[LogRow]:
        answers = (*self._card.answers, *self._card.forgotten)
        if not self._is_own and all(self._id(answer, 1) not in self._known for answer in answers):
            return []
        store = self._workspace.store
        return store.log.of_subjects(store.index.names_of(self._subject))

    def new(self) -> Iterator[LogRow]:
        """The answers that are not here, and an undo for each one that is not as it is here."""
        for answer in self._card.forgotten:
            yield from (
                self._undo(row) for row in self._standing if self._is_of_anki(row, answer) or self._is_same(row, answer)
            )
        for answer in self._card.answers:
            other = [row for row in self._standing if self._is_of_anki(row, answer) and row.rating != answer.rating]
            yield from map(self._undo, other)
            if not self._is_here(answer):
                yield self._review(answer)
        if self._card.suspended and not self._workspace.store.schedules.hold(self._subject)[0]:
            yield self._row(f"{MACHINE}-suspended-{self._card.key}", RowKind.SUSPEND, self._card.changed_at, {})

    def _is_here(self, answer: Answer) -> bool:
        """Whether it counts already, or was taken back by the learner."""
        if any(self._is_same(row, answer) for row in self._standing):
            return True
        return self._is_own and any(
            self._is_same(row, answer) for row in self._logged if row.is_usable_review and row.machine != MACHINE
        )

    def _is_same(self, row: LogRow, answer: Answer) -> bool:
        if row.machine == MACHINE:
            return self._is_of_anki(row, answer) and row.rating == answer.rating
        return self._is_own and abs(row.at - answer.at) <= SAME_MOMENT and row.rating == answer.rating

    def _is_of_anki(self, row: LogRow, answer: Answer) -> bool:
        return row.machine == MACHINE and row.at == answer.at and row.id.endswith(self._card.key)

    def _id(self, answer: Answer, number: int) -> str:
        again = f"-{number}" if number > 1 else ""
        return f"{MACHINE}-{answer.at_ms}{again}-{self._card.key}"

    def _review(self, answer: Answer) -> LogRow:
        id = next(id for number in count(1) if (id := self._id(answer, number)) not in self._known)
        elapsed_ms = min(max(answer.elapsed_ms, 0), LONGEST_ANSWER_MS)
        return self._row(id, RowKind.REVIEW, answer.at, {"rating": answer.rating, "elapsed_ms": elapsed_ms})

    def _undo(self, row: LogRow) -> LogRow:
        return self._row(f"{MACHINE}-undo-{row.id}", RowKind.UNDO, row.at, {"row": row.id})

    def _row(self, id: str, kind: RowKind, at: datetime, payload: dict[str, Any]) -> LogRow:
        return LogRow(id, MACHINE, kind, self._subject, at, self._workspace.calendar.day(at), payload)


# Cards from Anki as files of the learner's own bank: one topic for each deck, added to and never rewritten.

PREFIX = "anki"
LONGEST_SLUG = 30
LONGEST_TITLE = 120
_HEAD = "# Written by `attn import anki`, which adds cards and changes none: correct them as you like.\n"
_WORDS = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class NewOwnCard:
    """A card to be written: `key` names it for ever, whatever its deck is called."""

    key: str
    deck: str
    question: str
    answer: str

    @property
    def topic(self) -> str:
        """`anki-deep-learning` for the deck “Deep Learning”; any name that this does not tell whole has a hash too."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.deck.lower()).strip("-")
        if _WORDS.fullmatch(self.deck) and 2 <= len(slug) <= LONGEST_SLUG:
            return f"{PREFIX}-{slug}"
        shown = slug[:LONGEST_SLUG].strip("-")
        hashed = sha256(self.deck.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return "-".join(part for part in (PREFIX, shown, hashed) if part)

    @property
    def title(self) -> str:
        """The name of the deck as it may be shown."""
        return " ".join(printable(self.deck).split())[:LONGEST_TITLE] or self.topic

    @property
    def id(self) -> str:
        return f"{self.topic}-{self.key}"

    @property
    def value(self) -> dict[str, Any]:
        """What stands in the file."""
        return {
            "id": self.id,
            "question": {_lang(self.question): self.question},
            "short": {_lang(self.answer): self.answer},
            "tags": [FROM_ANKI],
        }


def _lang(text: str) -> str:
    return "zh" if is_chinese(text) else "en"


def usable(cards: Iterable[NewOwnCard]) -> list[NewOwnCard]:
    """Those that a bank takes: the others have a text that no card may have."""
    cards = list(cards)
    whole, _ = completed({"topic": PREFIX, "cards": [card.value for card in cards]})
    faulty = {finding.path[1] for finding in topic_findings(whole, own=True) if len(finding.path) > 1}
    return [card for number, card in enumerate(cards) if number not in faulty]


def texts_of(banks: Path, cards: Iterable[NewOwnCard]) -> dict[Path, str]:
    """The files of `banks` with the cards added to what is there. Raises UsageError for a file with a problem."""
    decks = defaultdict[str, list[NewOwnCard]](list)
    for card in cards:
        decks[card.topic].append(card)
    return {path: _with(path, topic, added) for topic, added in decks.items() if (path := banks / f"{topic}.yaml")}


def _with(path: Path, topic: str, cards: list[NewOwnCard]) -> str:
    there = load_file(path, own=True) if path.exists() else BankFile(path, topic)
    if there.problems:
        raise UsageError(f"{there.problems[0]}; correct it first, then import again; nothing was imported")
    title = json.dumps(cards[0].title, ensure_ascii=False)
    before = (
        path.read_text(encoding="utf-8").rstrip("\n")
        if path.exists()
        else f"{_HEAD}topic: {topic}\ntitle: {title}\ncards:"
    )
    text = "\n".join([before, *(_entry(card) for card in cards), ""])
    parsed = parse(shown_path(path), text)
    whole, _ = completed(parsed.value)
    is_whole = not parsed.problems and not topic_findings(whole, own=True)
    if not is_whole or len(whole["cards"]) != len(there.documents) + len(cards):
        raise UsageError(f"{shown_path(path)} does not end in a list of cards to add to; move it away and import again")
    return text


def _entry(card: NewOwnCard) -> str:
    value = card.value
    lines = [f"  - id: {value.pop('id')}"]
    return "\n".join([*lines, *(f"    {key}: {_flow(told)}" for key, told in value.items())])


def _flow(value: Mapping[str, str] | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    return "{" + ", ".join(f"{lang}: {json.dumps(text, ensure_ascii=False)}" for lang, text in value.items()) + "}"


def write_files(texts: Mapping[Path, str]) -> None:
    """Puts each file in place at one stroke. Raises UsageError, EnvironmentFailure where there is no room."""
    for path, text in texts.items():
        put_text(path, text, "make it writable and import again: what is here already counts once")


def keys_there(ids: Collection[str]) -> dict[str, str]:
    """Key → id of the cards that came from Anki before, whatever deck they were in then."""
    return {id.rpartition("-")[2]: id for id in ids if id.startswith(f"{PREFIX}-")}
