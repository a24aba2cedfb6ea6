"""The events that widgets send to their screen."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from attncli.domain.case_answers import BothAnswers
from attncli.domain.grade_report import CheckResult, GradeReport
from attncli.domain.rating import Rating
from attncli.errors import JudgeFailed


class Answered(Message):
    """The learner submitted what stands in an answer widget."""


class PointsTicked(Message):
    """A point was ticked or unticked."""


@dataclass
class Rated(Message):
    """A rating was chosen with the mouse."""

    rating: Rating


@dataclass
class CheckChanged(Message):
    """A check began or ended in the judge: its name, status and message."""

    check: CheckResult


@dataclass
class Graded(Message):
    """The judge's report is there."""

    report: GradeReport


@dataclass
class GradingFailed(Message):
    """There is no verdict: the judge failed, or the grading was cancelled."""

    error: JudgeFailed


@dataclass
class Tried(Message):
    """Both answers to a case that the learner typed, or what kept them from coming."""

    answers: BothAnswers | JudgeFailed
