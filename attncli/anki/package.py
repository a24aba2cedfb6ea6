"""Anki packages: the data that they hold, a reader for packages of others, and a writer.

A package is a zip archive with one SQLite database, of schema 11 (`models` and `decks` as JSON) or 18 (tables and
protocol buffers). A newer package also holds an older member, which only says that Anki is to be updated. We write
schema 11, which every Anki since 2.1 opens. A package to read is not trusted: no name in the archive becomes a path,
sizes are limited, only plain tables are read, and every value is checked before it is used.
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
from typing import IO, Any, NamedTuple

from attncli.domain.log_row import EARLIEST, LATEST
from attncli.errors import EnvironmentFailure, StoreError, UsageError, reason_of
from attncli.i18n import Localised, _
from attncli.store.connection import Connection

OWN_GUID = "attn:"
FIRST_EASE, LEAST_EASE = 2500, 1300
SUSPENDED = -1

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)

Fill = Callable[[sqlite3.Cursor, float, Iterator[int]], None]


class CardType(IntEnum):
    """`cards.type`."""

    NEW = 0
    LEARNING = 1
    REVIEW = 2
    RELEARNING = 3


class ReviewType(IntEnum):
    """`revlog.type`: the status of the card when it was answered; the last two are not answers."""

    LEARNING = 0
    REVIEW = 1
    RELEARNING = 2
    FILTERED = 3
    MANUAL = 4
    RESCHEDULED = 5


@dataclass(frozen=True, slots=True)
class AnkiReview:
    """One row of `revlog`: answered with `rating` 1…4 at `at`, in `elapsed_ms`.

    An interval is in days or, if negative, in seconds; `ease` is in thousandths.
    """

    at: datetime
    rating: int
    interval: int
    last_interval: int
    ease: int
    elapsed_ms: int
    type: ReviewType


@dataclass(frozen=True, slots=True, kw_only=True)
class AnkiSchedule:
    """The schedule of a card: `due_day` is a study day (ordinal), `due_at` the moment of a learning step.

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
    """Day 0 of a collection: the study day `first_day`, from `starts_at` on, the local hour `rollover_hour`."""

    first_day: int
    starts_at: datetime
    rollover_hour: int
    minutes_west: int


@dataclass(frozen=True, slots=True)
class Template:
    """The two sides of a card of a note type; with `is_cloze` a note has one card for each numbered gap."""

    question: str
    answer: str
    is_cloze: bool


