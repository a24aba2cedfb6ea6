"""Questions about devices: does a program stay where its inputs are?

A grading on the CPU emulates two devices for them. One on a GPU asks there: torch itself finds what is on the CPU.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property

from torch import Tensor

from attncli.judge.answers.finding import CaseFinding
from attncli.judge.answers.request import Request
from attncli.judge.case import Case
from attncli.judge.compare import leaves
from attncli.judge.guard import alone
from attncli.judge.messages import say
from attncli.judge.reference import Observed, as_given, run_natively, run_reference
from attncli.judge.submission import Failure
from attncli.judge.truth.demands import Demands
from attncli.sandbox import placement
from attncli.sandbox.devices import MET

_RAISES = re.compile(r"\b(?:raise|assert)\b")
# What torch, and Triton, say where tensors of the CPU and of a GPU meet.
_TWO_DEVICES = re.compile(
    r"same devices?\b|device type for generator|either on cpu|same device type|is on cpu|cpu tensor\?"
    r"|device type tensor to numpy"
)
_DEVICE, _BETWEEN = re.compile(r"\b(?:cuda|cpu)"), re.compile(r"\b(?:and|but|with)\b")
# What torch says where it would have to look at values that its meta device does not hold.
_NO_VALUES = (
    "no fake impl or Meta kernel registered",
    "cannot be called on meta tensors",
    "a correct data-independent implementation does not exist",
    "Cannot copy out of meta tensor",
)


class OnDevice:
    """Does it stay on the device of its inputs? "meta": torch's own, without values; "elsewhere": one with values.

    In a grading that is on a device itself, that one, and nothing but the place of what it makes is looked at.
    """

    def __init__(self, demands: Demands, case: Case, device: str) -> None:
        self._demands = demands
        self.case = case
        self._device = device

    @cached_property
    def request(self) -> Request:
        return Request(self.case, ["elsewhere"] if self._device == "elsewhere" and not self._real else [])

    @property
    def _real(self) -> bool:
        """Whether the grading is there, and nothing is emulated for this question."""
        return self.case.profile.device in placement.AWAY

    @cached_property
    @alone
    def truth(self) -> Observed | None:
        """What the reference does there; None where it cannot run, so that nothing can be shown."""
        try:
            if self._real:
                return run_natively(self._demands.reference, self.case, as_given)
            return run_reference(self._demands.reference, self.case, as_given, device=self._device)
        except (RuntimeError, NotImplementedError, ValueError, TypeError, IndexError):
            return None

    def verdict(self, got: Observed | Failure) -> tuple[CaseFinding | None, bool]:
        """The fault found, and whether the run proves it, or proves that there is none.

        That torch cannot do something on a device that is emulated proves nothing: a real one may be able to.
        """
        if self.truth is None:
            return None, False
        if self._real:
            return self._misplaced(got, self.truth), True
        if isinstance(got, Failure):
            proved = got.fatal or self._met(got) or refused(got)
            return (self._fault(got), proved) if proved or not wants_values(got) else (None, False)
        mine = dict(leaves(got.parts(self.case, formed=True)))
        for path, value in leaves(self.truth.parts(self.case, formed=True)):
            other = mine.get(path)
            if isinstance(value, Tensor) and isinstance(other, Tensor) and value.device != other.device:
                complaint = say("not-on-the-default" if self.case.default_device else "on-the-cpu")
                return CaseFinding(self.case, "values", complaint, self.truth, got), True
        return None, True

    def _misplaced(self, got: Observed | Failure, truth: Observed) -> CaseFinding | None:
        """What is on another device than with the reference, or met what is; other faults are for other checks."""
        if isinstance(got, Failure):
            return self._fault(got) if self._met(got) or refused(got) else None
        due = {path: place for path, place in truth.lies.items() if place != placement.CPU}
        if all(got.lies.get(path, place) == place for path, place in due.items()):
            return None
        complaint = say("not-on-the-default" if self.case.default_device else "on-the-cpu")
        return CaseFinding(self.case, "values", complaint, truth, got)

    def _fault(self, got: Failure) -> CaseFinding:
        finding = CaseFinding.of_failure(self.case, got, self.truth)
        if got.fatal or self._met(got):
            return finding
        return replace(finding, message=say("fails-on-another-device", fault=got.message))

    def _met(self, got: Failure) -> bool:
        """Whether it failed because two devices met."""
        text = got.message.en
        said = text.rpartition(" (line ")[0] or text  # without the learner's line of code
        if self._device == placement.CUDA:
            return _TWO_DEVICES.search(said) is not None or _names_two_devices(said)
        return MET in said if self._device == "elsewhere" else all(w in said for w in ("device", "meta", "cpu"))


def _names_two_devices(said: str) -> bool:
    """Whether it says "cuda:0 and cpu" or the like. One expression for all of it would take cubic time."""
    first = _DEVICE.search(said)
    between = _BETWEEN.search(said, first.end()) if first else None
    return between is not None and _DEVICE.search(said, between.end()) is not None


class EdgeDevice(OnDevice):
    """The same of a special case, where most pass: the reference is asked only when something looks wrong."""

    def __init__(self, demands: Demands, case: Case) -> None:
        super().__init__(demands, case, case.profile.device if case.profile.device in placement.AWAY else "elsewhere")

    def finding(self, got: Observed | Failure) -> CaseFinding | None:
        if self._real:
            return self.verdict(got)[0]
        if isinstance(got, Failure):
            suspect = MET in got.message.en or refused(got)
        else:
            parts = leaves(got.parts(self.case, formed=True))
            suspect = any(isinstance(part, Tensor) and part.device.type == "cpu" for _, part in parts)
        return self.verdict(got)[0] if suspect else None


def refused(got: Failure) -> bool:
    """Whether the learner's own code raised: what the reference can do there, it would not."""
    code = str(got.frames[-1].get("code", "")) if got.frames else ""
    return _RAISES.search(code) is not None


def wants_values(got: Failure) -> bool:
    """Whether torch's own meta device is what it failed on: a device with values would have gone on."""
    return any(words in got.message.en for words in _NO_VALUES)


class Devices:
    """On the CPU both emulated devices in turn: the second where the first shows nothing. Torch's own meta device costs
    half a second of imports, and code that looks at values cannot run on it."""

    def __init__(self, demands: Demands, case: Case) -> None:
        self.case = case
        there = case.profile.device
        tried = (there,) if there in placement.AWAY else ("elsewhere", "meta")
        self.turns = [OnDevice(demands, case, device) for device in tried]
