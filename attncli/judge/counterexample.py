"""Counterexamples as JSON: what was passed, what was due, what came, and the form in which one is stored."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attncli.judge.case import Case, Draw, Recorder
from attncli.judge.demands import Demands, named_arguments
from attncli.judge.finding import Finding
from attncli.judge.folder import Folder
from attncli.judge.profiles import profile_of
from attncli.judge.shown import Axes, Room, plain
from attncli.sandbox.tables import DTYPES, bytes_of

STORED_BYTES = 64 * 1024
# Characters, of which a number takes 40.
ARGUMENTS_ROOM = 60_000
CALLS_ROOM = 40_000
RESULT_ROOM = 30_000


def render(finding: Finding, demands: Demands) -> dict[str, Any]:
    """The `counterexample` of a grade report."""
    case, step = finding.case, _failing_step(finding)
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
        expected = _as_due(finding.mismatch.expected, finding.mismatch.got)
        shown["expected"] = plain(expected, Room(RESULT_ROOM), axes, place)
        shown["got"] = plain(finding.mismatch.got, Room(RESULT_ROOM), axes, place)
        if finding.mismatch.index is not None:
            shown["first_wrong_index"] = list(finding.mismatch.index)
    elif finding.truth is not None and finding.got is None:
        due = finding.truth.outcomes[step] if step < len(finding.truth.outcomes) else None
        shown["expected"] = plain(due, Room(RESULT_ROOM), axes, "return")
    if finding.frames:
        shown["frames"] = [dict(frame) for frame in finding.frames]
    return shown


def _place(path: Sequence[Any]) -> str:
    """What a path of a mismatch leads to: a part of the result, or the argument that a gradient is of."""
    if path and path[0] == "gradient":
        return str(path[1])
    return "return" + "".join(f"[{key!r}]" for key in path[1:])


def _failing_step(finding: Finding) -> int:
    if finding.mismatch is not None and finding.mismatch.path and isinstance(finding.mismatch.path[0], int):
        return min(finding.mismatch.path[0], len(finding.case.steps) - 1)
    return len(finding.case.steps) - 1


def _as_due(expected: Any, got: Any) -> Any:
    if isinstance(expected, Tensor) and isinstance(got, Tensor) and expected.is_floating_point():
        return expected.detach().to(got.dtype) if got.is_floating_point() else expected.detach()
    return expected


def _arguments(case: Case, demands: Demands, step: int, room: Room) -> dict[str, Any]:
    axes = partial(demands.axes, str(case.steps[step].get("name", "")))
    named = named_arguments(demands.reference, case.steps[step])
    return {label: _shown_tree(case, tree, room, axes, label) for label, tree in named} if room.left else {}


def _shown_tree(case: Case, tree: Any, room: Room, axes: Axes, label: str) -> Any:
    tag = tree[0]
    if tag == "t":
        return plain(case.inputs[tree[1]].value, room, axes, label)
    if tag == "r":
        return f"result of call {tree[1] + 1}" + "".join(f"[{key!r}]" for key in tree[2])
    if tag in ("l", "u"):
        return [_shown_tree(case, item, room, axes, f"{label}[{k}]") for k, item in enumerate(tree[1])]
    if tag == "d":
        return {str(key[1]): _shown_tree(case, item, room, axes, f"{label}[{key[1]!r}]") for key, item in tree[1]}
    if tag in ("m", "g", "c"):
        return {"m": "a dict kept between the calls", "g": "a generator", "c": "a callable"}[tag]
    if tag == "y":
        return plain(bytes.fromhex(tree[1]), room)
    return plain(tree[1], room) if len(tree) > 1 else None


def store(finding: Finding, check: str, record: str) -> dict[str, Any] | None:
    """What is needed to replay a finding, or None when it is too large to keep."""
    case = finding.case
    raw = [bytes_of(item.value) for item in case.inputs]
    if sum(map(len, raw)) > STORED_BYTES:
        return None
    values = [
        [str(item.value.dtype).removeprefix("torch."), list(item.value.shape), base64.b64encode(chunk).decode()]
        for item, chunk in zip(case.inputs, raw, strict=True)
    ]
    return {"check": check, "record": record, "profile": case.profile.name, "draws": case.draws, "values": values}


def restore(stored: Mapping[str, Any], folder: Folder, stream: int) -> Case | None:
    """The stored case over the challenge's present `inputs.py`; None when it no longer fits."""
    try:
        recorder = Recorder(_drawn_again(stored["draws"]), profile_of(stored["profile"], folder.inputs), stream)
        getattr(folder.inputs, stored["record"])(recorder)
        values = [_restored(*entry) for entry in stored["values"]]
        fits = [
            v.shape == i.value.shape and v.dtype == i.value.dtype
            for v, i in zip(values, recorder.case.inputs, strict=True)
        ]
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, StopIteration, TypeError, ValueError):
        return None
    return recorder.case.with_values(values) if all(fits) else None


def _drawn_again(draws: Sequence[Any]) -> Draw:
    """The numbers of a stored case in their order. ValueError for one that this challenge would not have drawn."""
    left = iter([int(value) for value in draws])

    def draw(kind: str, low: int, high: int) -> int:
        value = next(left)
        if not low <= value <= high:
            raise ValueError(f"a {kind} of {value}")
        return value

    return draw


def _restored(dtype: str, shape: list[int], encoded: str) -> Tensor:
    raw = bytearray(base64.b64decode(encoded))
    if not raw:
        return torch.empty(shape, dtype=DTYPES[dtype])
    if dtype == "bool":
        return (torch.frombuffer(raw, dtype=torch.uint8) != 0).reshape(shape)
    return torch.frombuffer(raw, dtype=DTYPES[dtype]).reshape(shape)
