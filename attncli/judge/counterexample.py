"""Counterexamples: render one for a grade report, store it and restore it.

Learner code controls what is shown here, so everything has a bound: a counterexample by its number of characters
(`Room`), the whole report by its number of bytes.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attncli.domain.grade_report import Counterexample, GradeReport, read, report_document
from attncli.domain.text import printable
from attncli.judge.case import Case, graded_on, profile_of
from attncli.judge.challenge import Folder, named_arguments
from attncli.judge.make import Recorder
from attncli.judge.shrink import failing_step
from attncli.judge.submission import LARGEST_INTEGER, FailedCase
from attncli.sandbox.devices import CPU
from attncli.sandbox.values import DTYPES, SEQUENCES, Opaque, Raised, bytes_of

# In characters; a number counts as `_NUMBER`.
ARGUMENTS_ROOM = 60_000
CALLS_ROOM = 40_000
RESULT_ROOM = 30_000
# The largest number of characters of a number in an indented document.
_NUMBER = 40
VALUES_SHOWN = 256
ITEMS_SHOWN = 256
DEPTH_SHOWN = 8
TEXT_SHOWN = 500
_MORE = "…"
_DIGITS = {torch.float64: 17, torch.float32: 8, torch.float16: 5, torch.bfloat16: 4}

STORED_BYTES = 64 * 1024
# The report in bytes, as the command prints it. Indentation makes numbers up to ten times as long.
LARGEST = 1 << 20
INDENTED_TIMES = 10

# `axes(place, dimensions)` are the names of a tensor's axes.
Axes = Callable[[str, int], Sequence[str]]


def render(finding: FailedCase, folder: Folder) -> Counterexample:
    """Return the `counterexample` of a grade report."""
    case, last = finding.case, len(finding.case.steps) - 1
    known = failing_step(finding)
    step = last if known is None else min(known, last)
    shown: dict[str, Any] = {"args": _arguments(case, folder, step, Room(ARGUMENTS_ROOM))}
    if len(case.steps) > 1:
        room = Room(CALLS_ROOM)
        shown["calls"] = [
            {"call": s.get("name", s["op"]), "args": _arguments(case, folder, k, room)}
            for k, s in enumerate(case.steps)
        ]
        shown["call"] = step + 1
    shown["profile"] = case.profile.name
    if case.label:
        shown["edge_case"] = case.label
        if chinese := folder.labels_in_chinese.get(case.label):
            shown["edge_case_zh"] = chinese
    axes = partial(folder.axes, str(case.steps[step].get("name", "")))
    if finding.mismatch is not None:
        place = _place(finding.mismatch.path)
        expected, actual = finding.mismatch.expected, finding.mismatch.actual
        if isinstance(expected, Tensor) and isinstance(actual, Tensor) and expected.is_floating_point():
            # In the actual dtype unless that is wrong.
            convert = actual.is_floating_point() and finding.mismatch.reason != "dtype"
            expected = expected.detach().to(actual.dtype) if convert else expected.detach()
        shown["expected"] = plain(expected, Room(RESULT_ROOM), axes, place)
        shown["got"] = plain(actual, Room(RESULT_ROOM), axes, place)
        if finding.mismatch.index is not None:
            shown["first_wrong_index"] = list(finding.mismatch.index)
    elif finding.expected is not None and finding.actual is None:
        expected = finding.expected.outcomes[step] if step < len(finding.expected.outcomes) else None
        shown["expected"] = plain(expected, Room(RESULT_ROOM), axes, "return")
    if finding.frames:
        shown["frames"] = [dict(frame) for frame in finding.frames]
    return read(Counterexample, shown)


def _place(path: Sequence[Any]) -> str:
    """Return the place of a mismatch by its path: a part of the result, or the argument of a gradient."""
    if path and path[0] == "gradient":
        return str(path[1])
    return "return" + "".join(f"[{key!r}]" for key in path[1:])


def _arguments(case: Case, folder: Folder, step: int, room: Room) -> dict[str, Any]:
    if not room.left:
        return {}
    axes = partial(folder.axes, str(case.steps[step].get("name", "")))
    # An optional argument that is None is not shown, however it was left out.
    named = [(name, tree) for name, tree in named_arguments(folder.reference, case.steps[step]) if tree[0] != "n"]
    return {name: _argument(case, tree, room, axes, name) for name, tree in named}


def _argument(case: Case, tree: Any, room: Room, axes: Axes, place: str) -> Any:
    tag = tree[0]
    if tag == "t":
        return plain(case.inputs[tree[1]].value, room, axes, place)
    if tag == "r":
        return f"result of call {tree[1] + 1}" + "".join(f"[{key!r}]" for key in tree[2])
    if tag in SEQUENCES:
        return [_argument(case, item, room, axes, f"{place}[{k}]") for k, item in enumerate(tree[1])]
    if tag == "d":
        return {str(key[1]): _argument(case, item, room, axes, f"{place}[{key[1]!r}]") for key, item in tree[1]}
    if tag in ("m", "g", "c"):
        return {"m": "a dict kept between the calls", "g": "a generator", "c": "a callable"}[tag]
    if tag == "y":
        return plain(bytes.fromhex(tree[1]), room)
    return plain(tree[1], room) if len(tree) > 1 else None


# Values as readable JSON: the shape, the dtype and the first numbers of a tensor


@dataclass(slots=True)
class Room:
    """The number of characters left to show: a list of twenty thousand tensors is cut after its beginning."""

    left: int

    def take(self, characters: int) -> None:
        self.left = max(0, self.left - characters)


def plain(value: Any, room: Room, axes: Axes = lambda place, dimensions: (), place: str = "", depth: int = 0) -> Any:
    """Return a value as JSON, as far as there is room. `place` is the value's place, for the names of its axes."""
    room.take(_NUMBER)
    if isinstance(value, (list, tuple, dict)):
        return _plain_container(value, room, axes, place, depth)
    if isinstance(value, Tensor):
        names = axes(place, value.dim())
        shown = _plain_tensor(value, room)
        return {**shown, "axes": names} if any(names) else shown
    if isinstance(value, Raised):
        return {"raised": value.names[0], "text": _plain_text(value.text, room)}
    if isinstance(value, Opaque):
        return {"type": value.name}
    return _plain_scalar(value, room)


