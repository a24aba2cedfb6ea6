"""Read Anki packages: cards with the HTML of their notes, and answers.

A package is a zip archive with one SQLite database, of schema 11 (`models` and `decks` as JSON) or 18 (tables and
protocol buffers). A newer package also contains an old-format database that only asks to update Anki. A package is
not trusted: no name in the archive becomes a path, sizes are limited, only plain tables are read, and every value is
checked before it is used.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple

from attncli.domain.card import is_identifier
from attncli.domain.log_row import EARLIEST, LATEST
from attncli.errors import EnvironmentFailure, StoreError, UsageError, reason_of
from attncli.i18n import Localised, _
from attncli.store.connection import Connection

OWN_GUID = "attn:"
KEY_LENGTH = 12
SUSPENDED = -1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


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


class Answer(NamedTuple):
    """An answer in Anki: Unix time in milliseconds, rating 1…4, duration."""

    at_ms: int
    rating: int
    elapsed_ms: int

    @property
    def at(self) -> datetime:
        """The moment in UTC."""
        return EPOCH + self.at_ms * MILLISECOND


@dataclass(frozen=True, slots=True)
class AnkiCard:
    """A card of a package; `key` identifies it on every machine. `forgotten` are answers from before a reset.

    Its texts are Markdown, empty until they are converted; `left_out` counts pictures and sounds that they lost.
    """

    guid: str
    key: str
    deck: str
    suspended: bool
    changed_at: datetime
    answers: tuple[Answer, ...]
    forgotten: tuple[Answer, ...]
    question: str = ""
    answer: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """The content of a card: the templates of its two sides, and the fields of its note, HTML by name.

    `gap` is the number of the gap that a cloze card asks, 0 for other cards.
    """

    question: str
    answer: str
    fields: dict[str, str]
    gap: int = 0


def key_of(guid: str, ord: int) -> str:
    """Return the key of a card of a note, the same on every machine."""
    return sha256(f"{guid}\x1f{ord}".encode()).hexdigest()[:KEY_LENGTH]


def own_guid(id: str, formerly: tuple[str, ...] = ()) -> str:
    """Return the GUID of the note of a card, the same after renames; Anki identifies the note by it."""
    return f"{OWN_GUID}{formerly[0] if formerly else id}"


def own_id(guid: str) -> str:
    """Return the current or former id of the attn card whose exported note has this GUID; empty for other notes."""
    id = guid.removeprefix(OWN_GUID)
    return id if guid != id and is_identifier(id) else ""


# Unpacking

ZSTANDARD = "collection.anki21b"
MEMBERS = (ZSTANDARD, "collection.anki21", "collection.anki2")
LARGEST_COLLECTION = 2**30
LARGEST_GROWTH = 200
"""A database compresses to about a tenth; one that grows far more is an attack."""
GROWTH_FREE = 64 * 2**20
MOST_MEMBERS = 500_000
STEP = 2**20

EXPORT = _("export it from Anki again (File → Export, an .apkg or .colpkg)")
OLDER = _("tick “Support older Anki versions” when you export")


def _refused(problem: Localised) -> UsageError:
    return UsageError(_("{problem}; {export}", problem=problem, export=EXPORT))


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
    """Yield the database; Zstandard is decompressed by the module of Python 3.14 or the package `zstandard`."""
    if name != ZSTANDARD:
        yield member
        return
    stream, failure = _zstandard(member, package)
    try:
        yield stream
    except failure as error:
        raise _refused(_("{package} is a damaged Anki package ({error})", package=package, error=error)) from error


def _zstandard(member: IO[bytes], package: Path) -> tuple[IO[bytes], type[Exception]]:
    try:
        module: Any = import_module("compression.zstd")
        return module.ZstdFile(member), module.ZstdError
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError:
        raise UsageError(
            _(
                "{package} is from a newer Anki; {older}, or install support: pip install 'attncli[anki]'",
                package=package,
                older=OLDER,
            )
        ) from None
    return zstandard.ZstdDecompressor().stream_reader(member, read_size=STEP), zstandard.ZstdError


def _copy(stream: IO[bytes], target: Path, packed: int, package: Path) -> None:
    most = min(LARGEST_COLLECTION, max(GROWTH_FREE, packed * LARGEST_GROWTH))
    size = 0
    try:
        file = target.open("xb")
    except OSError as error:
        raise StoreError(
            _(
                "cannot write {target} ({strerror}); free some disk space and try again",
                target=target,
                strerror=reason_of(error),
            )
        ) from error
    with file:
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


# Reading a collection

TABLES = {
    "col": {"models", "decks", "conf"},
    "notes": {"id", "guid", "mid", "flds"},
    "cards": {"id", "nid", "did", "ord", "mod", "type", "queue", "odid"},
    "revlog": {"id", "cid", "ease", "factor", "time", "type"},
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


def read_package(package: Path, folder: Path) -> tuple[list[tuple[AnkiCard, Note]], int]:
    """Return the cards of `package`, without texts, and the number of answers that have no card in it, or no rating.

    The package is unpacked into `folder`, a private one. Raises UsageError for a package that cannot be read.
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


