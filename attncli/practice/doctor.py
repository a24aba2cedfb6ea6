"""Check an installation: versions, places, database, banks; and rebuild what can be derived from the log."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from attncli import __version__, paths
from attncli.domain.challenge import CPU, CUDA
from attncli.errors import StoreCorrupt, StoreError
from attncli.practice.workspace import Workspace
from attncli.sandbox.policy import gpu_is_seen
from attncli.store.connection import FORMAT
from attncli.store.database import Database
from attncli.store.repair import repair_in_place
from attncli.store.rescue import rescue

LIBRARIES = ("click", "fsrs", "textual", "rich", "torch", "hypothesis", "pyyaml", "pydantic", "TeXicode", "triton")


@dataclass(frozen=True, slots=True)
class DatabaseHealth:
    """`problems` is empty if the file is sound; `rows` is the length of the log, None if it cannot be read.

    `set_aside` counts damaged rows that are out of the way; `unwritable` says why nothing can be written, if so.
    """

    path: Path
    format: int
    rows: int | None
    problems: tuple[str, ...]
    is_damaged: bool = True
    set_aside: int = 0
    unwritable: str = ""

    @property
    def integrity(self) -> str:
        """`ok`, `damaged`, or `unusable`: the file may be sound but cannot be opened."""
        if not self.problems:
            return "ok"
        return "damaged" if self.is_damaged else "unusable"


def database_health(home: paths.Home) -> DatabaseHealth:
    """Check the whole file; a missing one is created."""
    try:
        with Database.open(home.database) as store:
            problems = [*store.problems(), *(f"rows in {file.name} may be missing here" for file in store.unmerged())]
            return DatabaseHealth(
                home.database, FORMAT, _length(store), tuple(problems), True, _set_aside(store), store.unwritable
            )
    except StoreError as error:
        return DatabaseHealth(home.database, FORMAT, None, (error.message,), isinstance(error, StoreCorrupt))


def _length(store: Database) -> int | None:
    try:
        return store.log.length()
    except StoreCorrupt:
        return None


def _set_aside(store: Database) -> int:
    try:
        return store.log.set_aside_count()
    except StoreCorrupt:
        return 0


def versions() -> dict[str, str]:
    """Return the versions of the program and its libraries; `-` for a missing library."""
    found = {"attncli": __version__, "python": platform.python_version(), "platform": platform.platform()}
    return {**found, **{name: _version(name) for name in LIBRARIES}}


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "-"


def places(home: paths.Home) -> dict[str, str]:
    """Return the paths in use."""
    return {
        "python": sys.executable,
        "home": str(home.root),
        "config": str(home.config),
        "database": str(home.database),
        "solutions": str(home.solutions),
        "quizbank": str(paths.bundled_quizbank()),
        "impl": str(paths.bundled_impl()),
    }


def device() -> str:
    """Return `cuda` if an NVIDIA GPU is visible to this machine, else `cpu`; torch is not loaded."""
    return CUDA if gpu_is_seen() else CPU


def bank_health(workspace: Workspace) -> dict[str, Any]:
    """Return what the library holds and the faults in its files."""
    return {
        "cards": len(workspace.library.cards()),
        "topics": len(workspace.library.topics()),
        "challenges": len(workspace.library.challenges()),
        "problems": workspace.library.problems(),
    }


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Number of subjects derived again, and what was repaired before.

    If the file had to be replaced, `rescued` rows were saved, `lost` ones were not, and the damaged file is `kept`; if
    that file was cut short, more may be lost. `set_aside` counts damaged rows that were put out of the way, `put_back`
    rows that were found in another file.
    """

    subjects: int
    rescued: int | None = None
    kept: Path | None = None
    lost: int = 0
    is_cut_short: bool = False
    set_aside: int = 0
    put_back: int = 0


def rebuild(home: paths.Home, open_workspace: Callable[[], Workspace], progress: Callable[[int], None]) -> Rebuilt:
    """Derive everything again from the log, after repairing the file in place if possible.

    If the log itself is damaged, its rows go into a new file and the damaged one is kept.
    """
    repaired = Rebuilt(0)
    try:
        with Database.open(home.database) as store:
            done = repair_in_place(store, home.backups)
            repaired = Rebuilt(0, set_aside=done.set_aside, put_back=done.put_back)
    except StoreCorrupt:
        saved = rescue(home.database, home.backups)
        repaired = Rebuilt(0, saved.rows, saved.kept, saved.lost, saved.is_cut_short)
    with open_workspace() as workspace:
        return replace(repaired, subjects=workspace.derive_all(progress))
