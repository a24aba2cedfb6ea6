"""A typed case put to the reference and to the learner's file: what each answers, and where they differ."""

from __future__ import annotations

from dataclasses import dataclass, replace

from attncli.domain.case_answers import BothAnswers
from attncli.domain.grade_report import Counterexample
from attncli.domain.text import NOTHING, Localised
from attncli.judge.answers.finding import CaseFinding
from attncli.judge.answers.request import Request
from attncli.judge.case import Case
from attncli.judge.challenge import Folder
from attncli.judge.compare import Mismatch
from attncli.judge.counterexample import render
from attncli.judge.guard import Guard, Unjudgeable
from attncli.judge.messages import say
from attncli.judge.questions import Values
from attncli.judge.reference import Observed, as_given, run_reference
from attncli.judge.submission import Failure, Submission
from attncli.judge.truth.demands import Demands
from attncli.judge.try_case import typed_case
from attncli.judge.trying.against_facts import forbidden
from attncli.judge.trying.untypable import Untypable
from attncli.sandbox.exceptions import reason_of

# What the reference may take for a case that nobody has tried before.
REFERENCE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _Trial:
    """A case, what the reference returns for it, and what the file does."""

    case: Case
    demands: Demands
    due: Observed
    got: Observed | Failure


def both_answers(folder: Folder, submission: Submission, text: str) -> BothAnswers:
    """What came of a typed case; where it cannot be tried, why."""
    demands = Demands(folder)
    try:
        case = typed_case(text, folder)
        due = _reference_answer(demands, case)
    except Untypable as error:
        return BothAnswers(refused=error.message)
    said = tuple(forbidden(case, folder.facts, demands))
    if isinstance(due, str):
        line = say("reference-raises", name=due)
        return BothAnswers(said=line, forbidden=said, shown=render(CaseFinding(case, "", NOTHING), demands))
    got: Observed | Failure = submission.load() or submission.run(Request(case))
    answers = _told(_Trial(case, demands, due, got), submission.guard)
    if "random" in folder.spec["required"]:
        answers = replace(answers, said=answers.said + Localised("; ", "；") + say("typed-random"))
    submission.collect()
    return replace(answers, forbidden=said, printed=submission.printed)


def _reference_answer(demands: Demands, case: Case) -> Observed | str:
    """What the reference returns, or the name of what it raises; nothing else of it is told. Raises Untypable."""

    def answer() -> Observed | str:
        try:
            return run_reference(demands.reference, case, as_given)
        except Exception as error:
            if reason_of(error, str(error)) == "memory":
                raise
            return type(error).__name__

    try:
        return Guard(seconds=REFERENCE_SECONDS).look(answer)
    except Unjudgeable:
        raise Untypable(say("reference-too-slow")) from None


def _told(trial: _Trial, guard: Guard) -> BothAnswers:
    """Whether the answers agree, and both of them, whole."""
    if isinstance(trial.got, Failure):
        failed = CaseFinding(trial.case, trial.got.reason, NOTHING, trial.due, None, None, trial.got.frames)
        return BothAnswers(said=trial.got.message, shown=render(failed, trial.demands), same=False)
    got = trial.got
    try:
        finding = guard.look(lambda: Values(trial.demands, trial.case).finding(got))
        shown = guard.look(lambda: _shown(trial, got, finding))
    except Unjudgeable as fault:
        return BothAnswers(said=fault.message, same=False)
    message = say("typed-same") if finding is None else finding.message
    return BothAnswers(said=message, shown=shown, same=finding is None)


def _shown(trial: _Trial, got: Observed, finding: CaseFinding | None) -> Counterexample:
    """Both answers to the call that differs, else to the last; of an object that is changed in place, it."""
    mismatch = None if finding is None else finding.mismatch
    place = mismatch.path[0] if mismatch is not None else _last(trial)
    of = (trial.due, got)
    if isinstance(place, int):
        expected, came = (answers.outcomes[place] for answers in of)
    else:
        expected, came = (answers.shared[int(str(place).split()[-1])] for answers in of)
    path = (place,) if isinstance(place, int) else ()
    index = mismatch.index if mismatch is not None and len(mismatch.path) == 1 else None
    both = Mismatch("", NOTHING, path, expected, came, index)
    return render(CaseFinding(trial.case, "", NOTHING, trial.due, got, both), trial.demands)


def _last(trial: _Trial) -> int | str:
    last = len(trial.case.steps) - 1
    return "shared 0" if trial.due.outcomes[last] is None and trial.due.shared else last
