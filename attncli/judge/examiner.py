"""Asking a submission: one case at a time, or many questions with a few sent ahead of the answers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from torch import Tensor

from attncli.judge.case import Case
from attncli.judge.challenge import Demands
from attncli.judge.compare import Mismatch, Rules, compare, leaves
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
from attncli.judge.submission import CaseFinding, Failure, Submission

# Whether two answers to one case are the same answer.


def same(case: Case, expectation: Expectation, first: Observed, second: Observed) -> Mismatch | None:
    """Where two answers to one case differ by more than the tolerance of the case.

    What is not compared with the reference's is random, perhaps, but it comes from the same state of the generators.
    """
    before, after = first.parts(case), second.parts(case)
    due = dict(leaves(expectation.truth.parts(case)))
    for key, value in before.items():
        slack = partial(_slack_below, expectation, key)
        exact = key in case.exact or not _of_the_form_of(due, key, value)
        mismatch = compare(value, value, after[key], Rules(slack, {}, exact=exact))
        if mismatch is not None:
            return replace(mismatch, path=(key, *mismatch.path))
    for k in sorted(case.ignored):
        value, again = first.outcomes[k], second.outcomes[k]
        if isinstance(value, Tensor) and case.steps[k]["op"] in ("call", "method"):
            mismatch = compare(value, value, again, Rules(lambda path: None, {}))
            if mismatch is not None:
                return replace(mismatch, path=(k, *mismatch.path))
    return None


def _of_the_form_of(due: Mapping[Any, Any], key: Any, value: Any) -> bool:
    """Whether the tensors in an answer are as large as those that are due; what is said of these says nothing of
    others, which need not be widened either to be compared."""
    found = [(due.get((key, *path)), part) for path, part in leaves(value) if isinstance(part, Tensor)]
    return all(isinstance(want, Tensor) and want.shape == part.shape for want, part in found)


def _slack_below(expectation: Expectation, key: Any, path: Sequence[Any]) -> Tensor | None:
    return expectation.slack((key, *path))


# The inputs of edge cases may have 16 bits; what of that is forbidden shows in drawn cases.
WIDTHS = ("torch.float16", "torch.bfloat16")


Counts = Callable[[int, CaseFinding], bool]


def always(index: int, finding: CaseFinding) -> bool:
    return True


class Examiner:
    """Puts questions to a submission. Methods that take a case return the fault that it shows, or None."""

    def __init__(self, demands: Demands, submission: Submission) -> None:
        self._demands = demands
        self._submission = submission
        self.device_unproved = False
        self.seen: list[tuple[str, int]] = []
        self.made: set[str] = set()
        self.made_nothing: set[str] = set()

    def first_fault(self, questions: Sequence[Question], counts: Counts = always) -> tuple[int, CaseFinding] | None:
        """The position of the first question that shows a fault, with the fault; `counts` says which faults are."""
        asked: list[int] = []

        def requests() -> Generator[Request]:
            for index, question in enumerate(questions):
                if question.request is not None:
                    asked.append(index)
                    yield question.request

        with closing(self._submission.answers(requests())) as answers:
            for turn, got in enumerate(answers):
                finding = self._judged(questions[asked[turn]], got)
                if finding is not None and counts(asked[turn], finding):
                    return asked[turn], finding
        return None

    def first_fault_in_turn(
        self, questions: Sequence[Compound], counts: Counts = always
    ) -> tuple[int, CaseFinding] | None:
        """The same of questions that take several programs, of which one may depend on the answer to another."""
        for index, question in enumerate(questions):
            finding = self.stays_on_device(question) if isinstance(question, Devices) else self.is_pure(question)
            if finding is not None and counts(index, finding):
                return index, finding
        return None

    def ask(self, question: Question) -> CaseFinding | None:
        if question.request is None:
            return None
        return self._judged(question, self._submission.run(question.request))

    def _judged(self, question: Question, got: Observed | Failure) -> CaseFinding | None:
        if isinstance(got, Observed):
            self.seen += [(called, line) for called, line in got.seen if not called.startswith(WIDTHS)]
            if got.seen:
                (self.made if got.makes else self.made_nothing).add(question.case.label)
        return self._looked(question.case, lambda: question.finding(got))

    def _looked(self, case: Case, look: Callable[[], CaseFinding | None]) -> CaseFinding | None:
        """The fault that a look at an answer finds; an answer that cannot be looked at to the end is one."""
        try:
            return self._submission.guard.look(look)
        except Unjudgeable as fault:
            return CaseFinding(case, fault.reason, fault.message, fatal=fault.final)

    def values(self, case: Case) -> CaseFinding | None:
        return self.ask(Values(self._demands, case))

    def gradients(self, case: Case) -> CaseFinding | None:
        return self.ask(Gradients(self._demands, case))

    def again(self, question: Question) -> Callable[[Case], CaseFinding | None]:
        """The same question about other cases."""
        return lambda case: self.ask(type(question)(self._demands, case))

    def device(self, case: Case) -> CaseFinding | None:
        return self.stays_on_device(Devices(self._demands, case))

    def pure(self, case: Case) -> CaseFinding | None:
        return self.is_pure(Purity(self._demands, case))

    def stays_on_device(self, question: Devices) -> CaseFinding | None:
        """A tensor made on another device than the inputs' is an error there; so is to fail on both devices.

        Slowness is none: nothing is proved where a run was not over in time.
        """
        failed: CaseFinding | None = None
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

    def _device_verdict(self, question: OnDevice, got: Observed | Failure) -> tuple[CaseFinding | None, bool]:
        try:
            return self._submission.guard.look(lambda: question.verdict(got))
        except Unjudgeable as fault:
            return CaseFinding(question.case, fault.reason, fault.message, fatal=fault.final), True

    def is_pure(self, question: Purity) -> CaseFinding | None:
        case, answers = question.case, []
        shared: CaseFinding | None = None
        for _ in range(2):
            got = self._submission.run(question.request)
            if isinstance(got, Failure):
                return CaseFinding.of_failure(case, got)
            finding = self._looked(case, partial(self._impure, case, got))
            if finding is not None and finding.reason != "aliased":
                return finding
            shared = shared or finding
            answers.append(got)
        finding = self.same(question.expectation, answers[0], answers[1], "nondeterministic", "another-answer")
        return finding or self._answers_from_memory(question) or self._hangs_on_graph(question) or shared

    def _impure(self, case: Case, got: Observed) -> CaseFinding | None:
        complaint = impurity(self._demands, case, got)
        return None if complaint is None else CaseFinding(case, complaint[0], complaint[1], None, got)

    def _answers_from_memory(self, question: Purity) -> CaseFinding | None:
        """What is wrong without other values in its arguments too says nothing of memory."""
        asked = question.refilled
        found = None if asked is None else self.ask(asked)
        return found if found is not None and self.values(question.case) is None else None

    def _hangs_on_graph(self, question: Purity) -> CaseFinding | None:
        if question.without_graph is None:
            return None
        got = self._submission.run(question.without_graph)
        if isinstance(got, Failure):
            return CaseFinding.of_failure(question.case, got)
        complaint = with_graph(question.case, got)
        return None if complaint is None else CaseFinding(question.case, "values", complaint, None, got)

    def same(
        self, due: Expectation, first: Observed, second: Observed, reason: str, sentence: str
    ) -> CaseFinding | None:
        """Whether two answers to one case agree within its tolerance; `sentence` is what is said where they do not."""

        def look() -> CaseFinding | None:
            mismatch = same(due.case, due, first, second)
            if mismatch is None:
                return None
            return CaseFinding(due.case, reason, say(sentence, fault=mismatch.message), first, second, mismatch)

        return self._looked(due.case, look)
