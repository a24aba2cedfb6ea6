"""Simulate a year of the queue by minutes: learners of three memory models, none of them the scheduler's.

`python benchmarks/queue_year.py` runs the whole grid (some minutes), `--quick` a corner of it in seconds. The bank is
twice the bundled one, so that days stay full, and has as many links per card. The baseline is plain FSRS, which asks
every review on its day and learns the same new cards on the same days. Three results are printed: the share of its
minutes that a day takes; the rate of cards with a sibling on the same day or the day before; and recall, at reviews
and of all seen cards on an ordinary day. Exit 0 if all are in bounds.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parent))

from attncli.domain.vocabulary import APART_DAYS, LONGEST_WAIT_DAYS, Meeting, waiting
from attncli.memory.forecast import StabilityGrowth
from attncli.memory.queue_order import LEARN_SECONDS, REVIEW_SECONDS, fitting, usual_seconds
from attncli.memory.scheduler import fuzzed_days
from simulated_learners import AGAIN, MODELS, Learner

GROWTH = StabilityGrowth()
DAYS, CARDS, TOPICS, NEW_PER_DAY = 365, 900, 20, 10
MINUTES, LEARNERS = (8, 15, 30), 5
QUICK_MINUTES, QUICK_LEARNERS = (8, 20), 2
AGAIN_SECONDS = 20.0
MOST_OF_MINUTES, MOST_LOST, MOST_MET = 1.1, 0.005, 0.005
SAMPLED_EVERY = 7
PACE_DAYS, PACE_REVIEWS = 28, 600


@dataclass
class Year:
    """Results of a year: each day's share of its minutes, reviews, how many were recalled, and siblings met."""

    shares: list[float] = field(default_factory=list)
    longest: float = 0.0
    reviews: int = 0
    recalled: int = 0
    asked: int = 0
    met: int = 0
    known: list[float] = field(default_factory=list)
    introduced: dict[int, int] = field(default_factory=dict)

    @property
    def retention(self) -> float:
        return self.recalled / max(1, self.reviews)


@dataclass
class Desk:
    """A learner, the FSRS schedule of their cards, and the siblings of each card."""

    learner: Learner
    siblings: dict[int, set[int]]
    minutes: int
    stability: dict[int, float] = field(default_factory=dict)
    difficulty: dict[int, float] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    due: dict[int, int] = field(default_factory=dict)
    introduced: dict[int, int] = field(default_factory=dict)
    repetitions: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    spent: list[tuple[int, bool, float]] = field(default_factory=list)

    def study(self, card: int, day: int, year: Year) -> float:
        """Learn or review a card; return the seconds that it took."""
        pace = self.learner.pace * math.exp(self.learner.draw.gauss(0, 0.2))
        is_new = card not in self.stability
        if is_new:
            self.introduced[card] = day
            rating = self.learner.learn(card, day)
            self.stability[card], self.difficulty[card] = GROWTH.first(rating), GROWTH.first_difficulty(rating)
        else:
            rating = self.learner.review(card, day)
            elapsed = day - self.last[card]
            self.stability[card] = GROWTH.rated(self.stability[card], self.difficulty[card], elapsed, rating)
            self.difficulty[card] = GROWTH.harder(self.difficulty[card], rating)
            year.reviews += 1
            year.recalled += rating != AGAIN
        took = pace * (LEARN_SECONDS if is_new else REVIEW_SECONDS + (AGAIN_SECONDS if rating == AGAIN else 0))
        self.spent.append((day, is_new, took))
        self.repetitions[card] += 1
        self.last[card] = day
        interval = max(1, round(self.stability[card]))
        self.due[card] = day + fuzzed_days(interval, 36_500, f"card-{card}", self.repetitions[card])
        return took

    def seconds(self, day: int, is_new: bool) -> float:
        """What learning (reviewing) a card takes, by the log of the last weeks."""
        seen = [took for on, new, took in self.spent if new == is_new and day - PACE_DAYS <= on < day]
        return usual_seconds(seen[-PACE_REVIEWS:], LEARN_SECONDS if is_new else REVIEW_SECONDS)

    def met(self, cards: Iterable[int], day: int) -> int:
        """Count the cards with a sibling that is among them or was studied yesterday."""
        today = set(cards)
        return sum(
            any(other in today or day - self.last.get(other, -99) < APART_DAYS for other in self.siblings[card])
            for card in today
        )


def plain(desk: Desk, day: int, like: Mapping[int, int]) -> list[int]:
    """Follow plain FSRS: every due review on its day, however long it takes; new cards as in the year `like`."""
    due = [card for card, on in desk.due.items() if on <= day]
    return due + [card for card, first in like.items() if first == day]


def by_minutes(desk: Desk, day: int, like: Mapping[int, int]) -> list[int]:
    """Return the queue of `attn review` with minutes set."""
    due = {card for card, on in desk.due.items() if on <= day}
    apart = waiting(_meetings(desk, due, day))
    open_now = [card for card in due if str(card) not in apart]
    open_now.sort(key=lambda card: (desk.stability[card] + 0.98 * (day - desk.last[card]), card))
    learn, review = desk.seconds(day, is_new=True), desk.seconds(day, is_new=False)
    count, quota = fitting(60 * desk.minutes, len(open_now), learn, review)
    reviews, quota = open_now[:count], min(NEW_PER_DAY, quota)
    new: list[int] = []
    for card in range(CARDS):
        if len(new) == quota:
            break
        if card not in desk.stability and not _is_near(desk, card, new, day):
            new.append(card)
    return reviews + new


