"""Questions: one program about one case, and what is wrong with an answer to it.

A question knows nothing of who answers it: it is made once and put to every submission that is graded on its stream.
What the reference says to it is computed when the first answer has to be judged, and kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from torch import Tensor

from attncli.domain.text import NOTHING, Localised
from attncli.judge.answers.finding import CaseFinding
from attncli.judge.answers.request import Request
from attncli.judge.answers.submission import Failure
from attncli.judge.asking.devices import Devices, EdgeDevice
from attncli.judge.asking.purity import impurity
from attncli.judge.cases.case import Case, Complaint
from attncli.judge.cases.reused_memory import refilled
from attncli.judge.sentences import say
from attncli.judge.truth.compare import Mismatch, Path, Rules, compare
from attncli.judge.truth.demands import Demands, call_name
from attncli.judge.truth.expectation import Expectation
from attncli.judge.truth.gradients import GradientExpectation
from attncli.judge.truth.reference import Observed

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
        return self._mismatch(got) or _property(self.case, self.expectation.truth, got)

    @cached_property
    def _due(self) -> tuple[dict[Any, Any], dict[Any, Any]]:
        return self.expectation.truth.parts(self.case), self.expectation.native.parts(self.case)

    @cached_property
    def _absolute(self) -> Mapping[str, float]:
        return self._demands.absolute(self.case.profile)

    @cached_property
    def _kept(self) -> defaultdict[Any, dict[Any, Any]]:
        return defaultdict(dict)

    def _rules(self, key: Any) -> Rules:
        return Rules(
            lambda path: self.expectation.slack((key, *path)),
            self._absolute,
            float32_inside=self._demands.float32_inside,
            exact=key in self.case.exact,
            dtypes=lambda path: self.case.dtypes.get((key, *path), ()),
            closer=lambda path: self.expectation.closer((key, *path)),
            inside=lambda path: self.expectation.inside((key, *path)),
            kept=self._kept[key],
        )

    def _mismatch(self, got: Observed) -> CaseFinding | None:
        mine = got.parts(self.case)
        truth, native = self._due
        for key, value in truth.items():
            if key not in mine:
                mismatch: Mismatch | None = Mismatch("shape", say("missing-result"), (key,), value, None)
            else:
                mismatch = compare(value, native[key], mine[key], self._rules(key))
            if mismatch is not None:
                return CaseFinding.of_mismatch(
                    self.case, _placed(self.case, key, mismatch), self.expectation.truth, got
                )
        return self._other_form(got)

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
        if found is not None or isinstance(got, Failure):
            return found
        complaint = impurity(self._demands, self.case, got)
        return None if complaint is None else CaseFinding(self.case, complaint[0], complaint[1], None, got)


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
        if self.case.gradient_properties:
            return self._of_random_results(got)
        truth = self.expectation.truth
        if isinstance(got, Failure):
            return CaseFinding.of_failure(self.case, got, self.expectation.native)
        for position, k in enumerate(self.expectation.chosen):
            want, mine = truth.gradients[position], got.gradients[position]
            mismatch = compare(want, want.to(self.case.inputs[k].value.dtype), mine, self._rules(position))
            if mismatch is not None:
                reason = "gradient" if mismatch.reason == "values" else mismatch.reason
                name = self._demands.names(self.case).get(k, f"input {k}")
                mismatch = replace(mismatch, path=("gradient", name))
                message = say("gradient-of", name=name, fault=mismatch.message)
                return CaseFinding(self.case, reason, message, truth, got, mismatch)
        return None

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
            kept=self._kept[position],
        )

    def _of_random_results(self, got: Observed | Failure) -> CaseFinding | None:
        native = self.expectation.native
        if isinstance(got, Failure):
            return CaseFinding.of_failure(self.case, got, native)
        for holds in self.case.gradient_properties:
            complaint = _complaint(partial(holds, got.outcomes, got.gradients))
            if complaint is not None:
                return CaseFinding(self.case, "gradient", complaint, native, got)
        return None


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
        if self._asked is None or (found is not None and found.reason != "aliased"):
            return found
        return super().finding(got) or found


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


def _property(case: Case, truth: Observed, got: Observed) -> CaseFinding | None:
    """Properties speak of the values of their case; what is said of calls holds for simpler values too."""
    questions = [(partial(holds, got.outcomes), True) for holds in case.properties]
    questions += [(partial(holds, got.calls[k], got.outcomes), False) for k, holds in case.watched.items()]
    for question, of_property in questions:
        complaint = _complaint(question)
        if complaint is not None:
            return CaseFinding(case, "values", complaint, truth, got, of_property=of_property)
    return None


def _complaint(question: Callable[[], Complaint | None]) -> Localised | None:
    """What a property finds to be wrong. It is written for results of the form that was asked for: what it raises at
    others says that they have not that form."""
    try:
        complaint = question()
    except (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        return say("other-form-of-result", error=f"{type(error).__name__}: {str(error)[:300]}")
    return None if complaint is None else Localised(*complaint)


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
    return Mismatch(
        mismatch.reason,
        mismatch.message + place,
        (key, *mismatch.path),
        mismatch.expected,
        mismatch.got,
        mismatch.index,
    )
