"""One judge for a sitting in the app: started when a challenge is opened, asked from a thread, stopped at will."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from attncli.domain.case_answers import BothAnswers
from attncli.domain.grade_report import GradeReport
from attncli.errors import JudgeFailed
from attncli.judge.client import GradeRequest as GradeRequest
from attncli.judge.client import Judge, OnCheck
from attncli.judge.client import TryRequest as TryRequest

T = TypeVar("T")


class GradingCancelled(JudgeFailed):
    """The learner stopped the grading; there is no verdict."""


class WarmJudge:
    """Keeps a judge process warm. Only `grade` and `try_case` may be called from another thread than the rest."""

    def __init__(self) -> None:
        self._judge: Judge | None = None
        self._cancelled = False

    def warm_up(self) -> None:
        """Starts the judge if none is running; it imports torch meanwhile. Raises JudgeFailed."""
        if self._judge is None or not self._judge.alive():
            self.close()
            self._judge = Judge.start()

    def grade(self, request: GradeRequest, on_check: OnCheck | None = None) -> GradeReport:
        """The judge's report. Raises GradingCancelled after `cancel`, else JudgeFailed."""
        return self._asked(lambda judge: judge.grade(request, on_check))

    def try_case(self, request: TryRequest) -> BothAnswers:
        """Both answers to a case that the learner typed. Raises GradingCancelled after `cancel`, else JudgeFailed."""
        return self._asked(lambda judge: judge.try_case(request))

    def _asked(self, ask: Callable[[Judge], T]) -> T:
        self._cancelled = False
        self.warm_up()
        judge = self._judge
        assert judge is not None
        try:
            return ask(judge)
        except JudgeFailed as error:
            if self._cancelled:
                raise GradingCancelled("the grading was cancelled; there is no verdict") from error
            raise

    def cancel(self) -> None:
        """Kills the judge under a running `grade`, which then raises; the next grading starts another."""
        self._cancelled = True
        if self._judge is not None:
            self._judge.kill()

    def close(self) -> None:
        """Ends the judge, if there is one."""
        judge, self._judge = self._judge, None
        if judge is not None:
            judge.close()
