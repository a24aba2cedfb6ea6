"""Reads somebody's Anki collection, of schema 11 (`models` and `decks` as JSON) or 18 (tables, and protocol buffers).

The file comes from elsewhere: only plain tables are read, every value is looked at before it is used, and nothing in
it is run.
"""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from attncli.domain.log_row import EARLIEST, LATEST
from attncli.errors import EnvironmentFailure, StoreError, UsageError
from attncli.store.connection import Connection, opened

# Takes the collection out of an Anki package: one member of a zip archive, by its name, and never more than a limit.
#
# A package is a zip archive. The collection is its member `collection.anki21b` (Zstandard), `collection.anki21` or
# `collection.anki2`; a newer package holds an older member too, which only says that Anki is to be updated. No name in
# the archive becomes a path, and pictures and sounds are not unpacked.

ZSTANDARD = "collection.anki21b"
MEMBERS = (ZSTANDARD, "collection.anki21", "collection.anki2")
LARGEST_COLLECTION = 2**30
LARGEST_GROWTH = 200
"""A database shrinks to a tenth; what grows much more on its way out was made to."""
GROWTH_FREE = 64 * 2**20
MOST_MEMBERS = 500_000
STEP = 2**20
EXPORT = "export it from Anki again (File → Export, an .apkg or .colpkg)"
OLDER = "tick “Support older Anki versions” when you export"


class NoZstandard(UsageError):
    """The package is of the newer kind, and nothing here reads it."""


