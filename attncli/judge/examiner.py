"""The examiner: it puts questions to a submission and judges the answers.

Requests for many questions are sent ahead of the answers. Every look at an answer is guarded: one that cannot be looked
at to the end is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from torch import Tensor

from attncli.judge.case import Case
from attncli.judge.challenge import Demands
from attncli.judge.compare import Mismatch, Path, Rules, compare, leaves
from attncli.judge.guard import Unjudgeable
from attncli.judge.messages import say
from attncli.judge.protocol import Request
from attncli.judge.questions import (
    Compound,
    Devices,
    Gradients,
    OnDevice,
    Purity,
    Question,
    Values,
    impurity,
    with_graph,
)
from attncli.judge.reference import Expectation, Observed
from attncli.judge.submission import FailedCase, Failure, Submission

# Tells by the position of a question and its finding whether that counts.
Counts = Callable[[int, FailedCase], bool]

# Calls that `seen` leaves out: edge cases may have inputs of 16 bits. If 16 bits are forbidden, drawn cases show it.
_SIXTEEN_BITS = ("torch.float16", "torch.bfloat16")


class Examiner:
    """Puts questions to a submission. Methods that take a question or a case return the fault found, or None.

    `seen` lists the traced calls (name, line). `made` has the labels of traced cases in which a tensor was made out of
    none, `made_nothing` those of the others. `device_unproved`: a question about devices proved nothing.
    """

    def __init__(self, demands: Demands, submission: Submission) -> None:
        self._demands = demands
        self._submission = submission
        self.device_unproved = False
        self.seen: list[tuple[str, int]] = []
        self.made: set[str] = set()
        self.made_nothing: set[str] = set()

    def first_fault(
        self, questions: Sequence[Question], counts: Counts = lambda index, finding: True
    ) -> tuple[int, FailedCase] | None:
        """Return the position of the first question that shows a fault that counts, with the fault."""
        asked: list[int] = []

        def requests() -> Generator[Request]:
            for index, question in enumerate(questions):
                if question.request is not None:
                    asked.append(index)
                    yield question.request

        with closing(self._submission.answers(requests())) as answers:
            for turn, actual in enumerate(answers):
                finding = self._judged(questions[asked[turn]], actual)
                if finding is not None and counts(asked[turn], finding):
                    return asked[turn], finding
        return None

    def first_fault_in_turn(
        self, questions: Sequence[Compound], counts: Counts = lambda index, finding: True
    ) -> tuple[int, FailedCase] | None:
        """Do the same for questions of several programs, of which one may depend on the answer to another."""
        for index, question in enumerate(questions):
            finding = self.stays_on_device(question) if isinstance(question, Devices) else self.is_pure(question)
            if finding is not None and counts(index, finding):
                return index, finding
        return None

    def ask(self, question: Question) -> FailedCase | None:
        if question.request is None:
            return None
        return self._judged(question, self._submission.run(question.request))

    def _judged(self, question: Question, actual: Observed | Failure) -> FailedCase | None:
        if isinstance(actual, Observed):
            self.seen += [(called, line) for called, line in actual.seen if not called.startswith(_SIXTEEN_BITS)]
            if actual.seen:
                (self.made if actual.makes else self.made_nothing).add(question.case.label)
        return self._guarded(question.case, lambda: question.finding(actual))

    def _guarded(self, case: Case, look: Callable[[], FailedCase | None]) -> FailedCase | None:
        """Return the fault that a look at an answer finds, or that it cannot be looked at to the end."""
        try:
            return self._submission.guard.look(look)
        except Unjudgeable as fault:
            return FailedCase(case, fault.reason, fault.message, fatal=fault.final)

    def values(self, case: Case) -> FailedCase | None:
        return self.ask(Values(self._demands, case))

    def gradients(self, case: Case) -> FailedCase | None:
        return self.ask(Gradients(self._demands, case))

    def again(self, question: Question) -> Callable[[Case], FailedCase | None]:
        """Return a function that puts the same question about other cases."""
        return lambda case: self.ask(type(question)(self._demands, case))

    def device(self, case: Case) -> FailedCase | None:
        return self.stays_on_device(Devices(self._demands, case))

    def pure(self, case: Case) -> FailedCase | None:
        return self.is_pure(Purity(self._demands, case))

    def stays_on_device(self, question: Devices) -> FailedCase | None:
        """Find tensors made on another device than the inputs', which fail there, or failures on both devices.

        Slowness is no fault: a run that was not over in time proves nothing.
        """
        failed: FailedCase | None = None
        for turn in question.turns:
            if turn.truth is None:
                continue
            finding, proved = self._device_verdict(turn, self._submission.run(turn.request))
            if proved:
                return finding
            failed = failed or finding
        if failed is not None and failed.reason != "timeout":
            return failed
        self.device_unproved = True
        return None

    def _device_verdict(self, question: OnDevice, actual: Observed | Failure) -> tuple[FailedCase | None, bool]:
        try:
            return self._submission.guard.look(lambda: question.verdict(actual))
        except Unjudgeable as fault:
            return FailedCase(question.case, fault.reason, fault.message, fatal=fault.final), True

    def is_pure(self, question: Purity) -> FailedCase | None:
        """Run the program twice and find changes, shared memory and other answers; shared memory weighs least."""
        case, answers = question.case, []
        shared: FailedCase | None = None
        for _ in range(2):
            actual = self._submission.run(question.request)
            if isinstance(actual, Failure):
                return FailedCase.of_failure(case, actual)
            finding = self._guarded(case, partial(self._impure, case, actual))
            if finding is not None and finding.reason != "aliased":
                return finding
            shared = shared or finding
            answers.append(actual)
        finding = self.same(question.expectation, answers[0], answers[1], "nondeterministic", "another-answer")
        return finding or self._answers_from_memory(question) or self._hangs_on_graph(question) or shared

    def _impure(self, case: Case, actual: Observed) -> FailedCase | None:
        complaint = impurity(self._demands, case, actual)
        return None if complaint is None else FailedCase(case, complaint[0], complaint[1], None, actual)

    def _answers_from_memory(self, question: Purity) -> FailedCase | None:
        """Find answers remembered from earlier calls; those that are wrong without these prove nothing."""
        asked = question.refilled
        found = None if asked is None else self.ask(asked)
        return found if found is not None and self.values(question.case) is None else None

    def _hangs_on_graph(self, question: Purity) -> FailedCase | None:
        if question.without_graph is None:
            return None
        actual = self._submission.run(question.without_graph)
        if isinstance(actual, Failure):
            return FailedCase.of_failure(question.case, actual)
        complaint = with_graph(question.case, actual)
        return None if complaint is None else FailedCase(question.case, "values", complaint, None, actual)

    def same(
        self, expectation: Expectation, first: Observed, second: Observed, reason: str, sentence: str
    ) -> FailedCase | None:
        """Find a mismatch of two answers to one case beyond its tolerance; `sentence` is the message for one."""
        case = expectation.case

        def look() -> FailedCase | None:
            mismatch = same(case, expectation, first, second)
            if mismatch is None:
                return None
            return FailedCase(case, reason, say(sentence, fault=mismatch.message), first, second, mismatch)

        return self._guarded(case, look)


def same(case: Case, expectation: Expectation, first: Observed, second: Observed) -> Mismatch | None:
    """Return the first mismatch of two answers to one case beyond its tolerance, or None.

    Results that are not compared with the reference are compared here: random ones come from equal generators.
    """
    before, after = first.parts(case), second.parts(case)
    expected = dict(leaves(expectation.truth.parts(case)))
    for key, value in before.items():
        exact = key in case.exact or not _has_form(expected, key, value)
        mismatch = compare(value, value, after[key], Rules(partial(_slack_below, expectation, key), {}, exact=exact))
        if mismatch is not None:
            return replace(mismatch, path=(key, *mismatch.path))
    for k in sorted(case.ignored):
        value, again = first.outcomes[k], second.outcomes[k]
        if isinstance(value, Tensor) and case.steps[k]["op"] in ("call", "method"):
            mismatch = compare(value, value, again, Rules(lambda path: None, {}))
            if mismatch is not None:
                return replace(mismatch, path=(k, *mismatch.path))
    return None


def _slack_below(expectation: Expectation, key: Any, path: Path) -> Tensor | None:
    return expectation.slack((key, *path))


def _has_form(expected: Mapping[Any, Any], key: Any, value: Any) -> bool:
    """Tell whether the tensors in an answer have the expected shapes: else no tolerance is known for them."""
    pairs = [(expected.get((key, *path)), part) for path, part in leaves(value) if isinstance(part, Tensor)]
    return all(isinstance(tensor, Tensor) and tensor.shape == part.shape for tensor, part in pairs)
