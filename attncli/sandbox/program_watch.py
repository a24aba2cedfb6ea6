"""Watching a program run: what it changed (arguments, settings of torch), whose memory and random numbers it used."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor, nn

from . import placement
from .devices import Elsewhere
from .tensor_table import bytes_of, describe_tensor
from .tensor_walk import MAX_DEPTH, tensors_in
from .values import Environment, Packer, Raised, Tree, arguments_of

Step = dict[str, Any]

# With whom a result shares memory, and what was done to torch's own state.
ALIASED = ("input", "kept", "earlier")
GLOBALS = ("seeded", "drawn", "dtype", "autograd")

# As it was when this module was imported, before any submission.
DEFAULT_DTYPE = torch.get_default_dtype()


class ProgramWatch:
    """Copies outcomes when they are returned, and finds what changed, was mutated or shares memory."""

    def __init__(
        self, environment: Environment, steps: Sequence[Step], earlier: Sequence[Any], want: Collection[str]
    ) -> None:
        closely, modules = "pure" in want, "modules" in want
        self.environment = environment
        self._device = environment.device
        # The device check of a grading on the CPU asks for the form of what is elsewhere, and not for its values.
        self._twins = "elsewhere" in want
        self._autograd = "no-grad" not in want
        self._seeds = placement.initial_seeds(self._device)
        self._closely = closely
        self.copies: list[tuple[Tree, list[bytes], list[dict[str, Any]]]] = []
        self.aliased: list[list[Any]] = []
        self.inputs = [_state_of(tensor) for tensor in environment.tensors] if closely else []
        self.containers: list[int] = []
        self._steps = steps
        self._kept = {_storage(t) for t in tensors_in(list(earlier))} - {0}
        self._given = {_storage(t) for t in _given(environment)} - {0} if closely else set()
        self._kept_containers = {id(c) for item in earlier for c in _containers_in(item)}
        self.globals: list[list[Any]] = []
        self._random_states = placement.random_states(self._device)
        self._modules: dict[int, list[Any]] | None = {} if modules else None
        self.modules_changed: list[int] = []

    def after(self, index: int, arguments: Any, outcome: Any) -> None:
        self.copies.append(self.copied(outcome))
        if self._closely:
            self._look_for_shared_memory(index, arguments, outcome)
            self._look_at_randomness(index, arguments)
            self._look_at_settings(index)
        if self._modules is not None:
            self._look_into_modules(index, self._modules)

    def copied(self, value: Any) -> tuple[Tree, list[bytes], list[dict[str, Any]]]:
        return copied(value, self._twins)

    def _look_into_modules(self, index: int, known: dict[int, list[Any]]) -> None:
        """Whether a call left something in a module that was made by an earlier step."""
        for made, step in enumerate(self._steps[: index + 1]):
            module = self.environment.results[made]
            if step["op"] != "new" or not isinstance(module, nn.Module):
                continue
            holds = [self.copied(dict(vars(part)))[:2] for part in module.modules()]
            if self._steps[index]["op"] in ("call", "method") and known[made] != holds:
                self.modules_changed.append(index)
            known[made] = holds

    def _look_for_shared_memory(self, index: int, arguments: Any, outcome: Any) -> None:
        if not _same_parts(arguments, arguments_of(self._steps[index], self.environment)):
            self.containers.append(index)
        own = {_storage(tensor) for tensor in tensors_in(list(arguments))} - {0}
        result = {_storage(tensor) for tensor in tensors_in(outcome)} - {0}
        if result & own:
            self.aliased.append([index, "input"])
        elif result & self._kept or self._returned_again(arguments, outcome):
            self.aliased.append([index, "earlier"])
        elif self._given & {_storage(tensor) for tensor in tensors_in(self.environment.shared)}:
            self.aliased.append([index, "kept"])
        self._kept |= result

    def _returned_again(self, arguments: Any, outcome: Any) -> bool:
        """Whether a list or dict that an earlier call returned comes again, without having been passed in."""
        passed = {id(c) for part in arguments for c in _containers_in(part)}
        returned = {id(c) for c in _containers_in(outcome)} - passed
        again = bool(returned & self._kept_containers)
        self._kept_containers |= returned
        return again

    def _look_at_randomness(self, index: int, arguments: Any) -> None:
        """Whether torch's global generator was seeded, or drawn from although a generator was passed."""
        states = placement.random_states(self._device)
        if self._steps[index]["op"] == "manual_seed":
            self._seeds, self._random_states = placement.initial_seeds(self._device), states
        if all(map(torch.equal, states, self._random_states)):
            return
        self._random_states = states
        if placement.initial_seeds(self._device) != self._seeds:
            self.globals.append([index, "seeded"])
        elif any(isinstance(value, torch.Generator) for value in (*arguments[0], *arguments[1].values())):
            self.globals.append([index, "drawn"])

    def _look_at_settings(self, index: int) -> None:
        """Whether what torch does for everybody was left another way."""
        if torch.get_default_dtype() != DEFAULT_DTYPE:
            self.globals.append([index, "dtype"])
        if torch.is_grad_enabled() != self._autograd:
            self.globals.append([index, "autograd"])

    def mutated(self) -> list[int]:
        pairs = zip(self.environment.tensors, self.inputs, strict=True)
        return [k for k, (tensor, before) in enumerate(pairs) if _state_of(tensor) != before]

    def instances(self, outcomes: Sequence[Any], arguments: Sequence[Any]) -> list[int]:
        """Steps that made an object which shares memory with one made by another call of the same class."""
        made = [k for k, step in enumerate(self._steps) if step["op"] == "new"]
        given = {_storage(t) for k in made for part in _parts_of(arguments[k]) for t in _memory_of(part)}
        held = {k: {_storage(t) for t in _memory_of(outcomes[k])} - given - {0} for k in made}
        pairs = combinations(made, 2)
        return [b for a, b in pairs if self._steps[a]["name"] == self._steps[b]["name"] and held[a] & held[b]]

    def changed(self, outcomes: Sequence[Any]) -> list[int]:
        """Steps whose returned values are no longer what was returned. Objects may change, by their class too."""
        return [
            index
            for index, (step, outcome, copy) in enumerate(zip(self._steps, outcomes, self.copies, strict=True))
            if step["op"] != "new" and self.copied(outcome)[:2] != copy[:2]
        ]


