"""Questions: a request about one case, and the judgement of an answer to it.

A question is independent of the submission: it is made once and put to every submission that is graded on its stream.
The reference's answer is computed for the first answer to judge, and cached. Methods `finding` return the failed case
that an answer shows, or None. Methods `examine` run several programs, of which one may depend on the answer to another.
`KINDS` names the question of each kind of check.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Protocol

import torch
from torch import Tensor

from attncli.domain.checks import Kind
from attncli.i18n import NOTHING, Localised
from attncli.judge.case import Case, parts_of, refilled
from attncli.judge.challenge import Folder, call_name
from attncli.judge.compare import Mismatch, Path, Rules, compare, gravest, leaves
from attncli.judge.guard import Unjudgeable, alone
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
from attncli.judge.submission import FailedCase, Failure, Submission, gravest_finding
from attncli.sandbox import devices
from attncli.sandbox.devices import MET

# Edge cases of more elements are not traced: a loop over them would take seconds under a trace.
TRACED_ELEMENTS = 5_000


class Values:
    """Check the values: the program returns those of the reference."""

    def __init__(self, folder: Folder, case: Case) -> None:
        self._folder = folder
        self.case = case

    @cached_property
    def request(self) -> Request | None:
        """The request to the worker; None if there is nothing to ask."""
        return Request(self.case)

    @cached_property
    def expectation(self) -> Expectation:
        return Expectation(self._folder.reference, self.case)

    def finding(self, actual: Observed | Failure) -> FailedCase | None:
        if isinstance(actual, Failure):
            return FailedCase.of_failure(self.case, actual, self.expectation.native)
        return gravest_finding(self._findings(actual))

    def _findings(self, actual: Observed) -> Iterator[FailedCase | None]:
        yield self._mismatch(actual)
        truth = self.expectation.truth
        for message, of_values, digits_only in broken_properties(self.case, actual):
            yield FailedCase(
                self.case, "values", message, truth, actual, of_property=of_values, digits_only=digits_only
            )

    def _mismatch(self, actual: Observed) -> FailedCase | None:
        mismatch = gravest(self._mismatches(actual), lambda each: each.digits_only)
        if mismatch is None:
            return self._other_form(actual)
        found = FailedCase.of_mismatch(self.case, mismatch, self.expectation.truth, actual)
        return gravest_finding((found, self._other_form(actual) if mismatch.digits_only else None))

    def _mismatches(self, actual: Observed) -> Iterator[Mismatch | None]:
        actual_parts = actual.parts(self.case)
        truth, native = self._expected_parts
        for key, value in truth.items():
            if key not in actual_parts:
                mismatch: Mismatch | None = Mismatch("shape", say("missing-result"), (key,), value, None)
            else:
                mismatch = compare(value, native[key], actual_parts[key], self._rules(key))
            yield mismatch and _placed(self.case, key, mismatch)

    def _other_form(self, actual: Observed) -> FailedCase | None:
        """Compare only shapes and dtypes of results judged by properties: of a tensor, or of each in a tuple."""
        for step in sorted(self.case.formed & self.case.ignored):
            actual_parts = dict(_in_tuples(actual.outcomes[step]))
            for path, expected in _in_tuples(self.expectation.native.outcomes[step]):
                part = actual_parts.get(path)
                if not isinstance(expected, Tensor) or _form(expected) == _form(part):
                    continue
                mismatch = compare(expected, expected, part, self._rules(step), path)
                if mismatch is not None:
                    placed = _placed(self.case, step, mismatch)
                    return FailedCase.of_mismatch(self.case, placed, self.expectation.truth, actual)
        return None

    @cached_property
    def _expected_parts(self) -> tuple[dict[Any, Any], dict[Any, Any]]:
        return self.expectation.truth.parts(self.case), self.expectation.native.parts(self.case)

    def _rules(self, key: Any) -> Rules:
        granted = self._folder.absolute(self.case.profile)
        return replace(
            self._measured(self.expectation, key, absolute=granted),
            float32_inside=self._folder.facts.float32_inside,
            exact=key in self.case.exact,
            dtypes=lambda path: self.case.dtypes.get((key, *path), ()),
            inside=lambda path: self.expectation.inside.get((key, *path)),
            single=self._measured(self._single, key, absolute=granted),
            kept=self._kept[key],
        )

    def _measured(self, expectation: Expectation, key: Any, **others: Any) -> Rules:
        """Return rules with the slack that is measured for one part of the answer."""
        return Rules(
            lambda path: expectation.slack.get((key, *path)),
            closer=lambda path: expectation.closer.get((key, *path)),
            **others,
        )

    @cached_property
    def _single(self) -> Expectation:
        """The expectation for float64 results that have only the digits of float32."""
        wide, kind = self.case.profile.dtype is torch.float64, type(self.expectation)
        return kind(self._folder.reference, self.case, torch.float32) if wide else self.expectation

    @cached_property
    def _kept(self) -> defaultdict[Any, dict[Any, Any]]:
        return defaultdict(dict)


class Edge(Values):
    """Check the values of an edge case without autograd, and that nothing was changed or shared."""

    @cached_property
    def request(self) -> Request | None:
        small = self.case.weight[0] <= TRACED_ELEMENTS and not self.case.tallies
        traced = small and self.case.profile.name == "ordinary"
        differentiates = any(step.get("name") == "backward" for step in self.case.steps)
        autograd = [] if differentiates else ["no-grad"]
        return Request(self.case, [*self._folder.watched, *autograd, *(["calls"] if traced else [])])

    def finding(self, actual: Observed | Failure) -> FailedCase | None:
        found = super().finding(actual)
        if isinstance(actual, Failure) or (found is not None and not found.of_production):
            return found
        return gravest_finding((found, _impure(self._folder, self.case, actual)))


class Gradients(Values):
    """Check the gradients of every input that asks for one."""

    @cached_property
    def expectation(self) -> GradientExpectation:
        return GradientExpectation(self._folder.reference, self.case)

    @cached_property
    def request(self) -> Request | None:
        return self._asked

    @cached_property
    def _asked(self) -> Request | None:
        expected = self.expectation
        if not expected.chosen:
            return None
        cotangents = expected.ones if self.case.gradient_properties else expected.cotangents
        if not cotangents and not self.case.gradient_properties:
            return None
        return Request(self.case, ["gradients"], expected.chosen, cotangents)

    def finding(self, actual: Observed | Failure) -> FailedCase | None:
        if isinstance(actual, Failure):
            return FailedCase.of_failure(self.case, actual, self.expectation.native)
        if self.case.gradient_properties:
            native, broken = self.expectation.native, broken_gradient_properties(self.case, actual)
            return gravest_finding(
                FailedCase(self.case, "gradient", each.message, native, actual, digits_only=each.digits_only)
                for each in broken
            )
        truth = self.expectation.truth
        mismatch = gravest(self._mismatches(actual), lambda each: each.digits_only)
        if mismatch is None:
            return None
        reason = "gradient" if mismatch.reason == "values" else mismatch.reason
        message = say("gradient-of", name=mismatch.path[1], fault=mismatch.message)
        return FailedCase(self.case, reason, message, truth, actual, mismatch, digits_only=mismatch.digits_only)

    def _mismatches(self, actual: Observed) -> Iterator[Mismatch | None]:
        for position, k in enumerate(self.expectation.chosen):
            expected = self.expectation.truth.gradients[position]
            native = expected.to(self.case.inputs[k].value.dtype)
            mismatch = compare(expected, native, actual.gradients[position], self._rules(position))
            yield mismatch and replace(mismatch, path=("gradient", self._names.get(k, f"input {k}")))

    @cached_property
    def _names(self) -> dict[int, str]:
        return self._folder.names(self.case)

    @cached_property
    def _floors(self) -> list[float]:
        return [self.expectation.floor(k) for k in self.expectation.chosen]

    def _rules(self, key: int) -> Rules:
        common = {"absolute": {}, "whole": True, "floor": self._floors[key]}
        single = self._measured(self._single, key, **common)
        return replace(self._measured(self.expectation, key, **common), single=single, kept=self._kept[key])


class EdgeWithGradients(Gradients):
    """Values, gradients and purity of an edge case in one run."""

    def __init__(self, folder: Folder, case: Case) -> None:
        super().__init__(folder, case)
        self._edge = Edge(folder, case)

    @cached_property
    def request(self) -> Request | None:
        if self._asked is None:
            return self._edge.request
        want = [*self._folder.watched, "gradients"]
        return Request(self.case, want, self._asked.leaves, self._asked.cotangents)

    def finding(self, actual: Observed | Failure) -> FailedCase | None:
        found = self._edge.finding(actual)
        if self._asked is None or (found is not None and not found.of_production):
            return found
        return gravest_finding((super().finding(actual), found))


class Purity:
    """Check that inputs stay unchanged, nothing is shared, and the answer is the same again."""

    def __init__(self, folder: Folder, case: Case) -> None:
        self._folder = folder
        self.case = case
        self.request = Request(case, folder.watched)
        self.expectation = Expectation(folder.reference, case)

    @cached_property
    def refilled(self) -> Refilled | None:
        """The same calls again, with other values in the memory of the same tensors; None if that proves nothing."""
        again = refilled(self.case)
        return None if again is None else Refilled(self._folder, self.case, again)

    @cached_property
    def without_graph(self) -> Request | None:
        """A request with gradients for the inputs in WITHOUT_GRAPH, on whose graph nothing may depend; or None."""
        if not self._folder.facts.without_graph:
            return None
        names = self._folder.names(self.case)
        asking = [k for k, item in enumerate(self.case.inputs) if item.grad and item.follow]
        chosen = [k for k in asking if names.get(k) in self._folder.facts.without_graph]
        return Request(self.case, ["pure", "gradients"], chosen) if chosen else None

    def examine(self, asking: Asking) -> FailedCase | None:
        """Run the program twice and find changes, different answers and, with the least weight, shared memory."""
        answers = []
        shared: FailedCase | None = None
        for _ in range(2):
            actual = asking.submission.run(self.request)
            if isinstance(actual, Failure):
                return FailedCase.of_failure(self.case, actual)
            finding = guarded(asking.submission, self.case, partial(_impure, self._folder, self.case, actual))
            if finding is not None and finding.reason != "aliased":
                return finding
            shared = shared or finding
            answers.append(actual)
        first, second = answers
        finding = differing(asking.submission, self.expectation, first, second, "nondeterministic", "another-answer")
        if finding is not None:
            return finding
        remembered = None if self.refilled is None else asking.ask(self.refilled)
        # An answer that is wrong even without earlier calls proves nothing.
        if remembered is not None and asking.ask(Values(self._folder, self.case)) is None:
            return remembered
        return self._hangs_on_graph(asking.submission) or shared

    def _hangs_on_graph(self, submission: Submission) -> FailedCase | None:
        if self.without_graph is None:
            return None
        actual = submission.run(self.without_graph)
        if isinstance(actual, Failure):
            return FailedCase.of_failure(self.case, actual)
        complaint = with_graph(self.case, actual)
        return None if complaint is None else FailedCase(self.case, "values", complaint, None, actual)


class Refilled(Values):
    """Check that a second call sees the present values of its arguments, not those of the first call."""

    def __init__(self, folder: Folder, first: Case, again: Case) -> None:
        super().__init__(folder, again)
        self._first = first

    def finding(self, actual: Observed | Failure) -> FailedCase | None:
        found = super().finding(actual)
        if found is None or found.mismatch is None:
            return None if found is None else replace(found, case=self._first)
        return FailedCase(self._first, "depends-on-earlier-calls", say("answers-from-memory"))


def _in_tuples(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the parts of nested tuples; lists and dicts are left to the solution."""
    if not isinstance(value, tuple):
        yield path, value
        return
    for place, part in enumerate(value):
        yield from _in_tuples(part, (*path, place))


