"""Grade a generated class: with two judges and one, killed and resumed, twice, on a cluster, and beside hostile people.

    python benchmarks/cohort.py                        twelve people, three minutes
    python benchmarks/cohort.py --learners 1000 --ray  a thousand, also on two nodes of Ray, one of which is killed

Each person hands in eight files, each a right or a wrong file of the challenge's folder; no two files are the same.
A class of more than sixty gets challenges that are quick to grade; throughput and hostile people are then measured in
a class of sixty. `--rounds 0` skips the timing. Exit 1 if any check fails.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generated_class import ORDINARY, QUICK, Cohort, add_hostile, make_class, without_hostile
from timing import AtLeast

TIMED_LEARNERS = 60
LEAST_RATIO = 1.6
MOST_SECONDS_MORE = 2.0
NODE = {"num_cpus": 1, "memory": 4 << 30, "object_store_memory": 80 << 20}


def throughput(cohort: Cohort, rounds: int) -> float:
    """Return how many times faster two judges are than one: the median of alternating runs."""
    ratios = sorted(cohort.seconds("--jobs", "1") / cohort.seconds("--jobs", "2") for _ in range(rounds))
    return ratios[len(ratios) // 2]


def killed(cohort: Cohort, files: int, kills: int, chance: random.Random) -> Iterator[str]:
    """Kill a run at random moments from start to end, resume it each time, and yield each violation."""
    cohort.forget()
    before: list[bytes] = []
    done = 0
    for results in sorted(chance.randrange(files) for _ in range(kills)):
        done += cohort.killed_when(results, chance.uniform(0, MOST_SECONDS_MORE), "--jobs", "2")
        lines = cohort.whole_lines()
        if lines[: len(before)] != before:
            yield "a result was lost"
        before = lines
        print(f"       {stamp()} killed {done} times, {len(lines)} results kept", flush=True)


def on_ray(cohort: Cohort, files: int) -> bytes:
    """Return the report of a run on two nodes, one of which is killed halfway."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    try:
        second = cluster.add_node(**NODE)
        return cohort.report_when(
            files // 2, lambda: cluster.remove_node(second, allow_graceful=False), "--ray", cluster.address
        )
    finally:
        cluster.shutdown()


def whole_class(cohort: Cohort, files: int, options: argparse.Namespace) -> Iterator[str]:
    """Grade one class in several ways; yield each violation."""
    yield from killed(cohort, files, options.kills, random.Random(options.seed))
    first = cohort.report("--jobs", "2")
    if cohort.kept_twice() or len(cohort.whole_lines()) != files:
        yield f"{len(cohort.whole_lines())} results are kept of {files}, {cohort.kept_twice()} of them twice"
    print(f"       {stamp()} {len(cohort.whole_lines())} results kept, {cohort.kept_twice()} twice", flush=True)
    if options.ray:
        cohort.forget()
        if on_ray(cohort, files) != first:
            yield "on the cluster the report is another one"
        print(f"       {stamp()} graded on two nodes; one was killed", flush=True)
    cohort.forget()
    if cohort.report() != first:
        yield "graded without a break, the report is another one"
    print(f"       {stamp()} graded without a break", flush=True)


def beside_hostile(cohort: Cohort) -> Iterator[str]:
    cohort.forget()
    alone = without_hostile(cohort.report())
    add_hostile(cohort.folder)
    cohort.forget()
    if without_hostile(cohort.report("--timeout", "10")) != alone:
        yield "hostile people changed the results of others"


def stamp() -> str:
    return time.strftime("%H:%M:%S")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", type=int, default=12)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ray", action="store_true", help="also on a Ray cluster, which wants attncli[cluster]")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        cohort = Cohort(Path(folder) / "class", Path(folder) / "home")
        challenges = ORDINARY if options.learners <= TIMED_LEARNERS else QUICK
        files = make_class(cohort.folder, options.learners, options.seed, challenges)
        print(f"{options.learners} people, {files} files, seed {options.seed}", flush=True)
        timed = Cohort(Path(folder) / "timed", Path(folder) / "home")
        make_class(timed.folder, min(options.learners, TIMED_LEARNERS), options.seed)
        in_budget = True
        if options.rounds:
            measured = throughput(timed, options.rounds)
            in_budget = measured >= LEAST_RATIO
            print(AtLeast("throughput of two judges / of one", LEAST_RATIO).line(measured), flush=True)
        faults = [*whole_class(cohort, files, options), *beside_hostile(timed)]
    for fault in faults:
        print(f"FAILS  {fault}")
    if not faults:
        print("holds  the same bytes however it was graded; hostile people change nobody's result")
    return 0 if in_budget and not faults else 1


if __name__ == "__main__":
    sys.exit(main())
