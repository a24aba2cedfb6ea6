"""Reads somebody's Anki collection, of schema 11 (`models` and `decks` as JSON) or 18 (tables, and protocol buffers).

The file comes from elsewhere: only plain tables are read, every value is looked at before it is used, and nothing in
it is run.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from attncli.domain.anki import AnkiReview, CardType, ForeignCard, ForeignCollection, ReviewType, Template
from attncli.domain.log_row import EARLIEST, LATEST
from attncli.errors import StoreError, UsageError
from attncli.store.anki_archive import EXPORT, unpacked
from attncli.store.connection import Connection, opened
from attncli.store.protocol_buffers import fields_of

TABLES = {
    "col": {"models", "decks", "conf"},
    "notes": {"id", "guid", "mid", "flds"},
    "cards": {"id", "nid", "did", "ord", "mod", "type", "queue", "odid"},
    "revlog": {"id", "cid", "ease", "ivl", "lastIvl", "factor", "time", "type"},
}
TABLES_18 = {
    "notetypes": {"id", "config"},
    "fields": {"ntid", "ord", "name"},
    "templates": {"ntid", "ord", "config"},
    "decks": {"id", "name"},
    "config": {"KEY", "val"},
}
MOST_CARDS = 500_000
MOST_REVIEWS = 5_000_000
LONGEST_NOTE = 2**20
SUSPENDED = -1
OLD_SCHEDULER = 1
"""Anki's first: while a card was learned it had three buttons, so that 2 was Good there and 3 Easy."""


class _NoteType(NamedTuple):
    fields: list[str]
    templates: dict[int, Template]
    is_cloze: bool

    def template(self, ord: int) -> Template | None:
        """Cards of a gap share the only template."""
        return self.templates.get(0 if self.is_cloze else ord)


def read_package(package: Path, folder: Path) -> ForeignCollection:
    """The cards and reviews in `package`, which is unpacked into `folder`, a private one.

    Raises UsageError, in one line, for whatever is no sound package.
    """
    database = unpacked(package, folder)
    try:
        with opened(database) as connection:
            connection.distrust()
            return _read(connection, package)
    except StoreError as error:
        raise UsageError(f"the collection in {package} is damaged; let Anki check it (Tools), then {EXPORT}") from error


def _read(connection: Connection, package: Path) -> ForeignCollection:
    _require(connection, TABLES, package)
    for table, most in (("notes", MOST_CARDS), ("cards", MOST_CARDS), ("revlog", MOST_REVIEWS)):
        count = connection.value(f"SELECT count(*) FROM {table}")
        if count > most:
            raise UsageError(f"{package} has {count} rows in {table}, more than {most}; export one deck at a time")
    try:
        models, decks, scheduler = _types_and_decks(connection, package)
        reviews, unrated = _reviews(connection, scheduler)
        cards = tuple(_cards(connection, models, decks, reviews))
    except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
        said = " ".join(str(error).split())[:100]
        raise UsageError(f"the collection in {package} is not as Anki writes it ({said}); {EXPORT}") from error
    left = sum(review.rating > 0 for of_card in reviews.values() for review in of_card)
    return ForeignCollection(cards, unrated + left)


def _require(connection: Connection, tables: Mapping[str, set[str]], package: Path) -> None:
    for table, columns in tables.items():
        kind, sql = connection.row("SELECT type, sql FROM sqlite_schema WHERE name = ?", (table,)) or ("", "")
        is_plain = kind == "table" and "VIRTUAL" not in str(sql).upper().split("(")[0]
        found = {name for _, name, *_, hidden in connection.rows(f"PRAGMA table_xinfo({table})") if hidden == 0}
        if not is_plain or not columns <= found:
            raise UsageError(f"{package} holds no Anki collection that can be read (table {table}); {EXPORT}")


def _types_and_decks(connection: Connection, package: Path) -> tuple[dict[int, _NoteType], dict[int, str], int]:
    """The note types, the names of the decks, and the number of the scheduler."""
    models, decks, conf = (
        connection.value(f"SELECT CAST({column} AS BLOB) FROM col") or b"" for column in ("models", "decks", "conf")
    )
    if models.strip() not in (b"", b"{}"):
        return _types_11(models), _decks_11(decks), int(_json(conf or b"{}").get("schedVer", OLD_SCHEDULER))
    if connection.value("SELECT 1 FROM sqlite_schema WHERE name = 'notetypes'") is None:
        return {}, {}, OLD_SCHEDULER
    _require(connection, TABLES_18, package)
    scheduler = connection.value("SELECT CAST(val AS BLOB) FROM config WHERE KEY = 'schedVer'")
    return _types_18(connection), _decks_18(connection), int(scheduler or OLD_SCHEDULER)


def _types_11(models: bytes) -> dict[int, _NoteType]:
    types = {}
    for id, model in _json(models).items():
        is_cloze = model.get("type") == 1
        templates = {int(t["ord"]): Template(str(t["qfmt"]), str(t["afmt"]), is_cloze) for t in model["tmpls"]}
        ordered = sorted(model["flds"], key=lambda field: int(field["ord"]))
        types[int(id)] = _NoteType([str(field["name"]) for field in ordered], templates, is_cloze)
    return types


def _decks_11(decks: bytes) -> dict[int, str]:
    return {int(id): str(deck["name"]) for id, deck in _json(decks).items()}


