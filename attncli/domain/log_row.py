"""The rows of the append-only log. The log is the truth; every schedule is derived from it."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from math import prod
from typing import Any, NoReturn, cast

from attncli.domain.card import STREAMS
from attncli.domain.challenge import CHECK_NAMES, Rung

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


class RowKind(StrEnum):
    """What a log row records."""

    REVIEW = "review"
    UNDO = "undo"
    SUSPEND = "suspend"
    UNSUSPEND = "unsuspend"
    BURY = "bury"
    START = "start"
    ATTEMPT = "attempt"
    REPAIR = "repair"
    HINT = "hint"
    SOLUTION = "solution"
    FIT = "fit"
    TAG = "tag"
    NOTE = "note"
    MOCK = "mock"
    MOCK_CLOCK = "mock-clock"


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row: `id` is unique over all machines, `subject` is a card or challenge id, `at` is UTC.

    `day` is the learner's study day (proleptic ordinal) at that moment, so that a replay elsewhere, in another time
    zone, gives the same schedule. `payload` is JSON: for a review `{"rating": 1…4, ...}`, for an undo `{"row": id}`.
    `ahead` in it names rows that were stamped later than the clock said when this one was written.
    """

    id: str
    machine: str
    kind: RowKind
    subject: str
    at: datetime
    day: int
    payload: dict[str, Any] = field(default_factory=dict)

    @property
    def ahead(self) -> frozenset[str]:
        """The rows whose stamps were found to lie in the future."""
        named = self._told("ahead")
        return frozenset(id for id in named if isinstance(id, str)) if isinstance(named, list) else frozenset()

    @property
    def rating(self) -> Rating:
        """The rating of a review that `is_usable_review`."""
        return Rating(self.payload["rating"])

    @property
    def is_usable_review(self) -> bool:
        """Whether this is a review with a rating; one without counts as absent."""
        rating = self._told("rating")
        return self.kind is RowKind.REVIEW and type(rating) is int and 1 <= rating <= 4

    @property
    def is_usable(self) -> bool:
        """Whether this row says what rows of its kind are read for; one that does not counts as absent."""
        match self.kind:
            case RowKind.REVIEW:
                return self.is_usable_review
            case RowKind.ATTEMPT:
                return self.verdict != ""
            case RowKind.REPAIR:
                return self.works_on != ""
            case RowKind.UNDO:
                return self.takes_back != ""
        return True

    @property
    def takes_back(self) -> str:
        """The row that this undo takes back; empty where there is none."""
        row = self._told("row") if self.kind is RowKind.UNDO else None
        return row if isinstance(row, str) else ""

    @property
    def verdict(self) -> str:
        """`accepted` or `rejected` for an attempt; empty for anything else, which counts as absent."""
        verdict = self._told("verdict") if self.kind is RowKind.ATTEMPT else None
        return verdict if verdict in ("accepted", "rejected") else ""

    @property
    def reached(self) -> Rung:
        """The rung that an attempt reached; before there were two, what was accepted was right on both."""
        told = self._told("rung") if self.verdict else "none"
        if told in ("none", "solved", "hardened"):
            return cast(Rung, told)
        return "hardened" if self.verdict == "accepted" else "none"

    @property
    def text_hash(self) -> str:
        """Equal for two attempts with the same text; where none was kept, no two are equal."""
        hashed = self._told("sha256")
        return hashed if isinstance(hashed, str) else self.id

    @property
    def source(self) -> str:
        """The text of an attempt; empty where none was kept."""
        source = self._told("source")
        return source if isinstance(source, str) else ""

    @property
    def bug(self) -> str:
        """The planted bug that a start handed out; empty for a starter and for anything else."""
        bug = self._told("bug") if self.kind is RowKind.START else None
        return bug if isinstance(bug, str) else ""

    @property
    def repairs(self) -> tuple[str, ...]:
        """The bugs that a start planted together; none for a starter and for anything else."""
        named = self._told("repairs") if self.kind is RowKind.START else None
        return tuple(name for name in named if isinstance(name, str)) if isinstance(named, list) else ()

    @property
    def is_planted(self) -> bool:
        """Whether this is a start that handed out something to debug."""
        return self.bug != "" or self.repairs != ()

    @property
    def works_on(self) -> str:
        """The start whose planted bugs this grading was about; empty where there is none."""
        start = self._told("start") if self.kind is RowKind.REPAIR else None
        return start if isinstance(start, str) else ""

    @property
    def fixes(self) -> str:
        """The start whose planted bugs are all repaired by this; empty where some are left."""
        return self.works_on if self._told("verdict") == "accepted" else ""

    def _told(self, key: str) -> Any:
        return self.payload.get(key) if isinstance(self.payload, dict) else None


