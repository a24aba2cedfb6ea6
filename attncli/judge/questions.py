"""Questions: one program about one case, and what is wrong with an answer to it.

A question knows nothing of who answers it: it is made once and put to every submission that is graded on its stream.
What the reference says to it is computed when the first answer has to be judged, and kept.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from attncli.domain.text import NOTHING, Localised
from attncli.judge.case import Case, refilled
from attncli.judge.challenge import Demands, call_name, tensor_trees
from attncli.judge.compare import Mismatch, Path, Rules, compare, gravest, leaves
from attncli.judge.guard import alone
from attncli.judge.messages import say
from attncli.judge.protocol import Request
from attncli.judge.reference import (
    Expectation,
    GradientExpectation,
    Observed,
    as_given,
    broken_gradient_properties,
    broken_properties,
    run_natively,
    run_reference,
)
from attncli.judge.submission import CaseFinding, Failure, gravest_finding
from attncli.sandbox import devices
from attncli.sandbox.devices import MET

# Questions about devices: does a program stay where its inputs are?
#
# A grading on the CPU emulates two devices for them. One on a GPU asks there: torch itself finds what is on the CPU.

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
        return self.case.profile.device in devices.AWAY

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
        due = {path: place for path, place in truth.lies.items() if place != devices.CPU}
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
        if self._device == devices.CUDA:
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
        super().__init__(demands, case, case.profile.device if case.profile.device in devices.AWAY else "elsewhere")

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
        tried = (there,) if there in devices.AWAY else ("elsewhere", "meta")
        self.turns = [OnDevice(demands, case, device) for device in tried]


# Edge cases say which calls were made, unless a loop over so many elements would take seconds under a trace.
TRACED_ELEMENTS = 5_000


class Values:
    """Is what the program returns what the reference returns?"""

    def __init__(self, demands: Demands, case: Case) -> None:
        self._demands = demands
        self.case = case

    @cached_property
    def request(self) -> Request | None:
        """What is put to the worker; None where there is nothing to be asked."""
        return Request(self.case)

    @cached_property
    def expectation(self) -> Expectation:
        return Expectation(self._demands.reference, self.case)

    def finding(self, got: Observed | Failure) -> CaseFinding | None:
        """The fault that an answer shows, or None."""
        if isinstance(got, Failure):
            return CaseFinding.of_failure(self.case, got, self.expectation.native)
        return gravest_finding(self._findings(got))

    def _findings(self, got: Observed) -> Iterator[CaseFinding | None]:
        yield self._mismatch(got)
        yield from _properties(self.case, self.expectation.truth, got)

    @cached_property
    def _due(self) -> tuple[dict[Any, Any], dict[Any, Any]]:
        return self.expectation.truth.parts(self.case), self.expectation.native.parts(self.case)

    @cached_property
    def _absolute(self) -> Mapping[str, float]:
        return self._demands.absolute(self.case.profile)

    @cached_property
    def _kept(self) -> defaultdict[Any, dict[Any, Any]]:
        return defaultdict(dict)

    @cached_property
    def _single(self) -> Expectation:
        wide = self.case.profile.dtype is torch.float64
        return Expectation(self._demands.reference, self.case, torch.float32) if wide else self.expectation

    def _rules(self, key: Any) -> Rules:
        return Rules(
            lambda path: self.expectation.slack((key, *path)),
            self._absolute,
            float32_inside=self._demands.float32_inside,
            exact=key in self.case.exact,
            dtypes=lambda path: self.case.dtypes.get((key, *path), ()),
            closer=lambda path: self.expectation.closer((key, *path)),
            inside=lambda path: self.expectation.inside((key, *path)),
            single=Rules(
                lambda path: self._single.slack((key, *path)),
                self._absolute,
                closer=lambda path: self._single.closer((key, *path)),
            ),
            kept=self._kept[key],
        )

    def _mismatch(self, got: Observed) -> CaseFinding | None:
        mismatch = gravest(self._mismatches(got))
        if mismatch is None:
            return self._other_form(got)
        found = CaseFinding.of_mismatch(self.case, mismatch, self.expectation.truth, got)
        return gravest_finding((found, self._other_form(got) if mismatch.digits_only else None))

    def _mismatches(self, got: Observed) -> Iterator[Mismatch | None]:
        mine = got.parts(self.case)
        truth, native = self._due
        for key, value in truth.items():
            if key not in mine:
                mismatch: Mismatch | None = Mismatch("shape", say("missing-result"), (key,), value, None)
            else:
                mismatch = compare(value, native[key], mine[key], self._rules(key))
            yield mismatch and _placed(self.case, key, mismatch)

    def _other_form(self, got: Observed) -> CaseFinding | None:
        """Results that are judged: the shape and the dtype alone are compared, of a tensor or of each in a tuple."""
        for step in sorted(self.case.formed & self.case.ignored):
            mine = dict(_in_tuples(got.outcomes[step]))
            for path, due in _in_tuples(self.expectation.native.outcomes[step]):
                if not isinstance(due, Tensor) or _form(due) == _form(mine.get(path)):
                    continue
                mismatch = compare(due, due, mine.get(path), self._rules(step), path)
                if mismatch is not None:
                    placed = _placed(self.case, step, mismatch)
                    return CaseFinding.of_mismatch(self.case, placed, self.expectation.truth, got)
        return None


class Edge(Values):
    """The values of a special case, without autograd as in inference, and whether anything was changed or shared."""

    @cached_property
    def request(self) -> Request | None:
        small = self.case.weight[0] <= TRACED_ELEMENTS and not self.case.tallies
        traced = small and self.case.profile.name == "ordinary"
        autograd = [] if self.case.differentiates else ["no-grad"]
        return Request(self.case, [*self._demands.watched, *autograd, *(["calls"] if traced else [])])

    def finding(self, got: Observed | Failure) -> CaseFinding | None:
        found = super().finding(got)
        if isinstance(got, Failure) or (found is not None and not found.of_production):
            return found
        complaint = impurity(self._demands, self.case, got)
        impure = None if complaint is None else CaseFinding(self.case, complaint[0], complaint[1], None, got)
        return gravest_finding((found, impure))


class Gradients:
    """Are the gradients of every input that asks for one those of the reference?"""

    def __init__(self, demands: Demands, case: Case) -> None:
        self._demands = demands
        self.case = case
        self.expectation = GradientExpectation(demands.reference, case)

    @cached_property
    def request(self) -> Request | None:
        return self._asked

    @cached_property
    def _asked(self) -> Request | None:
        due = self.expectation
        if not due.chosen:
            return None
        if self.case.gradient_properties:
            return Request(self.case, ["gradients"], due.chosen, due.ones)
        return Request(self.case, ["gradients"], due.chosen, due.cotangents) if due.cotangents else None

    def finding(self, got: Observed | Failure) -> CaseFinding | None:
        if isinstance(got, Failure):
            return CaseFinding.of_failure(self.case, got, self.expectation.native)
        if self.case.gradient_properties:
            return gravest_finding(self._of_random_results(got))
        truth = self.expectation.truth
        mismatch = gravest(self._mismatches(got))
        if mismatch is None:
            return None
        reason = "gradient" if mismatch.reason == "values" else mismatch.reason
        message = say("gradient-of", name=mismatch.path[1], fault=mismatch.message)
        digits_only = mismatch.digits_only
        return CaseFinding(self.case, reason, message, truth, got, mismatch, digits_only=digits_only)

    def _mismatches(self, got: Observed) -> Iterator[Mismatch | None]:
        for position, k in enumerate(self.expectation.chosen):
            want, mine = self.expectation.truth.gradients[position], got.gradients[position]
            mismatch = compare(want, want.to(self.case.inputs[k].value.dtype), mine, self._rules(position))
            name = self._demands.names(self.case).get(k, f"input {k}")
            yield mismatch and replace(mismatch, path=("gradient", name))

    @cached_property
    def _single(self) -> GradientExpectation:
        wide = self.case.profile.dtype is torch.float64
        return GradientExpectation(self._demands.reference, self.case, torch.float32) if wide else self.expectation

    @cached_property
    def _kept(self) -> defaultdict[int, dict[Any, Any]]:
        return defaultdict(dict)

    @cached_property
    def _floors(self) -> list[float]:
        return [self.expectation.floor(k) for k in self.expectation.chosen]

    def _rules(self, position: int) -> Rules:
        return Rules(
            lambda path: self.expectation.slack[position],
            {},
            whole=True,
            floor=self._floors[position],
            closer=lambda path: self.expectation.closer[position],
            single=Rules(
                lambda path: self._single.slack[position],
                {},
                whole=True,
                floor=self._floors[position],
                closer=lambda path: self._single.closer[position],
            ),
            kept=self._kept[position],
        )

    def _of_random_results(self, got: Observed) -> Iterator[CaseFinding | None]:
        native = self.expectation.native
        for broken in broken_gradient_properties(self.case, got):
            yield CaseFinding(self.case, "gradient", broken.message, native, got, digits_only=broken.digits_only)


class EdgeWithGradients(Gradients):
    """Values, gradients and purity of a special case in one run."""

    def __init__(self, demands: Demands, case: Case) -> None:
        super().__init__(demands, case)
        self._edge = Edge(demands, case)

    @cached_property
    def request(self) -> Request | None:
        if self._asked is None:
            return self._edge.request
        want = [*self._demands.watched, "gradients"]
        return Request(self.case, want, self._asked.leaves, self._asked.cotangents)

    def finding(self, got: Observed | Failure) -> CaseFinding | None:
        found = self._edge.finding(got)
        if self._asked is None or (found is not None and not found.of_production):
            return found
        return gravest_finding((super().finding(got), found))


class Purity:
    """Are inputs left unchanged, is nothing shared, and is the answer the same again?"""

    def __init__(self, demands: Demands, case: Case) -> None:
        self._demands = demands
        self.case = case
        self.request = Request(case, demands.watched)
        self.expectation = Expectation(demands.reference, case)

    @cached_property
    def refilled(self) -> Refilled | None:
        """The same calls again, with other values in the memory of the same tensors."""
        again = refilled(self.case)
        return None if again is None else Refilled(self._demands, self.case, again)

    @cached_property
    def without_graph(self) -> Request | None:
        """Where a challenge promises to work without autograd: with inputs that ask for gradients."""
        names = self._demands.names(self.case)
        asking = [k for k, item in enumerate(self.case.inputs) if item.grad and item.follow]
        chosen = [k for k in asking if names.get(k) in self._demands.without_graph]
        return Request(self.case, ["pure", "gradients"], chosen) if chosen else None


class Refilled(Values):
    """Does a second call see what its arguments hold by then, not what they held at the first?"""

    def __init__(self, demands: Demands, first: Case, again: Case) -> None:
        super().__init__(demands, again)
        self._first = first

    def finding(self, got: Observed | Failure) -> CaseFinding | None:
        found = super().finding(got)
        if found is None or found.mismatch is None:
            return None if found is None else replace(found, case=self._first)
        return CaseFinding(self._first, "depends-on-earlier-calls", say("answers-from-memory"))


Question = Values | Gradients | EdgeDevice
Compound = Devices | Purity


def _properties(case: Case, truth: Observed, got: Observed) -> Iterator[CaseFinding]:
    for message, of_values, digits_only in broken_properties(case, got):
        yield CaseFinding(case, "values", message, truth, got, of_property=of_values, digits_only=digits_only)


def _in_tuples(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The parts of a result that has a place for each; names and lists are the solution's own, unless `f` says more."""
    if not isinstance(value, tuple):
        yield path, value
        return
    for place, part in enumerate(value):
        yield from _in_tuples(part, (*path, place))


