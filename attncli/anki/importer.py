"""`attn import anki`: notes of a package become cards of the learner's own bank, answers become rows of the log.

Importing twice changes nothing: ids of cards and rows follow from the package alone. A note that came from `attn export
anki` is known by its GUID, and its answers go to the card here. An answer that was imported before is undone if this
package has another one in its place, or if the card was reset in Anki.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attncli.anki.package import AnkiCard, Answer, own_id
from attncli.anki.read_package import read_in_child
from attncli.bank.loader import BankFile, completed, load_file, topic_findings
from attncli.bank.problems import shown_path
from attncli.domain.card import FROM_ANKI
from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.text import is_chinese, printable
from attncli.errors import UsageError
from attncli.i18n import _
from attncli.memory.replay import standing
from attncli.paths import write_text
from attncli.practice.sync import merge
from attncli.practice.workspace import Workspace

MACHINE = "anki"
SAME_MOMENT = timedelta(milliseconds=10)
"""Anki keeps milliseconds, and moves one of two answers of the same millisecond."""
LONGEST_ANSWER_MS = 24 * 3600 * 1000

PREFIX = "anki"
LONGEST_SLUG = 30
LONGEST_TITLE = 120
_HEAD = "# Written by `attn import anki`, which adds cards and changes none: correct them as you like.\n"
_WORDS = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")


@dataclass(slots=True)
class AnkiImported:
    """Counts of the cards and answers in a package, and of those new here.

    `own` are cards that were exported from here; `gone` are those of them that no bank has any more. `unreadable` cards
    have no text on a side. `media` counts pictures and sounds left out of texts, `lost_reviews` answers without a
    card here, `forgotten` answers from before a reset in Anki, `taken_back` answers here that the package corrects.
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
        """Return the JSON of `attn import anki --json`."""
        counts = {name: getattr(self, name) for name in self.__slots__ if name != "files"}
        return {**counts, "files": [str(path) for path in self.files]}


def import_package(workspace: Workspace, package: Path, dry_run: bool = False) -> AnkiImported:
    """Import the cards and reviews in `package`, or, on a dry run, only count them.

    Raises UsageError for a package or an own bank that cannot be used; then nothing is written.
    """
    matcher = _CardMatcher(workspace)
    with TemporaryDirectory(prefix=".attn-work-", dir=workspace.home.root) as folder:
        cards, lost_reviews = read_in_child(package, Path(folder), matcher.keys)
    result = matcher.result = AnkiImported(cards=len(cards), lost_reviews=lost_reviews)
    subjects = matcher.subjects(cards)
    texts = texts_of(workspace.home.banks, matcher.new)
    result.files = sorted(texts)
    rows = _new_rows(workspace, subjects, result)
    if dry_run:
        return result
    # Rows first: if the import is interrupted, rows without a card do no harm, but a card without its rows is new.
    merge(workspace, rows, conflict=lambda _: None)
    for path, text in texts.items():
        write_text(path, text, _("make it writable and import again; nothing is imported twice"))
    workspace.read_banks()
    return result


class _CardMatcher:
    """Matches each card of a package with a card here; `new` are the cards to write."""

    def __init__(self, workspace: Workspace) -> None:
        index = workspace.store.index
        self._ids, self._renames = {*index.card_ids()}, index.renames()
        self.keys = {id.rpartition("-")[2]: id for id in self._ids if id.startswith(f"{PREFIX}-")}
        self.result = AnkiImported()
        self.new: list[AnkiCard] = []

    def subjects(self, cards: Iterable[AnkiCard]) -> list[tuple[str, AnkiCard]]:
        """Return each card that can be imported, with the id of the card here."""
        known, wanted = list[tuple[str, AnkiCard]](), list[AnkiCard]()
        for card in cards:
            if own := own_id(card.guid):
                known.append((self._own_id(own), card))
            elif id := self.keys.get(card.key):
                known.append((id, card))
            elif self._can_be_asked(card):
                self.result.media += card.left_out
                wanted.append(card)
            else:
                self._leave_out(card)
        self.new = usable({card.key: card for card in wanted}.values())
        self.result.new_cards = len(self.new)
        ids = {card.key: id_of(card) for card in self.new}
        for card in wanted:
            if card.key in ids:
                known.append((ids[card.key], card))
            else:
                self._leave_out(card)
        return known

    def _own_id(self, id: str) -> str:
        self.result.own += 1
        current = id if id in self._ids else self._renames.get(id, id)
        self.result.gone += current not in self._ids
        return current

    @staticmethod
    def _can_be_asked(card: AnkiCard) -> bool:
        """Return whether the question has more than punctuation, and the answer is not just a lost picture."""
        has_answer = card.answer != "" and not (card.left_out and card.answer == card.question)
        return has_answer and any(unicodedata.category(char)[0] in "LNS" and char not in "`|" for char in card.question)

    def _leave_out(self, card: AnkiCard) -> None:
        self.result.unreadable += 1
        self.result.lost_reviews += len(card.answers)


# Reviews as rows of the log


def _new_rows(workspace: Workspace, subjects: Iterable[tuple[str, AnkiCard]], result: AnkiImported) -> list[LogRow]:
    """Return the rows that are not in the log yet, by time, and count them in `result`."""
    known, rows = workspace.store.log.ids(), dict[str, LogRow]()
    for subject, card in subjects:
        result.reviews += len(card.answers)
        result.forgotten += len(card.forgotten)
        for row in _CardRows(workspace, subject, card, known).new():
            if row.id in known or row.id in rows:
                continue
            rows[row.id] = row
            result.new_reviews += row.kind is RowKind.REVIEW
            result.suspended += row.kind is RowKind.SUSPEND
            result.taken_back += row.kind is RowKind.UNDO
    return sorted(rows.values(), key=lambda row: (row.at, row.id))


