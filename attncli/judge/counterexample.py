"""What a counterexample holds: which arguments, what was due, what came, and the form in which one is stored."""

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

from attncli.domain.grade_report import Counterexample, GradeReport, counterexample_of, report_document
from attncli.domain.text import printable
from attncli.judge.case import Case, graded_on, profile_of
from attncli.judge.challenge import Demands, Folder, named_arguments
from attncli.judge.compare import Mismatch
from attncli.judge.make import Recorder
from attncli.judge.shrink import failing_step
from attncli.judge.submission import LARGEST_INTEGER, CaseFinding
from attncli.sandbox import devices
from attncli.sandbox.values import DTYPES, SEQUENCES, Opaque, Raised, bytes_of

STORED_BYTES = 64 * 1024
# Characters, of which a number takes 40.
ARGUMENTS_ROOM = 60_000
CALLS_ROOM = 40_000
RESULT_ROOM = 30_000


def render(finding: CaseFinding, demands: Demands) -> Counterexample:
    """The `counterexample` of a grade report."""
    case, last = finding.case, len(finding.case.steps) - 1
    known = failing_step(finding)
    step = last if known is None else min(known, last)
    shown: dict[str, Any] = {"args": _arguments(case, demands, step, Room(ARGUMENTS_ROOM))}
    if len(case.steps) > 1:
        room = Room(CALLS_ROOM)
        shown["calls"] = [
            {"call": s.get("name", s["op"]), "args": _arguments(case, demands, k, room)}
            for k, s in enumerate(case.steps)
        ]
        shown["call"] = step + 1
    shown["profile"] = case.profile.name
    if case.label:
        shown["edge_case"] = case.label
        if chinese := demands.label_in_chinese(case.label):
            shown["edge_case_zh"] = chinese
    axes = partial(demands.axes, str(case.steps[step].get("name", "")))
    if finding.mismatch is not None:
        place = _place(finding.mismatch.path)
        expected = _as_due(finding.mismatch)
        shown["expected"] = plain(expected, Room(RESULT_ROOM), axes, place)
        shown["got"] = plain(finding.mismatch.got, Room(RESULT_ROOM), axes, place)
        if finding.mismatch.index is not None:
            shown["first_wrong_index"] = list(finding.mismatch.index)
    elif finding.truth is not None and finding.got is None:
        due = finding.truth.outcomes[step] if step < len(finding.truth.outcomes) else None
        shown["expected"] = plain(due, Room(RESULT_ROOM), axes, "return")
    if finding.frames:
        shown["frames"] = [dict(frame) for frame in finding.frames]
    return counterexample_of(shown)


def _place(path: Sequence[Any]) -> str:
    """What a path of a mismatch leads to: a part of the result, or the argument that a gradient is of."""
    if path and path[0] == "gradient":
        return str(path[1])
    return "return" + "".join(f"[{key!r}]" for key in path[1:])


def _as_due(mismatch: Mismatch) -> Any:
    """What was expected, in the dtype that came, unless that is what is wrong."""
    expected, got = mismatch.expected, mismatch.got
    if isinstance(expected, Tensor) and isinstance(got, Tensor) and expected.is_floating_point():
        as_got = got.is_floating_point() and mismatch.reason != "dtype"
        return expected.detach().to(got.dtype) if as_got else expected.detach()
    return expected


def _arguments(case: Case, demands: Demands, step: int, room: Room) -> dict[str, Any]:
    axes = partial(demands.axes, str(case.steps[step].get("name", "")))
    named = named_arguments(demands.reference, case.steps[step])
    if not room.left:
        return {}
    # An optional argument that is not there says nothing, however it was left out.
    said = [(label, tree) for label, tree in named if tree[0] != "n"]
    return {label: _shown_tree(case, tree, room, axes, label) for label, tree in said}


def _shown_tree(case: Case, tree: Any, room: Room, axes: Axes, label: str) -> Any:
    tag = tree[0]
    if tag == "t":
        return plain(case.inputs[tree[1]].value, room, axes, label)
    if tag == "r":
        return f"result of call {tree[1] + 1}" + "".join(f"[{key!r}]" for key in tree[2])
    if tag in SEQUENCES:
        return [_shown_tree(case, item, room, axes, f"{label}[{k}]") for k, item in enumerate(tree[1])]
    if tag == "d":
        return {str(key[1]): _shown_tree(case, item, room, axes, f"{label}[{key[1]!r}]") for key, item in tree[1]}
    if tag in ("m", "g", "c"):
        return {"m": "a dict kept between the calls", "g": "a generator", "c": "a callable"}[tag]
    if tag == "y":
        return plain(bytes.fromhex(tree[1]), room)
    return plain(tree[1], room) if len(tree) > 1 else None


def store(finding: CaseFinding, check: str, record: str, stream: int) -> dict[str, Any] | None:
    """What is needed to replay a finding, or None when it is too large to keep."""
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