def _form(value: Any) -> Any:
    return (value.shape, value.dtype) if isinstance(value, Tensor) else None


def _placed(case: Case, key: Any, mismatch: Mismatch) -> Mismatch:
    """Add the call, shared object or callable of a mismatch to its message and path."""
    if isinstance(key, str):
        place = say("changed-object" if key.startswith("shared") else "calls-of-callable")
    elif len(case.steps) > 1:
        place = say("call-of-many", name=call_name(case, key), number=key + 1, count=len(case.steps))
    else:
        place = NOTHING
    return replace(mismatch, message=mismatch.message + place, path=(key, *mismatch.path))


# Devices: a grading on the CPU emulates two others; one on a GPU uses that, where torch itself rejects CPU tensors.

_RAISES = re.compile(r"\b(?:raise|assert)\b")
# Errors of torch and Triton about tensors of the CPU and of a GPU in one operation.
_TWO_DEVICES = re.compile(
    r"same devices?\b|device type for generator|either on cpu|same device type|is on cpu|cpu tensor\?"
    r"|device type tensor to numpy"
)
_DEVICE, _BETWEEN = re.compile(r"\b(?:cuda|cpu)"), re.compile(r"\b(?:and|but|with)\b")
# Errors of torch's meta device, which has no values, at operations that need values.
_NO_VALUES = (
    "no fake impl or Meta kernel registered",
    "cannot be called on meta tensors",
    "a correct data-independent implementation does not exist",
    "Cannot copy out of meta tensor",
)


