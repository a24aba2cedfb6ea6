"""Counterexamples as JSON: what was passed, what was due, what came, and the form in which one is stored."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import torch
from torch import Tensor

from attncli.judge.case import Case, Recorder
from attncli.judge.demands import Demands, named_arguments
from attncli.judge.finding import Finding
from attncli.judge.folder import Folder
from attncli.judge.profiles import profile_of
from attncli.sandbox.values import DTYPES, Opaque, Raised, bytes_of

VALUES_SHOWN = 256
STORED_BYTES = 64 * 1024
_DIGITS = {torch.float64: 17, torch.float32: 8, torch.float16: 5, torch.bfloat16: 4}


def render(finding: Finding, demands: Demands) -> dict[str, Any]:
    """The `counterexample` of a grade report."""
    case, step = finding.case, _failing_step(finding)
    shown: dict[str, Any] = {"args": _arguments(case, demands, step)}
    if len(case.steps) > 1:
        shown["calls"] = [
            {"call": s.get("name", s["op"]), "args": _arguments(case, demands, k)} for k, s in enumerate(case.steps)
        ]
        shown["call"] = step + 1
    shown["profile"] = case.profile.name
    if case.label:
        shown["edge_case"] = case.label
        if chinese := demands.label_in_chinese(case.label):
            shown["edge_case_zh"] = chinese
    name = _Namer(demands, str(case.steps[step].get("name", "")))
    if finding.mismatch is not None:
        place = _place(finding.mismatch.path)
        shown["expected"] = name.plain(_as_due(finding.mismatch.expected, finding.mismatch.got), place)
        shown["got"] = name.plain(finding.mismatch.got, place)
        if finding.mismatch.index is not None:
            shown["first_wrong_index"] = list(finding.mismatch.index)
    elif finding.truth is not None and finding.got is None:
        shown["expected"] = name.plain(
            finding.truth.outcomes[step] if step < len(finding.truth.outcomes) else None, "return"
        )
    if finding.frames:
        shown["frames"] = [dict(frame) for frame in finding.frames]
    return shown


@dataclass(frozen=True, slots=True)
class _Namer:
    """Values as JSON, with the names of the axes that tensors have in this function's signature."""

    demands: Demands
    function: str

    def plain(self, value: Any, name: str) -> Any:
        if isinstance(value, (list, tuple)):
            return [self.plain(item, f"{name}[{k}]") for k, item in enumerate(value)]
        if isinstance(value, dict):
            return {str(key): self.plain(item, f"{name}[{key!r}]") for key, item in value.items()}
        shown = plain(value)
        axes = self.demands.axes(self.function, name, value.dim()) if isinstance(value, Tensor) else []
        return {**shown, "axes": axes} if any(axes) else shown


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


def _arguments(case: Case, demands: Demands, step: int) -> dict[str, Any]:
    name = _Namer(demands, str(case.steps[step].get("name", "")))
    named = named_arguments(demands.reference, case.steps[step])
    return {label: _shown_tree(case, tree, name, label) for label, tree in named}


def _shown_tree(case: Case, tree: Any, name: _Namer, label: str) -> Any:
    tag = tree[0]
    if tag == "t":
        return name.plain(case.inputs[tree[1]].value, label)
    if tag == "r":
        return f"result of call {tree[1] + 1}" + "".join(f"[{key!r}]" for key in tree[2])
    if tag in ("l", "u"):
        return [_shown_tree(case, item, name, f"{label}[{k}]") for k, item in enumerate(tree[1])]
    if tag == "d":
        return {str(key[1]): _shown_tree(case, item, name, f"{label}[{key[1]!r}]") for key, item in tree[1]}
    if tag in ("m", "g", "c"):
        return {"m": "a dict kept between the calls", "g": "a generator", "c": "a callable"}[tag]
    if tag == "y":
        return plain(bytes.fromhex(tree[1]))
    return tree[1] if len(tree) > 1 else None


def plain(value: Any) -> Any:
    """A value as JSON: tensors as shape, dtype and flat values."""
    if isinstance(value, Tensor):
        return _plain_tensor(value)
    if isinstance(value, Raised):
        return {"raised": value.names[0], "text": value.text}
    if isinstance(value, Opaque):
        return {"type": value.name}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    return str(value)[:200]


def _plain_tensor(tensor: Tensor) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
    }
    if tensor.device.type == "meta":
        return {**shown, "device": "meta"}
    flat = tensor.detach().reshape(-1)
    shown["values"] = [_plain_number(v, tensor.dtype) for v in flat[:VALUES_SHOWN].tolist()]
    if flat.numel() > VALUES_SHOWN:
        shown["truncated"] = True
    return shown


def _plain_number(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, complex):
        return str(value)
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS.get(dtype, 17)}g}") if math.isfinite(value) else str(value)
    return value


def store(finding: Finding, check: str, record: str, stream: int) -> dict[str, Any] | None:
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


def restore(stored: Mapping[str, Any], folder: Folder) -> Case | None:
    """The stored case, of its own stream, over the present `inputs.py`; None when it no longer fits.

    What is stored may come from elsewhere: it draws only what `inputs.py` would, and no tensor is made of another
    size than the one that it replaces.
    """
    try:
        stream = int(stored.get("stream", 0))
        record = _record_named(stored["record"], folder)
        recorder = Recorder(_Replayed(stored["draws"]), profile_of(stored["profile"], folder.inputs), stream)
        record(recorder)
        entries = zip(stored["values"], recorder.case.inputs, strict=True)
        return recorder.case.with_values([_restored(entry, item.value) for entry, item in entries])
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, AssertionError, RuntimeError):
        return None


def _record_named(name: Any, folder: Folder) -> Callable[[Recorder], Any]:
    """The function `name` that stands in the challenge's own `inputs.py`."""
    function = vars(folder.inputs).get(name) if isinstance(name, str) else None
    if not isinstance(function, FunctionType) or function.__module__ != folder.inputs.__name__:
        raise ValueError("no function of the inputs")
    return function


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
