"""Run every experiment in full on many seeds; print how often each check held, and the range of its results.

    python benchmarks/experiments.py [ID...] [--seeds 10] [--first 0] [--quick]

Exit 1 if any check failed on any seed: either its threshold depends on the draw, or the claim is wrong.
"""

from __future__ import annotations

import argparse
import re
import sys
import time

from attncli.experiments.runner import ChildRun, SeedOutcome, catalogue
from attncli.paths import bundled_impl

LONGEST_LIST = 100
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def report(id: str, outcomes: list[SeedOutcome], seconds: float) -> bool:
    """Print one line for each check; return True if all held on every seed."""
    print(f"{id}: {sum(outcome.holds for outcome in outcomes)} of {len(outcomes)} seeds, {seconds:.1f} s a seed")
    for place, check in enumerate(outcomes[0].checks):
        found = [outcome.checks[place] for outcome in outcomes]
        held = sum(one.holds for one in found)
        got = spanned([one.got for one in found])
        print(f"  {held:>3} of {len(found)}  {check.says.en} (due: {check.due}): {got}", flush=True)
    return all(outcome.holds for outcome in outcomes)


def spanned(got: list[str]) -> str:
    """Return the range of the first numbers in the texts, or the distinct texts if they have no number."""
    numbers = sorted((found[0] for text in got for found in NUMBER.finditer(text)), key=float)
    texts = ", ".join(dict.fromkeys(got))
    return f"{numbers[0]} … {numbers[-1]}" if numbers else texts[:LONGEST_LIST]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    impl, green = bundled_impl(), True
    for experiment in catalogue(impl):
        if options.ids and experiment.id not in options.ids:
            continue
        begun = time.perf_counter()
        seeds, text = range(options.first, options.first + options.seeds), experiment.text.en if experiment.text else ""
        with ChildRun(experiment, impl, seeds, options.quick, text) as run:
            outcomes = run.outcomes()
        green &= report(experiment.id, outcomes, (time.perf_counter() - begun) / options.seeds)
    return 0 if green else 1


if __name__ == "__main__":
    sys.exit(main())
