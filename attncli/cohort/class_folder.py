"""Read the folder of a class, `DIR/<learner>/<challenge>.py`, and list whatever in it cannot be graded.

The files are other people's: no link leads out of a learner's folder, no name is trusted, and no pipe is waited for.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path

from attncli.domain.text import escaped
from attncli.errors import NotFound, UsageError
from attncli.practice.grade import LARGEST_SUBMISSION

ENDING = ".py"
_LAYOUT = "a class lies in folders: DIR/LEARNER/CHALLENGE.py"
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
    """A path below the folder that is not graded, and why (see `attncli.words.cohort_texts.LEFT_OUT`)."""

    path: str
    reason: str
    detail: str = ""


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
        raise NotFound(f"there is no folder {folder}; {_LAYOUT}")
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; {_LAYOUT}")
    items = list(_read_learners(folder, known, runnable))
    learners = sorted({item for item in items if isinstance(item, str)})
    submissions = [item for item in items if isinstance(item, SubmittedFile)]
    left_out = [item for item in items if isinstance(item, LeftOut)]
    if not submissions:
        first = f" ({left_out[0].path}: {left_out[0].reason}, the first of {len(left_out)})" if left_out else ""
        raise UsageError(f"there is nothing to grade in {folder}{first}; {_LAYOUT}")
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
    """Return the bytes of a regular file of at most LARGEST_SUBMISSION bytes, or why it is left out."""
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
