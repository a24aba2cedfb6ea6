"""Check thousands of repair rounds: each bug is found alone, none hides another, partial credit names those left.

    python benchmarks/repairs.py --rounds 1000 --jobs 2

Each round drawn is graded once for every subset of its bugs that a learner may have left. The file with these bugs is
graded in the judge's sandbox and must be rejected on the first rung. Without a bug it must equal the reference and be
accepted. From its answers, partial credit must name these bugs and no others. Each file is graded only once.
Every tenth round is graded as by `attn grade`, with a random subset of its bugs repaired.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

from attncli.bank.challenge_rules import load_repairs
from attncli.domain.challenge import MOST_BUGS, Challenge, Repair, drawn, planted
from attncli.domain.grade_report import GradeReport
from attncli.judge.client import GradeOptions, GradeRequest, Judge
from attncli.practice.grade import specification
from grading import all_challenges

GRADED_EACH = 10
Bugs = frozenset[str]


@dataclass
class Outcome:
    """The result of one challenge's rounds; `faults` lists the violations."""

    rounds: Counter[int] = field(default_factory=Counter)
    files: int = 0
    credits: int = 0
    graded: int = 0
    faults: list[str] = field(default_factory=list)


def rounds_of(challenges: Sequence[Challenge], count: int, seed: int) -> dict[str, list[tuple[Repair, ...]]]:
    """Draw `count` rounds of 1 to 4 bugs over all challenges that offer them, by challenge."""
    random, found = Random(seed), defaultdict(list)
    for _ in range(count):
        challenge = random.choice(challenges)
        bugs = random.randint(1, MOST_BUGS)
        found[challenge.id].append(
            drawn(challenge.id, load_repairs(Path(challenge.folder)), bugs, random.randrange(10**6))
        )
    return found


class Rounds:
    """The rounds of one challenge, graded by one judge."""

    def __init__(self, challenge: Challenge, judge: Judge, stream: int) -> None:
        from attncli.judge.challenge import Folder
        from attncli.judge.exam import Exam
        from attncli.judge.repairs import PlantedFiles, probes

        self.challenge, self.judge, self.stream = challenge, judge, stream
        self.folder = Folder(specification(challenge), Path(challenge.folder))
        self.repairs = {repair.wrong: repair for repair in load_repairs(self.folder.path)}
        self.probes = list(probes(Exam(self.folder, stream)))
        self.files = PlantedFiles(self.folder, list(self.repairs.values()), MOST_BUGS)
        self.outcome = Outcome()
        self._rejected: dict[Bugs, bool] = {}
        self._like: dict[tuple[Bugs, Bugs, int], bool] = {}

    def source(self, bugs: Bugs) -> str:
        return planted(self.folder.reference_source, [self.repairs[name] for name in bugs])

    def grade(self, left: Bugs, quick: bool = False, **more: Any) -> GradeReport:
        request = GradeRequest(
            spec=specification(self.challenge),
            folder=self.folder.path,
            source=self.source(left).encode(),
            filename=f"{self.challenge.id}.py",
            options=GradeOptions(seed=self.stream, timeout_seconds=60.0, quick=quick),
            **more,
        )
        return self.judge.grade(request)

    def is_rejected(self, bugs: Bugs) -> bool:
        """Return True if the judge rejects the file with these bugs on the first rung."""
        if bugs not in self._rejected:
            report = self.grade(bugs, quick=True)
            self._rejected[bugs] = not report.accepted and report.rung == "none"
            self.outcome.files += 1
        return self._rejected[bugs]

    def like(self, first: Bugs, second: Bugs, place: int) -> bool:
        """Return True if two files answer a probe alike."""
        key = (first, second, place)
        if key not in self._like:
            answer = self.files.answer(first, self.probes[place])
            self._like[key] = self.files.fits(second, self.probes[place], answer)
        return self._like[key]

    def credited(self, repairs: Sequence[Repair], left: Bugs) -> Bugs:
        """Return the bugs that the answers of a file prove to be left."""
        fitting = parts(repairs)
        for place in range(len(self.probes)):
            fitting = [bugs for bugs in fitting if self.like(left, bugs, place)]
            if len(fitting) == 1:
                break
        return fitting[0] if fitting else frozenset({"nothing fits"})

    def play(self, repairs: Sequence[Repair], graded: frozenset[str] | None) -> None:
        """Check one round with every subset of its bugs left."""
        self.outcome.rounds[len(repairs)] += 1
        for left in parts(repairs):
            rejected = self.is_rejected(left)
            if left and not rejected:
                what = "is not found alone" if len(left) == 1 else "are masked together"
                self._fault(f"{', '.join(sorted(left))} {what}")
            elif not left and (rejected or self.source(left) != planted(self.folder.reference_source, [])):
                self._fault("all repaired is not accepted, or is not the reference")
            credited = self.credited(repairs, left)
            self.outcome.credits += 1
            if credited != left:
                self._fault(f"left {sorted(left)}, credit says {sorted(credited)}")
        if graded is not None:
            self._graded(repairs, graded)

    def _graded(self, repairs: Sequence[Repair], left: Bugs) -> None:
        report = self.grade(left, bugs=[repair.wrong for repair in repairs], repairs=repairs)
        told = {bug.wrong for bug in report.repaired.left} if report.repaired else {"no partial credit"}
        self.outcome.graded += 1
        if told != left or report.accepted == bool(left):
            self._fault(f"graded: left {sorted(left)}, the report says {sorted(told)}, {report.verdict}")

    def _fault(self, said: str) -> None:
        self.outcome.faults.append(f"{self.challenge.id} (stream {self.stream}): {said}")