def unpacked(package: Path, folder: Path) -> Path:
    """The database of `package`, unpacked into `folder`, a private one.

    Raises UsageError for what is no package, damaged, or grows beyond all measure; StoreError where there is no room.
    """
    try:
        with package.open("rb") as file, zipfile.ZipFile(file) as archive:
            return _taken_out(archive, package, folder / "collection.db")
    except OSError as error:
        raise UsageError(f"cannot read {package} ({error.strerror or error}); {EXPORT}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        said = " ".join(str(error).split())[:100]
        raise UsageError(f"{package} is no Anki package, or a damaged one ({said}); {EXPORT}") from error


def _taken_out(archive: zipfile.ZipFile, package: Path, target: Path) -> Path:
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise UsageError(f"{package} has {len(members)} files inside, which no collection has; {EXPORT}")
    found = {member.filename: member for member in members if member.filename in MEMBERS}
    name = next((name for name in MEMBERS if name in found), "")
    if not name:
        raise UsageError(f"{package} holds no Anki collection; {EXPORT}")
    packed = found[name].compress_size
    with archive.open(found[name]) as member, _readable(member, name, package) as stream:
        _copy(stream, target, packed, package)
    return target


@contextmanager
def _readable(member: IO[bytes], name: str, package: Path) -> Iterator[IO[bytes]]:
    if name != ZSTANDARD:
        yield member
        return
    with _zstandard(member, package) as (stream, failure):
        try:
            yield stream
        except failure as error:
            raise UsageError(f"{package} is a damaged Anki package ({error}); {EXPORT}") from error


@contextmanager
def _zstandard(member: IO[bytes], package: Path) -> Iterator[tuple[IO[bytes], type[Exception]]]:
    """A stream of what was packed, by Python's own module (3.14), or by the package `zstandard`."""
    with suppress(ImportError):
        module: Any = import_module("compression.zstd")
        yield module.ZstdFile(member), module.ZstdError
        return
    try:
        import zstandard
    except ImportError:
        raise NoZstandard(
            f"{package} is a package of a newer Anki; {OLDER}, or have it read here: pip install 'attncli[anki]'"
        ) from None
    yield zstandard.ZstdDecompressor().stream_reader(member, read_size=STEP), zstandard.ZstdError


def _copy(stream: IO[bytes], target: Path, packed: int, package: Path) -> None:
    most = min(LARGEST_COLLECTION, max(GROWTH_FREE, packed * LARGEST_GROWTH))
    size = 0
    with _written(target) as file:
        while part := stream.read(STEP):
            size += len(part)
            if size > most:
                raise UsageError(
                    f"{package} unpacks to more than {most // 2**20} MiB, which no collection does; {EXPORT}"
                )
            file.write(part)


@contextmanager
def _written(target: Path) -> Iterator[IO[bytes]]:
    try:
        file = _opened(target)
    except OSError as error:
        raise StoreError(f"cannot write {target} ({error.strerror}); free some disk space and try again") from error
    with _Guarded(file) as guarded:
        yield guarded


def _opened(target: Path) -> IO[bytes]:
    return target.open("xb")


class _Guarded:
    """A file whose failures are those of this disk, and not of the package that is read meanwhile."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __enter__(self) -> IO[bytes]:
        return cast(IO[bytes], self)

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, part: bytes) -> int:
        try:
            return self._file.write(part)
        except OSError as error:
            raise EnvironmentFailure(
                f"cannot unpack the collection ({error.strerror}); free some disk space and try again"
            ) from error


# Writes an Anki package: the notes as genanki has them, then what genanki leaves out, schedules and the review log.
#
# Tables and columns are those of Anki's schema 11 (`collection.anki2`), which every Anki since 2.1 opens:
#
# - `cards`: `type`, `queue` (0 new, 1 learning, 2 review, 3 a learning step of a day or more, -1 suspended), `due` (a
#   day
#   counted from the collection's first one; for a learning step a Unix time; for a new card its place), `ivl`,
#   `factor`,
#   `reps`, `lapses`, `left` (steps left, twice), `data` (JSON: `s`, `d`, `dr`, `decay` of FSRS; `lrt`, the last
#   review);
# - `revlog`: one row a review, numbered by its Unix time in milliseconds;
# - `col`: `crt`, the moment at which day 0 begins, and in `conf` the hour at which a day does.

MEMBER = "collection.anki2"
EARLIEST_IN_ZIP = 1980
Fill = Callable[[sqlite3.Cursor, float, Iterator[int]], None]

_STEP_LASTS_A_DAY = 3
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def package_bytes(at: datetime, fill: Fill, calendar: AnkiCalendar, schedules: Mapping[str, AnkiSchedule]) -> bytes:
    """The package as a file's content. `fill` writes notes, cards and decks; `schedules` are by the guid of a note."""
    with closing(sqlite3.connect(":memory:")) as connection:
        fill(connection.cursor(), at.timestamp(), count(round(at.timestamp() * 1000)))
        _set_calendar(connection, at, calendar)
        _schedule(connection, calendar, schedules)
        connection.commit()
        return _zipped(connection.serialize(), at)


def _zipped(database: bytes, at: datetime) -> bytes:
    packed = io.BytesIO()
    stamp = at.timetuple()[:6] if at.year >= EARLIEST_IN_ZIP else (EARLIEST_IN_ZIP, 1, 1, 0, 0, 0)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in ((MEMBER, database), ("media", b"{}")):
            member = zipfile.ZipInfo(name, stamp)
            member.compress_type = zipfile.ZIP_DEFLATED
            package.writestr(member, content)
    return packed.getvalue()


def _set_calendar(connection: sqlite3.Connection, at: datetime, calendar: AnkiCalendar) -> None:
    (conf,) = connection.execute("SELECT conf FROM col").fetchone()
    told = {
        "schedVer": 2,
        "sched2021": True,
        "rollover": calendar.rollover_hour,
        "creationOffset": calendar.minutes_west,
    }
    now_ms = round(at.timestamp() * 1000)
    connection.execute(
        "UPDATE col SET crt = ?, mod = ?, scm = ?, conf = ?",
        (round(calendar.starts_at.timestamp()), now_ms, now_ms, json.dumps({**json.loads(conf), **told})),
    )


def _schedule(connection: sqlite3.Connection, calendar: AnkiCalendar, schedules: Mapping[str, AnkiSchedule]) -> None:
    taken = set[int]()
    cards = connection.execute("SELECT cards.id, guid FROM cards JOIN notes ON nid = notes.id").fetchall()
    for card, guid in cards:
        if (schedule := schedules.get(guid)) is not None:
            numbers = [_number(review, taken) for review in schedule.reviews]
            _put(connection, card, schedule, calendar, numbers[-1] // 1000 if numbers else None)
            for number, review in zip(numbers, schedule.reviews, strict=True):
                connection.execute(
                    "INSERT INTO revlog (id, cid, usn, ease, ivl, lastIvl, factor, time, type)"
                    " VALUES (?, ?, -1, ?, ?, ?, ?, ?, ?)",
                    (number, card, *_values(review)),
                )


def _put(
    connection: sqlite3.Connection, card: int, schedule: AnkiSchedule, calendar: AnkiCalendar, last_review: int | None
) -> None:
    if schedule.type is CardType.NEW:
        connection.execute("UPDATE cards SET queue = ? WHERE id = ?", (SUSPENDED if schedule.suspended else 0, card))
        return
    queue, due = _queue(schedule, calendar)
    connection.execute(
        "UPDATE cards SET type = ?, queue = ?, due = ?, ivl = ?, factor = ?, reps = ?, lapses = ?, left = ?, data = ?"
        " WHERE id = ?",
        (
            schedule.type,
            SUSPENDED if schedule.suspended else queue,
            due,
            schedule.interval_days,
            schedule.ease,
            schedule.repetitions,
            schedule.lapses,
            schedule.steps_left * 1001,
            json.dumps(_data(schedule, last_review)),
            card,
        ),
    )


def _queue(schedule: AnkiSchedule, calendar: AnkiCalendar) -> tuple[int, int]:
    """In which queue a card waits, and until when, as that queue counts."""
    day = schedule.due_day - calendar.first_day
    if schedule.type is CardType.REVIEW:
        return CardType.REVIEW, day
    if schedule.reviewed_at and schedule.due_at and (schedule.due_at - schedule.reviewed_at).days >= 1:
        return _STEP_LASTS_A_DAY, day
    return CardType.LEARNING, int(schedule.due_at.timestamp()) if schedule.due_at else 0


def _data(schedule: AnkiSchedule, last_review: int | None) -> dict[str, Any]:
    told = {
        "s": schedule.stability_days and round(schedule.stability_days, 4),
        "d": schedule.difficulty and round(schedule.difficulty, 3),
        "dr": schedule.desired_retention,
        "decay": schedule.decay,
        "lrt": last_review,
    }
    return {key: value for key, value in told.items() if value is not None}


def _number(review: AnkiReview, taken: set[int]) -> int:
    number = (review.at - _EPOCH) // _MILLISECOND
    while number in taken:
        number += 1
    taken.add(number)
    return number


def _values(review: AnkiReview) -> tuple[int, ...]:
    return review.rating, review.interval, review.last_interval, review.ease, review.elapsed_ms, review.type


# As much of the protocol buffers wire format as an Anki collection needs: numbers and byte strings of one message.

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
_LONGEST_VARINT = 10


def fields_of(message: bytes) -> dict[int, int | bytes]:
    """Field number → its last value; fixed-width numbers are passed over. Raises ValueError for what is no message."""
    found: dict[int, int | bytes] = {}
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            found[number], at = _varint(message, at)
            continue
        if kind == _BYTES:
            length, at = _varint(message, at)
        elif kind in (_FIXED_64, _FIXED_32):
            length = 8 if kind == _FIXED_64 else 4
        else:
            raise ValueError("a message of an unknown kind")
        if at + length > len(message):
            raise ValueError("a message that ends too early")
        if kind == _BYTES:
            found[number] = message[at : at + length]
        at += length
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(_LONGEST_VARINT):
        if at + place >= len(message):
            break
        byte = message[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise ValueError("a message that ends too early")


# What a card and its reviews are to Anki: the nouns that a package is written from and read into.
#
# An interval is so many whole days, or, where it is negative, so many seconds; an ease is in thousandths. Both are as
# Anki's tables have them.

OWN_GUID = "attn:"
FIRST_EASE, LEAST_EASE = 2500, 1300


class CardType(IntEnum):
    """`cards.type`."""

    NEW = 0
    LEARNING = 1
    REVIEW = 2
    RELEARNING = 3


class ReviewType(IntEnum):
    """`revlog.type`: what the card was when it was answered; the last two are no answers."""

    LEARNING = 0
    REVIEW = 1
    RELEARNING = 2
    FILTERED = 3
    MANUAL = 4
    RESCHEDULED = 5


@dataclass(frozen=True, slots=True)
class AnkiReview:
    """One row of `revlog`: answered with `rating` 1…4 at `at`, in `elapsed_ms`."""

    at: datetime
    rating: int
    interval: int
    last_interval: int
    ease: int
    elapsed_ms: int
    type: ReviewType


@dataclass(frozen=True, slots=True, kw_only=True)
class AnkiSchedule:
    """Where a card stands: `due_day` is a study day (ordinal), `due_at` the moment of a learning step.

    `stability_days`, `difficulty`, `desired_retention` and `decay` are FSRS's, None for a card without them.
    """

    type: CardType
    suspended: bool = False
    due_day: int = 0
    due_at: datetime | None = None
    interval_days: int = 0
    ease: int = 0
    repetitions: int = 0
    lapses: int = 0
    steps_left: int = 0
    stability_days: float | None = None
    difficulty: float | None = None
    desired_retention: float | None = None
    decay: float | None = None
    reviewed_at: datetime | None = None
    reviews: tuple[AnkiReview, ...] = ()


@dataclass(frozen=True, slots=True)
class AnkiCalendar:
    """When Anki's day 0 is: the study day `first_day`, which begins at `starts_at` and at the local `rollover_hour`."""

    first_day: int
    starts_at: datetime
    rollover_hour: int
    minutes_west: int


def own_guid(id: str, formerly: tuple[str, ...] = ()) -> str:
    """What names the note of a card for ever, through renames too: by it Anki knows that it has the note already."""
    return f"{OWN_GUID}{formerly[0] if formerly else id}"


def own_card(guid: str) -> str:
    """The card (by an id that it has or had) whose note this is; empty for a note that is not from here."""
    return guid.removeprefix(OWN_GUID) if guid.startswith(OWN_GUID) else ""


@dataclass(frozen=True, slots=True)
class Template:
    """The two sides of a card of one note type; `is_cloze` where a note has a card for each numbered gap."""

    question: str
    answer: str
    is_cloze: bool


@dataclass(frozen=True, slots=True)
class ForeignCard:
    """A card of somebody's Anki collection; `fields` are its note's, HTML, by name; `reviews` are its answers.

    `forgotten` are those before the card was reset to a new one: they count no more.
    """

    guid: str
    ord: int
    deck: str
    template: Template
    fields: dict[str, str]
    suspended: bool
    changed_at: datetime
    reviews: tuple[AnkiReview, ...]
    forgotten: tuple[AnkiReview, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignCollection:
    """What a package holds; `lost_reviews` belong to cards that are not in it, or say no rating."""

    cards: tuple[ForeignCard, ...]
    lost_reviews: int = 0


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
