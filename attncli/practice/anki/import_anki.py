"""`attn import anki`: notes of a package become own cards, answers become rows of the log. Twice is once.

A note that came from `attn export anki` is known by its GUID: its answers are the card's, and those that went out with
it are not counted again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from attncli.domain.anki import ForeignCard, ForeignCollection, own_card
from attncli.domain.identifiers import is_identifier
from attncli.domain.log_row import LogRow, RowKind
from attncli.practice.anki.anki_bank import NewOwnCard, keys_there, texts_of, usable, write_files
from attncli.practice.anki.anki_markdown import markdown_of
from attncli.practice.anki.anki_templates import sides
from attncli.practice.log.merge_logs import merge
from attncli.practice.log.read_log_file import Placed
from attncli.practice.workspace import Workspace
from attncli.store.anki_reading import read_package
from attncli.store.foreign_database import workshop

MACHINE = "anki"
KEY_LENGTH = 12
SAME_MOMENT = timedelta(milliseconds=10)
"""Anki keeps milliseconds, and moves one of two answers of the same millisecond."""
LONGEST_ANSWER_MS = 24 * 3600 * 1000
_SAID = re.compile(r"[^\W_]")


@dataclass(slots=True)
class AnkiImported:
    """What is in a package, and what of it is new here; `unreadable` are cards with nothing to read on a side.

    `own` are cards that came from here, `gone` those of them that no bank has any more; `media` counts pictures and
    sounds that were left out of texts, `lost_reviews` answers that no card here could take.
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
    files: list[Path] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """What `attn import anki --json` prints."""
        counts = {name: getattr(self, name) for name in self.__slots__ if name != "files"}
        return {**counts, "files": [str(path) for path in self.files]}


def import_package(workspace: Workspace, package: Path, dry_run: bool = False) -> AnkiImported:
    """Takes over the cards and reviews in `package`, or only counts them.

    Raises UsageError for a package or an own bank that cannot be used; then nothing is written.
    """
    with workshop(workspace.home.root) as room:
        collection = read_package(package, room)
    done = AnkiImported(cards=len(collection.cards), lost_reviews=collection.lost_reviews)
    taken = _Taken(workspace, done)
    subjects = taken.subjects(collection)
    texts = texts_of(workspace.home.banks, taken.new)
    done.files = sorted(texts)
    rows = _new_rows(workspace, subjects, done)
    if dry_run:
        return done
    write_files(texts)
    workspace.read_banks()
    merge(workspace, (Placed(row, str(package)) for row in rows), conflict=lambda _: None)
    return done


class _Taken:
    """Finds the card here for each card there."""

    def __init__(self, workspace: Workspace, done: AnkiImported) -> None:
        index = workspace.store.index
        self._ids, self._renames = {*index.card_ids()}, index.renames()
        self._keys = keys_there(self._ids)
        self._done = done
        self.new: list[NewOwnCard] = []

    def subjects(self, collection: ForeignCollection) -> list[tuple[str, ForeignCard]]:
        """Each card that can be taken over, with the id that its rows are about."""
        known, wanted = list[tuple[str, ForeignCard]](), list[tuple[NewOwnCard, ForeignCard]]()
        for card in collection.cards:
            if own := _own(card):
                known.append((self._own_id(own), card))
            elif id := self._keys.get(_key(card)):
                known.append((id, card))
            elif made := self._made(card):
                wanted.append((made, card))
            else:
                self._leave_out(card)
        self.new = usable({made.key: made for made, _ in wanted}.values())
        fit = {made.key for made in self.new}
        self._done.new_cards = len(self.new)
        for made, card in wanted:
            if made.key in fit:
                known.append((made.id, card))
            else:
                self._leave_out(card)
        return known

    def _own_id(self, id: str) -> str:
        self._done.own += 1
        current = id if id in self._ids else self._renames.get(id, id)
        self._done.gone += current not in self._ids
        return current

    def _made(self, card: ForeignCard) -> NewOwnCard | None:
        question, answer = (markdown_of(side) for side in sides(card))
        if not _SAID.search(question) or not answer:
            return None
        self._done.media += question.left_out + answer.left_out
        return NewOwnCard(_key(card), card.deck, question, answer)

    def _leave_out(self, card: ForeignCard) -> None:
        self._done.unreadable += 1
        self._done.lost_reviews += len(card.reviews)


def _own(card: ForeignCard) -> str:
    id = own_card(card.guid)
    return id if is_identifier(id) else ""


def _key(card: ForeignCard) -> str:
    """Names a card of a note for ever, on every machine."""
    return sha256(f"{card.guid}\x1f{card.ord}".encode()).hexdigest()[:KEY_LENGTH]


def _new_rows(workspace: Workspace, subjects: Iterable[tuple[str, ForeignCard]], done: AnkiImported) -> list[LogRow]:
    """The rows that are not here yet, in the order of their moments."""
    known, rows = workspace.store.log.ids(), dict[str, LogRow]()
    for subject, card in subjects:
        here = _answers_here(workspace, subject) if _own(card) else []
        for row in _rows(workspace, subject, card):
            is_review = row.kind is RowKind.REVIEW
            done.reviews += is_review
            if row.id in known or row.id in rows or (is_review and _is_here(row, here)):
                continue
            rows[row.id] = row
            done.new_reviews += is_review
            done.suspended += not is_review
    return sorted(rows.values(), key=lambda row: (row.at, row.id))


def _rows(workspace: Workspace, subject: str, card: ForeignCard) -> Iterator[LogRow]:
    key = _key(card)

    def row(id: str, kind: RowKind, at: datetime, payload: dict[str, Any]) -> LogRow:
        return LogRow(f"{MACHINE}-{id}-{key}", MACHINE, kind, subject, at, workspace.calendar.day(at), payload)

    for review in card.reviews:
        elapsed_ms = min(max(review.elapsed_ms, 0), LONGEST_ANSWER_MS)
        yield row(
            f"{round(review.at.timestamp() * 1000)}",
            RowKind.REVIEW,
            review.at,
            {"rating": review.rating, "elapsed_ms": elapsed_ms},
        )
    if card.suspended and not workspace.store.schedules.hold(subject)[0]:
        yield row("suspended", RowKind.SUSPEND, card.changed_at, {})


def _answers_here(workspace: Workspace, subject: str) -> list[tuple[datetime, int]]:
    """What the log knows of a card that was exported; what was taken back here stays taken back."""
    rows = workspace.store.log.of_subjects(workspace.store.index.names_of(subject))
    return [(row.at, int(row.rating)) for row in rows if row.is_usable_review]


def _is_here(row: LogRow, answers: Iterable[tuple[datetime, int]]) -> bool:
    return any(abs(row.at - at) <= SAME_MOMENT and row.rating == rating for at, rating in answers)
