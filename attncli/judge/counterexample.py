"""What a counterexample holds: which arguments, what was due, what came, and the form in which one is stored."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attncli.domain.grade_report import Counterexample
from attncli.domain.grade_report_json import counterexample_of
from attncli.judge.answers.finding import CaseFinding
from attncli.judge.case import Case
from attncli.judge.cases.profiles import graded_on, profile_of
from attncli.judge.challenge import Folder
from attncli.judge.compare import Mismatch
from attncli.judge.make import Recorder
from attncli.judge.shrink import failing_step
from attncli.judge.telling.shown_values import Axes, Room, plain
from attncli.judge.truth.demands import Demands, named_arguments
from attncli.sandbox import placement
from attncli.sandbox.tensor_table import DTYPES, bytes_of
from attncli.sandbox.values import SEQUENCES

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


def restore(stored: Mapping[str, Any], folder: Folder, device: str = placement.CPU) -> Case | None:
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
