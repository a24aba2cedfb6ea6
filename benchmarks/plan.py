"""Measure the benefit of the interview plan: simulated learners of three memory models, equal minutes per policy.

`python benchmarks/plan.py` runs the whole grid (half an hour on a busy core), `--quick` a corner of it. Grid and
models were fixed before the first full run, and the planner was tuned on other learners (some of them in that corner).
Recall is the model's own, weighted by how often interviewers ask a card. Policies are compared over equal minutes: who
is through before the minutes are up drills on. Forecasts are compared with learners who follow the plan alone.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from random import Random
from statistics import fmean, stdev

sys.path.insert(0, str(Path(__file__).parent))

from plan_policies import POLICIES, Desk, begun, forecasts
from simulated_learners import MODELS

DAYS = (7, 21, 60)
MINUTES = (15, 30, 120)
KNOWN = (0.0, 0.3, 0.7)
HABITS = ("honest", "hasty", "irregular")
CARDS = 240
LEARNERS = 3
QUICK_DAYS, QUICK_MINUTES, QUICK_KNOWN, QUICK_HABITS, QUICK_LEARNERS = (14,), (10,), (0.0, 0.7), ("honest",), 5
BASELINES = ("fsrs", "capped", "last-pass")
MOST_LOST = 0.01
"""The recall that pacing may cost, and pacing with the rule for the last three days, compared with a plan without."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the grid: memory model, days, minutes a day, share of cards known before, and study habit."""

    model: str
    days: int
    minutes: int
    known: float
    habit: str

    def __str__(self) -> str:
        return f"{self.model:<12} {self.days:>4} {self.minutes:>4} {self.known:>5.0%} {self.habit:<9}"


@dataclass
class Points:
    """Predicted and true recall by topic, and whether the interval covered the simulated recall."""

    predicted: list[float] = field(default_factory=list)
    true: list[float] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)

    def slope(self) -> float:
        """Return the least-squares slope of true on predicted recall; 1 is calibrated."""
        x, y = fmean(self.predicted), fmean(self.true)
        spread = sum((value - x) ** 2 for value in self.predicted)
        both = sum((a - x) * (b - y) for a, b in zip(self.predicted, self.true, strict=True))
        return both / spread if spread else math.nan

    def error(self) -> float:
        """Return the mean absolute error of the predicted recall."""
        return fmean(abs(a - b) for a, b in zip(self.predicted, self.true, strict=True))

    def line(self, name: str) -> str:
        off = fmean(b - a for a, b in zip(self.predicted, self.true, strict=True))
        return (
            f"  {name:<24} slope {self.slope():5.2f}   true − predicted {off:+.3f}   off {self.error():.3f}   "
            f"90 % interval held {fmean(self.held):4.0%}   points {len(self.true)}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a corner of the grid, in seconds")
    parser.add_argument("--learners", type=int, default=0, help="learners a cell")
    asked = parser.parse_args()
    cells, learners = grid(asked.quick)
    return report(cells, asked.learners or learners)


def grid(quick: bool) -> tuple[list[Cell], int]:
    """Return the cells and the number of learners per cell."""
    axes = (QUICK_DAYS, QUICK_MINUTES, QUICK_KNOWN, QUICK_HABITS) if quick else (DAYS, MINUTES, KNOWN, HABITS)
    cells = [Cell(model, *place) for model in MODELS for place in product(*axes)]
    return cells, QUICK_LEARNERS if quick else LEARNERS


def report(cells: Sequence[Cell], learners: int) -> int:
    """Print every cell and a summary; return 0 if the plan beats every baseline beyond chance."""
    started = time.perf_counter()
    scores: dict[str, list[float]] = {name: [] for name in POLICIES}
    points: dict[str, Points] = {}
    print(
        f"{'model':<12} {'days':>4} {'min':>4} known habit    ",
        *[f"{name:>10}" for name in POLICIES],
        " plan − last-pass",
    )
    for cell in cells:
        found = {name: [_score(cell, name, seed, points) for seed in range(learners)] for name in POLICIES}
        for name, values in found.items():
            scores[name] += values
        apart = [a - b for a, b in zip(found["plan"], found["last-pass"], strict=True)]
        print(cell, *[f"{fmean(values):>10.3f}" for values in found.values()], f" {_interval(apart)}", flush=True)
    print(
        f"\nweighted recall on the day, plan against the others, {len(scores['plan'])} learners (mean, 95 % interval):"
    )
    beaten = [_verdict(name, scores["plan"], scores[name]) for name in POLICIES if name != "plan"]
    print("\ncalibration of the recall foretold for each topic, over all cells:")
    for name, found_points in points.items():
        print(found_points.line(name))
    print(f"\n{time.perf_counter() - started:.0f} s")
    return 0 if all(beaten) else 1


def _score(cell: Cell, policy: str, seed: int, points: dict[str, Points]) -> float:
    if policy == "plan":
        _foretell(cell, seed, points)
    desk = begun(cell.model, cell.known, cell.minutes, cell.days, CARDS, seed, cell.habit)
    for day in range(cell.days):
        desk.spend(day, POLICIES[policy], drills=True)
    return desk.score()


def _foretell(cell: Cell, seed: int, points: dict[str, Points]) -> None:
    desk = begun(cell.model, cell.known, cell.minutes, cell.days, CARDS, seed, cell.habit)
    told_at = {0: "on the first day", cell.days // 2: "half-way", cell.days - 1: "on the last day"}
    foretold: list[tuple[str, list[tuple[float, float, float, list[int]]]]] = []
    for day in range(cell.days):
        if day in told_at:
            foretold.append((told_at[day], forecasts(desk, day)))
        desk.spend(day, POLICIES["plan"])
    foretold.append(("on the morning itself", forecasts(desk, cell.days)))
    for name, topics in foretold:
        _add(points.setdefault(name, Points()), topics, desk, Random(f"{cell} {seed} {name}"))


def _add(points: Points, topics: Sequence[tuple[float, float, float, list[int]]], desk: Desk, draw: Random) -> None:
    for recall, low, high, cards in topics:
        chances = [desk.learner.recall(card, desk.interview) for card in cards]
        recalled = fmean(draw.random() < chance for chance in chances)
        points.predicted.append(recall)
        points.true.append(fmean(chances))
        points.held.append(low - 1e-9 <= recalled <= high + 1e-9)


def _interval(apart: Sequence[float]) -> str:
    mean, half = fmean(apart), _half(apart)
    return f"{mean:+.3f} ± {half:.3f}"


def _half(apart: Sequence[float]) -> float:
    return 1.96 * stdev(apart) / math.sqrt(len(apart)) if len(apart) > 1 else math.nan


def _verdict(name: str, plan: Sequence[float], other: Sequence[float]) -> bool:
    apart = [a - b for a, b in zip(plan, other, strict=True)]
    wins = sum(value > 0 for value in apart)
    print(f"  {name:<10} {_interval(apart)}   better for {wins} of {len(apart)}")
    if name in ("unpaced", "new-to-end"):
        return fmean(apart) > -MOST_LOST
    return name not in BASELINES or fmean(apart) - _half(apart) > 0


if __name__ == "__main__":
    sys.exit(main())