def _form(value: Any) -> Any:
    return (value.shape, value.dtype) if isinstance(value, Tensor) else None


def _placed(case: Case, key: Any, mismatch: Mismatch) -> Mismatch:
    if isinstance(key, str):
        place = say("changed-object" if key.startswith("shared") else "calls-of-callable")
    elif len(case.steps) > 1:
        place = say("call-of-many", name=call_name(case, key), number=key + 1, count=len(case.steps))
    else:
        place = NOTHING
    return replace(mismatch, message=mismatch.message + place, path=(key, *mismatch.path))


# What an answer must not have done: changed what it was given, or handed out memory that is not its own.

# What a call did to torch's own state: the reason and what is said of it.
_SAID = {
    "seeded": ("nondeterministic", "seeds-global"),
    "drawn": ("nondeterministic", "draws-global"),
    "dtype": ("mutated", "default-dtype-changed"),
    "autograd": ("mutated", "autograd-switched"),
}


def impurity(demands: Demands, case: Case, observed: Observed) -> tuple[str, Localised] | None:
    """The first fault as (reason, message), or None. `observed` is the answer to a request that wants "pure"."""
    shared = {tree[1] for tree in tensor_trees(case.shared)}
    for k in observed.pure.get("mutated") or ():
        if k not in shared:
            return "mutated", say("mutated-argument", name=demands.names(case).get(k, f"input {k}"))
    for step in observed.pure.get("containers") or ():
        return "mutated", say("mutated-container", name=call_name(case, step))
    if demands.modules_unchanged:
        for step in observed.pure.get("modules") or ():
            return "mutated", say("left-in-module", name=call_name(case, step))
    for step, kind in observed.pure.get("globals") or ():
        reason, key = _SAID[kind]
        return reason, say(key, name=call_name(case, step))
    return _sharing(demands, case, observed)


def _sharing(demands: Demands, case: Case, observed: Observed) -> tuple[str, Localised] | None:
    """Memory that is not the answer's own; it comes last, because all else weighs more."""
    for step, kind in observed.pure.get("aliased") or ():
        name = call_name(case, step)
        if kind == "input" and name not in demands.alias_allowed:
            return "aliased", say("aliased-argument", name=name)
        if kind == "kept":
            return "aliased", say("aliased-state", name=name)
        if kind == "earlier" and name not in demands.views_of_state:
            return "aliased", say("aliased-earlier", name=name)
    for step in observed.pure.get("instances") or ():
        return "aliased", say("aliased-objects", name=call_name(case, step))
    for step in observed.pure.get("changed") or ():
        if (name := call_name(case, step)) not in demands.views_of_state:
            return "aliased", say("changed-later", name=name)
    return None


def with_graph(case: Case, observed: Observed) -> Localised | None:
    """What hangs on the graph of autograd, in words, where a challenge promises to work without it."""
    for step in observed.pure.get("graph") or ():
        return say("state-on-graph") if step < 0 else say("result-on-graph", name=call_name(case, step))
    return None