def _meetings(desk: Desk, due: set[int], day: int) -> list[Meeting]:
    found = []
    for card in sorted(due):
        late = day - desk.due[card]
        for other in sorted(desk.siblings[card]) if late < LONGEST_WAIT_DAYS else ():
            studied = day - desk.last.get(other, -99) < APART_DAYS
            if studied or other in due:
                comes = studied or day - desk.due[other] >= LONGEST_WAIT_DAYS
                found.append(Meeting(str(card), "", late, desk.due[card] - desk.last[card], str(other), comes))
    return found


def _is_near(desk: Desk, card: int, new: Sequence[int], day: int) -> bool:
    return any(
        other in new
        or day - desk.last.get(other, -99) < APART_DAYS
        or day - LONGEST_WAIT_DAYS <= desk.due.get(other, -99) <= day + APART_DAYS
        for other in desk.siblings[card]
    )


def live(policy: Callable[[Desk, int, Mapping[int, int]], list[int]], cell: tuple[str, int, int], like: Year) -> Year:
    """Simulate a year of one learner (model, minutes, seed) under one policy."""
    model, minutes, seed = cell
    desk = Desk(MODELS[model](Random(f"year {model} {seed}")), _siblings(Random(f"bank {seed}")), minutes)
    year = Year()
    for day in range(DAYS):
        asked = policy(desk, day, like.introduced)
        year.asked += len(asked)
        year.met += desk.met(asked, day)
        took = sum(desk.study(card, day, year) for card in asked) / 60
        year.longest = max(year.longest, took)
        year.shares.append(took / minutes)
        if desk.last and day % SAMPLED_EVERY == 0:
            year.known.append(fmean(desk.learner.recall(card, day + 1) for card in desk.last))
    year.introduced = desk.introduced
    return year


def _siblings(draw: Random) -> dict[int, set[int]]:
    """Link each card to two follow-ups, mostly of its topic: as many links as in the bundled bank."""
    siblings: dict[int, set[int]] = defaultdict(set)
    for card in range(CARDS):
        for _ in range(2):
            near = (card + TOPICS * draw.randint(1, 5)) % CARDS
            other = near if draw.random() < 0.7 else draw.randrange(CARDS)
            if other != card:
                siblings[card].add(other)
                siblings[other].add(card)
    return siblings


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` of the values do not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def report(minutes: Sequence[int], learners: int) -> int:
    """Print every cell; return 0 if all are in bounds."""
    print(
        f"{'model':<12} {'min':>3} {'queue':<10} {'p95 of a day':>12} {'longest':>8} {'siblings met':>14}"
        f" {'recalled':>9} {'known':>7} {'seen':>5}"
    )
    fits, mine, theirs = True, list[Year](), list[Year]()
    for model in MODELS:
        for asked_for in minutes:
            cells = [(model, asked_for, seed) for seed in range(learners)]
            limited = [live(by_minutes, cell, Year()) for cell in cells]
            free = [live(plain, cell, year) for cell, year in zip(cells, limited, strict=True)]
            print(_line(model, asked_for, "by minutes", limited))
            print(_line(model, asked_for, "plain", free), flush=True)
            fits &= _p95(limited) <= MOST_OF_MINUTES
            mine += limited
            theirs += free
    met, asked = sum(year.met for year in mine), sum(year.asked for year in mine)
    lost = fmean(fmean(b.known) - fmean(a.known) for a, b in zip(mine, theirs, strict=True))
    later = fmean(b.retention - a.retention for a, b in zip(mine, theirs, strict=True))
    print(f"\np95 of a day at most {MOST_OF_MINUTES} times its minutes in every cell: {'yes' if fits else 'no'}")
    print(f"cards with a sibling on the same day or the one before: {met} of {asked} ({met / asked:.2%})")
    print(f"lost of what is known on an ordinary day, against plain FSRS: {100 * lost:+.2f} points")
    print(f"lost of what is recalled when a review is asked: {100 * later:+.2f} points")
    return 0 if fits and met <= MOST_MET * asked and max(lost, later) < MOST_LOST else 1


def _p95(years: Sequence[Year]) -> float:
    """Return the 95th percentile over all days of the share of their minutes that they took."""
    return percentile([share for year in years for share in year.shares], 0.95)


def _line(model: str, minutes: int, queue: str, years: Sequence[Year]) -> str:
    met, asked = sum(year.met for year in years), sum(year.asked for year in years)
    return (
        f"{model:<12} {minutes:>3} {queue:<10} {_p95(years):>11.2f}x {max(year.longest for year in years):>6.0f} m"
        f" {f'{met} of {asked}':>14} {fmean(year.retention for year in years):>9.1%}"
        f" {fmean(fmean(year.known) for year in years):>7.1%} {fmean(len(year.introduced) for year in years):>5.0f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a corner of the grid, in seconds")
    parser.add_argument("--learners", type=int, default=0, help="learners a cell")
    options = parser.parse_args()
    minutes, learners = (QUICK_MINUTES, QUICK_LEARNERS) if options.quick else (MINUTES, LEARNERS)
    return report(minutes, options.learners or learners)


if __name__ == "__main__":
    sys.exit(main())