class _CardRows:
    """The rows that make the log of one card agree with the package.

    Their ids and contents follow from the package and the log alone, so that two machines write the same rows.
    """

    def __init__(self, workspace: Workspace, subject: str, card: AnkiCard, known: set[str]) -> None:
        self._workspace, self._subject, self._card, self._known = workspace, subject, card, known
        self._is_own = bool(own_id(card.guid))
        self._logged = self._read_log()
        self._effective = [row for row in standing(self._logged) if row.is_usable_review]

    def _read_log(self) -> list[LogRow]:
        answers = (*self._card.answers, *self._card.forgotten)
        if not self._is_own and all(self._id(answer, 1) not in self._known for answer in answers):
            return []
        store = self._workspace.store
        return store.log.of_subjects(store.index.names_of(self._subject))

    def new(self) -> Iterator[LogRow]:
        """Yield the answers that are not in the log, and an undo for each row that differs from the package."""
        for answer in self._card.forgotten:
            yield from (
                self._undo(row)
                for row in self._effective
                if self._is_of_anki(row, answer) or self._is_same(row, answer)
            )
        for answer in self._card.answers:
            other = [row for row in self._effective if self._is_of_anki(row, answer) and row.rating != answer.rating]
            yield from map(self._undo, other)
            if not self._is_here(answer):
                yield self._review(answer)
        if self._card.suspended and not self._workspace.store.schedules.hold(self._subject)[0]:
            yield self._row(f"{MACHINE}-suspended-{self._card.key}", RowKind.SUSPEND, self._card.changed_at, {})

    def _is_here(self, answer: Answer) -> bool:
        """Return whether the answer is in the log, in force or undone by the learner."""
        if any(self._is_same(row, answer) for row in self._effective):
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


# Cards as files of the own bank


def topic_of(deck: str) -> str:
    """Return the id of a deck's topic: `anki-deep-learning` for “Deep Learning”, a hash added if lossy."""
    slug = re.sub(r"[^a-z0-9]+", "-", deck.lower()).strip("-")
    if _WORDS.fullmatch(deck) and 2 <= len(slug) <= LONGEST_SLUG:
        return f"{PREFIX}-{slug}"
    shown = slug[:LONGEST_SLUG].strip("-")
    hashed = sha256(deck.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return "-".join(part for part in (PREFIX, shown, hashed) if part)


def id_of(card: AnkiCard) -> str:
    return f"{topic_of(card.deck)}-{card.key}"


def _value(card: AnkiCard) -> dict[str, Any]:
    """Return a card as it is written to the file."""
    return {
        "id": id_of(card),
        "question": {_lang(card.question): card.question},
        "short": {_lang(card.answer): card.answer},
        "tags": [FROM_ANKI],
    }


def _lang(text: str) -> str:
    return "zh" if is_chinese(text) else "en"


def usable(cards: Iterable[AnkiCard]) -> list[AnkiCard]:
    """Return the cards that a bank accepts."""
    cards = list(cards)
    whole, _ = completed({"topic": PREFIX, "cards": [_value(card) for card in cards]})
    faulty = {finding.path[1] for finding in topic_findings(whole, own=True) if len(finding.path) > 1}
    return [card for number, card in enumerate(cards) if number not in faulty]


def texts_of(banks: Path, cards: Iterable[AnkiCard]) -> dict[Path, str]:
    """Return the files of `banks` with the cards appended. Raises UsageError for a file with a problem."""
    decks = defaultdict[str, list[AnkiCard]](list)
    for card in cards:
        decks[topic_of(card.deck)].append(card)
    paths = {topic: banks / f"{topic}.yaml" for topic in decks}
    return {path: _with_cards(path, topic, decks[topic]) for topic, path in paths.items()}


def _with_cards(path: Path, topic: str, cards: list[AnkiCard]) -> str:
    existing = load_file(path, own=True) if path.exists() else BankFile(path, "cards")
    if existing.problems:
        raise UsageError(
            _("{problems}; nothing was imported; fix this first, then import again", problems=existing.problems[0].text)
        )
    title = " ".join(printable(cards[0].deck).split())[:LONGEST_TITLE] or topic
    head = f"{_HEAD}topic: {topic}\ntitle: {json.dumps(title, ensure_ascii=False)}\ncards:"
    before = path.read_text(encoding="utf-8").rstrip("\n") if path.exists() else head
    text = "\n".join([before, *(_entry(card) for card in cards), ""])
    if len(load_file(path, own=True, text=text).documents) != len(existing.documents) + len(cards):
        raise UsageError(
            _("{path} does not end with a list of cards; move it away and import again", path=shown_path(path))
        )
    return text


def _entry(card: AnkiCard) -> str:
    fields = _value(card)
    lines = [f"  - id: {fields.pop('id')}"]
    return "\n".join([*lines, *(f"    {key}: {_flow(value)}" for key, value in fields.items())])


def _flow(value: Mapping[str, str] | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    return "{" + ", ".join(f"{lang}: {json.dumps(text, ensure_ascii=False)}" for lang, text in value.items()) + "}"
