"""By what a submission was graded: everything that a result depends on besides the file itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from attncli.domain.challenge import Challenge
from attncli.errors import EnvironmentFailure
from attncli.judge.client import MEMORY_MIB, TIMEOUT_SECONDS, GradeRequest
from attncli.practice.grade import specification

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