def restore(stored: Mapping[str, Any], folder: Folder, device: str = devices.CPU) -> Case | None:
    """The stored case, of its own stream, over the present `inputs.py`; None when it no longer fits.

    What is stored may come from elsewhere: it draws only what `inputs.py` would, and no tensor is made of another
    size than the one that it replaces.
    """
    try:
        stream = int(stored.get("stream", 0))
        record = folder.record(stored["record"])
        profile = graded_on(profile_of(stored["profile"], folder.facts), device)
        recorder = Recorder(_Replayed(stored["draws"]), profile, stream, "", folder.declared)
        record(recorder)
        entries = zip(stored["values"], recorder.case.inputs, strict=True)
        return recorder.case.with_values([_restored(entry, item.value) for entry, item in entries])
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, AssertionError, RuntimeError):
        return None


class _Replayed:
    """A draw that gives the stored numbers again, as long as each lies where one is asked for."""

    def __init__(self, draws: Any) -> None:
        self._draws = iter(draws)

    def __call__(self, kind: str, low: int, high: int) -> int:
        value = next(self._draws, None)
        if type(value) is not int or not low <= value <= high:
            raise ValueError("this draw is no longer asked for")
        return value


def _restored(entry: Any, like: Tensor) -> Tensor:
    """The stored tensor, in shape and dtype the one that it replaces."""
    dtype, shape, encoded = entry
    if DTYPES[dtype] != like.dtype or tuple(shape) != tuple(like.shape):
        raise ValueError("a tensor of another form")
    raw = bytearray(base64.b64decode(encoded))
    if not raw:
        return torch.empty_like(like, device="cpu")
    if dtype == "bool":
        return (torch.frombuffer(raw, dtype=torch.uint8) != 0).reshape(shape)
    return torch.frombuffer(raw, dtype=DTYPES[dtype]).reshape(shape)


# Values as JSON for people to look at: shape, dtype and the first numbers of a tensor, and only so much altogether.

VALUES_SHOWN = 256
ITEMS_SHOWN = 256
DEPTH_SHOWN = 8
TEXT_SHOWN = 500
# What a number takes in a document that is indented, in characters.
_NUMBER = 40
_MORE = "…"
_DIGITS = {torch.float64: 17, torch.float32: 8, torch.float16: 5, torch.bfloat16: 4}


@dataclass(slots=True)
class Room:
    """How many characters may still be shown: a list of twenty thousand tensors is shown by its beginning."""

    left: int

    def take(self, characters: int) -> None:
        self.left = max(0, self.left - characters)


Axes = Callable[[str, int], Sequence[str]]


def no_axes(place: str, dimensions: int) -> Sequence[str]:
    return ()


def plain(value: Any, room: Room, axes: Axes = no_axes, place: str = "", depth: int = 0) -> Any:
    """A value as JSON, as far as there is room. `axes(place, dimensions)` are the names of a tensor's axes."""
    room.take(_NUMBER)
    if isinstance(value, (list, tuple, dict)):
        return _plain_container(value, room, axes, place, depth)
    if isinstance(value, Tensor):
        names = axes(place, value.dim())
        shown = _plain_tensor(value, room)
        return {**shown, "axes": names} if any(names) else shown
    if isinstance(value, Raised):
        return {"raised": value.names[0], "text": _text(value.text, room)}
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
    if isinstance(value, (int, float, bool)) or value is None:
        return value
    return _text(value, room) if isinstance(value, str) else str(value)[:200]


def _text(text: str, room: Room) -> str:
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
    shown["values"] = [_plain_number(v, tensor.dtype) for v in flat[:count].tolist()]
    room.take(_NUMBER * len(shown["values"]))
    if flat.numel() > count:
        shown["truncated"] = True
    return shown


def _plain_number(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, complex):
        return str(value)
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS.get(dtype, 17)}g}") if math.isfinite(value) else str(value)
    return value


# The grade report as it leaves the judge: a document without control characters, and of a bounded size.

# In bytes, as the command prints it: indented, where a number takes ten times the room.
LARGEST = 1 << 20
INDENTED_TIMES = 10


def document(report: GradeReport) -> dict[str, Any]:
    """What the client reads, and `attn grade --json` prints."""
    shown: dict[str, Any] = cleaned(report_document(report))
    return _within(LARGEST, shown)


def _within(most: int, shown: dict[str, Any]) -> dict[str, Any]:
    """The document with as many counterexamples, from the first on, as it may be large."""
    if len(json.dumps(shown)) <= most // INDENTED_TIMES:
        return shown
    for check in reversed(shown["checks"]):
        if len(json.dumps(shown, indent=2)) <= most:
            break
        if check.get("counterexample"):
            check["counterexample"] = {"args": {}, "truncated": True}
    return shown


def cleaned(value: Any) -> Any:
    """Without control characters: messages quote what a submission raises, names and prints."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    return {printable(str(key)): cleaned(item) for key, item in value.items()} if isinstance(value, dict) else value
