"""A generated class on disk, and `attn cohort` as a process that grades it; used by benchmarks/cohort.py."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from timing import ATTN, ROOT

ORDINARY = (
    *("attention/sdpa", "attention/causal-mask", "attention/softmax-stable", "norms/rms-norm"),
    *("norms/layer-norm", "positions/rope", "cache/gqa", "optimisers/adamw"),
)
QUICK = (
    *("attention/causal-mask", "cache/kv-cache-size", "positions/rope-scaling", "positions/alibi"),
    *("positions/sinusoidal-pe", "optimisers/cosine-warmup", "serving/continuous-batching", "decoding/tree-verify"),
)
"""The quickest challenges to grade: a thousand people's files take a quarter of the time."""
SHARE_RIGHT = 0.6
POLL_SECONDS = 0.02
HOSTILE = {
    "hang": "while True: pass\n",
    "bomb": "import os\nwhile True: os.fork()\n",
    "memory": "x = []\nwhile True: x.append(bytes(1000000))\n",
    "print": "def {entry}(*a, **k):\n    while True: print('x' * 1000)\n",
    "exit": "import os\nos._exit(0)\n",
    "crash": "import ctypes\nctypes.string_at(0)\n",
    "kill": "import os\nos.kill(1 if os.getpid() == 2 else os.getppid(), 9)\n",
}


def make_class(folder: Path, learners: int, seed: int, challenges: Sequence[str] = ORDINARY) -> int:
    """Write a class in which no two files are the same; return the number of files."""
    chance = random.Random(seed)
    for number in range(learners):
        home = folder / f"learner-{number:04d}"
        home.mkdir(parents=True)
        for name in challenges:
            challenge = ROOT / "impl" / name
            right = [challenge / "reference.py", *sorted(challenge.glob("right/*.py"))]
            wrong = sorted(challenge.glob("wrong/*.py"))
            chosen = chance.choice(right if chance.random() < SHARE_RIGHT else wrong)
            text = chosen.read_text(encoding="utf-8")
            (home / f"{challenge.name}.py").write_text(f"{text}\n# {number}\n", encoding="utf-8")
    return learners * len(challenges)


def add_hostile(folder: Path) -> None:
    """Add people whose files hang, exhaust memory or forge results."""
    lies = sorted((ROOT / "tests" / "attacks" / "solutions").glob("crash_*.py"))
    for name, text in HOSTILE.items():
        home = folder / f"hostile-{name}"
        home.mkdir()
        (home / "sdpa.py").write_text(text.replace("{entry}", "sdpa"), encoding="utf-8")
    for file in lies:
        home = folder / f"liar-{file.stem}"
        home.mkdir()
        shutil.copy(file, home / "sdpa.py")


def without_hostile(report: bytes) -> dict[str, object]:
    """Return the rows of a report for the people who are not hostile, by learner."""
    found = json.loads(report)["learners"]
    return {row["learner"]: row for row in found if row["learner"].startswith("learner-")}


class Cohort:
    """`attn cohort` on a folder, as a process with its own home."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "ATTN_HOME": str(home)}

    @property
    def results(self) -> Path:
        return self.folder / ".attn-cohort" / "results.jsonl"

    def forget(self) -> None:
        shutil.rmtree(self.results.parent, ignore_errors=True)

    def started(self, *words: str) -> subprocess.Popen[bytes]:
        command = [*ATTN, "cohort", str(self.folder), "--json", "--seed", "0", *words]
        return subprocess.Popen(
            command, env=self.environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def report(self, *words: str) -> bytes:
        """Run to the end, reusing stored results, and return the report."""
        return ended(self.started(*words))

    def report_when(self, results: int, act: Callable[[], None], *words: str) -> bytes:
        """Run to the end and return the report; call `act` as soon as `results` results are stored."""
        process = self.started(*words)
        self._wait(process, results)
        act()
        return ended(process)

    def seconds(self, *words: str) -> float:
        self.forget()
        start = time.perf_counter()
        self.report(*words)
        return time.perf_counter() - start

    def killed_when(self, results: int, more_seconds: float, *words: str) -> bool:
        """Kill a run `more_seconds` after `results` results are stored; return False if it had ended before."""
        process = self.started(*words)
        self._wait(process, results)
        try:
            process.communicate(timeout=more_seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            return True
        return False

    def _wait(self, process: subprocess.Popen[bytes], results: int) -> None:
        while process.poll() is None and len(self.whole_lines()) < results:
            time.sleep(POLL_SECONDS)

    def whole_lines(self) -> list[bytes]:
        content = self.results.read_bytes() if self.results.exists() else b""
        return content[: content.rfind(b"\n") + 1].splitlines()

    def kept_twice(self) -> int:
        keys = [tuple(json.loads(line)[name] for name in ("learner", "challenge")) for line in self.whole_lines()]
        return len(keys) - len(set(keys))


def ended(process: subprocess.Popen[bytes]) -> bytes:
    """Return the output of a run. Raises CalledProcessError if it fails."""
    printed, _ = process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return printed
