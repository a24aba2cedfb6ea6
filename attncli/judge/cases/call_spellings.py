"""The ways to write one call: arguments by position, by keyword, or left out where they are the default."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from attncli.judge.cases.turns import Style

Arguments = tuple[Sequence[Any], Mapping[str, Any]]
_PLAIN = (int, float, bool, str, type(None))


@lru_cache(maxsize=256)
def parameters_of(target: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """The parameters that may be given by position or by keyword; none where they cannot be known."""
    try:
        found = tuple(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        return ()
    return found if all(p.kind is p.POSITIONAL_OR_KEYWORD for p in found) else ()


def restyled(
    target: Callable[..., Any] | None, style: Style, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Arguments:
    """The same call in another style."""
    parameters = parameters_of(target) if target is not None else ()
    if style == "as-written" or len(args) > len(parameters):
        return args, kwargs
    named = {**dict(zip((p.name for p in parameters), args, strict=False)), **kwargs}
    if not named.keys() <= {p.name for p in parameters}:
        return args, kwargs
    if style == "left-out":
        defaults = {p.name: p.default for p in parameters}
        kept = [value for p, value in zip(parameters, args, strict=False) if not _is(value, p.default)]
        if len(kept) < len(args) and not all(_is(named[p.name], p.default) for p in parameters[len(kept) : len(args)]):
            kept = list(args)
        return kept, {name: value for name, value in kwargs.items() if not _is(value, defaults[name])}
    if style == "by-keyword":
        return (), named
    return _by_position(parameters, named)


def _by_position(parameters: Sequence[inspect.Parameter], named: Mapping[str, Any]) -> Arguments:
    last = max((k for k, p in enumerate(parameters) if p.name in named), default=-1)
    values = [named.get(p.name, p.default) for p in parameters[: last + 1]]
    if any(value is inspect.Parameter.empty for value in values):
        return (), named
    return values, {}


def _is(value: Any, default: Any) -> bool:
    return isinstance(value, _PLAIN) and type(value) is type(default) and value == default


def one_tensor(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Arguments, bool]:
    """The same call with one tensor for all arguments of one shape and dtype; whether there were two."""
    first: dict[tuple[torch.Size, torch.dtype], Tensor] = {}
    merged = False

    def shared(value: Any) -> Any:
        nonlocal merged
        if not isinstance(value, Tensor) or not value.is_floating_point():
            return value
        known = first.setdefault((value.shape, value.dtype), value)
        merged = merged or known is not value
        return known

    return ([shared(value) for value in args], {name: shared(value) for name, value in kwargs.items()}), merged
