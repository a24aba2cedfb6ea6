"""What widgets tell their screen."""

from __future__ import annotations

from textual.message import Message

from attncli.domain.rating import Rating
from attncli.domain.report import CheckResult, GradeReport
from attncli.errors import JudgeFailed


class Answered(Message):
    """The learner submitted what stands in an answer widget."""


class PointsTicked(Message):
    """A point was ticked or unticked."""


class Rated(Message):
    """A rating was chosen with the mouse."""

    def __init__(self, rating: Rating) -> None:
        super().__init__()
        self.rating = rating


class CheckChanged(Message):
    """A check began or ended in the judge: its name, status and message."""

    def __init__(self, check: CheckResult) -> None:
        super().__init__()
        self.check = check


class Graded(Message):
    """The judge's report is there."""

    def __init__(self, report: GradeReport) -> None:
        super().__init__()
        self.report = report


class GradingFailed(Message):
    """There is no verdict: the judge failed, or the grading was cancelled."""

    def __init__(self, error: JudgeFailed) -> None:
        super().__init__()
        self.error = error
