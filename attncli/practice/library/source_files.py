"""The bank and challenge files there are, and whether the index is still like them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attncli.store.bank_files import Stamp
    from attncli.store.database import Database

CHALLENGES = "*/*/challenge.yaml"


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
            *_matching(self.quizbank, "*.yaml"),
            *_matching(self.impl, CHALLENGES),
            *_matching(self.own_banks, "*.yaml"),
            *_matching(self.own_banks, "*.yml"),
            *_matching(self.own_challenges, CHALLENGES),
        ]
        return {str(path): _stamp(path) for path in files}

    def challenge_files(self) -> list[Path]:
        """Every `challenge.yaml`, good or bad."""
        return [*_matching(self.impl, CHALLENGES), *_matching(self.own_challenges, CHALLENGES)]

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
        from attncli.practice.library.indexing import reindex

        reindex(store, stamps, self.is_own, moved)


def _matching(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return (-1, -1)
    return (status.st_size, status.st_mtime_ns)
