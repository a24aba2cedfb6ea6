"""Is everything in order? Versions, places, the database, the banks; and repair of what can be derived."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from attncli import __version__, paths
from attncli.errors import StoreCorrupt, StoreError
from attncli.practice.workspace import Workspace
from attncli.store.database import FORMAT, Database
from attncli.store.rescue import rescue

LIBRARIES = ("click", "fsrs", "textual", "rich", "torch", "hypothesis", "pyyaml", "pydantic", "TeXicode")


@dataclass(frozen=True, slots=True)
class DatabaseHealth:
    """`problems` is empty if the file is whole; `rows` is the length of the log, None if it cannot be read."""

    path: Path
    format: int
    rows: int | None
    problems: tuple[str, ...]
    is_damaged: bool = True

    @property
    def integrity(self) -> str:
        """`ok`, `damaged`, or `unusable`: there may be nothing wrong with the file, but it cannot be opened."""
        if not self.problems:
            return "ok"
        return "damaged" if self.is_damaged else "unusable"


def database_health(home: paths.Home) -> DatabaseHealth:
    """Checks the whole file; one that does not exist yet is created."""
    try:
        with Database.open(home.database) as store:
            return DatabaseHealth(home.database, FORMAT, store.log.length(), tuple(store.problems()))
    except StoreError as error:
        return DatabaseHealth(home.database, FORMAT, None, (error.message,), isinstance(error, StoreCorrupt))


def versions() -> dict[str, str]:
    """Versions of the program and what it stands on; a missing library is `-`."""
    found = {"attncli": __version__, "python": platform.python_version(), "platform": platform.platform()}
    return {**found, **{name: _version(name) for name in LIBRARIES}}


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "-"


def places(home: paths.Home) -> dict[str, str]:
    """Where things are."""
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
    """`cuda` if an NVIDIA GPU is visible to this machine, else `cpu`; torch is not loaded to ask."""
    return "cuda" if Path("/dev/nvidia0").exists() else "cpu"


def bank_health(workspace: Workspace) -> dict[str, Any]:
    """What the library holds and what is wrong in its files."""
    return {
        "cards": len(workspace.library.cards()),
        "topics": len(workspace.library.topics()),
        "challenges": len(workspace.library.challenges()),
        "problems": workspace.library.problems(),
    }


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How many subjects were derived anew; `rescued` rows and where the damaged file is, if it had to be replaced."""

    subjects: int
    rescued: int | None = None
    kept: Path | None = None


def rebuild(home: paths.Home, open_workspace: Callable[[], Workspace], progress: Callable[[int], None]) -> Rebuilt:
    """Derives everything anew from the log. A damaged file is kept aside, and its readable rows go into a new one."""
    rescued = kept = None
    if _is_damaged(home):
        saved = rescue(home.database)
        rescued, kept = saved.rows, saved.kept
    with open_workspace() as workspace:
        return Rebuilt(workspace.derive_all(progress), rescued, kept)


def _is_damaged(home: paths.Home) -> bool:
    try:
        with Database.open(home.database) as store:
            return bool(store.problems())
    except StoreCorrupt:
        return True