@dataclass(frozen=True, slots=True)
class ForeignCard:
    """A card of an Anki collection; `fields` are those of its note, HTML by name; `reviews` are its answers.

    `forgotten` are answers from before the card was reset.
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
    """The content of a package; `lost_reviews` have no card in it, or no rating."""

    cards: tuple[ForeignCard, ...]
    lost_reviews: int = 0


def own_guid(id: str, formerly: tuple[str, ...] = ()) -> str:
    """Return the GUID of the note of a card, the same after renames; Anki identifies the note by it."""
    return f"{OWN_GUID}{formerly[0] if formerly else id}"


def own_card(guid: str) -> str:
    """Return the card, by an id that it has or had, whose note this is; empty for a note that is not from here."""
    return guid.removeprefix(OWN_GUID) if guid.startswith(OWN_GUID) else ""


# Unpacking

ZSTANDARD = "collection.anki21b"
MEMBERS = (ZSTANDARD, "collection.anki21", "collection.anki2")
LARGEST_COLLECTION = 2**30
LARGEST_GROWTH = 200
"""A database compresses to about a tenth; one that grows far more was made to."""
GROWTH_FREE = 64 * 2**20
MOST_MEMBERS = 500_000
STEP = 2**20

EXPORT = _("export it from Anki again (File → Export, an .apkg or .colpkg)")
OLDER = _("tick “Support older Anki versions” when you export")


def _refused(problem: Localised) -> UsageError:
    return UsageError(_("{problem}; {export}", problem=problem, export=EXPORT))


class NoZstandard(UsageError):
    """The package is compressed with Zstandard, and no module for it is installed."""


def _unpacked(package: Path, folder: Path) -> Path:
    """Unpack the database of `package` into `folder`, a private one, and return its path.

    Raises UsageError if it is not a package, damaged or too large; StoreError, EnvironmentFailure without space.
    """
    try:
        with package.open("rb") as file, zipfile.ZipFile(file) as archive:
            return _extract(archive, package, folder / "collection.db")
    except OSError as error:
        raise _refused(_("cannot read {package} ({strerror})", package=package, strerror=reason_of(error))) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:100]
        raise _refused(
            _("{package} is not an Anki package, or is damaged ({reason})", package=package, reason=_(reason))
        ) from error


def _extract(archive: zipfile.ZipFile, package: Path, target: Path) -> Path:
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise _refused(
            _("{package} contains {members} files, too many for a collection", package=package, members=len(members))
        )
    found = {member.filename: member for member in members if member.filename in MEMBERS}
    name = next((name for name in MEMBERS if name in found), "")
    if not name:
        raise _refused(_("{package} contains no Anki collection", package=package))
    packed = found[name].compress_size
    with archive.open(found[name]) as member, _decompressed(member, name, package) as stream:
        _copy(stream, target, packed, package)
    return target


@contextmanager
def _decompressed(member: IO[bytes], name: str, package: Path) -> Iterator[IO[bytes]]:
    if name != ZSTANDARD:
        yield member
        return
    with _zstandard(member, package) as (stream, failure):
        try:
            yield stream
        except failure as error:
            raise _refused(_("{package} is a damaged Anki package ({error})", package=package, error=error)) from error


@contextmanager
def _zstandard(member: IO[bytes], package: Path) -> Iterator[tuple[IO[bytes], type[Exception]]]:
    """Yield the decompressed stream, by the module of Python 3.14 or the package `zstandard`, and its error type."""
    with suppress(ImportError):
        module: Any = import_module("compression.zstd")
        yield module.ZstdFile(member), module.ZstdError
        return
    try:
        import zstandard
    except ImportError:
        raise NoZstandard(
            _(
                "{package} is from a newer Anki; {older}, or install support: pip install 'attncli[anki]'",
                package=package,
                older=OLDER,
            )
        ) from None
    yield zstandard.ZstdDecompressor().stream_reader(member, read_size=STEP), zstandard.ZstdError


def _copy(stream: IO[bytes], target: Path, packed: int, package: Path) -> None:
    most = min(LARGEST_COLLECTION, max(GROWTH_FREE, packed * LARGEST_GROWTH))
    size = 0
    try:
        opened_target = _opened(target)
    except OSError as error:
        raise StoreError(
            _(
                "cannot write {target} ({strerror}); free some disk space and try again",
                target=target,
                strerror=reason_of(error),
            )
        ) from error
    with closing(opened_target) as file:
        while part := stream.read(STEP):
            size += len(part)
            if size > most:
                raise _refused(
                    _(
                        "{package} unpacks to more than {most} MiB, too large for a collection",
                        package=package,
                        most=most // 2**20,
                    )
                )
            try:
                file.write(part)
            except OSError as error:
                raise EnvironmentFailure(
                    _(
                        "cannot unpack the collection ({strerror}); free some disk space and try again",
                        strerror=reason_of(error),
                    )
                ) from error


def _opened(target: Path) -> IO[bytes]:
    return target.open("xb")


# Reading a collection

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
OLD_SCHEDULER = 1
"""In the first scheduler a card being learned had three buttons: 2 was Good and 3 was Easy."""

_NOTES = "SELECT id, CAST(guid AS BLOB), mid, CAST(flds AS BLOB) FROM notes"
_CARDS = "SELECT id, nid, ord, did, odid, type, queue, mod FROM cards ORDER BY id"


def read_package(package: Path, folder: Path) -> ForeignCollection:
    """Return the cards and reviews of `package`, which is unpacked into `folder`, a private one.

    Raises UsageError for a package that cannot be read.
    """
    database = _unpacked(package, folder)
    try:
        with closing(Connection(database)) as connection:
            connection.distrust()
            return _read(connection, package)
    except StoreError as error:
        raise UsageError(
            _(
                "the collection in {package} is damaged; check it in Anki (Tools), then {export}",
                package=package,
                export=EXPORT,
            )
        ) from error


def _read(connection: Connection, package: Path) -> ForeignCollection:
    _require(connection, TABLES, package)
    for table, most in (("notes", MOST_CARDS), ("cards", MOST_CARDS), ("revlog", MOST_REVIEWS)):
        count = connection.value(f"SELECT count(*) FROM {table}")
        if count > most:
            raise UsageError(
                _(
                    "{package} has {count} rows in {table}, more than {most}; export one deck at a time",
                    package=package,
                    count=count,
                    table=table,
                    most=most,
                )
            )
    try:
        models, decks, scheduler = _types_and_decks(connection, package)
        reviews, unrated = _reviews(connection, scheduler)
        cards = tuple(_cards(connection, models, decks, reviews))
    except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
        reason = " ".join(str(error).split())[:100]
        raise UsageError(
            _(
                "the collection in {package} has an unexpected format ({reason}); {export}",
                package=package,
                reason=reason,
                export=EXPORT,
            )
        ) from error
    left = sum(review.rating > 0 for of_card in reviews.values() for review in of_card)
    return ForeignCollection(cards, unrated + left)


def _require(connection: Connection, tables: Mapping[str, set[str]], package: Path) -> None:
    for table, columns in tables.items():
        kind, sql = connection.row("SELECT type, sql FROM sqlite_schema WHERE name = ?", (table,)) or ("", "")
        is_plain = kind == "table" and "VIRTUAL" not in str(sql).upper().split("(")[0]
        found = {name for _unused, name, *_, hidden in connection.rows(f"PRAGMA table_xinfo({table})") if hidden == 0}
        if not is_plain or not columns <= found:
            raise _refused(
                _("{package} contains no readable Anki collection (table {table})", package=package, table=table)
            )


class _NoteType(NamedTuple):
    fields: list[str]
    templates: dict[int, Template]
    is_cloze: bool

    def template(self, ord: int) -> Template | None:
        """Return the template of a card; the cards of cloze notes share the only one."""
        return self.templates.get(0 if self.is_cloze else ord)


def _types_and_decks(connection: Connection, package: Path) -> tuple[dict[int, _NoteType], dict[int, str], int]:
    """Return the note types, the names of the decks, and the number of the scheduler."""
    models, decks, conf = (
        connection.value(f"SELECT CAST({column} AS BLOB) FROM col") or b"" for column in ("models", "decks", "conf")
    )
    if models.strip() not in (b"", b"{}"):
        names = {int(id): str(deck["name"]) for id, deck in _json(decks).items()}
        return _types_11(models), names, int(_json(conf or b"{}").get("schedVer", OLD_SCHEDULER))
    if connection.value("SELECT 1 FROM sqlite_schema WHERE name = 'notetypes'") is None:
        return {}, {}, OLD_SCHEDULER
    _require(connection, TABLES_18, package)
    scheduler = connection.value("SELECT CAST(val AS BLOB) FROM config WHERE KEY = 'schedVer'")
    rows = connection.each("SELECT id, CAST(name AS BLOB) FROM decks")
    names = {id: name.decode().replace("\x1f", "::") for id, name in rows}
    return _types_18(connection), names, int(scheduler or OLD_SCHEDULER)


def _types_11(models: bytes) -> dict[int, _NoteType]:
    types = {}
    for id, model in _json(models).items():
        is_cloze = model.get("type") == 1
        templates = {int(t["ord"]): Template(str(t["qfmt"]), str(t["afmt"]), is_cloze) for t in model["tmpls"]}
        ordered = sorted(model["flds"], key=lambda field: int(field["ord"]))
        types[int(id)] = _NoteType([str(field["name"]) for field in ordered], templates, is_cloze)
    return types


def _json(text: bytes) -> dict[str, Any]:
    """Parse a JSON object; genanki writes some keys twice, and the last counts. Raises ValueError."""
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
        values = fields_of(config)
        templates[type][ord] = Template(_text(values.get(1, b"")), _text(values.get(2, b"")), clozes.get(type, False))
    return {
        id: _NoteType([names[id][ord] for ord in sorted(names[id])], templates[id], is_cloze)
        for id, is_cloze in clozes.items()
    }


def _text(value: int | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else ""


def _reviews(connection: Connection, scheduler: int) -> tuple[dict[int, list[AnkiReview]], int]:
    """Return the log of each card, and how many answers have an impossible rating or time.

    Answers that changed no schedule (cramming) are left out; changes by hand stay, with the rating 0.
    """
    found, unusable = defaultdict[int, list[AnkiReview]](list), 0
    sql = "SELECT id, cid, ease, ivl, lastIvl, factor, time, type FROM revlog NOT INDEXED ORDER BY id"
    for id, card, *values in connection.each(sql):
        if any(type(value) is not int for value in (id, card, *values)):
            unusable += 1
            continue
        rating, interval, last_interval, ease, elapsed_ms, kind = values
        if kind == ReviewType.FILTERED and ease == 0:
            continue
        at = _moment(id / 1000)
        by_hand = kind in (ReviewType.MANUAL, ReviewType.RESCHEDULED) or rating == 0
        if at is None or not 0 <= kind <= ReviewType.RESCHEDULED or not (by_hand or 1 <= rating <= 4):
            unusable += not by_hand
            continue
        if scheduler == OLD_SCHEDULER and kind in (ReviewType.LEARNING, ReviewType.RELEARNING) and rating in (2, 3):
            rating += 1
        rating = 0 if by_hand else rating
        found[card].append(AnkiReview(at, rating, interval, last_interval, ease, elapsed_ms, ReviewType(kind)))
    return found, unusable


@dataclass(slots=True)
class _Note:
    """A note; its fields are parsed once for all of its cards."""

    guid: bytes
    type: int
    texts: bytes
    _fields: dict[str, str] | None = None

    def fields(self, names: Sequence[str]) -> dict[str, str]:
        """Return the texts by the names of their fields."""
        if self._fields is None:
            self._fields = dict(zip(names, self.texts.decode().split("\x1f"), strict=False))
        return self._fields


def _cards(
    connection: Connection, types: Mapping[int, _NoteType], decks: Mapping[int, str], logs: dict[int, list[AnkiReview]]
) -> Iterator[ForeignCard]:
    """Yield the cards; the log of each is removed from `logs`."""
    notes = {id: _Note(*values) for id, *values in connection.each(_NOTES)}
    for id, note_id, ord, deck, home_deck, kind, queue, changed in connection.each(_CARDS):
        note = notes.get(note_id)
        note_type = types.get(note.type) if note else None
        template = note_type.template(ord) if note_type else None
        if note is None or note_type is None or template is None or len(note.texts) > LONGEST_NOTE:
            continue
        log = logs.pop(id, [])
        start = _history_start(log) if kind != CardType.NEW else len(log)
        yield ForeignCard(
            guid=note.guid.decode(),
            ord=int(ord),
            deck=decks.get(home_deck or deck, ""),
            template=template,
            fields=note.fields(note_type.fields),
            suspended=queue == SUSPENDED,
            changed_at=_moment(changed) or EARLIEST,
            reviews=tuple(review for review in log[start:] if review.rating),
            forgotten=tuple(review for review in log[:start] if review.rating),
        )


def _history_start(reviews: Sequence[AnkiReview]) -> int:
    """Return the index in the log of a card from which it counts: its last learning, or after its last reset."""
    start, is_learned = 0, False
    for number in reversed(range(len(reviews))):
        review = reviews[number]
        if review.rating and review.type is ReviewType.LEARNING:
            start, is_learned = number, True
        elif is_learned:
            break
        elif review.type is ReviewType.MANUAL and review.ease == 0:
            return number + 1
    return start


def _moment(seconds: float) -> datetime | None:
    """Return the time in UTC, or None outside the years that a review can have."""
    return datetime.fromtimestamp(seconds, UTC) if EARLIEST.timestamp() <= seconds < LATEST.timestamp() else None


_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
_LONGEST_VARINT = 10


def fields_of(message: bytes) -> dict[int, int | bytes]:
    """Parse a protocol buffers message: field number → last value, without fixed-width numbers. Raises ValueError."""
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


# Writing a package

MEMBER = "collection.anki2"
EARLIEST_IN_ZIP = 1980

_DAY_LEARNING_QUEUE = 3


def package_bytes(at: datetime, fill: Fill, calendar: AnkiCalendar, schedules: Mapping[str, AnkiSchedule]) -> bytes:
    """Return the bytes of a package. `fill` writes notes, cards and decks; `schedules` are by the GUID of a note."""
    with closing(sqlite3.connect(":memory:")) as connection:
        fill(connection.cursor(), at.timestamp(), count(round(at.timestamp() * 1000)))
        _set_calendar(connection, at, calendar)
        _write_reviews(connection, calendar, schedules)
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
    """Set the moment at which day 0 starts (`crt`), and in `conf` the local hour at which days start."""
    (conf,) = connection.execute("SELECT conf FROM col").fetchone()
    values = {
        "schedVer": 2,
        "sched2021": True,
        "rollover": calendar.rollover_hour,
        "creationOffset": calendar.minutes_west,
    }
    now_ms = round(at.timestamp() * 1000)
    connection.execute(
        "UPDATE col SET crt = ?, mod = ?, scm = ?, conf = ?",
        (round(calendar.starts_at.timestamp()), now_ms, now_ms, json.dumps({**json.loads(conf), **values})),
    )


def _write_reviews(
    connection: sqlite3.Connection, calendar: AnkiCalendar, schedules: Mapping[str, AnkiSchedule]
) -> None:
    """Write schedules, and the reviews as rows of `revlog`, whose ids are their Unix times in milliseconds."""
    taken = set[int]()
    cards = connection.execute("SELECT cards.id, guid FROM cards JOIN notes ON nid = notes.id").fetchall()
    for card, guid in cards:
        if (schedule := schedules.get(guid)) is not None:
            numbers = [_review_id(review, taken) for review in schedule.reviews]
            _write_card(connection, card, schedule, calendar, numbers[-1] // 1000 if numbers else None)
            for number, review in zip(numbers, schedule.reviews, strict=True):
                times = (review.interval, review.last_interval, review.ease, review.elapsed_ms)
                values = (review.rating, *times, review.type)
                connection.execute(
                    "INSERT INTO revlog (id, cid, usn, ease, ivl, lastIvl, factor, time, type)"
                    " VALUES (?, ?, -1, ?, ?, ?, ?, ?, ?)",
                    (number, card, *values),
                )


def _write_card(
    connection: sqlite3.Connection, card: int, schedule: AnkiSchedule, calendar: AnkiCalendar, last_review: int | None
) -> None:
    """Write the schedule of a card: `left` holds the steps left twice, and `data` the state of FSRS as JSON."""
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
            json.dumps(_fsrs_data(schedule, last_review)),
            card,
        ),
    )


def _queue(schedule: AnkiSchedule, calendar: AnkiCalendar) -> tuple[int, int]:
    """Return the queue of a card, and its due date as that queue counts it: a day number or a Unix time."""
    day = schedule.due_day - calendar.first_day
    if schedule.type is CardType.REVIEW:
        return CardType.REVIEW, day
    if schedule.reviewed_at and schedule.due_at and (schedule.due_at - schedule.reviewed_at).days >= 1:
        return _DAY_LEARNING_QUEUE, day
    return CardType.LEARNING, int(schedule.due_at.timestamp()) if schedule.due_at else 0


def _fsrs_data(schedule: AnkiSchedule, last_review: int | None) -> dict[str, Any]:
    values = {
        "s": schedule.stability_days and round(schedule.stability_days, 4),
        "d": schedule.difficulty and round(schedule.difficulty, 3),
        "dr": schedule.desired_retention,
        "decay": schedule.decay,
        "lrt": last_review,
    }
    return {key: value for key, value in values.items() if value is not None}


def _review_id(review: AnkiReview, taken: set[int]) -> int:
    number = (review.at - EPOCH) // MILLISECOND
    while number in taken:
        number += 1
    taken.add(number)
    return number
