"""What is kept of one grading: enough for every report, and the same whenever the same file is graded again."""

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

# By what a submission was graded: everything that a result depends on besides the file itself.

# What the judge reads of a challenge; its texts for readers change no result.
_READ = ("reference.py", "inputs.py", "kernel.py", "wrong/*.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortOptions:
    """How everybody is graded; `examples` 0 means the judge's own number."""

    timeout_seconds: float = TIMEOUT_SECONDS
    memory_mib: int = MEMORY_MIB
    seed: int = 0
    examples: int = 0


@dataclass(frozen=True, slots=True)
class Standard:
    """A challenge as it is graded; `fingerprint` is another one when anything about it has changed."""

    challenge: Challenge
    options: CohortOptions
    files: Mapping[str, bytes]
    fingerprint: str

    def request(self, source: bytes, folder: Path | None = None) -> GradeRequest:
        """What the judge is asked; `folder` is where the challenge lies, if not where it was read."""
        return GradeRequest(
            **asdict(self.options),
            spec=specification(self.challenge),
            folder=folder or Path(self.challenge.folder),
            source=source,
            filename=f"{self.challenge.id}.py",
        )


def standard_of(challenge: Challenge, options: CohortOptions, versions: Mapping[str, str]) -> Standard:
    """Reads the challenge. Raises EnvironmentFailure where it cannot be read."""
    files = dict(sorted(_files(challenge).items()))
    told: dict[str, Any] = {
        "spec": specification(challenge),
        "options": asdict(options),
        "versions": dict(versions),
        "files": {name: sha256(content).hexdigest() for name, content in files.items()},
    }
    fingerprint = sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    return Standard(challenge, options, files, fingerprint)


def _files(challenge: Challenge) -> dict[str, bytes]:
    folder = Path(challenge.folder)
    try:
        return {str(path.relative_to(folder)): path.read_bytes() for name in _READ for path in folder.glob(name)}
    except OSError as error:
        raise EnvironmentFailure(
            f"cannot read the challenge {challenge.id} ({error}); the installation or the challenge is damaged"
        ) from error


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


# What a result depends on besides files and options.


def versions() -> dict[str, str]:
    """Versions of the program and of what it computes with. Raises EnvironmentFailure where there is no torch."""
    try:
        torch = metadata.version("torch")
    except metadata.PackageNotFoundError as error:
        raise EnvironmentFailure("grading needs PyTorch, and this Python has none: install it with pip") from error
    return {"attncli": __version__, "python": platform.python_version(), "torch": torch}