class OnDevice:
    """Check that the program stays on the device of its inputs.

    `device` is "meta", which is torch's own and has no values, or "elsewhere", which has values. In a grading on
    another device it is that one, and only the devices of results are judged.
    """

    def __init__(self, folder: Folder, case: Case, device: str) -> None:
        self._folder = folder
        self.case = case
        self._device = device

    @cached_property
    def request(self) -> Request:
        return Request(self.case, ["elsewhere"] if self._device == "elsewhere" and not self._real else [])

    @property
    def _real(self) -> bool:
        """True if the grading is on that device, so that nothing is emulated."""
        return self.case.profile.device in devices.AWAY

    @cached_property
    @alone
    def truth(self) -> Observed | None:
        """The reference's answer on this device; None if it cannot run there, so that nothing can be proved."""
        try:
            if self._real:
                return run_natively(self._folder.reference, self.case, as_given)
            return run_reference(self._folder.reference, self.case, as_given, device=self._device)
        except (RuntimeError, NotImplementedError, ValueError, TypeError, IndexError):
            return None

    def verdict(self, actual: Observed | Failure) -> tuple[FailedCase | None, bool]:
        """Return the failed case or None, and True if the run proves the failure or its absence.

        An operation that torch lacks on an emulated device proves nothing: a real one may have it.
        """
        if self.truth is None:
            return None, False
        if self._real:
            return self._misplaced(actual, self.truth), True
        if isinstance(actual, Failure):
            proved = actual.fatal or self._met(actual) or _refused(actual)
            return (self._fault(actual), proved) if proved or not wants_values(actual) else (None, False)
        actual_parts = dict(leaves(actual.parts(self.case, formed=True)))
        for path, expected in leaves(self.truth.parts(self.case, formed=True)):
            part = actual_parts.get(path)
            if isinstance(expected, Tensor) and isinstance(part, Tensor) and expected.device != part.device:
                return self._on_the_cpu(actual, self.truth), True
        return None, True

    def _misplaced(self, actual: Observed | Failure, truth: Observed) -> FailedCase | None:
        """Return the failed case of a result on another device than the reference's; other checks find other errors."""
        if isinstance(actual, Failure):
            return self._fault(actual) if self._met(actual) or _refused(actual) else None
        expected = {path: place for path, place in truth.devices.items() if place != devices.CPU}
        if all(actual.devices.get(path, place) == place for path, place in expected.items()):
            return None
        return self._on_the_cpu(actual, truth)

    def _on_the_cpu(self, actual: Observed, truth: Observed) -> FailedCase:
        message = say("not-on-the-default" if self.case.default_device else "on-the-cpu")
        return FailedCase(self.case, "values", message, truth, actual)

    def _fault(self, failure: Failure) -> FailedCase:
        finding = FailedCase.of_failure(self.case, failure, self.truth)
        if failure.fatal or self._met(failure):
            return finding
        return replace(finding, message=say("fails-on-another-device", fault=failure.message))

    def _met(self, failure: Failure) -> bool:
        """Return True if an operation on tensors of two devices caused the failure."""
        message = failure.message.en
        error = message.rpartition(" (line ")[0] or message  # without the learner's line of code
        if self._device == devices.CUDA:
            return _TWO_DEVICES.search(error) is not None or _names_two_devices(error)
        return MET in error if self._device == "elsewhere" else all(w in error for w in ("device", "meta", "cpu"))


