"""A class: the files of its learners, the standard they are graded by, and the stored result of each.

A class is a folder of files `DIR/<learner>/<challenge>.py`, all untrusted: no link out of a learner's folder is
followed, no name is trusted, and no pipe is read. A result has all that reports need, and depends only on file and
standard.
"""

from __future__ import annotations

import json
import os
import platform
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

from attncli import __version__
from attncli.domain.challenge import Challenge
from attncli.domain.grade_report import CheckResult, GradeReport, document
from attncli.domain.text import escaped
from attncli.errors import EnvironmentFailure, NotFound, UsageError
from attncli.i18n import NOTHING, Localised, _
from attncli.judge.client import GradeOptions, GradeRequest
from attncli.practice.grade import LARGEST_SUBMISSION, specification

ENDING = ".py"
_LAYOUT = _("expected files like DIR/LEARNER/CHALLENGE.py")
LEFT_OUT: dict[str, Localised] = {
    "no-learner": _("not in a learner's folder; move it to DIR/LEARNER/"),
    "name-not-utf-8": _("the name is not UTF-8; rename it"),
    "link": _("a link to a file outside the folder; copy the file here instead"),
    "folder": _("a subfolder; put files directly in the learner's folder"),
    "empty": _("nothing submitted"),
    "unknown-challenge": _("there is no such challenge"),
    "needs-triton": _("needs Triton: pip install 'attncli[kernels]' (Linux)"),
    "no-file": _("not a regular file"),
    "unreadable": _("cannot be read"),
    "too-large": _("larger than 128 KiB"),
}
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class SubmittedFile:
    """One file of one learner, as it was when the class was read."""

    learner: str
    challenge: str
    source: bytes

    @property
    def sha256(self) -> str:
        return sha256(self.source).hexdigest()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A path below the folder that is not graded, and why (a key of `LEFT_OUT`); `detail` is a name or an error."""

    path: str
    reason: str
    detail: str = ""

    @property
    def message(self) -> Localised:
        """The reason, and how to fix it."""
        if self.detail and self.reason == "unknown-challenge":
            return _("there is no such challenge; did you mean {name}?", name=self.detail)
        if self.detail and self.reason == "unreadable":
            return _("cannot be read ({error})", error=self.detail)
        return LEFT_OUT[self.reason]


@dataclass(frozen=True, slots=True)
class ClassFolder:
    """All learners by name, with or without a file; their submissions; the paths left out."""

    learners: tuple[str, ...]
    submissions: tuple[SubmittedFile, ...]
    left_out: tuple[LeftOut, ...]


def read_class(folder: Path, known: Collection[str], runnable: Collection[str]) -> ClassFolder:
    """Read a class. `known` are the ids of all challenges, `runnable` those that can be graded here.

    Raises NotFound or UsageError if there is nothing to grade.
    """
    if not folder.exists():
        raise NotFound(_("there is no folder {folder}; {layout}", folder=folder, layout=_LAYOUT))
    if not folder.is_dir():
        raise UsageError(_("{folder} is not a folder; {layout}", folder=folder, layout=_LAYOUT))
    items = list(_read_learners(folder, known, runnable))
    learners = sorted({item for item in items if isinstance(item, str)})
    submissions = [item for item in items if isinstance(item, SubmittedFile)]
    left_out = [item for item in items if isinstance(item, LeftOut)]
    if not submissions:
        first: Localised = NOTHING
        if left_out:
            path, reason = left_out[0].path, left_out[0].reason
            first = _(" ({path}: {reason}, the first of {total})", path=path, reason=reason, total=len(left_out))
        raise UsageError(
            _("there is nothing to grade in {folder}{first}; {layout}", folder=folder, first=first, layout=_LAYOUT)
        )
    return ClassFolder(
        tuple(learners),
        tuple(sorted(submissions, key=lambda item: (item.learner, item.challenge))),
        tuple(sorted(left_out, key=lambda item: (item.path, item.reason))),
    )


def _read_learners(
    folder: Path, known: Collection[str], runnable: Collection[str]
) -> Iterator[str | SubmittedFile | LeftOut]:
    root = Path(os.path.realpath(folder))
    for entry in _entries(folder, ""):
        if isinstance(entry, LeftOut):
            yield entry
        elif not Path(entry.path).is_dir():
            if entry.is_symlink() or entry.name.endswith(ENDING):
                yield LeftOut(shown(entry.name), "link" if entry.is_symlink() else "no-learner")
        elif not _is_text(entry.name):
            yield LeftOut(shown(entry.name), "name-not-utf-8")
        elif Path(os.path.realpath(entry.path)).parent != root:
            yield LeftOut(shown(entry.name), "link")
        else:
            yield entry.name
            yield from _read_learner(entry, known, runnable)


def _read_learner(
    folder: os.DirEntry[str], known: Collection[str], runnable: Collection[str]
) -> Iterator[SubmittedFile | LeftOut]:
    has_entries = False
    for entry in _entries(Path(folder.path), folder.name):
        has_entries = True
        if isinstance(entry, LeftOut):
            yield entry
            continue
        place = f"{shown(folder.name)}/{shown(entry.name)}"
        if entry.is_dir(follow_symlinks=False):
            yield LeftOut(place, "folder")
        elif entry.name.endswith(ENDING):
            yield _read_submission(folder, entry, place, known, runnable)
    if not has_entries:
        yield LeftOut(shown(folder.name), "empty")


def _read_submission(
    folder: os.DirEntry[str], entry: os.DirEntry[str], place: str, known: Collection[str], runnable: Collection[str]
) -> SubmittedFile | LeftOut:
    if not _is_text(entry.name):
        return LeftOut(place, "name-not-utf-8")
    challenge = entry.name.removesuffix(ENDING)
    if challenge not in known:
        near = get_close_matches(challenge[:80].lower().replace("_", "-"), known, n=1)
        return LeftOut(place, "unknown-challenge", near[0] if near else "")
    if challenge not in runnable:
        return LeftOut(place, "needs-triton")
    target = Path(os.path.realpath(entry.path))
    if target.parent != Path(os.path.realpath(folder.path)):
        return LeftOut(place, "link")
    source = _read_content(target, place)
    return source if isinstance(source, LeftOut) else SubmittedFile(folder.name, challenge, source)


def _read_content(path: Path, place: str) -> bytes | LeftOut:
    """Return the bytes of a regular file of at most LARGEST_SUBMISSION bytes, or the reason why it is left out."""
    try:
        handle = os.open(path, _OPEN_FLAGS)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return LeftOut(place, "no-file")
            content = file.read(LARGEST_SUBMISSION + 1)
    except OSError as error:
        return LeftOut(place, "unreadable", error.strerror or "")
    return LeftOut(place, "too-large") if len(content) > LARGEST_SUBMISSION else content


def _entries(folder: Path, name: str) -> Iterator[os.DirEntry[str] | LeftOut]:
    """Yield a folder's entries by name, without hidden names and Python's caches."""
    try:
        with os.scandir(folder) as items:
            entries = sorted(items, key=lambda entry: entry.name)
    except OSError as error:
        yield LeftOut(shown(name or str(folder)), "unreadable", error.strerror or "")
        return
    yield from (entry for entry in entries if not entry.name.startswith(".") and entry.name != "__pycache__")


def shown(name: str) -> str:
    """Return a name on one line, with unprintable characters escaped."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return escaped(text).replace("\n", "\\n").replace("\t", "\\t")


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


