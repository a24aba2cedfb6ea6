"""What runs on a worker of a cluster: one judge, kept warm, and the challenges that it was sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from attncli.cohort.local_judges import JudgeSlot
from attncli.cohort.outcomes import Graded
from attncli.cohort.versions import versions
from attncli.judge.client import GradeRequest


@dataclass(frozen=True, slots=True)
class Fitness:
    """What a worker grades with."""

    versions: dict[str, str]
    layers: tuple[str, ...]


class GradingActor:
    """Grades one file after the other, in a process that the cluster started."""

    def __init__(self) -> None:
        self._slot = JudgeSlot()
        self._home = TemporaryDirectory(prefix="attn-cohort-")
        self._folders: dict[str, Path] = {}

    def fitness(self) -> Fitness:
        """Starts the judge. Raises JudgeFailed, SandboxUnavailable."""
        return Fitness(versions(), tuple(self._slot.layers()))

    def grade(self, fingerprint: str, files: Mapping[str, bytes], request: GradeRequest) -> tuple[Graded | None, str]:
        """What is kept of the report, or why there is none."""
        return self._slot.graded(replace(request, folder=self._folder(fingerprint, files)))

    def _folder(self, fingerprint: str, files: Mapping[str, bytes]) -> Path:
        """Where the challenge lies on this machine: the files are those of the one who asks."""
        if fingerprint not in self._folders:
            folder = Path(self._home.name) / fingerprint
            for name, content in files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            self._folders[fingerprint] = folder
        return self._folders[fingerprint]
