"""The half of `make` that says how results are judged: compared, counted, or held to what must be true of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from attncli.errors import JudgeFailed
from attncli.judge import random_results
from attncli.judge.case import Callback, CallsHold, Complaint, DigitsLost, Generator, Handle
from attncli.judge.drawing import Drawing
from attncli.sandbox.expression_function import ExpressionFunction
from attncli.sandbox.values import Tree

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
