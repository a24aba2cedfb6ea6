"""A case as it is put to a worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import Tensor

from attncli.judge.case import Case
from attncli.sandbox.expression_function import ExpressionFunction
from attncli.sandbox.tensor_table import bytes_of, describe_tensor

# A sound answer has 2.5 MiB at most, and twice the size of its inputs where these are large; what is far beyond is no
# answer, and is not read.
REPLY_BYTES = 16 << 20
REPLY_TIMES = 16

# What is traced takes a few times as long, on the device that is emulated ("elsewhere") up to thirty times.
TRACED = frozenset({"calls", "cost", "handed", "operations"})
# What "handed" measures of the tensors that single calls return.
HANDED = ("handed", "repeated")


@dataclass(frozen=True)
class Request:
    """A case as it is put to a worker, and what is wanted to be known of it. Encoded once, however often it is sent."""

    case: Case
    want: Sequence[str] = ()
    leaves: Sequence[int] = ()
    cotangents: Sequence[tuple[int, list[Any], Tensor]] = ()

    @property
    def alone(self) -> bool:
        """Whether nothing is sent ahead: the learner's code waits for answers while it runs, or hundreds of calls take
        so long that they are not begun before it is known that they are needed."""
        asks = any(not isinstance(function, ExpressionFunction) for function in self.case.callables)
        return asks or self.case.tallies

    @property
    def traced(self) -> bool:
        return not TRACED.isdisjoint(self.want)

    @property
    def emulated(self) -> bool:
        return "elsewhere" in self.want

    @cached_property
    def reply_limit(self) -> int:
        """How many bytes an answer may have."""
        given = sum(item.value.numel() * item.value.element_size() for item in self.case.inputs)
        return REPLY_BYTES + REPLY_TIMES * given

    @cached_property
    def _strided(self) -> bool:
        return self.case.profile.layout == "strided"

    @cached_property
    def header(self) -> dict[str, Any]:
        case, count = self.case, len(self.case.inputs)
        return {
            "op": "run",
            "seed": case.seed,
            "device": case.profile.device,
            "default_device": case.default_device,
            "dtype": str(case.profile.dtype).removeprefix("torch."),
            "steps": case.steps,
            "shared": case.shared,
            "generators": case.generators,
            "callables": [f.text if isinstance(f, ExpressionFunction) else None for f in case.callables],
            "want": list(self.want),
            "leaves": list(self.leaves),
            "cotangents": [[step, path, count + k] for k, (step, path, _) in enumerate(self.cotangents)],
            "tensors": [
                *(describe_tensor(item.value, keep_strides=self._strided) for item in case.inputs),
                *(describe_tensor(vector) for _, _, vector in self.cotangents),
            ],
        }

    @cached_property
    def buffers(self) -> list[bytes]:
        """The bytes of the tensors in the header."""
        given = [bytes_of(item.value, keep_strides=self._strided) for item in self.case.inputs]
        return [*given, *(bytes_of(vector) for _, _, vector in self.cotangents)]