def _plain_container(value: Any, room: Room, axes: Axes, place: str, depth: int) -> Any:
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    shown: list[tuple[str, Any]] = []
    for key, item in items[:ITEMS_SHOWN]:
        if not room.left or depth >= DEPTH_SHOWN:
            break
        shown.append((str(key)[:80], plain(item, room, axes, f"{place}[{key!r}]"[:TEXT_SHOWN], depth + 1)))
    if len(shown) < len(items):
        shown.append((_MORE, _MORE))
    return dict(shown) if isinstance(value, dict) else [item for _, item in shown]


def _plain_scalar(value: Any, room: Room) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not -LARGEST_INTEGER <= value < LARGEST_INTEGER:
        return f"{'-' if value < 0 else ''}a whole number of {value.bit_length()} bits"
    if isinstance(value, (int, float)) or value is None:
        return value
    return _plain_text(value, room) if isinstance(value, str) else str(value)[:200]


def _plain_text(text: str, room: Room) -> str:
    room.take(len(text[:TEXT_SHOWN]))
    return text if len(text) <= TEXT_SHOWN else text[:TEXT_SHOWN] + _MORE


def _plain_tensor(tensor: Tensor, room: Room) -> dict[str, Any]:
    shape = list(tensor.shape)
    room.take(_NUMBER * (2 + len(shape)))
    shown: dict[str, Any] = {"shape": shape, "dtype": str(tensor.dtype).removeprefix("torch.")}
    if tensor.device.type == "meta":
        return {**shown, "device": "meta"}
    flat = tensor.detach().reshape(-1)
    count = min(VALUES_SHOWN, room.left // _NUMBER)
    digits = _DIGITS.get(tensor.dtype, 17)
    shown["values"] = [
        float(f"{v:.{digits}g}") if isinstance(v, float) and math.isfinite(v) else _plain_scalar(v, room)
        for v in flat[:count].tolist()
    ]
    room.take(_NUMBER * len(shown["values"]))
    if flat.numel() > count:
        shown["truncated"] = True
    return shown


# Storing and restoring


def store(finding: FailedCase, check: str, record: str, stream: int) -> dict[str, Any] | None:
    """Return the data for a replay of the failed case, or None if it is too large to store."""
    case = finding.case
    raw = [bytes_of(item.value) for item in case.inputs]
    if sum(map(len, raw)) > STORED_BYTES:
        return None
    values = [
        [str(item.value.dtype).removeprefix("torch."), list(item.value.shape), base64.b64encode(chunk).decode()]
        for item, chunk in zip(case.inputs, raw, strict=True)
    ]
    place = {"check": check, "record": record, "stream": stream, "profile": case.profile.name}
    return {**place, "draws": case.draws, "values": values}


def restore(stored: Mapping[str, Any], folder: Folder, device: str = CPU) -> Case | None:
    """Return the stored case, recorded again by the present `inputs.py`; None if it no longer fits.

    Stored data is untrusted. So it may only contain draws that `inputs.py` could make, and each tensor must have the
    size of the one that it replaces.
    """
    try:
        stream = int(stored.get("stream", 0))
        record = folder.record(stored["record"])
        profile = graded_on(profile_of(stored["profile"], folder.facts), device)
        draws = iter(stored["draws"])

        def draw(kind: str, low: int, high: int) -> int:
            value = next(draws, None)
            if type(value) is not int or not low <= value <= high:
                raise ValueError("this draw is no longer asked for")
            return value

        recorder = Recorder(draw, profile, stream, "", folder.declared)
        record(recorder)
        entries = zip(stored["values"], recorder.case.inputs, strict=True)
        return recorder.case.with_values([_restored(entry, item.value) for entry, item in entries])
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, AssertionError, RuntimeError):
        return None