# A log row as JSON: one object, and back again with every field checked.

LONGEST_ID = 200
LONGEST_LINE = 8 * 1024 * 1024
DAYS_AROUND = 2
"""A study day begins at a local hour: it is never further than this from the day in UTC."""

_ABOUT_NOTHING = (RowKind.FIT, RowKind.UNDO)
"""A fit is about all cards, and so is what takes it back."""
MACHINE = re.compile("[0-9a-f]{8}")
_KINDS = frozenset(RowKind)


def line_of(row: LogRow) -> str:
    """One row as one line of JSON."""
    document = {
        "id": row.id,
        "machine": row.machine,
        "kind": row.kind.value,
        "subject": row.subject,
        "at": row.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "day": row.day,
        "payload": row.payload,
    }
    return json.dumps(document, ensure_ascii=False, sort_keys=True)


def row_of_line(line: str) -> LogRow:
    """The row that a line holds. Raises ValueError that says what is wrong with it."""
    if len(line) > LONGEST_LINE:
        raise ValueError("the line is too long")
    document = parse(line)
    if not isinstance(document, dict):
        raise ValueError("it is no object")
    return row_of_document(document)


def row_of_document(document: Mapping[str, Any]) -> LogRow:
    """The row that an object of JSON is. Raises ValueError as `field: what is wrong`."""
    kind = RowKind(_checked(document, "kind", _kind))
    check_payload(kind, document.get("payload"))
    id, machine = _checked(document, "id", _id), _checked(document, "machine", _id)
    subject = _checked(document, "subject", _subject if kind in _ABOUT_NOTHING else _id)
    at, day = _checked(document, "at", _moment), _checked(document, "day", _day)
    if abs(day - at.toordinal()) > DAYS_AROUND:
        raise ValueError("day: it is not the day of at")
    return LogRow(id, machine, kind, subject, at, day, dict(document["payload"]))


def checked_line(row: LogRow) -> str:
    """The line of a row. Raises ValueError where nobody would take the line for that row again."""
    line = line_of(row)
    if row_of_line(line) != row:
        raise ValueError("it does not stay as it is when it is written and read")
    return line


def is_machine(id: str) -> bool:
    """Whether `id` is what this program calls a machine, and so may be part of a file's name."""
    return MACHINE.fullmatch(id) is not None


def _checked(document: Mapping[str, Any], key: str, check: Callable[[Any], Any]) -> Any:
    if key not in document:
        raise ValueError(f"{key} is missing")
    try:
        return check(document[key])
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{key}: {error}") from None


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _kind(value: Any) -> str:
    known = isinstance(value, str) and value in _KINDS
    _require(known, "unknown; a newer attn may have written it, then install that one here too")
    return str(value)


def _subject(value: Any) -> str:
    fits = isinstance(value, str) and len(value) <= LONGEST_ID and value.isprintable()
    _require(fits, f"not a text of at most {LONGEST_ID} printable characters")
    return str(value)


def _id(value: Any) -> str:
    _require(value != "", "empty")
    return _subject(value)


def _moment(value: Any) -> datetime:
    _require(isinstance(value, str), "no moment as ISO 8601 writes it")
    at = datetime.fromisoformat(value)
    _require(at.tzinfo is not None, "no offset")
    _require(EARLIEST <= at < LATEST, f"not between {EARLIEST.year} and {LATEST.year}")
    return at.astimezone(UTC)


def _day(value: Any) -> int:
    _require(type(value) is int, "no whole number")
    return int(value)


# JSON from elsewhere, read strictly: no NaN, no number that overflows, no key twice, nothing too deep.

DEEPEST = 12
LARGEST_WHOLE = 2**63 - 1
MOST_DIGITS = 19


def parse(text: str) -> Any:
    """The value that `text` is. Raises ValueError that says what is wrong with it."""
    try:
        value = json.loads(
            text,
            parse_constant=_no_constant,
            parse_int=_whole_number,
            parse_float=_finite,
            object_pairs_hook=_without_doubles,
        )
        text.encode()
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it holds half a character") from None
    if depth(value) > DEEPEST:
        raise ValueError("it is nested too deeply")
    return value