def _state_of(tensor: Tensor) -> tuple[Any, ...]:
    """All that a call must leave as it is: `unsqueeze_` moves no value, and the caller's tensor is another one."""
    return bytes_of(tensor), tensor.dtype, tensor.shape, tensor.stride(), tensor.requires_grad


def _containers_in(value: Any, depth: int = 0) -> Iterator[Any]:
    """Every list and dict in nested containers, itself included: what a caller could change."""
    if isinstance(value, (list, dict)):
        yield value
    if depth < MAX_DEPTH and isinstance(value, (list, tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _containers_in(part, depth + 1)


def _parts_of(arguments: Any) -> Iterator[Any]:
    """What a call was given, and what a list or dict among it holds, as that of a ModuleDict does."""
    args, kwargs = arguments
    for part in (*args, *kwargs.values()):
        yield part
        yield from part.values() if isinstance(part, dict) else part if isinstance(part, (list, tuple)) else ()


def _memory_of(value: Any) -> Iterator[Tensor]:
    """The tensors of values and of the attributes, parameters and buffers of objects."""
    if isinstance(value, nn.Module):
        yield from value.parameters()
        yield from value.buffers()
    if isinstance(value, (list, tuple, dict, Tensor)):
        yield from tensors_in(value)
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
            if isinstance(part, nn.Module):
                yield from _memory_of(part)
    elif hasattr(value, "__dict__"):
        yield from tensors_in(dict(vars(value)))


def _given(environment: Environment) -> list[Tensor]:
    """The tensors of the table that are no part of an object which is to be changed in place."""
    shared = {id(tensor) for tensor in tensors_in(environment.shared)}
    return [tensor for tensor in environment.tensors if id(tensor) not in shared]


def _same_parts(value: Any, fresh: Any) -> bool:
    """Whether a container still holds what it was passed with: the same keys and the very same tensors."""
    if isinstance(fresh, (list, tuple)):
        return len(value) == len(fresh) and all(_same_parts(a, b) for a, b in zip(value, fresh, strict=True))
    if isinstance(fresh, dict):
        return list(value) == list(fresh) and all(_same_parts(value[key], fresh[key]) for key in fresh)
    if isinstance(fresh, Tensor):
        return value is fresh
    return not plain(fresh) or value == fresh or value != value


def _storage(tensor: Tensor) -> int:
    if tensor.device.type != "cpu":
        tensor = placement.values_of(tensor)
    return tensor.untyped_storage().data_ptr() if tensor.device.type != "meta" else 0


def copied(value: Any, twins: bool = False) -> tuple[Tree, list[bytes], list[dict[str, Any]]]:
    """The tree of a value with the bytes and the table of its tensors; with `twins` what is elsewhere has no bytes."""
    packer = Packer(special=lambda item: _pack_special(item, packer))
    tree = packer.pack(value)
    tensors = packer.tensors
    if twins:
        raw = [b"" if type(t) is Elsewhere else bytes_of(t) for t in tensors]
        return tree, raw, [describe_tensor(t, values=type(t) is not Elsewhere) for t in tensors]
    return tree, [bytes_of(t) for t in tensors], [describe_tensor(t) for t in tensors]


def _pack_special(value: Any, packer: Packer) -> Tree | None:
    if isinstance(value, Elsewhere):
        return packer.tensor(value)
    return ["raised", list(value.names), value.text] if isinstance(value, Raised) else None


def plain(value: Any) -> bool:
    if type(value) is tuple:
        return all(plain(item) for item in value)
    return type(value) in (int, float, bool, str, bytes)