def _restored(entry: Any, like: Tensor) -> Tensor:
    """Return the stored tensor. Raises ValueError if its shape or dtype is not that of `like`, which it replaces."""
    dtype, shape, encoded = entry
    if DTYPES[dtype] != like.dtype or tuple(shape) != tuple(like.shape):
        raise ValueError("a tensor of another form")
    raw = bytearray(base64.b64decode(encoded))
    if not raw:
        return torch.empty_like(like, device="cpu")
    if dtype == "bool":
        return (torch.frombuffer(raw, dtype=torch.uint8) != 0).reshape(shape)
    return torch.frombuffer(raw, dtype=DTYPES[dtype]).reshape(shape)


# The report as JSON


def bounded(report: GradeReport) -> dict[str, Any]:
    """Return the report as the client reads it and `attn grade --json` prints it.

    It has no control characters. Beyond `LARGEST` bytes the last counterexamples are left out.
    """
    shown: dict[str, Any] = cleaned(report_document(report))
    if len(json.dumps(shown)) <= LARGEST // INDENTED_TIMES:
        return shown
    for check in reversed(shown["checks"]):
        if len(json.dumps(shown, indent=2)) <= LARGEST:
            break
        if check.get("counterexample"):
            check["counterexample"] = {"args": {}, "truncated": True}
    return shown


def cleaned(value: Any) -> Any:
    """Return JSON without control characters: messages quote a submission's errors, names and output."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    return {printable(str(key)): cleaned(item) for key, item in value.items()} if isinstance(value, dict) else value
