"""Questions: one program about one case, and what is wrong with an answer to it.

A question knows nothing of who answers it: it is made once and put to every submission that is graded on its stream.
What the reference says to it is computed when the first answer has to be judged, and kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from attncli.domain.text import NOTHING
from attncli.judge.answers.finding import CaseFinding, gravest_finding
from attncli.judge.answers.request import Request
from attncli.judge.asking.devices import Devices, EdgeDevice
from attncli.judge.asking.purity import impurity
from attncli.judge.case import Case
from attncli.judge.cases.reused_memory import refilled
from attncli.judge.compare import Mismatch, Path, Rules, compare, gravest
from attncli.judge.messages import say
from attncli.judge.reference import Observed
from attncli.judge.submission import Failure
from attncli.judge.truth.demands import Demands, call_name
from attncli.judge.truth.expectation import Expectation
from attncli.judge.truth.gradients import GradientExpectation
from attncli.judge.truth.properties import broken_gradient_properties, broken_properties

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
