"""Check an installation (versions, paths, database, banks), and rebuild the cache."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from attncli import __version__, paths
from attncli.domain.challenge import CPU, CUDA
from attncli.errors import StoreCorrupt, StoreError
from attncli.i18n import NOTHING, Localised
from attncli.practice.workspace import Workspace
from attncli.sandbox.policy import gpu_is_seen
from attncli.store.database import Database, remove_cache
from attncli.store.history import FOLDER

LIBRARIES = ("click", "fsrs", "textual", "rich", "torch", "hypothesis", "pyyaml", "pydantic", "TeXicode", "triton")


@dataclass(frozen=True, slots=True)
class DatabaseHealth:
    """`damages` name each line of the history that cannot be used; `rows` counts the others, None if none can be read.

    `unwritable` is the reason why nothing can be written, or empty.
    """

    path: Path
    rows: int | None
    damages: tuple[Localised, ...]
    is_damaged: bool = True
    unwritable: Localised = NOTHING

    @property
    def integrity(self) -> str:
        """`ok`, `damaged`, or `unusable`: the files may be sound but cannot be opened."""
        if not self.damages:
            return "ok"
        return "damaged" if self.is_damaged else "unusable"


def database_health(home: paths.Home) -> DatabaseHealth:
    """Read the whole history."""
    place = home.root / FOLDER
    try:
        with Database.open(home.database) as store:
            return DatabaseHealth(place, store.log.length(), tuple(store.damages()), True, store.unwritable)
    except StoreError as error:
        return DatabaseHealth(place, None, (error.message,), isinstance(error, StoreCorrupt))


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
        "history": str(home.root / FOLDER),
        "cache": str(home.database),
        "solutions": str(home.solutions),
        "quizbank": str(paths.bundled_quizbank()),
        "impl": str(paths.bundled_impl()),
    }


def device() -> str:
    """Return `cuda` if an NVIDIA GPU is visible to this machine, else `cpu`; torch is not loaded."""
    return CUDA if gpu_is_seen() else CPU


def bank_health(workspace: Workspace) -> dict[str, Any]:
    """Return the counts of cards, topics and challenges, and the problems of their files."""
    return {
        "cards": len(workspace.library.cards()),
        "topics": len(workspace.library.topics()),
        "challenges": len(workspace.library.challenges()),
        "problems": workspace.store.files.problems(),
    }


def rebuild(home: paths.Home, open_workspace: Callable[[], Workspace], progress: Callable[[int], None]) -> int:
    """Rebuild the cache from the history and the banks; return the number of subjects derived."""
    remove_cache(home.database)
    with open_workspace() as workspace:
        return workspace.derive_all(progress)
