"""The `make` of an `inputs.py`: what it draws and calls becomes a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from attncli.judge.case import Callback, Generator, Handle, Here, Input, Shared
from attncli.judge.cases.call_spellings import one_tensor, parameters_of, restyled
from attncli.judge.cases.make_judging import Judging
from attncli.judge.cases.profiles import ANOTHER_DEVICE, Profile, relayout
from attncli.judge.cases.turns import STYLES
from attncli.judge.drawing import Declared, Draw
from attncli.sandbox.expression_function import ExpressionFunction
from attncli.sandbox.placement import AWAY
from attncli.sandbox.tensor_walk import Walk
from attncli.sandbox.values import Packer, Tree


class Recorder(Judging):
    """The `make` of an `inputs.py`: draws sizes, makes tensors in the profile's dtype and layout, records calls."""

    def __init__(
        self,
        draw: Draw,
        profile: Profile,
        stream: int = 0,
        label: str = "",
        declared: Declared | None = None,
    ) -> None:
        super().__init__(draw, profile, stream, label, declared or Declared())
        self._packer = Packer(self._pack_special)

    @property
    def placed(self) -> dict[str, Any]:
        """The keyword `device` of what makes tensors out of none, where the grading is on another device; on the CPU
        nothing."""
        device = self.case.profile.device
        return {"device": Here(device)} if device in AWAY else {}

    def default_device(self) -> None:
        """Where another device is tried, it is torch's default in this case: `device=None` stands for it."""
        self.case.default_device = True

    def call(self, name: str, *args: Any, **kwargs: Any) -> Handle:
        args, kwargs = self._as_the_turn_has_it(name, args, kwargs)
        return self._step({"op": "call", "name": name}, args, kwargs)

    def _as_the_turn_has_it(self, name: str, args: Any, kwargs: Any) -> Any:
        """The arguments in the style of the turn; in drawn cases the styles take turns."""
        if self.turn is None:
            style = STYLES[sum(self.case.draws) % len(STYLES)]
        else:
            style = self.turn.style
            self._note_use(name, args, kwargs)
            if self.turn.same:
                (args, kwargs), _ = one_tensor(args, kwargs)
        return restyled(self.declared.reference.get(name), style, args, kwargs)

    def _note_use(self, name: str, args: Any, kwargs: Any) -> None:
        target = self.declared.reference.get(name)
        self.used.named |= len(parameters_of(target)) > 1 if target is not None else False
        self.used.alike |= one_tensor(args, kwargs)[1]

    def raises(self, error: type[BaseException], name: str, *args: Any, **kwargs: Any) -> Handle:
        return self._step({"op": "call", "name": name, "raises": error.__name__}, args, kwargs)

    def method_raises(self, error: type[BaseException], owner: Handle, name: str, *args: Any, **kwargs: Any) -> Handle:
        step = {"op": "method", "object": self._pack(owner), "name": name, "raises": error.__name__}
        return self._step(step, args, kwargs)

    def new(self, name: str, *args: Any, **kwargs: Any) -> Handle:
        handle = self._step({"op": "new", "name": name}, args, kwargs)
        self.compare(handle, False)
        return handle

    def method(self, owner: Handle, name: str, *args: Any, **kwargs: Any) -> Handle:
        return self._step({"op": "method", "object": self._pack(owner), "name": name}, args, kwargs)

    def set(self, owner: Handle, values: Mapping[str, Tensor]) -> Handle:
        trees = {name: self._pack(value) for name, value in values.items()}
        leaves = {name: tree[1] for name, tree in trees.items() if self.case.inputs[tree[1]].grad}
        tree = ["d", [[["s", name], tree] for name, tree in trees.items()]]
        return self._record({"op": "set", "object": self._pack(owner), "args": [tree], "leaves": leaves})

    def read(self, owner: Handle, name: str) -> Handle:
        return self._step({"op": "read", "object": self._pack(owner), "name": name}, (), {})

    def train(self, owner: Handle, flag: bool = True) -> Handle:
        return self._step({"op": "train", "object": self._pack(owner)}, (flag,), {})

    def cast(self, owner: Handle, dtype: torch.dtype) -> Handle:
        """The module in another dtype than the case's; what is set from now on is rounded to it."""
        return self._step({"op": "cast", "object": self._pack(owner)}, (dtype,), {})

    def manual_seed(self, seed: int) -> Handle:
        """Torch's global generator begins anew here, as under `torch.manual_seed`."""
        return self._step({"op": "manual_seed"}, (seed,), {})

    def shared(self, value: Any) -> Shared:
        self.case.shared.append(self._pack(value))
        return Shared(len(self.case.shared) - 1)

    def generator(self, seed: int | None = None) -> Generator:
        self.case.generators.append(self._draw("seed", 0, 7) + 17 * self._stream if seed is None else seed)
        return Generator(len(self.case.generators) - 1)

    def iterator(self, parts: Sequence[Any]) -> Walk:
        """An argument that can be walked through once, as a generator can."""
        return Walk(parts)

    def function(self, text: str) -> Callback:
        """A function that runs beside the submission and is differentiated through: a lambda over torch and math.

        What calls it is not known here; where that is asked, `callable` stays in the judge.
        """
        return self.callable(ExpressionFunction(text))

    def callable(self, function: Callable[..., Any]) -> Callback:
        self.case.callables.append(function)
        return Callback(len(self.case.callables) - 1)

    def tally(self, times: int, name: str, *args: Any, **kwargs: Any) -> Handle:
        """Calls an entry that many times and counts its plain results: a dict from result to count, for a property."""
        handle = self._step({"op": "call", "name": name, "times": times}, args, kwargs)
        self.compare(handle, False)
        return handle

    def _step(self, step: dict[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Handle:
        trees = [self._pack(value) for value in args]
        named = {name: self._pack(value) for name, value in kwargs.items()}
        return self._record({**step, "args": trees, "kwargs": named})

    def _record(self, step: dict[str, Any]) -> Handle:
        self.case.steps.append(step)
        return Handle(len(self.case.steps) - 1)

    def _pack(self, value: Any) -> Tree:
        tree = self._packer.pack(value)
        for tensor in self._packer.tensors[len(self.case.inputs) :]:
            self.case.inputs.append(self._input(tensor))
        return tree

    def _input(self, tensor: Tensor) -> Input:
        fixed = id(tensor) in self._fixed
        value = tensor.detach()
        if self.case.profile.layout == "strided":
            value = relayout(value, len(self.case.inputs) + sum(self.case.draws))
        else:
            value = value.contiguous()
        follow = not fixed and value.is_floating_point()
        return Input(value, tensor.requires_grad, follow, id(tensor) in self._composed)

    def _pack_special(self, value: Any) -> Tree | None:
        if isinstance(value, Handle):
            return ["r", value.step, list(value.path)]
        if isinstance(value, Shared):
            return ["m", value.index]
        if isinstance(value, Generator):
            return ["g", value.index]
        if isinstance(value, Callback):
            return ["c", value.index]
        if isinstance(value, Here):
            return ["at", value.name]
        if isinstance(value, torch.device) and self.case.profile.name == ANOTHER_DEVICE:
            return ["dv", str(self.device)]
        return None
