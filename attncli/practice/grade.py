"""Grading a file: what the judge is asked, and what is kept of its answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attncli.domain.challenge import Challenge
from attncli.domain.device_choice import CPU
from attncli.domain.grade_report import GradeReport
from attncli.domain.rungs import CaseRung
from attncli.domain.seeds import STREAMS
from attncli.domain.stored_counterexample import counterexamples_of
from attncli.errors import JudgeFailed, NotFound, Unfit, UsageError
from attncli.judge.client import MEMORY_MIB, TIMEOUT_SECONDS, GradeRequest, Judge, OnCheck
from attncli.practice.choose_device import device_for
from attncli.practice.planted_files import Planted, planted_in
from attncli.practice.record_attempt import record_attempt, record_repair
from attncli.practice.warm_judge import WarmJudge
from attncli.practice.workspace import Workspace

LARGEST_SUBMISSION = 128 * 1024
KEPT_COUNTEREXAMPLES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeOptions:
    """How to grade; the defaults are those of `attn grade`, but that nothing but a command asks for a GPU.

    `examples` 0 means the judge's own number.
    """

    timeout_seconds: float = TIMEOUT_SECONDS
    memory_mib: int = MEMORY_MIB
    seed: int = 0
    rung: CaseRung = "solved"
    examples: int = 0
    record: bool = True
    device: str = CPU


def specification(challenge: Challenge) -> dict[str, Any]:
    """What the judge has to know of a challenge besides its folder."""
    listed = ("entry", "required", "badges", "forbidden", "cards")
    told = {"id": challenge.id, "version": challenge.version, "kernel": challenge.kernel}
    return told | {name: list(getattr(challenge, name)) for name in listed}


def read_submission(path: Path) -> bytes:
    """The bytes of a submission. NotFound or UsageError where there is no file to grade."""
    try:
        if not path.exists():
            raise NotFound(f"there is no file {path}; `attn start CHALLENGE` writes one to begin with")
        if not path.is_file():
            raise UsageError(f"{path} is not a file; name the Python file to grade")
        if path.stat().st_size > LARGEST_SUBMISSION:
            most = f"{LARGEST_SUBMISSION // 1024} KiB"
            said = f"{path} is larger than {most}; a submission is a short Python file"
            raise Unfit(said, "file-large", file=str(path))
        return path.read_bytes()
    except (OSError, ValueError) as error:
        said = f"cannot read {path} ({error}); check the name and its permissions"
        raise Unfit(said, "file-unread", file=str(path)) from error


def kept_counterexamples(workspace: Workspace, id: str) -> list[dict[str, Any]]:
    """The counterexamples of earlier attempts, the latest first; they are tried before anything is drawn."""
    kept: list[dict[str, Any]] = []
    for row in reversed(workspace.store.log.of_subjects([id])):
        kept += [stored for stored in counterexamples_of(row) if stored not in kept]
        if len(kept) >= KEPT_COUNTEREXAMPLES:
            break
    return kept[:KEPT_COUNTEREXAMPLES]


def request_for(workspace: Workspace, id: str, path: Path, options: GradeOptions) -> GradeRequest:
    """What the judge is asked about a file. Raises NotFound, UsageError."""
    challenge = workspace.library.challenge(id)
    return request_of(workspace, challenge, read_submission(path), str(path), options, path)


def request_of(
    workspace: Workspace,
    challenge: Challenge,
    source: bytes,
    filename: str,
    options: GradeOptions,
    file: Path | None = None,
) -> GradeRequest:
    """What the judge is asked about a text, which may be that of a `file`. Raises UsageError where it is too long."""
    if len(source) > LARGEST_SUBMISSION:
        most = f"{LARGEST_SUBMISSION // 1024} KiB"
        raise UsageError(f"{filename} is larger than {most}; a submission is a short Python file")
    asked = {name: value for name, value in asdict(options).items() if name not in ("record", "device")}
    device, may_fall_back = device_for(challenge, options.device)
    planted = planted_in(workspace, challenge, file) if file is not None else None
    if planted is not None and _is_hardened(challenge, planted):
        asked["rung"] = "hardened"
    return GradeRequest(
        **asked,
        device=device,
        may_fall_back=may_fall_back,
        bugs=planted.bugs if planted else (),
        repairs=planted.repairs if planted else (),
        spec=specification(challenge),
        folder=Path(challenge.folder),
        source=source,
        filename=filename,
        replay=kept_counterexamples(workspace, challenge.id),
    )


def _is_hardened(challenge: Challenge, planted: Planted) -> bool:
    """Whether a bug shows on the second rung alone: the first is reached with the bug in it."""
    mistakes = (challenge.mistakes.get(bug) for bug in planted.bugs)
    return any(mistake is not None and mistake.rung == "hardened" for mistake in mistakes)


def settle(workspace: Workspace, request: GradeRequest, report: GradeReport, options: GradeOptions) -> None:
    """Records what the judge answered, unless `options` say otherwise: as an attempt, or apart from those for a file
    that was handed out with bugs."""
    if not options.record:
        return
    source = request.source.decode("utf-8", "replace")
    planted = None
    if request.bugs:
        planted = planted_in(workspace, workspace.library.challenge(report.challenge), Path(request.filename))
    if planted is None:
        record_attempt(workspace, report, source)
    else:
        record_repair(workspace, report, planted.start.id, source)


def grade(
    workspace: Workspace,
    judge: Judge | WarmJudge,
    id: str,
    path: Path,
    options: GradeOptions,
    on_check: OnCheck | None = None,
) -> GradeReport:
    """The grade report of a file, recorded as an attempt unless `options` say otherwise.

    Raises NotFound, UsageError, and JudgeFailed where there is no verdict.
    """
    request = request_for(workspace, id, path, options)
    report = judge.grade(request, on_check)
    settle(workspace, request, report, options)
    return report


def failed_report(id: str, path: Path, error: JudgeFailed) -> GradeReport:
    """The report of a grading in which the judge itself failed."""
    return GradeReport(challenge=id, file=str(path), verdict="error", error=error.message)


def fresh_seed(report: GradeReport) -> int:
    """The input stream after the one of `report`: what it accepted can be examined on inputs that it has not seen."""
    return (report.seed + 1) % STREAMS