def depth(value: Any, above: int = 0) -> int:
    """How deeply lists and objects are nested; what is deeper than `DEEPEST` is not looked at."""
    if not isinstance(value, dict | list) or above > DEEPEST:
        return above
    inner = value.values() if isinstance(value, dict) else value
    return max((depth(item, above + 1) for item in inner), default=above + 1)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _whole_number(digits: str) -> int:
    if len(digits.lstrip("-")) > MOST_DIGITS or abs(value := int(digits)) > LARGEST_WHOLE:
        raise ValueError("a whole number is too large")
    return value


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands in it twice")
    return found


# How well a card was remembered.


class Rating(IntEnum):
    """The four FSRS ratings, with FSRS's numbers."""

    AGAIN = 1
    HARD = 2
    GOOD = 3
    EASY = 4

    @property
    def word(self) -> str:
        return self.name.lower()

    @staticmethod
    def of(word: str) -> Rating:
        return Rating[word.upper()]


# The schedule of a card or challenge: what is remembered of it, and when it is due.


class State(StrEnum):
    """Where a card stands in FSRS."""

    NEW = "new"
    LEARNING = "learning"
    REVIEW = "review"
    RELEARNING = "relearning"


@dataclass(frozen=True, slots=True)
class Schedule:
    """The derived memory state of one card (or challenge) after its last review.

    `stability_days` is the interval after which recall has fallen to 90 %; `difficulty` lies in 1…10; `step` is the
    learning step while learning or relearning; `due_at` and `reviewed_at` are UTC; `review_day` is the learner's study
    day (ordinal, days roll over at `day_start`) of the last review; `interval_days` is what was scheduled then;
    `introduced_day` is the study day of the first review.
    """

    state: State
    stability_days: float | None
    difficulty: float | None
    step: int | None
    reviewed_at: datetime
    review_day: int
    due_at: datetime
    interval_days: float
    repetitions: int
    lapses: int
    introduced_day: int

    @property
    def due_day(self) -> int:
        """The study day on which a review is due: so many days after its last one, however long those days were."""
        return self.review_day + round(self.interval_days)


# The half minute that an answer should take, and how much of the time that a card stood on the screen counts.

ANSWER_SECONDS = 30
"""So many seconds an interviewer listens before they ask on."""
LONGEST_LOOK_SECONDS = 300
"""What counts of a card that was left open over lunch."""


def seconds_of(reviews: Sequence[LogRow]) -> float | None:
    """The time that reviews took together; None where one was not timed."""
    told = [row.payload.get("elapsed_ms") for row in reviews]
    known = [min(LONGEST_LOOK_SECONDS, ms / 1000) for ms in told if type(ms) is int and ms >= 0]
    return sum(known) if len(known) == len(told) else None


# The form in which a counterexample is kept in the log, checked before anything is built from it.

MOST_DRAWS = 1024
LARGEST_DRAW = 4096
MOST_TENSORS = 256
MOST_DIMENSIONS = 8
LARGEST_BYTES = 256 * 1024
_ITEM_BYTES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "complex64": 8,
    "complex128": 16,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}


def check_counterexample(stored: Any) -> None:
    """Raises ValueError where `stored` is not what the judge keeps of a counterexample."""
    _require(isinstance(stored, dict) and set(stored) >= _KEYS, "no counterexample")
    _require(set(stored) <= _KEYS | {"stream"}, "a counterexample with unknown parts")
    stream = stored.get("stream", 0)
    _require(type(stream) is int and 0 <= stream < STREAMS, "a counterexample of no stream")
    _require(stored["check"] in CHECK_NAMES, "a counterexample of an unknown check")
    _require(_is_name(stored["record"]) and _is_name(stored["profile"]), "a counterexample without record or profile")
    draws, values = stored["draws"], stored["values"]
    _require(isinstance(draws, list) and len(draws) <= MOST_DRAWS, "a counterexample with too many draws")
    _require(all(type(d) is int and abs(d) <= LARGEST_DRAW for d in draws), "a counterexample with impossible draws")
    _require(isinstance(values, list) and len(values) <= MOST_TENSORS, "a counterexample with too many tensors")
    room = LARGEST_BYTES
    for tensor in values:
        room -= _bytes_of(tensor)
        _require(room >= 0, "a counterexample that is too large")


def is_counterexample(stored: Any) -> bool:
    """Whether `stored` is what the judge keeps of a counterexample."""
    try:
        check_counterexample(stored)
    except ValueError:
        return False
    return True


def counterexamples_of(row: LogRow) -> list[dict[str, Any]]:
    """What an attempt kept for the next grading; what is unusable counts as absent."""
    told = row.payload.get("stored") if row.kind is RowKind.ATTEMPT and isinstance(row.payload, dict) else None
    return [stored for stored in told if is_counterexample(stored)] if isinstance(told, list) else []


