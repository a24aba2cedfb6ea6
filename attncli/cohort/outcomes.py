"""The stored result of a grading, and the standard by which a submission is graded.

A result holds enough for every report, and is the same whenever the same file is graded by the same standard.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

from attncli import __version__
from attncli.cohort.class_folder import SubmittedFile
from attncli.domain.challenge import Challenge
from attncli.domain.grade_report import CheckResult, GradeReport
from attncli.errors import EnvironmentFailure
from attncli.judge.client import MEMORY_MIB, TIMEOUT_SECONDS, GradeRequest
from attncli.practice.grade import specification
from attncli.words.cohort_texts import ENDED_THE_JUDGE

# The judge reads these files of a challenge; its texts for people change no result.
_READ_FILES = ("reference.py", "inputs.py", "kernel.py", "wrong/*.py")

LONGEST_MESSAGE = 400
# Addresses of objects differ in every process.
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")

Graded = dict[str, Any]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortOptions:
    """The options of all gradings of a class; `examples` 0 means the judge's default."""

    timeout_seconds: float = TIMEOUT_SECONDS
    memory_mib: int = MEMORY_MIB
    seed: int = 0
    examples: int = 0


@dataclass(frozen=True, slots=True)
class Standard:
    """A challenge as it is graded; its `fingerprint` changes with anything that a result depends on."""

    challenge: Challenge
    options: CohortOptions
    files: Mapping[str, bytes]
    fingerprint: str

    def request(self, source: bytes, folder: Path | None = None) -> GradeRequest:
        """Return the judge's request; `folder` is the challenge's folder, by default the one it was read from."""
        return GradeRequest(
            **asdict(self.options),
            spec=specification(self.challenge),
            folder=folder or Path(self.challenge.folder),
            source=source,
            filename=f"{self.challenge.id}.py",
        )


@dataclass(frozen=True, slots=True)
class Task:
    """A submission to grade, and the standard for it."""

    submission: SubmittedFile
    standard: Standard

    @property
    def pair(self) -> Pair:
        """Return the learner and the challenge."""
        return self.submission.learner, self.submission.challenge

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return the key of the result: the same for the same file and standard."""
        return *self.pair, self.submission.sha256, self.standard.fingerprint


@dataclass(frozen=True, slots=True)
class Outcome:
    """The stored result of a task, or the error for which there is none."""

    task: Task
    graded: Graded | None
    error: str = ""


def standard_of(challenge: Challenge, options: CohortOptions, versions: Mapping[str, str]) -> Standard:
    """Read the challenge's files. Raises EnvironmentFailure if one cannot be read."""
    files = dict(sorted(_files(challenge).items()))
    document: dict[str, Any] = {
        "spec": specification(challenge),
        "options": asdict(options),
        "versions": dict(versions),
        "files": {name: sha256(content).hexdigest() for name, content in files.items()},
    }
    fingerprint = sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    return Standard(challenge, options, files, fingerprint)


def _files(challenge: Challenge) -> dict[str, bytes]:
    folder = Path(challenge.folder)
    try:
        return {str(path.relative_to(folder)): path.read_bytes() for name in _READ_FILES for path in folder.glob(name)}
    except OSError as error:
        raise EnvironmentFailure(
            f"cannot read the challenge {challenge.id} ({error}); the installation or the challenge is damaged"
        ) from error


def versions() -> dict[str, str]:
    """Return the versions that a result depends on. Raises EnvironmentFailure if torch is not installed."""
    try:
        torch = metadata.version("torch")
    except metadata.PackageNotFoundError as error:
        raise EnvironmentFailure("grading needs PyTorch, and this Python has none: install it with pip") from error
    return {"attncli": __version__, "python": platform.python_version(), "torch": torch}


def stored_result(report: GradeReport) -> Graded:
    """Return the result to store of a report. Only `seconds` differs from one grading to the next."""
    return {
        "rung": report.rung,
        "checks": [_check_document(check) for check in report.checks if check.status != "info"],
        "diagnosis": [
            {"wrong": found.wrong, "says": found.says, "cards": list(found.cards)}
            | ({"says_zh": found.says_zh} if found.says_zh else {})
            for found in report.diagnosis
        ],
        "sandbox": list(report.sandbox),
        "device": report.device,
        "seconds": report.seconds,
    }


def judge_crash_result(layers: Sequence[str]) -> Graded:
    """Return the result to store of a file on which the judge died each time; `layers` are those of its sandbox."""
    check = CheckResult(name="loads", status="fail", rung="solved", reason="crashed", message=ENDED_THE_JUDGE)
    return {
        "rung": "none",
        "checks": [_check_document(check)],
        "diagnosis": [],
        "sandbox": list(layers),
        "device": "cpu",
        "seconds": 0.0,
    }


def is_stored_result(document: Any) -> bool:
    """Return True if a document has the form of a stored result."""
    if not isinstance(document, Mapping) or document.get("rung") not in ("none", "solved", "hardened"):
        return False
    lists = [document.get(name) for name in ("checks", "diagnosis", "sandbox")]
    return all(isinstance(found, list) for found in lists) and isinstance(document.get("seconds"), int | float)


def _check_document(check: CheckResult) -> dict[str, Any]:
    document: dict[str, Any] = {"name": check.name, "status": check.status, "required": check.required}
    document |= {name: value for name in ("rung", "reason") if (value := getattr(check, name))}
    if check.status == "fail":
        document |= {"message": _stable_message(check.message.en)}
        document |= {"message_zh": _stable_message(check.message.zh)} if check.message.zh != check.message.en else {}
    return document


def _stable_message(message: str) -> str:
    text = _ADDRESS.sub("0x…", message)
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"
