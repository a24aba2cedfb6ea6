"""What is kept of one grading: enough for every report, and the same whenever the same file is graded again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attncli.cohort.class_folder import SubmittedFile
from attncli.cohort.standards import Standard
from attncli.domain.grade_report import CheckResult, GradeReport
from attncli.words.cohort_texts import ENDED_THE_JUDGE

LONGEST_MESSAGE = 400
# Where a process put an object is another place every time.
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")

Graded = dict[str, Any]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Task:
    """A submission that is to be graded, and by what."""

    submission: SubmittedFile
    standard: Standard

    @property
    def pair(self) -> Pair:
        """Whose it is, and of which challenge."""
        return self.submission.learner, self.submission.challenge

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What a result is filed under: the same for the same file by the same standard."""
        return *self.pair, self.submission.sha256, self.standard.fingerprint


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a task: what is kept of its report, or why there is none."""

    task: Task
    graded: Graded | None
    error: str = ""


def kept(report: GradeReport) -> Graded:
    """What is kept of a report; times stand apart, since they alone differ from one grading to the next."""
    return {
        "rung": report.rung,
        "checks": [_check(check) for check in report.checks if check.status != "info"],
        "diagnosis": [
            {"wrong": found.wrong, "says": found.says, "cards": list(found.cards)}
            | ({"says_zh": found.says_zh} if found.says_zh else {})
            for found in report.diagnosis
        ],
        "sandbox": list(report.sandbox),
        "device": report.device,
        "seconds": report.seconds,
    }


def ended_the_judge(layers: Sequence[str]) -> Graded:
    """What is kept of a file on which the judge ended each time; `layers` of the sandbox it was graded behind."""
    check = CheckResult(name="loads", status="fail", rung="solved", reason="crashed", message=ENDED_THE_JUDGE)
    return {
        "rung": "none",
        "checks": [_check(check)],
        "diagnosis": [],
        "sandbox": list(layers),
        "device": "cpu",
        "seconds": 0.0,
    }


def is_graded(document: Any) -> bool:
    """Whether a document can be what `kept` returned."""
    if not isinstance(document, Mapping) or document.get("rung") not in ("none", "solved", "hardened"):
        return False
    lists = [document.get(name) for name in ("checks", "diagnosis", "sandbox")]
    return all(isinstance(found, list) for found in lists) and isinstance(document.get("seconds"), int | float)


def _check(check: CheckResult) -> dict[str, Any]:
    told: dict[str, Any] = {"name": check.name, "status": check.status, "required": check.required}
    told |= {name: said for name in ("rung", "reason") if (said := getattr(check, name))}
    if check.status == "fail":
        told |= {"message": _steady(check.message.en)}
        told |= {"message_zh": _steady(check.message.zh)} if check.message.zh != check.message.en else {}
    return told


def _steady(message: str) -> str:
    text = _ADDRESS.sub("0x…", message)
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"
