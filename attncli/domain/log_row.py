"""The append-only log: its rows, their JSON form, and the validation of every field from outside.

The log is the source of truth; every schedule is derived from it. A row is JSON with a `payload` that depends on its
kind. Unknown payload keys are kept if small and plain, since a newer version may have written them. Missing keys count
as absent, so readers need not handle malformed payloads.
"""

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
from typing import Any, NamedTuple, NoReturn, cast

from attncli.domain.checks import CHECK_NAMES
from attncli.domain.vocabulary import STREAMS, Rung

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
DAYS_AROUND = 2
"""The largest distance in days between study day and day in UTC: a study day starts at a local hour."""
ANSWER_SECONDS = 30
"""The seconds that an interviewer listens before the next question."""
LONGEST_LOOK_SECONDS = 300
"""The limit on the counted time of a card on the screen: it may have been left open over lunch."""

LONGEST_LINE = 8 * 1024 * 1024
LONGEST_ID = 200
LONGEST_NAME = 200
LONGEST_PATH = 4096
LONGEST_NOTE = 4000
LONGEST_SOURCE = 256 * 1024
LARGEST_WHOLE = 2**63 - 1
LARGEST_MS = 2**53
MOST_DIGITS = 19
MOST_KEYS = 64
MOST_ITEMS = 200
DEEPEST = 12
DEEPEST_EXTRA = 8
LARGEST_EXTRA = 16 * 1024

MOST_DRAWS = 1024
LARGEST_DRAW = 4096
MOST_TENSORS = 256
MOST_DIMENSIONS = 8
LARGEST_BYTES = 256 * 1024

CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
"""Control characters that no source needs and a terminal obeys; a form feed between functions is allowed."""


class RowKind(StrEnum):
    """The events that the log records."""

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
    QUIZ = "quiz"
    MOCK = "mock"
    MOCK_CLOCK = "mock-clock"


class Rating(IntEnum):
    """The four FSRS ratings of how well a card was remembered, with FSRS's numbers."""

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


class State(StrEnum):
    """The state of a card in FSRS."""

    NEW = "new"
    LEARNING = "learning"
    REVIEW = "review"
    RELEARNING = "relearning"


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row: `id` is unique over all machines, `subject` is a card or challenge id, `at` is UTC.

    `day` is the learner's study day (proleptic ordinal) at that moment, so that a replay elsewhere, in another time
    zone, gives the same schedule. `payload` is JSON: for a review `{"rating": 1…4, ...}`, for an undo `{"row": id}`.
    """

    id: str
    machine: str
    kind: RowKind
    subject: str
    at: datetime
    day: int
    payload: dict[str, Any] = field(default_factory=dict)

    @property
    def is_usable(self) -> bool:
        """Return True if the payload has the keys that readers of this kind need; other rows count as absent."""
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
    def is_usable_review(self) -> bool:
        """Return True if this is a review with a rating."""
        rating = self._value("rating")
        return self.kind is RowKind.REVIEW and type(rating) is int and 1 <= rating <= 4

    @property
    def rating(self) -> Rating:
        """The rating of a review that `is_usable_review`."""
        return Rating(self.payload["rating"])

    @property
    def takes_back(self) -> str:
        """The id of the row that this undo reverts; empty for any other kind."""
        return self._text("row", RowKind.UNDO)

    @property
    def verdict(self) -> str:
        """`accepted` or `rejected` for an attempt; empty for anything else."""
        verdict = self._text("verdict", RowKind.ATTEMPT)
        return verdict if verdict in ("accepted", "rejected") else ""

    @property
    def reached(self) -> Rung:
        """The rung that an attempt reached; an accepted one without a rung reached both."""
        rung = self._text("rung")
        if self.verdict and rung in ("none", "solved", "hardened"):
            return cast(Rung, rung)
        return "hardened" if self.verdict == "accepted" else "none"

    @property
    def text_hash(self) -> str:
        """The hash of the attempt's text; the row's id if no hash was stored, so that no two are equal."""
        return self._text("sha256") or self.id

    @property
    def source(self) -> str:
        """The text of an attempt; empty if none was stored."""
        return self._text("source")

    @property
    def diagnosis(self) -> tuple[str, ...]:
        """The mistakes that an attempt's diagnosis named; for tests, the wrong solutions that they did not catch."""
        return self._texts("diagnosis", RowKind.ATTEMPT)

    @property
    def bug(self) -> str:
        """The wrong solution that a start handed out to debug; empty for anything else."""
        return self._text("bug", RowKind.START)

    @property
    def repairs(self) -> tuple[str, ...]:
        """Return the bugs that a start planted together; empty for other rows."""
        return self._texts("repairs", RowKind.START)

    @property
    def is_planted(self) -> bool:
        """Return True if this is a start that handed out something to debug."""
        return self.bug != "" or self.repairs != ()

    @property
    def works_on(self) -> str:
        """The id of the start whose planted bugs this repair was graded for; empty for any other kind."""
        return self._text("start", RowKind.REPAIR)

    @property
    def fixes(self) -> str:
        """The id of the start whose planted bugs this row repairs completely; empty if some are left."""
        return self.works_on if self._value("verdict") == "accepted" else ""

    def _value(self, key: str, kind: RowKind | None = None) -> Any:
        """Return a value of the payload; None if it is absent, or this row is not of the `kind`."""
        return self.payload.get(key) if kind in (None, self.kind) and isinstance(self.payload, dict) else None

    def _text(self, key: str, kind: RowKind | None = None) -> str:
        value = self._value(key, kind)
        return value if isinstance(value, str) else ""

    def _texts(self, key: str, kind: RowKind | None = None) -> tuple[str, ...]:
        values = self._value(key, kind)
        return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()


