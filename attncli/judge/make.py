"""The `make` of an `inputs.py`: it records the calls of a case and the rules for judging their results.

`inputs.py` calls the methods of `Recorder`, and those that it inherits from `Drawing`, by name: these names stay.
Results that are random are judged by properties, for which `random_results` has the usual ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from attncli.errors import JudgeFailed
from attncli.i18n import _
from attncli.judge import random_results
from attncli.judge.case import (
    ANOTHER_DEVICE,
    STYLES,
    Callback,
    CallsHold,
    Complaint,
    DigitsLost,
    Generator,
    Handle,
    Here,
    Input,
    Profile,
    Shared,
    one_tensor,
    parameters_of,
    relayout,
    restyled,
)
from attncli.judge.compare import gravest
from attncli.judge.drawing import Declared, Draw, Drawing
from attncli.sandbox.devices import AWAY, Walk
from attncli.sandbox.interpreter import ExpressionFunction
from attncli.sandbox.values import Packer, Tree


class Recorder(Drawing):
    """Draws sizes, makes tensors in the dtype and layout of the profile, and records calls into `case`."""

    one_of = staticmethod(random_results.one_of)
    distinct = staticmethod(random_results.distinct)
    arrives = staticmethod(random_results.arrives)
    share = staticmethod(random_results.share)
    frequencies = staticmethod(random_results.frequencies)
    independent = staticmethod(random_results.independent)
    mean = staticmethod(random_results.mean)
    same_draws = staticmethod(random_results.same_draws)
    other_draws = staticmethod(random_results.other_draws)

    def __init__(
        self, draw: Draw, profile: Profile, stream: int = 0, label: str = "", declared: Declared | None = None
    ) -> None:
        super().__init__(draw, profile, stream, label, declared)
        self._packer = Packer(self._pack_special)

    # Calls

    def call(self, name: str, *args: Any, **kwargs: Any) -> Handle:
        args, kwargs = self._styled(name, args, kwargs)
        return self._step({"op": "call", "name": name}, args, kwargs)

    def _styled(self, name: str, args: Any, kwargs: Any) -> Any:
        """Return the arguments in the style of the turn; in drawn cases the styles alternate."""
        target = self.declared.reference.get(name)
        if self.turn is None:
            return restyled(target, STYLES[sum(self.case.draws) % len(STYLES)], args, kwargs)
        merged, alike = one_tensor(args, kwargs)
        self.used.named |= target is not None and len(parameters_of(target)) > 1
        self.used.alike |= alike
        return restyled(target, self.turn.style, *(merged if self.turn.same else (args, kwargs)))

    def raises(self, error: type[BaseException], name: str, *args: Any, **kwargs: Any) -> Handle:
        return self._step({"op": "call", "name": name, "raises": error.__name__}, args, kwargs)

    def tally(self, times: int, name: str, *args: Any, **kwargs: Any) -> Handle:
        """Call an entry `times` times and count its plain results, as a dict for a property."""
        handle = self._step({"op": "call", "name": name, "times": times}, args, kwargs)
        self.compare(handle, False)
        return handle

    def new(self, name: str, *args: Any, **kwargs: Any) -> Handle:
        handle = self._step({"op": "new", "name": name}, args, kwargs)
        self.compare(handle, False)
        return handle

    def method(self, owner: Handle, name: str, *args: Any, **kwargs: Any) -> Handle:
        return self._step({"op": "method", "object": self._pack(owner), "name": name}, args, kwargs)

    def method_raises(self, error: type[BaseException], owner: Handle, name: str, *args: Any, **kwargs: Any) -> Handle:
        step = {"op": "method", "object": self._pack(owner), "name": name, "raises": error.__name__}
        return self._step(step, args, kwargs)

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
        """Cast the module to another dtype than the case's; values that are set from now on are rounded to it."""
        return self._step({"op": "cast", "object": self._pack(owner)}, (dtype,), {})

    def manual_seed(self, seed: int) -> Handle:
        """Seed torch's global generator here, as `torch.manual_seed` does."""
        return self._step({"op": "manual_seed"}, (seed,), {})

    # Arguments other than tensors

    @property
    def placed(self) -> dict[str, Any]:
        """The keyword `device` for calls that create tensors without taking any; empty in a grading on the CPU."""
        device = self.case.profile.device
        return {"device": Here(device)} if device in AWAY else {}

    def default_device(self) -> None:
        """Make the other device, if one is tried, torch's default in this case: `device=None` then means it."""
        self.case.default_device = True

    def shared(self, value: Any) -> Shared:
        self.case.shared.append(self._pack(value))
        return Shared(len(self.case.shared) - 1)

    def generator(self, seed: int | None = None) -> Generator:
        self.case.generators.append(self._draw("seed", 0, 7) + 17 * self._stream if seed is None else seed)
        return Generator(len(self.case.generators) - 1)

    def iterator(self, parts: Sequence[Any]) -> Walk:
        """Make an argument that can be iterated over once, like a generator."""
        return Walk(parts)

    def function(self, text: str) -> Callback:
        """Make a function from a lambda over torch and math; it runs in the worker, and autograd goes through it.

        Its calls are not seen here; to compare these, `callable` keeps a function in the judge.
        """
        return self.callable(ExpressionFunction(text))

    def callable(self, function: Callable[..., Any]) -> Callback:
        self.case.callables.append(function)
        return Callback(len(self.case.callables) - 1)

    # Rules for judging results

    def compare(self, handle: Handle, flag: bool) -> None:
        """Turn the comparison of a result with the reference's on or off."""
        (self.case.ignored.discard if flag else self.case.ignored.add)(handle.step)

    def exact(self, handle: Handle) -> Handle:
        """Compare this result bit by bit, the sign of a zero too."""
        self.case.exact.add(handle.step)
        return handle

    def dtypes(self, handle: Handle, *allowed: torch.dtype) -> None:
        """Allow these dtypes too for this part of a result, which is then compared in its own dtype."""
        self.case.dtypes[(handle.step, *handle.path)] = frozenset(allowed)

    def opaque(self, handle: Handle) -> None:
        """Leave this part of a result to the solution: it is passed to later calls, and not checked."""
        self.case.opaque.add((handle.step, *handle.path))

    def count(self, callback: Callback, holds: CallsHold | None = None) -> None:
        """Compare the calls made to this callable (number and argument shapes) with the reference's.

        Where more than one sequence of calls is sound, `holds(calls, outcomes)` returns a complaint, in English and in
        Chinese, or None. A call is the list of its arguments: a tensor's shape, the name of any other type.
        """
        if isinstance(self.case.callables[callback.index], ExpressionFunction):
            raise JudgeFailed(
                _("make.count needs a make.callable: calls to a make.function are not seen; fix inputs.py")
            )
        if holds is None:
            self.case.counted.add(callback.index)
        else:
            self.case.watched[callback.index] = holds

    # From here on `@property` would be this method.
    def property(self, holds: Callable[[list[Any]], Complaint | None]) -> None:
        """Judge by `holds(outcomes)`: it gets the outcomes of all steps and returns a complaint or None."""
        self.case.properties.append(holds)

    def gradient_property(self, holds: Callable[[list[Any], list[Tensor]], Complaint | None]) -> None:
        """Judge by `holds(outcomes, gradients)` the gradients of random results.

        The gradients are those of the sum of all uncompared results, one for each input that asks for one.
        """
        self.case.gradient_properties.append(holds)

    def judge(self, holds: Callable[..., Complaint | Iterator[Complaint | None] | None], *of: Handle | Tensor) -> None:
        """Judge random results by `holds`: it gets the outcome of each Handle and the gradient of each tensor.

        It returns a complaint or None, or yields several: the first counts, one of `make.digits_lost` only where there
        is no other. The results are compared with the reference's in shape and dtype alone.
        """
        for part in of:
            if isinstance(part, Handle):
                self.compare(part, False)
                self.case.formed.add(part.step)
        places: list[int | None] = []  # of gradients among those of all inputs that ask for one
        for part in of:
            index = None if isinstance(part, Handle) else self._pack(part)[1]
            places.append(None if index is None else sum(item.grad for item in self.case.inputs[:index]))

        def complaint(outcomes: list[Any], gradients: list[Tensor]) -> Complaint | None:
            found = holds(
                *(
                    part.found_in(outcomes) if isinstance(part, Handle) else gradients[place or 0]
                    for part, place in zip(of, places, strict=True)
                )
            )
            if not isinstance(found, Iterator):
                return found
            return gravest(found, lambda each: isinstance(each, DigitsLost))

        if any(place is not None for place in places):
            self.gradient_property(complaint)
        else:
            self.property(lambda outcomes: complaint(outcomes, []))

    def digits_lost(self, english: str, chinese: str) -> Complaint:
        """Make a complaint of the second rung: a float64 result has only the digits of float32."""
        return DigitsLost((english, chinese))

    def repeats(
        self, draw: Callable[[Generator | None], Handle], of: Callable[[Any], Any] | None = None, globally: bool = True
    ) -> None:
        """Demand equal draws under equal states; `draw(generator)` records a call.

        `of` takes the drawn part from a result. With `globally`, `draw(None)` is also recorded, for torch's global
        generator.
        """
        rounds = []
        seed = self.case.generators[self.generator().index]
        for _round in range(2):
            rounds.append([draw(self.generator(seed))])
            if globally:
                self.manual_seed(seed)
                rounds[-1].append(draw(None))
        for first, second in zip(*rounds, strict=True):
            self._judge_draws(random_results.same_draws, of, first, second)

    def moves_on(
        self, draw: Callable[[Generator | None], Handle], of: Callable[[Any], Any] | None = None, globally: bool = True
    ) -> None:
        """Demand different draws from a second call with the same generator."""
        for generator in (self.generator(), None) if globally else (self.generator(),):
            self._judge_draws(random_results.other_draws, of, draw(generator), draw(generator))

    def _judge_draws(self, holds: Any, of: Callable[[Any], Any] | None, *pair: Handle) -> None:
        self.judge(lambda *drawn: holds(*(map(of, drawn) if of else drawn)), *pair)

    # Packing

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
