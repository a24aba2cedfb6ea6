"""The `make` of an `inputs.py`: what it draws and calls becomes a case."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from attncli.errors import JudgeFailed
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
from attncli.judge.drawing import Declared, Draw, Drawing
from attncli.sandbox.devices import AWAY, Walk
from attncli.sandbox.interpreter import ExpressionFunction
from attncli.sandbox.values import Packer, Tree

# The half of `make` that says how results are judged: compared, counted, or held to what must be true of them.

Complaints = Complaint | None | Iterator[Complaint | None]


class Judging(Drawing):
    """The half of `make` that says how results are judged."""

    one_of = staticmethod(random_results.one_of)
    distinct = staticmethod(random_results.distinct)
    arrives = staticmethod(random_results.arrives)
    share = staticmethod(random_results.share)
    frequencies = staticmethod(random_results.frequencies)
    independent = staticmethod(random_results.independent)
    mean = staticmethod(random_results.mean)
    same_draws = staticmethod(random_results.same_draws)
    other_draws = staticmethod(random_results.other_draws)

    def count(self, callback: Callback, holds: CallsHold | None = None) -> None:
        """Compares the calls made to this callable (number and argument shapes) with the reference's.

        Where more than one sequence of calls is sound, `holds(calls, outcomes)` says what is wrong with them, in
        English and in Chinese, or None.
        A call is the list of its arguments: the shape of a tensor, the type's name of anything else.
        """
        if isinstance(self.case.callables[callback.index], ExpressionFunction):
            raise JudgeFailed("make.count takes a make.callable: calls of a make.function are not seen; mend inputs.py")
        if holds is None:
            self.case.counted.add(callback.index)
        else:
            self.case.watched[callback.index] = holds

    def property(self, holds: Callable[[list[Any]], Complaint | None]) -> None:
        """`holds(outcomes)` gets every step's outcome and returns what is wrong, in English and Chinese, or None."""
        self.case.properties.append(holds)

    def gradient_property(self, holds: Callable[[list[Any], list[Tensor]], Complaint | None]) -> None:
        """`holds(outcomes, gradients)`: what is wrong with the gradients of the sum of all results that are not
        compared, one for each input that asks for one. For results that are random."""
        self.case.gradient_properties.append(holds)

    def dtypes(self, handle: Handle, *allowed: torch.dtype) -> None:
        """This part of a result may also come in these dtypes; it is then compared as such."""
        self.case.dtypes[(handle.step, *handle.path)] = frozenset(allowed)

    def opaque(self, handle: Handle) -> None:
        """This part of a result is the solution's own business: later calls take it, nothing else looks at it."""
        self.case.opaque.add((handle.step, *handle.path))

    def judge(self, holds: Callable[..., Complaints], *of: Handle | Tensor) -> None:
        """`holds` says what is wrong with these: it gets the outcome of each Handle and the gradient of each tensor.

        It returns a complaint or None, or yields several: the first is told, one of `make.digits_lost` only where
        there is no other. The results are no longer
        compared with the reference's but in shape and dtype, since they are random.
        """
        for part in of:
            if isinstance(part, Handle):
                self.compare(part, False)
                self.case.formed.add(part.step)
        places = [None if isinstance(part, Handle) else self._place(part) for part in of]

        def asked(outcomes: list[Any], gradients: list[Tensor]) -> Complaint | None:
            found = holds(
                *(
                    part.found_in(outcomes) if isinstance(part, Handle) else gradients[place or 0]
                    for part, place in zip(of, places, strict=True)
                )
            )
            return _first(found) if isinstance(found, Iterator) else found

        if any(place is not None for place in places):
            self.gradient_property(asked)
        else:
            self.property(lambda outcomes: asked(outcomes, []))

    def digits_lost(self, english: str, chinese: str) -> Complaint:
        """A complaint of the second rung: a float64 result has the digits of float32 and no more."""
        return DigitsLost((english, chinese))

    def _place(self, tensor: Tensor) -> int:
        index = self._pack(tensor)[1]
        return sum(item.grad for item in self.case.inputs[:index])

    def repeats(
        self, draw: Callable[[Generator | None], Handle], of: Callable[[Any], Any] | None = None, globally: bool = True
    ) -> None:
        """`draw(generator)` records a call: under equal states it draws the same, whatever was drawn in between.

        `of` takes what is drawn from a result; None stands for torch's global generator, where that is asked for.
        """
        rounds = []
        seed = self.case.generators[self.generator().index]
        for _ in range(2):
            rounds.append([draw(self.generator(seed))])
            if globally:
                self.manual_seed(seed)
                rounds[-1].append(draw(None))
        for first, second in zip(*rounds, strict=True):
            self._judge_draws(random_results.same_draws, of, first, second)

    def moves_on(
        self, draw: Callable[[Generator | None], Handle], of: Callable[[Any], Any] | None = None, globally: bool = True
    ) -> None:
        """A second call with the same generator draws anew."""
        for generator in (self.generator(), None) if globally else (self.generator(),):
            self._judge_draws(random_results.other_draws, of, draw(generator), draw(generator))

    def _judge_draws(self, holds: Any, of: Callable[[Any], Any] | None, *pair: Handle) -> None:
        self.judge(lambda *drawn: holds(*(map(of, drawn) if of else drawn)), *pair)

    def exact(self, handle: Handle) -> Handle:
        """Every bit of this result counts, the sign of a zero too."""
        self.case.exact.add(handle.step)
        return handle

    def compare(self, handle: Handle, flag: bool) -> None:
        (self.case.ignored.discard if flag else self.case.ignored.add)(handle.step)

    @abstractmethod
    def manual_seed(self, seed: int) -> Handle: ...

    @abstractmethod
    def generator(self, seed: int | None = None) -> Generator: ...

    @abstractmethod
    def _pack(self, value: Any) -> Tree: ...


def _first(complaints: Iterator[Complaint | None]) -> Complaint | None:
    light: Complaint | None = None
    for complaint in filter(None, complaints):
        if not isinstance(complaint, DigitsLost):
            return complaint
        light = light or complaint
    return light


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
