"""The bank and challenge files there are, and whether the index is still like them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attncli.store.bank_files import Stamp
    from attncli.store.database import Database


@dataclass(frozen=True)
class SourceFiles:
    """The folders that are looked at; a missing one is empty."""

    quizbank: Path
    impl: Path
    own_banks: Path
    own_challenges: Path

    def stamps(self) -> dict[str, Stamp]:
        """Every bank and challenge file with its size and time; bundled ones come first."""
        files = [
            *_banks(self.quizbank, ".yaml"),
            *_challenges(self.impl),
            *_banks(self.own_banks, ".yaml"),
            *_banks(self.own_banks, ".yml"),
            *_challenges(self.own_challenges),
        ]
        return {path: _stamp(path) for path in files}

    def challenge_files(self) -> list[Path]:
        """Every `challenge.yaml`, good or bad."""
        return [Path(path) for path in (*_challenges(self.impl), *_challenges(self.own_challenges))]

    def is_own(self, file: Path) -> bool:
        """Whether `file` is the learner's."""
        return file.is_relative_to(self.own_banks) or file.is_relative_to(self.own_challenges)

    def index_into(self, store: Database, moved: Callable[[list[str]], None]) -> None:
        """Reads the files that changed; `moved` is told the ids whose history is now another's or their own again, and
        those that came or went.

        A file that is broken is named by `Library.problems`; it contributes nothing, all others what they have.
        YAML is loaded only if there is something to read.
        """
        stamps = self.stamps()
        if stamps == store.files.stamps():
            return
        from attncli.practice.indexing import reindex

        reindex(store, stamps, self.is_own, moved)


def _banks(folder: Path, suffix: str) -> list[str]:
    return [f"{folder}/{name}" for name in _names(str(folder)) if name.endswith(suffix)]


def _challenges(folder: Path) -> list[str]:
    """Return the `challenge.yaml` in each folder of each track."""
    tracks = (f"{folder}/{track}" for track in _names(str(folder)))
    found = (f"{track}/{id}/challenge.yaml" for track in tracks for id in _names(track))
    return [path for path in found if os.path.exists(path)]  # noqa: PTH110 - `attn due` asks this 108 times


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return []


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return (-1, -1)
    return (status.st_size, status.st_mtime_ns)
