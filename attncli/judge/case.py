"""A case: what a challenge draws and calls, as a program of steps over a tensor table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from attncli.judge.cases.profiles import Profile
from attncli.sandbox.values import Tree

# What a property finds to be wrong, in English and in Chinese.
Complaint = tuple[str, str]


class DigitsLost(tuple[str, str]):
    """A complaint about float64 results that are right to the digits of float32."""


CallsHold = Callable[[list[Any], list[Any]], Complaint | None]


@dataclass(slots=True)
class Input:
    """One tensor of a case: `grad` asks for its gradient, `follow` lets the judge evaluate it in float64.

    `composed`: its values obey laws that the challenge alone knows (a row of probabilities): they are not made simpler.
    """

    value: Tensor
    grad: bool
    follow: bool
    composed: bool = False


@dataclass(slots=True)
class Case:
    """A program and everything it needs; `sizes` are the numbers drawn for it, small ones first when shrinking.

    Of the steps that are `ignored`, those `formed` must have the shape and the dtype of the reference's all the same.
    `opaque` parts of results are not looked at.
    """

    profile: Profile
    steps: list[dict[str, Any]] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    generators: list[int] = field(default_factory=list)
    callables: list[Callable[..., Any]] = field(default_factory=list)
    shared: list[Tree] = field(default_factory=list)
    ignored: set[int] = field(default_factory=set)
    formed: set[int] = field(default_factory=set)
    opaque: set[tuple[Any, ...]] = field(default_factory=set)
    exact: set[int] = field(default_factory=set)
    counted: set[int] = field(default_factory=set)
    watched: dict[int, CallsHold] = field(default_factory=dict)
    dtypes: dict[tuple[Any, ...], frozenset[torch.dtype]] = field(default_factory=dict)
    properties: list[Callable[[list[Any]], Complaint | None]] = field(default_factory=list)
    gradient_properties: list[Callable[[list[Any], list[Tensor]], Complaint | None]] = field(default_factory=list)
    default_device: bool = False
    sizes: list[int] = field(default_factory=list)
    draws: list[int] = field(default_factory=list)
    seed: int = 0
    label: str = ""

    @property
    def weight(self) -> tuple[int, int, int]:
        """How large it looks to a reader: elements, then steps, then the numbers drawn."""
        return sum(i.value.numel() for i in self.inputs), len(self.steps), sum(self.sizes)

    @property
    def differentiates(self) -> bool:
        """Whether the program runs a backward pass of its own, and so cannot do without autograd."""
        return any(step.get("name") == "backward" for step in self.steps)

    @property
    def tallies(self) -> bool:
        """Whether a step is repeated hundreds of times to count its results."""
        return any("times" in step for step in self.steps)

    def with_values(self, values: Sequence[Tensor]) -> Case:
        inputs = [replace(i, value=v) for v, i in zip(values, self.inputs, strict=True)]
        return replace(self, inputs=inputs)


class Handle:
    """Stands for the result of a recorded call; `handle[1]` or `handle["k"]` for a part of it."""

    def __init__(self, step: int, path: tuple[Any, ...] = ()) -> None:
        self.step = step
        self.path = path

    def __getitem__(self, key: Any) -> Handle:
        return Handle(self.step, (*self.path, key))

    def found_in(self, outcomes: Sequence[Any]) -> Any:
        """What it stands for, once the program has run."""
        value = outcomes[self.step]
        for key in self.path:
            value = value[key]
        return value

    def __iter__(self) -> Any:
        raise TypeError("a Handle has no length: take its parts by index, h[0], h[1]")


class Shared:
    """A mutable object that lives in the learner's process over the calls of one case."""

    def __init__(self, index: int) -> None:
        self.index = index


class Generator:
    """A `torch.Generator` made in the learner's process from a seed."""

    def __init__(self, index: int) -> None:
        self.index = index


class Here:
    """The device on which the program runs, as an argument."""

    def __init__(self, name: str) -> None:
        self.name = name


class Callback:
    """A callable that stays in the judge; the learner's code gets a proxy."""

    def __init__(self, index: int) -> None:
        self.index = index