class LastReview(NamedTuple):
    """A review without its time: rating, ticked points, verdict of marking; None if the row lacks it."""

    rating: int
    points: list[int] | None
    correct: bool | None


class ReviewDay(NamedTuple):
    """A study day's reviews; `recalled` and `forgotten` count those of cards that were seen on an earlier day."""

    day: int
    reviews: int
    recalled: int
    forgotten: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """The derived memory state of one card (or challenge) after its last review.

    `stability_days` is the interval after which recall has fallen to 90 %; `difficulty` lies in 1…10; `step` is the
    learning step while learning or relearning; `due_at` and `reviewed_at` are UTC; `review_day` is the learner's study
    day (ordinal, days roll over at `day_start`) of the last review; `interval_days` is the interval scheduled then;
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
        """The study day of the next review, counted in whole study days."""
        return self.review_day + round(self.interval_days)


def seconds_of(reviews: Sequence[LogRow]) -> float | None:
    """Return the total time of reviews in seconds; None if one of them was not timed."""
    every_ms = [row.payload.get("elapsed_ms") for row in reviews]
    seconds = [min(LONGEST_LOOK_SECONDS, ms / 1000) for ms in every_ms if type(ms) is int and ms >= 0]
    return sum(seconds) if len(seconds) == len(every_ms) else None


# Rows as lines of JSON

_ABOUT_NOTHING = (RowKind.FIT, RowKind.UNDO)
"""The kinds that may have an empty subject: a fit concerns all cards, and so does its undo."""


def iso(at: datetime) -> str:
    """Format a moment as ISO 8601 in UTC."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def document_of(row: LogRow) -> dict[str, Any]:
    """Return a row as a JSON object."""
    return {
        "id": row.id,
        "machine": row.machine,
        "kind": row.kind.value,
        "subject": row.subject,
        "at": iso(row.at),
        "day": row.day,
        "payload": row.payload,
    }


def line_of(row: LogRow) -> str:
    """Return a row as one line of JSON."""
    return json.dumps(document_of(row), ensure_ascii=False, sort_keys=True)


def checked_line(row: LogRow) -> str:
    """Return the line of a row. Raises ValueError if reading that line would not give the same row."""
    line = line_of(row)
    if row_of_line(line) != row:
        raise ValueError("it does not stay as it is when it is written and read")
    return line


def row_of_line(line: str) -> LogRow:
    """Parse a row from a line. Raises ValueError with the reason."""
    if len(line) > LONGEST_LINE:
        raise ValueError("the line is too long")
    document = parse(line)
    if not isinstance(document, dict):
        raise ValueError("it is no object")
    return row_of_document(document)


def row_of_document(document: Mapping[str, Any]) -> LogRow:
    """Parse a row from a JSON object, checking every field. Raises ValueError as `field: reason`."""
    kind: RowKind = _checked(document, "kind", _kind)
    check_payload(kind, document.get("payload"))
    id, machine = _checked(document, "id", _id), _checked(document, "machine", _id)
    subject = _checked(document, "subject", _subject if kind in _ABOUT_NOTHING else _id)
    at, day = _checked(document, "at", _moment), _checked(document, "day", _day)
    if abs(day - at.toordinal()) > DAYS_AROUND:
        raise ValueError("day: it is not the day of at")
    return LogRow(id, machine, kind, subject, at, day, dict(document["payload"]))


