"""The results of a class, each on disk before the next is told: one JSON line a grading, beside the submissions.

A line is whole or it is not there: what a killed run left of its last one is cut off before anything is added.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from attncli.cohort.outcomes import Graded, Task, is_graded
from attncli.domain.seeds import STREAMS
from attncli.errors import UsageError
from attncli.files import cannot_write, flush_folder

FOLDER, FILE = ".attn-cohort", "results.jsonl"
_NAMES = ("learner", "challenge", "sha256", "standard")
_REMEDY = "copy the class to a folder that you may write to"

Key = tuple[str, ...]


class ResultsFile:
    """What has been graded; open it with `opened`."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file
        found = list(_results(file))
        self._kept = {key: graded for key, _, graded in found}
        self.seed = next((seed for _, seed, _ in reversed(found) if seed is not None), None)
        """The seed of the last result."""

    def of(self, task: Task) -> Graded | None:
        """The result of the same file by the same standard, if there is one."""
        return self._kept.get(task.key)

    def add(self, task: Task, graded: Graded) -> None:
        """Keeps a result: it is on disk when this returns. Raises UsageError or EnvironmentFailure."""
        seed = task.standard.options.seed
        told = {**dict(zip(_NAMES, task.key, strict=True)), "seed": seed, "graded": graded}
        line = json.dumps(told, allow_nan=False)
        try:
            self._file.write(f"{line}\n".encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise cannot_write(self.path, error, _REMEDY) from error
        self._kept[task.key], self.seed = graded, seed


@contextmanager
def opened(folder: Path) -> Iterator[ResultsFile]:
    """The results of the class in `folder`; nobody else adds to them meanwhile. Raises UsageError."""
    home = folder / FOLDER
    path = home / FILE
    try:
        home.mkdir(mode=0o700, exist_ok=True)
        _require_own(home)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(handle, "r+b") as file:
            _require_own(path)
            _hold(file, folder)
            _cut_torn_line(file)
            flush_folder(home)
            yield ResultsFile(path, file)
    except OSError as error:
        raise cannot_write(path, error, _REMEDY) from error


def _require_own(path: Path) -> None:
    """Results that somebody else could have put there decide nothing. Raises UsageError."""
    if path.is_symlink() or (hasattr(os, "geteuid") and path.stat().st_uid != os.geteuid()):
        raise UsageError(f"{path} is not your own file: results in it may be anybody's; remove it and try again")


def _hold(file: BinaryIO, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(f"another attn cohort grades {folder} already; wait for it, or stop it first") from error


def _cut_torn_line(file: BinaryIO) -> None:
    content = file.read()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        file.truncate(whole)


def _results(file: BinaryIO) -> Iterator[tuple[Key, int | None, Graded]]:
    """Every result that can be read, with the seed that it was graded on; the file is then at its end."""
    file.seek(0)
    for line in file:
        try:
            document = json.loads(line)
        except ValueError:
            continue
        if isinstance(document, dict) and is_graded(document.get("graded")):
            seed = document.get("seed")
            in_range = type(seed) is int and 0 <= seed < STREAMS
            key = tuple(str(document.get(name)) for name in _NAMES)
            yield key, seed if in_range else None, document["graded"]
