"""Grades a generated class: two judges against one, killed again and again, twice, and beside hostile people.

    python benchmarks/cohort.py [--learners 12] [--kills 20] [--seed 0]

Everybody hands in eight files, each a right or a wrong one of the challenge's own folder, none the same as another's.
Exit 1 if anything does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from timing import ATTN, ROOT, AtLeast

CHALLENGES = (
    *("attention/sdpa", "attention/causal-mask", "attention/softmax-stable", "norms/rms-norm"),
    *("norms/layer-norm", "positions/rope", "cache/gqa", "optimisers/adamw"),
)
SHARE_RIGHT = 0.6
LEAST_RATIO = 1.6
LONGEST_RUN_SECONDS = 6.0
HOSTILE = {
    "hang": "while True: pass\n",
    "bomb": "import os\nwhile True: os.fork()\n",
    "memory": "x = []\nwhile True: x.append(bytes(1000000))\n",
    "print": "def {entry}(*a, **k):\n    while True: print('x' * 1000)\n",
    "exit": "import os\nos._exit(0)\n",
    "crash": "import ctypes\nctypes.string_at(0)\n",
    "kill": "import os\nos.kill(1 if os.getpid() == 2 else os.getppid(), 9)\n",
}


def make_class(folder: Path, learners: int, seed: int) -> int:
    """Writes a class; the number of files."""
    chance = random.Random(seed)
    for number in range(learners):
        home = folder / f"learner-{number:04d}"
        home.mkdir(parents=True)
        for name in CHALLENGES:
            challenge = ROOT / "impl" / name
            right = [challenge / "reference.py", *sorted(challenge.glob("right/*.py"))]
            wrong = sorted(challenge.glob("wrong/*.py"))
            chosen = chance.choice(right if chance.random() < SHARE_RIGHT else wrong)
            text = chosen.read_text(encoding="utf-8")
            (home / f"{challenge.name}.py").write_text(f"{text}\n# {number}\n", encoding="utf-8")
    return learners * len(CHALLENGES)


def add_hostile(folder: Path) -> None:
    """Adds people whose files hang, bomb and lie."""
    lies = sorted((ROOT / "tests" / "attacks" / "solutions").glob("crash_*.py"))
    for name, text in HOSTILE.items():
        home = folder / f"hostile-{name}"
        home.mkdir()
        (home / "sdpa.py").write_text(text.replace("{entry}", "sdpa"), encoding="utf-8")
    for file in lies:
        home = folder / f"liar-{file.stem}"
        home.mkdir()
        shutil.copy(file, home / "sdpa.py")


class Cohort:
    """`attn cohort` on a folder, as a process of its own with a home of its own."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "ATTN_HOME": str(home)}

    @property
    def results(self) -> Path:
        return self.folder / ".attn-cohort" / "results.jsonl"

    def forget(self) -> None:
        shutil.rmtree(self.results.parent, ignore_errors=True)

    def command(self, *words: str) -> list[str]:
        return [*ATTN, "cohort", str(self.folder), "--json", *words]

    def report(self, *words: str) -> bytes:
        """The report of a run to the end."""
        return subprocess.run(
            self.command(*words), env=self.environment, cwd=ROOT, stdout=subprocess.PIPE, check=True
        ).stdout

    def seconds(self, *words: str) -> float:
        self.forget()
        start = time.perf_counter()
        self.report(*words)
        return time.perf_counter() - start

    def killed_after(self, seconds: float) -> bool:
        """Whether a run was still at work when it was killed."""
        process = subprocess.Popen(
            self.command("--jobs", "2"), env=self.environment, cwd=ROOT, stdout=subprocess.DEVNULL
        )
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return True
        return False

    def whole_lines(self) -> list[bytes]:
        content = self.results.read_bytes() if self.results.exists() else b""
        return content[: content.rfind(b"\n") + 1].splitlines()


def throughput(cohort: Cohort, rounds: int) -> AtLeast:
    """Two judges against one, in turn; the median of what the second brings."""
    ratios = sorted(cohort.seconds("--jobs", "1") / cohort.seconds("--jobs", "2") for _ in range(rounds))
    return AtLeast("throughput of two judges / of one", ratios[len(ratios) // 2], LEAST_RATIO)


def killed(cohort: Cohort, kills: int, chance: random.Random, expected: bytes) -> Iterator[str]:
    """What goes wrong when a run is killed again and again and then resumed."""
    cohort.forget()
    before: list[bytes] = []
    done = 0
    for _ in range(kills):
        done += cohort.killed_after(chance.uniform(0.2, LONGEST_RUN_SECONDS))
        lines = cohort.whole_lines()
        if lines[: len(before)] != before:
            yield "a result was lost"
        before = lines
    if cohort.report("--jobs", "2") != expected:
        yield "the report after the kills is another one"
    keys = [tuple(json.loads(line)[name] for name in ("learner", "challenge")) for line in cohort.whole_lines()]
    if len(set(keys)) != len(keys):
        yield f"{len(keys) - len(set(keys))} results are kept twice"
    print(f"       killed {done} times, {len(keys)} results kept, {len(set(keys))} of them different", flush=True)


def others(report: bytes) -> dict[str, object]:
    """What a report says of the people who are not hostile."""
    found = json.loads(report)["learners"]
    return {row["learner"]: row for row in found if row["learner"].startswith("learner-")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", type=int, default=12)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cohort = Cohort(Path(folder) / "class", Path(folder) / "home")
        files = make_class(cohort.folder, options.learners, options.seed)
        print(f"{options.learners} people, {files} files, seed {options.seed}", flush=True)
        row = throughput(cohort, options.rounds)
        print(row.line(), flush=True)
        first = cohort.report()
        cohort.forget()
        faults = [] if cohort.report("--jobs", "2") == first else ["graded twice, the reports differ"]
        faults += killed(cohort, options.kills, random.Random(options.seed), first)
        add_hostile(cohort.folder)
        cohort.forget()
        if others(cohort.report("--timeout", "10")) != others(first):
            faults.append("hostile people changed the results of others")
    for fault in faults:
        print(f"FAILS  {fault}")
    if not faults:
        print("holds  twice the same bytes; killed and resumed the same bytes; hostile people change nobody's result")
    return 0 if not faults and row.measured >= row.budget else 1


if __name__ == "__main__":
    sys.exit(main())
