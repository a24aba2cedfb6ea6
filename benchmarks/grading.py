"""Grading figures: cold, warm, wrong and shrunk, examples a second, a worker's memory."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from attncli import paths
from attncli.domain.challenge import Challenge
from attncli.judge.client import GradeRequest, Judge
from attncli.practice.challenges.grade_file import specification
from attncli.practice.workspace import Workspace
from timing import ATTN, IMPORT_TORCH, PYTHON, ROOT, AtLeast, Row, seconds


def all_challenges() -> list[Challenge]:
    with tempfile.TemporaryDirectory() as folder:
        home = paths.home(Path(folder), {})
        with Workspace.open(home, lambda: datetime.now(UTC)) as workspace:
            return workspace.library.challenges()


def cold(challenges: list[Challenge]) -> Row:
    """The median over the challenges of a whole `attn grade` of a right solution against `import torch`, once each."""
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {"ATTN_HOME": folder}
        for challenge in [challenges[0], *challenges]:  # the first once more, to warm up
            file = Path(challenge.folder) / "reference.py"
            command = [*ATTN, "grade", challenge.id, str(file), "--no-record", "--json"]
            ratios.append(seconds(command, environment) / seconds(IMPORT_TORCH, environment))
    return Row(
        "attn grade of a right solution, cold, median over the challenges / import torch",
        statistics.median(ratios[1:]),
        1.4,
    )


def warm(challenges: list[Challenge]) -> list[Row]:
    """Gradings over one judge, in units of `import torch` as a process, which is measured before and after them."""
    right: list[float] = []
    wrong: list[float] = []
    imports = [seconds(IMPORT_TORCH) for _ in range(3)]
    with Judge.start() as judge:
        judge.hello()
        for challenge in challenges:
            folder = Path(challenge.folder)
            _timed(judge, challenge, folder / "reference.py")
            right.append(statistics.median(_timed(judge, challenge, folder / "reference.py") for _ in range(3)))
            wrong += [_timed(judge, challenge, file) for file in sorted((folder / "wrong").glob("*.py"))[:4]]
    import_torch_seconds = statistics.median([*imports, *(seconds(IMPORT_TORCH) for _ in range(3))])
    return [
        Row("the same warm / import torch", statistics.median(right) / import_torch_seconds, 0.2),
        Row("a wrong one, warm and shrunk / import torch", statistics.median(wrong) / import_torch_seconds, 0.6),
    ]


def warm_kernels(challenges: list[Challenge]) -> list[Row]:
    """Right kernels in the interpreter over one judge: the slowest file of the twelve challenges, and the median."""
    found: dict[str, float] = {}
    imports = [seconds(IMPORT_TORCH) for _ in range(3)]
    with Judge.start() as judge:
        judge.hello()
        for challenge in challenges:
            if challenge.kernel:
                folder = Path(challenge.folder)
                _timed(judge, challenge, folder / "kernel.py")
                for file in [folder / "kernel.py", *sorted((folder / "right").glob("*.py"))]:
                    name = f"{challenge.id}/{file.stem}"
                    found[name] = statistics.median(_timed(judge, challenge, file) for _ in range(3))
    import_torch_seconds = statistics.median([*imports, *(seconds(IMPORT_TORCH) for _ in range(3))])
    slowest = max(found, key=found.__getitem__)
    median = statistics.median(found.values())
    what = "a right kernel in the interpreter, warm / import torch"
    return [
        Row(f"{what}, slowest of {len(found)} ({slowest})", found[slowest] / import_torch_seconds, 2),
        Row(f"{what}, median", median / import_torch_seconds, 2),
    ]


def _timed(judge: Judge, challenge: Challenge, file: Path) -> float:
    """The seconds of one grading, a moment after the last one: nobody saves a file twice within a tenth of a second."""
    time.sleep(0.1)
    request = GradeRequest(
        spec=specification(challenge), folder=Path(challenge.folder), source=file.read_bytes(), filename=str(file)
    )
    start = time.perf_counter()
    judge.grade(request)
    return time.perf_counter() - start


def boundary() -> list[Row]:
    """Examples a second across the process boundary, and a worker's own memory; measured in a process with torch."""
    script = ROOT / "benchmarks" / "boundary.py"
    output = subprocess.run([PYTHON, "-W", "ignore", str(script)], capture_output=True, text=True, check=True, cwd=ROOT)
    share, memory = (float(value) for value in output.stdout.split()[-2:])
    return [
        AtLeast("examples a second across the process boundary / in one process", share, 0.7),
        Row("a worker's own memory", memory, 30, "MiB"),
    ]