def _read(connection: Connection, package: Path) -> tuple[list[tuple[AnkiCard, Note]], int]:
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
        logs, unrated = _logs(connection, scheduler)
        cards = list(_cards(connection, models, decks, logs))
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
    return cards, unrated + sum(entry.answer.rating > 0 for log in logs.values() for entry in log)


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
    """The names of the fields, and the templates of question and answer by the number of the card.

    The cards of cloze notes share the only template.
    """

    fields: list[str]
    templates: dict[int, tuple[str, str]]
    is_cloze: bool

    def note(self, ord: int, fields: dict[str, str]) -> Note | None:
        """Return the content of card `ord` of a note with these fields; None if the card has no template."""
        template = self.templates.get(0 if self.is_cloze else ord)
        return Note(*template, fields, int(ord) + 1 if self.is_cloze else 0) if template else None


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
        templates = {int(t["ord"]): (str(t["qfmt"]), str(t["afmt"])) for t in model["tmpls"]}
        ordered = sorted(model["flds"], key=lambda field: int(field["ord"]))
        types[int(id)] = _NoteType([str(field["name"]) for field in ordered], templates, model.get("type") == 1)
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
    templates = defaultdict[int, dict[int, tuple[str, str]]](dict)
    for type, ord, config in connection.each("SELECT ntid, ord, CAST(config AS BLOB) FROM templates"):
        values = fields_of(config)
        templates[type][ord] = _text(values.get(1, b"")), _text(values.get(2, b""))
    return {
        id: _NoteType([names[id][ord] for ord in sorted(names[id])], templates[id], fields_of(config).get(1) == 1)
        for id, config in connection.each("SELECT id, CAST(config AS BLOB) FROM notetypes")
    }


def _text(value: int | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else ""


class _LogEntry(NamedTuple):
    """A row of `revlog`: an answer, or a change by hand, which has the rating 0."""

    answer: Answer
    type: int
    ease: int


def _logs(connection: Connection, scheduler: int) -> tuple[dict[int, list[_LogEntry]], int]:
    """Return the log of each card, and how many answers have an impossible rating or time.

    Answers that changed no schedule (cramming) are left out; changes by hand stay.
    """
    found, unusable = defaultdict[int, list[_LogEntry]](list), 0
    for row in connection.each("SELECT id, cid, ease, factor, time, type FROM revlog NOT INDEXED ORDER BY id"):
        if any(type(value) is not int for value in row):
            unusable += 1
            continue
        at_ms, card, rating, ease, elapsed_ms, kind = row
        if kind == ReviewType.FILTERED and ease == 0:
            continue
        by_hand = kind in (ReviewType.MANUAL, ReviewType.RESCHEDULED) or rating == 0
        is_known = 0 <= kind <= ReviewType.RESCHEDULED and (by_hand or 1 <= rating <= 4)
        if not is_known or _moment(at_ms / 1000) is None:
            unusable += not by_hand
            continue
        if scheduler == OLD_SCHEDULER and kind in (ReviewType.LEARNING, ReviewType.RELEARNING) and rating in (2, 3):
            rating += 1
        found[card].append(_LogEntry(Answer(at_ms, 0 if by_hand else rating, elapsed_ms), kind, ease))
    return found, unusable


def _cards(
    connection: Connection, types: Mapping[int, _NoteType], decks: Mapping[int, str], logs: dict[int, list[_LogEntry]]
) -> Iterator[tuple[AnkiCard, Note]]:
    """Yield the cards; the log of each is removed from `logs`."""
    notes, fields = {id: values for id, *values in connection.each(_NOTES)}, dict[int, dict[str, str]]()
    for id, note_id, ord, deck, home_deck, kind, queue, changed in connection.each(_CARDS):
        guid, type_id, texts = notes.get(note_id, (b"", 0, b""))
        note_type = types.get(type_id)
        if note_id not in notes or note_type is None or len(texts) > LONGEST_NOTE:
            continue
        if note_id not in fields:  # parsed once for all cards of a note
            fields[note_id] = dict(zip(note_type.fields, texts.decode().split("\x1f"), strict=False))
        note = note_type.note(ord, fields[note_id])
        if note is None:
            continue
        log = logs.pop(id, [])
        start = _history_start(log) if kind != CardType.NEW else len(log)
        card = AnkiCard(
            guid=guid.decode(),
            key=key_of(guid.decode(), int(ord)),
            deck=decks.get(home_deck or deck, ""),
            suspended=queue == SUSPENDED,
            changed_at=_moment(changed) or EARLIEST,
            answers=tuple(entry.answer for entry in log[start:] if entry.answer.rating),
            forgotten=tuple(entry.answer for entry in log[:start] if entry.answer.rating),
        )
        yield card, note


def _history_start(log: Sequence[_LogEntry]) -> int:
    """Return the index in a card's log at which its last learning starts, or the one after its last reset."""
    start, is_learned = 0, False
    for number in reversed(range(len(log))):
        entry = log[number]
        if entry.answer.rating and entry.type == ReviewType.LEARNING:
            start, is_learned = number, True
        elif is_learned:
            break
        elif entry.type == ReviewType.MANUAL and entry.ease == 0:
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