def parts(repairs: Sequence[Repair]) -> list[Bugs]:
    """Return every subset of these bugs, the empty one first."""
    names = [repair.wrong for repair in repairs]
    return [frozenset(chosen) for count in range(len(names) + 1) for chosen in combinations(names, count)]


def played(challenge: Challenge, rounds: Sequence[tuple[Repair, ...]], seed: int) -> tuple[str, Outcome]:
    """Play the rounds of one challenge in their own process."""
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    random = Random(f"{seed}:{challenge.id}")
    with Judge.start() as judge:
        table = Rounds(challenge, judge, stream=random.randrange(1000))
        for number, repairs in enumerate(rounds):
            some = frozenset(repair.wrong for repair in repairs if random.random() < 0.5)
            table.play(repairs, some if number % GRADED_EACH == 0 else None)
    return challenge.id, table.outcome


def told(outcomes: Sequence[Outcome], seconds: float) -> Iterator[str]:
    rounds = sum((outcome.rounds for outcome in outcomes), Counter[int]())
    of_each = ", ".join(f"{rounds[bugs]} of {bugs}" for bugs in sorted(rounds))
    yield f"{sum(rounds.values())} rounds over {len(outcomes)} challenges (bugs: {of_each}), {seconds:.0f} s"
    yield f"{sum(outcome.files for outcome in outcomes)} different files graded in the sandbox"
    yield f"{sum(outcome.credits for outcome in outcomes)} times the bugs left named from the answers"
    yield f"{sum(outcome.graded for outcome in outcomes)} rounds graded with partial credit as attn grade does"
    yield f"{sum(len(outcome.faults) for outcome in outcomes)} faults"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("challenges", nargs="*", help="only these")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    offering = [
        c
        for c in all_challenges()
        if load_repairs(Path(c.folder)) and (c.id in asked.challenges or not asked.challenges)
    ]
    drawn_rounds = rounds_of(offering, asked.rounds, asked.seed)
    start, outcomes = time.perf_counter(), []
    with ProcessPoolExecutor(asked.jobs) as pool:
        work = [pool.submit(played, c, drawn_rounds[c.id], asked.seed) for c in offering if c.id in drawn_rounds]
        for done in work:
            id, outcome = done.result()
            outcomes.append(outcome)
            print(
                f"{id}: {outcome.rounds.total()} rounds, {outcome.files} files", *outcome.faults, sep="\n  ", flush=True
            )
    print(*told(outcomes, time.perf_counter() - start), sep="\n")
    return 1 if any(outcome.faults for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
