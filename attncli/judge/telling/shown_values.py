"""Values as JSON for people to look at: shape, dtype and the first numbers of a tensor, and only so much altogether."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attncli.judge.answers.callables import LARGEST_INTEGER
from attncli.sandbox.values import Opaque, Raised

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
