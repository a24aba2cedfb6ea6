"""What the payload of each kind of log row may hold, checked where rows come from elsewhere.

A key that is not named here is kept if it is small and plain: another version of this program may know it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from attncli.domain.fsrs_weights import check_weights
from attncli.domain.log_row import RowKind
from attncli.domain.stored_counterexample import check_counterexample
from attncli.domain.strict_json import depth

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
    known = _KINDS.get(kind, _Fields())
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


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


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
_KINDS: dict[RowKind, _Fields] = {
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
