"""Coding with the learner's own assistant: what there is, a file to work on, hints, and grading. Never a reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attncli.domain.grade_report import GradeReport
from attncli.domain.grade_report_json import report_document
from attncli.domain.log_row import RowKind
from attncli.domain.rungs import CaseRung
from attncli.errors import UsageError
from attncli.memory.replay import standing
from attncli.practice.challenges import standings
from attncli.practice.grade import GradeOptions, read_submission, request_of, settle
from attncli.practice.hint import next_hint
from attncli.practice.start import solution_file, start_challenge
from attncli.practice.warm_judge import GradeRequest
from attncli.practice.workspace import Workspace
from attncli.words.grade_report_texts import diagnosis_lines, headline

CODE_SUFFIX = ".py"


def listed(workspace: Workspace, track: str | None = None) -> dict[str, Any]:
    """Every challenge (of `track`) with the learner's standing in it."""
    return {"challenges": [found.document(workspace.lang) for found in standings(workspace, track)]}


def started(workspace: Workspace, id: str, bug: bool = False, fresh: bool = False) -> dict[str, Any]:
    """Writes a file to work on into the solutions folder, and its text. UsageError where there is one already.

    A wrong solution to debug is handed out only when the one before it was attempted: all of them together tell what
    is right.
    """
    path = solution_file(workspace, workspace.library.challenge(id).id)
    if bug:
        _refuse_another_bug(workspace, id)
    if path.exists() and not fresh:
        raise UsageError(f"{path} already exists and is never overwritten; grade it, or say fresh to keep it as a copy")
    found = start_challenge(workspace, id, bug=bug, force=fresh)
    told: dict[str, Any] = {"file": str(found.path), "kept": str(found.kept) if found.kept else None}
    if found.symptom:
        told["symptom"] = found.symptom[workspace.lang]
    return {**told, "text": read_submission(found.path).decode("utf-8", "replace")}


def _refuse_another_bug(workspace: Workspace, id: str) -> None:
    for row in reversed(standing(workspace.store.log.of_subjects([id]))):
        if row.kind in (RowKind.ATTEMPT, RowKind.REPAIR):
            return
        if row.is_planted:
            raise UsageError(f"a bug of {id} was handed out and not attempted yet; grade it before you ask for another")


def hinted(workspace: Workspace, id: str) -> dict[str, Any]:
    """The next hint, recorded as seen."""
    found = next_hint(workspace, id)
    told = {"number": found.number, "total": found.total, "again": found.again}
    return {**told, "text": found.text[workspace.lang].strip()}


def submission(
    workspace: Workspace,
    id: str,
    file: str | None = None,
    source: str | None = None,
    rung: CaseRung | None = None,
) -> GradeRequest:
    """What the judge is asked about `source`, a `file`, or else the learner's own in the solutions folder.

    Raises NotFound and UsageError. A challenge's own files are refused: a report quotes lines of what it grades.
    """
    if file is not None and source is not None:
        raise UsageError("give a file or source, not both")
    challenge = workspace.library.challenge(id)
    options = GradeOptions(rung=rung or workspace.settings.rung)
    path = solution_file(workspace, challenge.id)
    if source is not None:
        return request_of(workspace, challenge, source.encode("utf-8", "replace"), path.name, options)
    if file is not None:
        path = _allowed(workspace, path.parent / file)
    return request_of(workspace, challenge, read_submission(path), str(path), options, path)


def _allowed(workspace: Workspace, path: Path) -> Path:
    files = workspace.source_files
    try:
        real = path.resolve()
        closed = any(real.is_relative_to(folder.resolve()) for folder in (files.impl, files.own_challenges))
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"cannot read {path} ({error}); check the name") from error
    if closed:
        raise UsageError(f"{path} belongs to a challenge; grade a file of the learner's own")
    if real.suffix != CODE_SUFFIX:
        raise UsageError(f"{path} is no Python file; name one that ends in {CODE_SUFFIX}")
    return path


def settled(workspace: Workspace, request: GradeRequest, report: GradeReport) -> dict[str, Any]:
    """Records the attempt; the report as `attn grade --json` prints it, and in words what it comes to."""
    settle(workspace, request, report, GradeOptions(rung=request.rung))
    challenge = workspace.library.challenge(report.challenge)
    lines = [f"{says}{cards}" for says, cards in diagnosis_lines(report, challenge.mistakes, workspace.lang)]
    return {"said": headline(report, workspace.lang), "looks_like": lines, **report_document(report)}
