"""Recording what came of a grading: an attempt, which schedules when the challenge comes next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from attncli.domain.challenge import Standing
from attncli.domain.grade_report import GradeReport
from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.log_row_payloads import LONGEST_PATH, MOST_ITEMS, clean_source, kept_text
from attncli.domain.schedule import Schedule
from attncli.domain.stored_counterexample import is_counterexample
from attncli.domain.strict_json import LARGEST_WHOLE
from attncli.errors import UsageError
from attncli.memory.attempt_rating import standing_of
from attncli.practice.log.log_transaction import record
from attncli.practice.workspace import Workspace

MOST_STORED = 16


@dataclass(frozen=True, slots=True)
class Attempt:
    """A recorded attempt; `schedule` is None until the challenge has been solved."""

    row: LogRow
    standing: Standing
    schedule: Schedule | None


def record_attempt(workspace: Workspace, report: GradeReport, source: str, at: datetime | None = None) -> Attempt:
    """Records a grading: `source` is the text that was graded.

    Raises UsageError for a report without verdict accepted or rejected: where the judge failed, nothing was shown.
    """
    if report.verdict not in ("accepted", "rejected"):
        raise UsageError(f"a grading with verdict {report.verdict} says nothing about the submission")
    challenge = workspace.library.challenge(report.challenge)
    details = _kept(report, source)
    row = record(workspace, RowKind.ATTEMPT, challenge.id, details, at)
    rows = workspace.store.log.of_subjects([challenge.id])
    return Attempt(row, standing_of(rows), workspace.store.schedules.get(challenge.id))


def record_repair(workspace: Workspace, report: GradeReport, start: str, source: str) -> LogRow:
    """Records the grading of a file that the row `start` handed out with bugs. It says nothing of how well the learner
    writes the challenge: standing and schedule stay."""
    told = ("verdict", "rung", "file", "seed", "seconds", "sha256", "source")
    details = {key: value for key, value in _kept(report, source).items() if key in told}
    left = [kept_text(bug.wrong) for bug in report.repaired.left] if report.repaired else []
    return record(workspace, RowKind.REPAIR, report.challenge, {**details, "start": start, "left": left})


def _kept(report: GradeReport, source: str) -> dict[str, Any]:
    """What the log keeps of a grading, within the bounds that any reader of the log holds it to."""
    checks = [
        {key: kept_text(said) for key in _TOLD_OF_A_CHECK if (said := getattr(check, key))} for check in report.checks
    ]
    return {
        "verdict": report.verdict,
        "rung": report.rung,
        "file": kept_text(report.file, LONGEST_PATH),
        "seed": max(-LARGEST_WHOLE, min(report.seed, LARGEST_WHOLE)),
        "seconds": report.seconds,
        "examples": sum(check.examples for check in report.checks),
        "checks": checks[:MOST_ITEMS],
        "diagnosis": [kept_text(found.wrong) for found in report.diagnosis][:MOST_ITEMS],
        "stored": [stored for stored in report.stored if is_counterexample(stored)][:MOST_STORED],
        "sha256": sha256(source.encode("utf-8", "surrogateescape")).hexdigest(),
        "source": clean_source(kept_text(source, len(source))),
    }


_TOLD_OF_A_CHECK = ("name", "status", "reason", "rung")