def is_machine(id: str) -> bool:
    """Return True if `id` names a machine, and so may be part of a file's name."""
    return re.fullmatch("[0-9a-f]{8}", id) is not None


def _checked(document: Mapping[str, Any], key: str, check: Callable[[Any], Any]) -> Any:
    if key not in document:
        raise ValueError(f"{key} is missing")
    try:
        return check(document[key])
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{key}: {error}") from None


def _kind(value: Any) -> RowKind:
    try:
        return RowKind(value)
    except ValueError:
        raise ValueError("unknown; a newer attn may have written it, then install that one here too") from None


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


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


# Payloads

Check = Callable[[Any], None]
"""A check of one value; raises ValueError with the reason."""


def check_payload(kind: RowKind, payload: Any) -> None:
    """Check every key of a payload, known or not. Raises ValueError as `payload.key: reason`."""
    _require(isinstance(payload, dict), "payload is no object")
    _require(len(payload) <= MOST_KEYS, "payload has too many keys")
    fields = _FIELDS.get(kind, _Fields())
    for key in fields.needed:
        _require(key in payload, f"payload.{key} is missing")
    for key, value in payload.items():
        _require(len(key) <= LONGEST_NAME and key.isprintable(), "payload has a key that is no name")
        try:
            fields.checks.get(key, _extra)(value)
        except ValueError as error:
            raise ValueError(f"payload.{key}: {error}") from None


def clean_source(text: str) -> str:
    """Return source text in the form of the log: bounded, control characters escaped."""
    return CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)[:LONGEST_SOURCE]


def kept_text(text: Any, longest: int = LONGEST_NAME) -> str:
    """Return a text in the form of the log: bounded, without characters that UTF-8 cannot encode."""
    return str(text).encode("utf-8", "replace").decode()[:longest]


# Counterexamples that an attempt stores for the next grading

_COUNTEREXAMPLE_KEYS = frozenset({"check", "record", "profile", "draws", "values"})
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


def counterexamples_of(row: LogRow) -> list[dict[str, Any]]:
    """Return the usable counterexamples that an attempt stored."""
    kept = row._value("stored", RowKind.ATTEMPT)
    return [stored for stored in kept if is_counterexample(stored)] if isinstance(kept, list) else []


def is_counterexample(stored: Any) -> bool:
    """Return True if `stored` passes `check_counterexample`."""
    try:
        check_counterexample(stored)
    except ValueError:
        return False
    return True


def check_counterexample(stored: Any) -> None:
    """Check the stored form of a counterexample before anything is built from it. Raises ValueError."""
    _require(isinstance(stored, dict) and set(stored) >= _COUNTEREXAMPLE_KEYS, "no counterexample")
    _require(set(stored) <= _COUNTEREXAMPLE_KEYS | {"stream"}, "a counterexample with unknown parts")
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


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[A-Za-z][A-Za-z0-9_-]{0,99}", value) is not None


