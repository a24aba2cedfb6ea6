"""The judge's callables (a model, a step function) as learner code may call them: counted, bounded, looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor

from attncli.judge.case import Case
from attncli.judge.guard import Guard, Unjudgeable
from attncli.judge.messages import say
from attncli.judge.reference import logged
from attncli.sandbox.tensor_table import MAX_NODES, TreeError, bytes_of, describe_tensor, read_table
from attncli.sandbox.values import Environment, Packer, resolve

Buffer = bytes | bytearray | memoryview
Answer = tuple[dict[str, Any], list[Buffer]]

# The references call their models 40 times in a case, with tensors no larger than its inputs; code that decodes every
# sequence for itself, without a cache, calls a hundred times as often.
CALLS = 10_000
LARGER = 16
LEAST_ELEMENTS = 4096
LARGEST_INTEGER = 2**63


class Callables:
    """The callables of one case while one program runs. `calls` notes the shapes that each was called with."""

    def __init__(self, case: Case, guard: Guard) -> None:
        self._functions, self.calls = logged(case.callables)
        self._guard = guard
        self._left = CALLS
        self._case = case

    def answer(self, asked: Mapping[str, Any], payload: memoryview) -> Answer:
        """What is sent back for a call; one that cannot be used becomes an error there.

        Raises Unjudgeable where there were too many calls, or one takes too long: the program is over then.
        """
        self._left -= 1
        if self._left < 0:
            raise Unjudgeable("timeout", say("too-many-calls", count=CALLS))
        try:
            return self._guard.look(lambda: self._called(asked, payload), "unusable-call")
        except Unjudgeable as fault:
            if fault.reason == "timeout":
                raise
            return {"error": str(fault)}, []

    def _called(self, asked: Mapping[str, Any], payload: memoryview) -> Answer:
        tensors = read_table(asked["tensors"], payload)
        self._within_bounds(tensors)
        given = resolve(asked["arguments"], Environment(tensors, most_parts=MAX_NODES))
        if not (isinstance(given, list) and len(given) == 2 and isinstance(given[0], list) and type(given[1]) is dict):
            raise TreeError("no arguments")
        _refuse_large_integers(given)
        return packed(self._function(asked["callable"])(*given[0], **given[1]))

    def _function(self, index: Any) -> Callable[..., Any]:
        if type(index) is not int or not 0 <= index < len(self._functions):
            raise TreeError("no callable")
        return self._functions[index]

    def _within_bounds(self, tensors: Sequence[Tensor]) -> None:
        elements = sum(tensor.numel() for tensor in tensors)
        most = LEAST_ELEMENTS + LARGER * sum(item.value.numel() for item in self._case.inputs)
        if elements > most:
            raise TreeError(f"arguments of {elements} elements; no sound call has more than {most}")
        device = self._case.profile.device
        for tensor in tensors:
            if tensor.device.type not in ("cpu", device):
                raise TreeError(f"an argument on {tensor.device}; the inputs are on {device}")


def packed(result: Any) -> Answer:
    """A result of the judge's own as it is sent."""
    packer = Packer()
    tree = packer.pack(result)
    tensors = [t.detach() for t in packer.tensors]
    return {"value": tree, "tensors": [describe_tensor(t) for t in tensors]}, [bytes_of(t) for t in tensors]


def _refuse_large_integers(value: Any) -> None:
    if isinstance(value, (list, tuple)):
        for item in value:
            _refuse_large_integers(item)
    elif isinstance(value, dict):
        for item in value.values():
            _refuse_large_integers(item)
    elif type(value) is int and not -LARGEST_INTEGER <= value < LARGEST_INTEGER:
        raise TreeError("a whole number of more than 64 bits")