def _names_two_devices(error: str) -> bool:
    """Return True if it says "cuda:0 and cpu" or the like. A single regular expression would take cubic time."""
    first = _DEVICE.search(error)
    between = _BETWEEN.search(error, first.end()) if first else None
    return between is not None and _DEVICE.search(error, between.end()) is not None


class EdgeDevice(OnDevice):
    """OnDevice for an edge case. Most pass, so the reference runs only when something looks wrong."""

    def __init__(self, folder: Folder, case: Case) -> None:
        super().__init__(folder, case, case.profile.device if case.profile.device in devices.AWAY else "elsewhere")

    def finding(self, actual: Observed | Failure) -> FailedCase | None:
        if self._real:
            return self.verdict(actual)[0]
        if isinstance(actual, Failure):
            suspect = MET in actual.message.en or _refused(actual)
        else:
            parts = leaves(actual.parts(self.case, formed=True))
            suspect = any(isinstance(part, Tensor) and part.device.type == "cpu" for _, part in parts)
        return self.verdict(actual)[0] if suspect else None


def _refused(failure: Failure) -> bool:
    """Return True if the learner's own code raised the error, by `raise` or `assert`."""
    code = str(failure.frames[-1].get("code", "")) if failure.frames else ""
    return _RAISES.search(code) is not None