_KEYS = frozenset({"check", "record", "profile", "draws", "values"})


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[A-Za-z][A-Za-z0-9_-]{0,99}", value) is not None


def _bytes_of(tensor: Any) -> int:
    """How many bytes the tensor `[dtype, shape, base64]` has."""
    _require(isinstance(tensor, list) and len(tensor) == 3, "a counterexample with a tensor of no form")
    dtype, shape, encoded = tensor
    _require(isinstance(dtype, str) and dtype in _ITEM_BYTES, "a counterexample with an unknown dtype")
    _require(isinstance(shape, list) and len(shape) <= MOST_DIMENSIONS, "a counterexample with too many dimensions")
    _require(all(type(n) is int and 0 <= n <= LARGEST_BYTES for n in shape), "a counterexample with impossible sizes")
    count: int = prod(shape) * _ITEM_BYTES[dtype]
    fits = isinstance(encoded, str) and len(encoded) == 4 * ((count + 2) // 3)
    _require(fits and count <= LARGEST_BYTES, "a counterexample with a tensor of another size")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("a counterexample that is no base64") from None
    _require(len(raw) == count, "a counterexample with a tensor of another size")
    return count


# The 21 weights of FSRS-6, as a log row holds them. `answer` loads this where there is a fit: it imports nothing.

LOWEST_WEIGHTS = (
    *(0.001, 0.001, 0.001, 0.001, 1.0, 0.001, 0.001, 0.001, 0.0, 0.0, 0.001),
    *(0.001, 0.001, 0.001, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.1),
)
HIGHEST_WEIGHTS = (
    *(100.0, 100.0, 100.0, 100.0, 10.0, 4.0, 4.0, 0.75, 4.5, 0.8, 3.5),
    *(5.0, 0.25, 0.9, 4.0, 1.0, 6.0, 2.0, 2.0, 0.8, 0.8),
)
"""Between these FSRS-6 takes its 21 weights."""


def fitted(payload: Mapping[str, Any]) -> tuple[float, ...]:
    """The weights of a fit; empty for the published ones. Raises ValueError for what FSRS cannot use."""
    weights = payload.get("parameters") if isinstance(payload, Mapping) else None
    check_weights(weights)
    return tuple(weights or ())


def check_weights(value: Any) -> None:
    """Raises ValueError for what is no list of weights that FSRS-6 can use."""
    if not isinstance(value, list) or len(value) not in (0, len(LOWEST_WEIGHTS)):
        raise ValueError("not the 21 weights of FSRS-6")
    for number, low, high in zip(value, LOWEST_WEIGHTS, HIGHEST_WEIGHTS, strict=False):
        if type(number) not in (int, float) or not low <= number <= high:
            raise ValueError("weights that FSRS-6 cannot use")


# What the payload of each kind of log row may hold, checked where rows come from elsewhere.
#
# A key that is not named here is kept if it is small and plain: another version of this program may know it.

Check = Callable[[Any], None]

LONGEST_NAME = 200
LONGEST_PATH = 4096
LONGEST_NOTE = 4000
LONGEST_SOURCE = 256 * 1024
LARGEST_EXTRA = 16 * 1024
DEEPEST_EXTRA = 8
MOST_KEYS = 64
MOST_ITEMS = 200
LARGEST_MS = 2**53

CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
"""Characters that no source needs and a terminal obeys; a form feed between functions may stay."""


def check_payload(kind: RowKind, payload: Any) -> None:
    """Raises ValueError as `payload.key: what is wrong`."""
    _require(isinstance(payload, dict), "payload is no object")
    _require(len(payload) <= MOST_KEYS, "payload has too many keys")
    known = _FIELDS.get(kind, _Fields())
    for key in known.needed:
        _require(key in payload, f"payload.{key} is missing")
    for key, value in payload.items():
        _require(len(key) <= LONGEST_NAME and key.isprintable(), "payload has a key that is no name")
        try:
            (known.checks.get(key) or _COMMON.get(key, _extra))(value)
        except ValueError as error:
            raise ValueError(f"payload.{key}: {error}") from None


def clean_source(text: str) -> str:
    """A source as it is kept: bounded, and with control characters written out."""
    return CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)[:LONGEST_SOURCE]


def kept_text(text: Any, longest: int = LONGEST_NAME) -> str:
    """A text as it is kept: bounded, and without what UTF-8 cannot hold."""
    return str(text).encode("utf-8", "replace").decode()[:longest]