# Results

# The judge reads these files of a challenge; its other texts change no result.
_READ_FILES = ("reference.py", "inputs.py", "kernel.py", "wrong/*.py")

LONGEST_MESSAGE = 400
_STORED = ("name", "status", "required", "rung", "reason", "message", "message_zh")
# Addresses of objects differ in every process.
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")

Graded = dict[str, Any]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Standard:
    """A challenge with its grading options; `fingerprint` changes with everything that a result depends on."""

    challenge: Challenge
    options: GradeOptions
    files: Mapping[str, bytes]
    fingerprint: str

    def request(self, source: bytes, folder: Path | None = None) -> GradeRequest:
        """Return the judge's request; `folder` is the challenge's folder, by default the one it was read from."""
        return GradeRequest(
            options=self.options,
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
        """Return the result's key, which depends only on the file and the standard."""
        return *self.pair, self.submission.sha256, self.standard.fingerprint


@dataclass(frozen=True, slots=True)
class Outcome:
    """The stored result of a task, or the error that prevented one."""

    task: Task
    graded: Graded | None
    error: str = ""


def standard_of(challenge: Challenge, options: GradeOptions, versions: Mapping[str, str]) -> Standard:
    """Read the challenge's files. Raises EnvironmentFailure if one cannot be read."""
    files = dict(sorted(_files(challenge).items()))
    judged_by: dict[str, Any] = {
        "spec": specification(challenge),
        "options": stated(options),
        "versions": dict(versions),
        "files": {name: sha256(content).hexdigest() for name, content in files.items()},
    }
    fingerprint = sha256(json.dumps(judged_by, sort_keys=True).encode()).hexdigest()
    return Standard(challenge, options, files, fingerprint)


def stated(options: GradeOptions) -> dict[str, Any]:
    """Return the options that `attn cohort` can set, in the form of its report."""
    return {name: getattr(options, name) for name in ("timeout_seconds", "memory_mib", "seed", "examples")}


def _files(challenge: Challenge) -> dict[str, bytes]:
    folder = Path(challenge.folder)
    try:
        return {str(path.relative_to(folder)): path.read_bytes() for name in _READ_FILES for path in folder.glob(name)}
    except OSError as error:
        raise EnvironmentFailure(
            _(
                "cannot read the challenge {id} ({error}); the installation or the challenge is damaged",
                id=challenge.id,
                error=error,
            )
        ) from error


def versions() -> dict[str, str]:
    """Return the versions that a result depends on. Raises EnvironmentFailure if torch is not installed."""
    try:
        torch = metadata.version("torch")
    except metadata.PackageNotFoundError as error:
        raise EnvironmentFailure(_("grading needs PyTorch, which is not installed: pip install torch")) from error
    return {"attncli": __version__, "python": platform.python_version(), "torch": torch}


def stored_result(report: GradeReport) -> Graded:
    """Return the part of a report to store. Only `seconds` differs between gradings of one file."""
    return {
        "rung": report.rung,
        "checks": [_check_document(check) for check in report.checks if check.status != "info"],
        "diagnosis": [document(replace(found, beside="")) for found in report.diagnosis],
        "sandbox": list(report.sandbox),
        "device": report.device,
        "seconds": report.seconds,
    }


def judge_crash_result(layers: Sequence[str]) -> Graded:
    """Return the result of a file that crashed the judge at every try; `layers` are its sandbox layers."""
    check = CheckResult(
        name="loads",
        status="fail",
        rung="solved",
        reason="crashed",
        message=_("the judge died twice on this file; read it before you run it"),
    )
    return {
        "rung": "none",
        "checks": [_check_document(check)],
        "diagnosis": [],
        "sandbox": list(layers),
        "device": "cpu",
        "seconds": 0.0,
    }


def is_stored_result(found: Any) -> bool:
    """Return True if a document has the form of a stored result."""
    if not isinstance(found, Mapping) or found.get("rung") not in ("none", "solved", "hardened"):
        return False
    lists = [found.get(name) for name in ("checks", "diagnosis", "sandbox")]
    return all(isinstance(each, list) for each in lists) and isinstance(found.get("seconds"), int | float)


def _check_document(check: CheckResult) -> dict[str, Any]:
    message = Localised(*map(_stable_message, (check.message.en, check.message.zh)))
    stored = document(replace(check, message=message if check.status == "fail" else NOTHING))
    return {name: stored[name] for name in _STORED if name in stored}


def _stable_message(message: str) -> str:
    text = _ADDRESS.sub("0x…", message)
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"