def _json(text: bytes) -> dict[str, Any]:
    """An object; of a key that stands in it twice, as genanki writes them, the last."""
    try:
        found = json.loads(text.decode())
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(found, dict):
        raise ValueError("it is no object")
    return found


def _types_18(connection: Connection) -> dict[int, _NoteType]:
    names = defaultdict[int, dict[int, str]](dict)
    for type, ord, name in connection.each("SELECT ntid, ord, CAST(name AS BLOB) FROM fields"):
        names[type][ord] = name.decode()
    templates = defaultdict[int, dict[int, Template]](dict)
    clozes = {
        id: fields_of(config).get(1) == 1
        for id, config in connection.each("SELECT id, CAST(config AS BLOB) FROM notetypes")
    }
    for type, ord, config in connection.each("SELECT ntid, ord, CAST(config AS BLOB) FROM templates"):
        told = fields_of(config)
        templates[type][ord] = Template(_text(told.get(1, b"")), _text(told.get(2, b"")), clozes.get(type, False))
    return {
        id: _NoteType([names[id][ord] for ord in sorted(names[id])], templates[id], is_cloze)
        for id, is_cloze in clozes.items()
    }


def _decks_18(connection: Connection) -> dict[int, str]:
    rows = connection.each("SELECT id, CAST(name AS BLOB) FROM decks")
    return {id: name.decode().replace("\x1f", "::") for id, name in rows}


def _text(value: int | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else ""


def _reviews(connection: Connection, scheduler: int) -> tuple[dict[int, list[AnkiReview]], int]:
    """The log of each card, and how many rows are answers with no use: a rating or a moment that cannot be.

    Answers that changed no schedule (cramming) are left out; what was set by hand stays, with the rating 0.
    """
    found, unusable = defaultdict[int, list[AnkiReview]](list), 0
    sql = "SELECT id, cid, ease, ivl, lastIvl, factor, time, type FROM revlog NOT INDEXED ORDER BY id"
    for id, card, *values in connection.each(sql):
        if any(type(value) is not int for value in (id, card, *values)):
            unusable += 1
            continue
        rating, interval, last_interval, ease, elapsed_ms, sort = values
        if sort == ReviewType.FILTERED and ease == 0:
            continue
        at = _moment(id / 1000)
        by_hand = sort in (ReviewType.MANUAL, ReviewType.RESCHEDULED) or rating == 0
        if at is None or not 0 <= sort <= ReviewType.RESCHEDULED or not (by_hand or 1 <= rating <= 4):
            unusable += not by_hand
            continue
        if scheduler == OLD_SCHEDULER and sort in (ReviewType.LEARNING, ReviewType.RELEARNING) and rating in (2, 3):
            rating += 1
        rating = 0 if by_hand else rating
        found[card].append(AnkiReview(at, rating, interval, last_interval, ease, elapsed_ms, ReviewType(sort)))
    return found, unusable


def _begin(reviews: Sequence[AnkiReview]) -> int:
    """Where in the log of a card the history begins that counts: at its last learning, or behind its last reset."""
    begin, is_learned = 0, False
    for number in reversed(range(len(reviews))):
        review = reviews[number]
        if review.rating and review.type is ReviewType.LEARNING:
            begin, is_learned = number, True
        elif is_learned:
            break
        elif review.type is ReviewType.MANUAL and review.ease == 0:
            return number + 1
    return begin


def _moment(seconds: float) -> datetime | None:
    """In UTC; None outside the years that a review can have."""
    return datetime.fromtimestamp(seconds, UTC) if EARLIEST.timestamp() <= seconds < LATEST.timestamp() else None


def _cards(
    connection: Connection, types: Mapping[int, _NoteType], decks: Mapping[int, str], logs: dict[int, list[AnkiReview]]
) -> Iterator[ForeignCard]:
    """The cards; the log of each is taken out of `logs`."""
    notes = {id: _Note(*told) for id, *told in connection.each(_NOTES)}
    for id, note_id, ord, deck, home_deck, sort, queue, changed in connection.each(_CARDS):
        note = notes.get(note_id)
        note_type = types.get(note.type) if note else None
        template = note_type.template(ord) if note_type else None
        if note is None or note_type is None or template is None or len(note.texts) > LONGEST_NOTE:
            continue
        log = logs.pop(id, [])
        begin = _begin(log) if sort != CardType.NEW else len(log)
        yield ForeignCard(
            guid=note.guid.decode(),
            ord=int(ord),
            deck=decks.get(home_deck or deck, ""),
            template=template,
            fields=note.fields(note_type.fields),
            suspended=queue == SUSPENDED,
            changed_at=_moment(changed) or EARLIEST,
            reviews=tuple(review for review in log[begin:] if review.rating),
            forgotten=tuple(review for review in log[:begin] if review.rating),
        )


_NOTES = "SELECT id, CAST(guid AS BLOB), mid, CAST(flds AS BLOB) FROM notes"
_CARDS = "SELECT id, nid, ord, did, odid, type, queue, mod FROM cards ORDER BY id"


@dataclass(slots=True)
class _Note:
    """A note; its cards share what is read of it."""

    guid: bytes
    type: int
    texts: bytes
    _fields: dict[str, str] | None = None

    def fields(self, names: Sequence[str]) -> dict[str, str]:
        """The texts by the names of their fields."""
        if self._fields is None:
            self._fields = dict(zip(names, self.texts.decode().split("\x1f"), strict=False))
        return self._fields