def _bytes_of(tensor: Any) -> int:
    """Return the size in bytes of a tensor `[dtype, shape, base64]`. Raises ValueError if it is malformed."""
    _require(isinstance(tensor, list) and len(tensor) == 3, "a counterexample with a tensor of no form")
    dtype, shape, encoded = tensor
    _require(isinstance(dtype, str) and dtype in _ITEM_BYTES, "a counterexample with an unknown dtype")
    _require(isinstance(shape, list) and len(shape) <= MOST_DIMENSIONS, "a counterexample with too many dimensions")
    _require(all(type(n) is int and 0 <= n <= LARGEST_BYTES for n in shape), "a counterexample with impossible sizes")
    count: int = math.prod(shape) * _ITEM_BYTES[dtype]
    fits = isinstance(encoded, str) and len(encoded) == 4 * ((count + 2) // 3)
    _require(fits and count <= LARGEST_BYTES, "a counterexample with a tensor of another size")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("a counterexample that is no base64") from None
    _require(len(raw) == count, "a counterexample with a tensor of another size")
    return count


# The 21 weights of FSRS-6

LOWEST_WEIGHTS = (
    *(0.001, 0.001, 0.001, 0.001, 1.0, 0.001, 0.001, 0.001, 0.0, 0.0, 0.001),
    *(0.001, 0.001, 0.001, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.1),
)
HIGHEST_WEIGHTS = (
    *(100.0, 100.0, 100.0, 100.0, 10.0, 4.0, 4.0, 0.75, 4.5, 0.8, 3.5),
    *(5.0, 0.25, 0.9, 4.0, 1.0, 6.0, 2.0, 2.0, 0.8, 0.8),
)
"""The bounds that FSRS-6 sets for its 21 weights."""


def fitted(payload: Mapping[str, Any]) -> tuple[float, ...]:
    """Return the weights of a fit; empty for the published ones. Raises ValueError for weights that FSRS cannot use."""
    weights = payload.get("parameters") if isinstance(payload, Mapping) else None
    check_weights(weights)
    return tuple(weights or ())


def check_weights(value: Any) -> None:
    """Check a list of weights: none, or 21 within bounds. Raises ValueError."""
    if not isinstance(value, list) or len(value) not in (0, len(LOWEST_WEIGHTS)):
        raise ValueError("not the 21 weights of FSRS-6")
    for number, low, high in zip(value, LOWEST_WEIGHTS, HIGHEST_WEIGHTS, strict=False):
        if type(number) not in (int, float) or not low <= number <= high:
            raise ValueError("weights that FSRS-6 cannot use")


# Strict JSON


def parse(text: str) -> Any:
    """Read JSON: no NaN, no number that overflows, no repeated key, no lone surrogate, at most `DEEPEST` levels.

    Raises ValueError with the reason.
    """
    try:
        value = json.loads(
            text,
            parse_constant=_no_constant,
            parse_int=_whole_number,
            parse_float=_finite,
            object_pairs_hook=_unique_keys,
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
    """Return the nesting depth of lists and objects; levels below `DEEPEST` are not counted."""
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


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a key stands in it twice")
    return document


# The checks of each payload key


def _check(holds: Callable[[Any], bool], otherwise: str) -> Check:
    return lambda value: _require(holds(value), otherwise)


def _whole(least: int, most: int) -> Check:
    return _check(lambda v: type(v) is int and least <= v <= most, f"not a whole number from {least} to {most}")


def _text(longest: int) -> Check:
    return _check(lambda v: isinstance(v, str) and len(v) <= longest, f"not a text of at most {longest} characters")


_name = _text(LONGEST_NAME)
_row = _check(lambda v: isinstance(v, str) and 0 < len(v) <= LONGEST_NAME, "not the id of a row")
_switch = _check(lambda v: isinstance(v, bool), "neither true nor false")
_seconds = _check(lambda v: type(v) in (int, float) and math.isfinite(v) and 0 <= v < 1e9, "no number of seconds")
_verdict = _check(lambda v: v in ("accepted", "rejected"), "neither accepted nor rejected")
_rung = _check(lambda v: v in ("none", "solved", "hardened"), "no rung")
_sha256 = _check(lambda v: isinstance(v, str) and re.fullmatch("[0-9a-f]{64}", v) is not None, "no SHA-256")


def _source(value: Any) -> None:
    _text(LONGEST_SOURCE)(value)
    _require(CONTROLS.search(value) is None, "a source with control characters")


def _each(check: Check) -> Check:
    def check_all(value: Any) -> None:
        _require(isinstance(value, list) and len(value) <= MOST_ITEMS, f"not a list of at most {MOST_ITEMS}")
        for item in value:
            check(item)

    return check_all


def _check_result(value: Any) -> None:
    _require(isinstance(value, dict) and len(value) <= MOST_KEYS, "not a list of checks")
    _name(value.get("name"))
    for key in ("status", "reason", "rung"):
        _name(value.get(key, ""))
    _extra(value)


def _extra(value: Any) -> None:
    _require(depth(value) <= DEEPEST_EXTRA, "it is nested too deeply")
    _require(len(json.dumps(value)) <= LARGEST_EXTRA, "it is too large")


@dataclass(frozen=True, slots=True)
class _Fields:
    """The checks for the known keys of a kind of row, and its required keys."""

    checks: Mapping[str, Check] = field(default_factory=dict)
    needed: tuple[str, ...] = ()


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
            "checks": _each(_check_result),
            "diagnosis": _each(_name),
            "stored": _each(check_counterexample),
        },
        ("verdict",),
    ),
    RowKind.FIT: _Fields({"parameters": check_weights}, ("parameters",)),
    RowKind.TAG: _Fields({"tag": _name, "on": _switch}),
    RowKind.NOTE: _Fields({"text": _text(LONGEST_NOTE)}),
    RowKind.QUIZ: _Fields({"correct": _switch}, ("correct",)),
    RowKind.MOCK: _Fields(_MOCK, ("step",)),
    RowKind.MOCK_CLOCK: _Fields(_MOCK, ("step",)),
}
