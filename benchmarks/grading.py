"""Time gradings of right and wrong solutions, cold and warm, in units of `import torch`."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from attncli import paths
from attncli.domain.challenge import Challenge
from attncli.judge.client import GradeRequest, Judge
from attncli.practice.grade import specification
from attncli.practice.workspace import Workspace
from timing import ATTN, IMPORT_TORCH, PYTHON, ROOT, seconds

BOUNDARY = [PYTHON, "-W", "ignore", str(ROOT / "benchmarks" / "boundary.py")]


def all_challenges() -> list[Challenge]:
    with tempfile.TemporaryDirectory() as folder:
        home = paths.home(Path(folder), {})
        with Workspace.open(home, lambda: datetime.now(UTC)) as workspace:
            return workspace.library.challenges()


def sample(challenges: list[Challenge]) -> list[Challenge]:
    """Return three tensor challenges and the fastest kernel challenge."""
    named = {challenge.id: challenge for challenge in challenges}
    return [named[id] for id in ("causal-mask", "rms-norm", "sdpa", "vector-add")]


def right_file(challenge: Challenge) -> Path:
    """Return the project's own solution: the kernel for kernel challenges, else the reference."""
    return Path(challenge.folder) / ("kernel.py" if challenge.kernel else "reference.py")


def cold(challenges: list[Challenge]) -> float:
    """Return the median ratio of a whole `attn grade` to `import torch`, one run per challenge."""
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {"ATTN_HOME": folder}
        for challenge in [challenges[0], *challenges]:  # the first one twice, to warm up
            command = [*ATTN, "grade", challenge.id, str(right_file(challenge)), "--no-record", "--json"]
            ratios.append(seconds(command, environment) / seconds(IMPORT_TORCH, environment))
    return statistics.median(ratios[1:])


def warm(challenges: list[Challenge]) -> tuple[float, float]:
    """Return the median grading times of right and wrong files with one judge, in units of `import torch`."""
    right: list[float] = []
    wrong: list[float] = []
    imports = [seconds(IMPORT_TORCH) for _ in range(3)]
    with Judge.start() as judge:
        judge.layers()
        for challenge in challenges:
            file = right_file(challenge)
            _timed(judge, challenge, file)
            right.append(statistics.median(_timed(judge, challenge, file) for _ in range(3)))
            wrong += [_timed(judge, challenge, each) for each in _wrong_files(challenge)[:4]]
    import_torch_seconds = statistics.median([*imports, *(seconds(IMPORT_TORCH) for _ in range(3))])
    return statistics.median(right) / import_torch_seconds, statistics.median(wrong) / import_torch_seconds


def warm_kernels(challenges: list[Challenge]) -> tuple[float, float]:
    """Grade right kernels in the interpreter with one judge; return the slowest and the median time, print its name."""
    found: dict[str, float] = {}
    imports = [seconds(IMPORT_TORCH) for _ in range(3)]
    with Judge.start() as judge:
        judge.layers()
        for challenge in challenges:
            if challenge.kernel:
                _timed(judge, challenge, right_file(challenge))
                for file in [right_file(challenge), *sorted((Path(challenge.folder) / "right").glob("*.py"))]:
                    name = f"{challenge.id}/{file.stem}"
                    found[name] = statistics.median(_timed(judge, challenge, file) for _ in range(3))
    import_torch_seconds = statistics.median([*imports, *(seconds(IMPORT_TORCH) for _ in range(3))])
    slowest = max(found, key=found.__getitem__)
    print(f"slowest of {len(found)} kernels: {slowest}", file=sys.stderr)
    return found[slowest] / import_torch_seconds, statistics.median(found.values()) / import_torch_seconds


def _wrong_files(challenge: Challenge) -> list[Path]:
    return sorted((Path(challenge.folder) / "wrong").glob("*.py"))


def _timed(judge: Judge, challenge: Challenge, file: Path) -> float:
    """Return the seconds of one grading, after 0.1 s of rest: nobody saves a file again sooner than that."""
    time.sleep(0.1)
    request = GradeRequest(
        spec=specification(challenge), folder=Path(challenge.folder), source=file.read_bytes(), filename=str(file)
    )
    start = time.perf_counter()
    judge.grade(request)
    return time.perf_counter() - start