def wants_values(failure: Failure) -> bool:
    """Return True if the code failed only because the meta device has no values."""
    return any(words in failure.message.en for words in _NO_VALUES)


class Devices:
    """Check that the program stays on the device of its inputs, on the CPU with both emulated devices in turn.

    The second, torch's meta device, is used if the first proves nothing: it costs half a second of imports, and code
    that looks at values cannot run on it.
    """

    def __init__(self, folder: Folder, case: Case) -> None:
        self.case = case
        there = case.profile.device
        tried = (there,) if there in devices.AWAY else ("elsewhere", "meta")
        self.turns = [OnDevice(folder, case, device) for device in tried]

    def examine(self, asking: Asking) -> FailedCase | None:
        """Find tensors made on another device than the inputs', which fail there, or failures on both devices.

        Slowness is no error: a run that times out proves nothing.
        """
        failed: FailedCase | None = None
        for turn in self.turns:
            if turn.truth is None:
                continue
            actual = asking.submission.run(turn.request)
            try:
                finding, proved = asking.submission.guard.look(partial(turn.verdict, actual))
            except Unjudgeable as fault:
                return FailedCase.of_unjudgeable(self.case, fault)
            if proved:
                return finding
            failed = failed or finding
        if failed is not None and failed.reason != "timeout":
            return failed
        asking.device_unproved = True
        return None


Question = Values | EdgeDevice
Compound = Devices | Purity
KINDS: dict[Kind, Callable[[Folder, Case], Any]] = {
    "values": Values,
    "gradients": Gradients,
    "device": Devices,
    "pure": Purity,
}


class Asking(Protocol):
    """The grading that puts a question. `device_unproved`: a question about devices proved nothing."""

    submission: Submission
    device_unproved: bool

    def ask(self, question: Question) -> FailedCase | None:
        """Return the failed case, or None."""


# Purity: an answer must not change its arguments, nor share memory

# Changes that a call may make to torch's own state: the reason and the message.
_GLOBAL_CHANGES = {
    "seeded": ("nondeterministic", "seeds-global"),
    "drawn": ("nondeterministic", "draws-global"),
    "dtype": ("mutated", "default-dtype-changed"),
    "autograd": ("mutated", "autograd-switched"),
}


def _impure(folder: Folder, case: Case, actual: Observed) -> FailedCase | None:
    complaint = impurity(folder, case, actual)
    return None if complaint is None else FailedCase(case, complaint[0], complaint[1], None, actual)