@dataclass(frozen=True, slots=True)
class _Fields:
    checks: Mapping[str, Check] = field(default_factory=dict)
    needed: tuple[str, ...] = ()


def _whole(least: int, most: int) -> Check:
    def check(value: Any) -> None:
        _require(type(value) is int and least <= value <= most, f"not a whole number from {least} to {most}")

    return check


def _switch(value: Any) -> None:
    _require(isinstance(value, bool), "neither true nor false")


def _seconds(value: Any) -> None:
    _require(type(value) in (int, float) and math.isfinite(value) and 0 <= value < 1e9, "no number of seconds")


def _text(longest: int) -> Check:
    def check(value: Any) -> None:
        _require(isinstance(value, str) and len(value) <= longest, f"not a text of at most {longest} characters")

    return check


_name = _text(LONGEST_NAME)


def _row(value: Any) -> None:
    _require(isinstance(value, str) and 0 < len(value) <= LONGEST_NAME, "not the id of a row")


def _verdict(value: Any) -> None:
    _require(value in ("accepted", "rejected"), "neither accepted nor rejected")


def _rung(value: Any) -> None:
    _require(value in ("none", "solved", "hardened"), "no rung")


def _sha256(value: Any) -> None:
    _require(isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None, "no SHA-256")


def _source(value: Any) -> None:
    _text(LONGEST_SOURCE)(value)
    _require(CONTROLS.search(value) is None, "a source with control characters")


def _each(check: Check) -> Check:
    def check_all(value: Any) -> None:
        _require(isinstance(value, list) and len(value) <= MOST_ITEMS, f"not a list of at most {MOST_ITEMS}")
        for item in value:
            check(item)

    return check_all


def _check_told(value: Any) -> None:
    _require(isinstance(value, dict) and len(value) <= MOST_KEYS, "not a list of checks")
    _name(value.get("name"))
    for key in ("status", "reason", "rung"):
        _name(value.get(key, ""))
    _extra(value)


def _extra(value: Any) -> None:
    _require(depth(value) <= DEEPEST_EXTRA, "it is nested too deeply")
    _require(len(json.dumps(value)) <= LARGEST_EXTRA, "it is too large")


_MOCK: dict[str, Check] = {
    "step": _name,
    "item": _whole(0, 1000),
    "spent_ms": _whole(0, LARGEST_MS),
    "answer_ms": _whole(0, LARGEST_MS),
    "got": _whole(0, 1000),
    "of": _whole(0, 1000),
    "points": _each(_whole(0, 1000)),
    "cards": _each(_name),
}
_COMMON: dict[str, Check] = {"ahead": _each(_row)}
_GRADED: dict[str, Check] = {
    "verdict": _verdict,
    "rung": _rung,
    "file": _text(LONGEST_PATH),
    "seed": _whole(-(2**63), 2**63 - 1),
    "seconds": _seconds,
    "sha256": _sha256,
    "source": _source,
}
_FIELDS: dict[RowKind, _Fields] = {
    RowKind.REVIEW: _Fields(
        {
            "rating": _whole(1, 4),
            "points": _each(_whole(0, 1000)),
            "correct": _switch,
            "elapsed_ms": _whole(-LARGEST_MS, LARGEST_MS),
            "content": _name,
        },
        ("rating",),
    ),
    RowKind.UNDO: _Fields({"row": _row}, ("row",)),
    RowKind.START: _Fields(
        {"file": _text(LONGEST_PATH), "kept": _text(LONGEST_PATH), "bug": _name, "repairs": _each(_name)}
    ),
    RowKind.REPAIR: _Fields(_GRADED | {"start": _row, "left": _each(_name)}, ("start", "verdict")),
    RowKind.HINT: _Fields({"number": _whole(0, 1000)}),
    RowKind.ATTEMPT: _Fields(
        _GRADED
        | {
            "examples": _whole(0, 10**9),
            "checks": _each(_check_told),
            "diagnosis": _each(_name),
            "stored": _each(check_counterexample),
        },
        ("verdict",),
    ),
    RowKind.FIT: _Fields({"parameters": check_weights}, ("parameters",)),
    RowKind.TAG: _Fields({"tag": _name, "on": _switch}),
    RowKind.NOTE: _Fields({"text": _text(LONGEST_NOTE)}),
    RowKind.MOCK: _Fields(_MOCK, ("step",)),
    RowKind.MOCK_CLOCK: _Fields(_MOCK, ("step",)),
}
