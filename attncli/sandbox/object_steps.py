"""What a program may do with an object that a step made: place it, read and set parts of it, train it or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from .values import Environment


def placed(made: Any, arguments: Any, environment: Environment) -> Any:
    """A module in the dtype and on the device of the case; one made around a module or tensors finds them there."""
    if isinstance(made, nn.Module) and not _given_weights(arguments) and not _in_place(made, environment):
        made = made.to(device=environment.module_device, dtype=environment.module_dtype)
    return made


def _in_place(module: nn.Module, environment: Environment) -> bool:
    """Whether nothing has to be moved: torch rebuilds every parameter even then."""
    due, place = environment.module_dtype, torch.device(environment.module_device or "cpu").type
    parts = [*module.parameters(), *module.buffers()]
    return all(part.device.type == place and (part.dtype == due or not part.is_floating_point()) for part in parts)


def _given_weights(arguments: Any) -> bool:
    args, kwargs = arguments
    return any(isinstance(value, (nn.Module, Tensor)) for value in [*args, *kwargs.values()])


def snapshot(value: Any) -> Any:
    """What was read, as it is now: later steps may change the object."""
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, (list, tuple)):
        return type(value)(map(snapshot, value))
    return {k: snapshot(v) for k, v in value.items()} if isinstance(value, dict) else value


def train(owner: Any, flag: bool) -> None:
    """Training mode on or off."""
    owner.train(flag)


def cast(owner: Any, dtype: torch.dtype) -> None:
    """Floating parameters and buffers in another dtype, as `module.to(dtype)` has them."""
    owner.to(dtype)


def read(owner: Any, dotted: str) -> Any:
    """An attribute by its dotted name; a bias-free Linear stands for its weight.

    Of a module, `parameters` is the list of its parameters, `named_parameters`, `named_buffers` and `state_dict` are
    dicts, `trainable` is the sorted list of the names that require gradients; a number is an index into a list.
    """
    for name in dotted.split("."):
        if isinstance(owner, nn.Module) and name in _MODULE_PARTS:
            owner = _MODULE_PARTS[name](owner)
        elif name.isdigit():
            owner = owner[int(name)]
        else:
            owner = getattr(owner, name)
    return owner.weight if isinstance(owner, nn.Linear) else owner


_MODULE_PARTS: dict[str, Callable[[nn.Module], Any]] = {
    "parameters": lambda module: list(module.parameters()),
    "named_parameters": lambda module: dict(module.named_parameters()),
    "named_buffers": lambda module: dict(module.named_buffers()),
    "state_dict": lambda module: dict(module.state_dict()),
    "trainable": lambda module: sorted(n for n, p in module.named_parameters() if p.requires_grad),
}


def set_parts(owner: Any, values: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copies values into the parts of these names, and gives the parts."""
    places = {name: read(owner, name) for name in values}
    with torch.no_grad():
        for name, place in places.items():
            place.copy_(values[name])
    return places