def impurity(folder: Folder, case: Case, observed: Observed) -> tuple[str, Localised] | None:
    """Return the first error as (reason, message), or None. `observed` is the answer to a request that wants "pure".

    Sharing comes last, because all other errors weigh more.
    """
    shared = {part[1] for tree in case.shared for part in parts_of(tree) if part[0] == "t"}
    for k in observed.pure.get("mutated") or ():
        if k not in shared:
            return "mutated", say("mutated-argument", name=folder.names(case).get(k, f"input {k}"))
    for step in observed.pure.get("containers") or ():
        return "mutated", say("mutated-container", name=call_name(case, step))
    if folder.facts.modules_unchanged:
        for step in observed.pure.get("modules") or ():
            return "mutated", say("left-in-module", name=call_name(case, step))
    for step, kind in observed.pure.get("globals") or ():
        reason, key = _GLOBAL_CHANGES[kind]
        return reason, say(key, name=call_name(case, step))
    return _sharing(folder, case, observed)


def _sharing(folder: Folder, case: Case, observed: Observed) -> tuple[str, Localised] | None:
    for step, kind in observed.pure.get("aliased") or ():
        name = call_name(case, step)
        if kind == "input" and name not in folder.facts.alias_allowed:
            return "aliased", say("aliased-argument", name=name)
        if kind == "kept":
            return "aliased", say("aliased-state", name=name)
        if kind == "earlier" and name not in folder.facts.views_of_state:
            return "aliased", say("aliased-earlier", name=name)
    for step in observed.pure.get("instances") or ():
        return "aliased", say("aliased-objects", name=call_name(case, step))
    for step in observed.pure.get("changed") or ():
        if (name := call_name(case, step)) not in folder.facts.views_of_state:
            return "aliased", say("changed-later", name=name)
    return None


def with_graph(case: Case, observed: Observed) -> Localised | None:
    """Return the complaint about results or state on the graph of autograd, or None."""
    for step in observed.pure.get("graph") or ():
        return say("state-on-graph") if step < 0 else say("result-on-graph", name=call_name(case, step))
    return None


# Looks at answers


def guarded(submission: Submission, case: Case, look: Callable[[], FailedCase | None]) -> FailedCase | None:
    """Return the failed case that a look at an answer finds; also if the answer cannot be read to the end."""
    try:
        return submission.guard.look(look)
    except Unjudgeable as fault:
        return FailedCase.of_unjudgeable(case, fault)


def differing(
    submission: Submission, expectation: Expectation, first: Observed, second: Observed, reason: str, sentence: str
) -> FailedCase | None:
    """Return the failed case if two answers to one case differ beyond its tolerance; `sentence` is its message."""
    case = expectation.case

    def look() -> FailedCase | None:
        mismatch = same(case, expectation, first, second)
        if mismatch is None:
            return None
        return FailedCase(case, reason, say(sentence, fault=mismatch.message), first, second, mismatch)

    return guarded(submission, case, look)


def same(case: Case, expectation: Expectation, first: Observed, second: Observed) -> Mismatch | None:
    """Return the first mismatch of two answers to one case beyond its tolerance, or None.

    Results that are not compared with the reference are compared here: random ones come from equal generators.
    """
    before, after = first.parts(case), second.parts(case)
    expected = dict(leaves(expectation.truth.parts(case)))
    for key, value in before.items():
        tensors = [(expected.get((key, *path)), part) for path, part in leaves(value) if isinstance(part, Tensor)]
        # No tolerance is known for tensors of another shape than expected.
        has_form = all(isinstance(due, Tensor) and due.shape == part.shape for due, part in tensors)
        exact = key in case.exact or not has_form
        rules = Rules(lambda path, key=key: expectation.slack.get((key, *path)), {}, exact=exact)  # type: ignore[misc]
        mismatch = compare(value, value, after[key], rules)
        if mismatch is not None:
            return replace(mismatch, path=(key, *mismatch.path))
    for k in sorted(case.ignored):
        value, again = first.outcomes[k], second.outcomes[k]
        if isinstance(value, Tensor) and case.steps[k]["op"] in ("call", "method"):
            mismatch = compare(value, value, again, Rules(lambda path: None, {}))
            if mismatch is not None:
                return replace(mismatch, path=(k, *mismatch.path))
    return None
