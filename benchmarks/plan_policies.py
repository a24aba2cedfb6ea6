"""The policies that `plan.py` compares, and the simulated learner who follows them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from random import Random

from attncli.memory.forecast import (
    Curve,
    Item,
    Outlook,
    StabilityGrowth,
    Trial,
    each_day,
    expected_recall,
    first_shares,
    likely,
    middle,
    scenarios,
    study_order,
    weigh,
)
from attncli.memory.queue_order import LEARN_SECONDS, REVIEW_SECONDS, pass_days, usual_seconds
from simulated_learners import AGAIN, MODELS, Learner

GROWTH = StabilityGrowth()
AGAIN_SECONDS = 20.0
TOPICS = 20
MUST_KNOW = 0.14
"""The share of must-know cards in the bank; they have the largest weights."""
HASTY_SECONDS, ABSENT = 3.0, 0.3
"""Seconds that a hasty learner spends on a card; share of days that an irregular learner misses."""
# (share of the bank, weight): how often it is asked, as `memory.card_order` weighs the bundled bank
BANK = ((0.24, 4.0), (0.21, 3.0), (0.04, 2.5), (0.07, 2.0), (0.32, 1.0), (0.12, 0.5))

Policy = Callable[["Desk", int], Iterable[int]]


@dataclass
class Desk:
    """A learner with the FSRS schedule of each card, the log's statistics, and the minutes a day."""

    learner: Learner
    weights: list[float]
    minutes: int
    interview: int
    stability: dict[int, float] = field(default_factory=dict)
    difficulty: dict[int, float] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    due: dict[int, int] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)
    first_ratings: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    learn_seconds: list[float] = field(default_factory=list)
    review_seconds: list[float] = field(default_factory=list)
    is_hasty: bool = False
    absent: frozenset[int] = frozenset()

    def spend(self, day: int, policy: Policy, drills: bool = False) -> None:
        """Study for one day: cards in the policy's order until the minutes are used up.

        With `drills`, a learner who is through before that goes on with `attn drill`, which draws from all cards.
        """
        if day in self.absent:
            return
        drawn = Random(f"drill {day} {self.minutes}").sample(range(len(self.weights)), len(self.weights) * drills)
        left = self.minutes * 60.0
        for card in chain(policy(self, day), drawn):
            if left <= 0:
                break
            if self.last.get(card, day - 1) < day:
                left -= self.study(card, day)

    def study(self, card: int, day: int) -> float:
        """Learn or review a card; return the seconds that it took."""
        pace = self.learner.pace * math.exp(self.learner.draw.gauss(0, 0.2))
        if card not in self.stability:
            rating = self.learner.learn(card, day)
            self.first_ratings[rating - 1] += 1
            self.stability[card], self.difficulty[card] = GROWTH.first(rating), GROWTH.first_difficulty(rating)
            took = HASTY_SECONDS if self.is_hasty else LEARN_SECONDS * pace
            self.learn_seconds.append(took)
        else:
            took = self._review(card, day) * pace
            took = HASTY_SECONDS if self.is_hasty else took
            self.review_seconds.append(took)
        self.last[card] = day
        self.due[card] = day + max(1, round(self.stability[card]))
        return took

    def _review(self, card: int, day: int) -> float:
        stability, elapsed = self.stability[card], day - self.last[card]
        rating = self.learner.review(card, day)
        if elapsed:
            self.trials.append(Trial(stability, elapsed, rating != AGAIN))
            self.stability[card] = GROWTH.rated(stability, self.difficulty[card], elapsed, rating)
            self.difficulty[card] = GROWTH.harder(self.difficulty[card], rating)
        else:
            self.stability[card] = GROWTH.learned_again(stability)
        return REVIEW_SECONDS + (AGAIN_SECONDS if rating == AGAIN else 0)

    def items(self) -> list[Item]:
        """Return the cards as items for the planner."""
        learn = usual_seconds(self.learn_seconds, LEARN_SECONDS)
        review = usual_seconds(self.review_seconds, REVIEW_SECONDS)
        return [
            Item(
                str(card),
                weight,
                self.stability.get(card),
                self.difficulty.get(card, 5.0),
                self.last.get(card, -9999),
                learn,
                review,
                must_know=card < MUST_KNOW * len(self.weights),
            )
            for card, weight in enumerate(self.weights)
        ]

    def outlook(self) -> tuple[Outlook, list[Curve]]:
        curves = likely(weigh(self.trials))
        fresh = GROWTH.fresh(first_shares(self.first_ratings))
        return Outlook(self.interview, middle(curves), GROWTH, *fresh, len(self.trials), set_day=0), curves

    def on_day(self, card: int) -> float:
        """Return the recall on the interview day by plain FSRS, without further reviews."""
        return GROWTH.recall(self.stability[card], self.interview - self.last[card])

    def unseen(self) -> list[int]:
        """Return unseen cards in order of introduction: most asked first."""
        return [card for card in range(len(self.weights)) if card not in self.stability]

    def pass_days(self) -> int:
        """Return the number of days that the last pass takes."""
        review = usual_seconds(self.review_seconds, REVIEW_SECONDS)
        return pass_days(len(self.last) * review, self.minutes * 60)

    def score(self) -> float:
        """Return the weighted recall on the interview day, by the learner's true memory."""
        recalled = sum(w * self.learner.recall(card, self.interview) for card, w in enumerate(self.weights))
        return recalled / sum(self.weights)


def fsrs(desk: Desk, day: int) -> list[int]:
    """Return due reviews, the longest overdue first, then new cards."""
    due = sorted((card for card, on in desk.due.items() if on <= day), key=lambda card: (desk.due[card], card))
    return due + desk.unseen()


def capped(desk: Desk, day: int) -> list[int]:
    """Return the order of `fsrs`, but with no interval longer than the day before the interview."""
    eve = desk.interview - 1
    due = [card for card, on in desk.due.items() if min(on, eve) <= day and desk.last[card] < day]
    return sorted(due, key=lambda card: (desk.due[card], card)) + desk.unseen()


def last_pass(desk: Desk, day: int) -> list[int]:
    """Follow plain FSRS; in the last days review every seen card once more, the least likely recalled first."""
    first = desk.interview - desk.pass_days()
    if day < first:
        return fsrs(desk, day)
    left = sorted((card for card, last in desk.last.items() if last < first), key=desk.on_day)
    behind = set(left)
    return left + [card for card in fsrs(desk, day) if card not in behind]


def queue(desk: Desk, day: int) -> list[int]:
    """Return the order of `attn review`: due reviews, a spread-out last pass and new cards; most asked first."""
    days = desk.pass_days()
    passing = desk.interview - day <= days
    own = {card: desk.interview - 1 - card % days for card in desk.last}
    due = [card for card, on in desk.due.items() if on <= day or (passing and desk.last[card] < own[card] <= day)]
    return sorted([*due, *desk.unseen()], key=lambda card: (-desk.weights[card], card not in desk.last, card))


def plan(desk: Desk, day: int) -> list[int]:
    """Return the first day of a plan made that morning from the data so far: the list that `attn` serves."""
    outlook, _ = desk.outlook()
    seconds = dict.fromkeys(range(day, desk.interview), desk.minutes * 60.0)
    return [int(id) for id in next(each_day({item.id: item for item in desk.items()}, outlook, seconds)).cards]


def unpaced(desk: Desk, day: int) -> Iterable[int]:
    """Yield the plan's list without pacing."""
    return _until_full(desk, day, desk.items())


def new_to_the_end(desk: Desk, day: int) -> Iterable[int]:
    """Yield the list of `unpaced` with any new cards up to the day before the interview, too."""
    return _until_full(desk, day, [replace(item, must_know=True) for item in desk.items()])


def _until_full(desk: Desk, day: int, items: list[Item]) -> Iterable[int]:
    outlook, _ = desk.outlook()
    passing = desk.interview - day <= desk.pass_days()
    left = desk.minutes * 60.0
    for item in study_order(items, day, outlook, passing):
        left -= item.seconds
        if left < 0:
            break
        yield int(item.id)


POLICIES: dict[str, Policy] = {
    "plan": plan,
    "unpaced": unpaced,
    "new-to-end": new_to_the_end,
    "fsrs": fsrs,
    "capped": capped,
    "last-pass": last_pass,
    "queue": queue,
}


def forecasts(desk: Desk, day: int) -> list[tuple[float, float, float, list[int]]]:
    """Return the forecast of the morning of `day` for the interview day: (recall, low, high, cards) per topic."""
    outlook, curves = desk.outlook()
    minutes = dict.fromkeys(range(day, desk.interview), desk.minutes * 60.0)
    found = scenarios(desk.items(), outlook, curves, minutes)
    told = []
    for topic in range(TOPICS):
        cards = list(range(topic, len(desk.weights), TOPICS))
        expected = expected_recall({str(card): 1.0 for card in cards}, found, outlook)
        told.append((expected.recall, expected.low, expected.high, cards))
    return told


def begun(model: str, known: float, minutes: int, days: int, cards: int, seed: int, habit: str = "honest") -> Desk:
    """Return a learner who knows a share of the cards from the last three months; day 0 is the plan's first."""
    draw = Random(f"judged {model} {known} {minutes} {days} {seed}")
    weights = [weight for share, weight in BANK for _ in range(round(share * cards))]
    desk = Desk(MODELS[model](draw), weights, minutes, days)
    for card in draw.sample(range(len(weights)), round(known * len(weights))):
        day = -draw.randint(20, 90)
        desk.study(card, day)
        for _ in range(draw.randint(1, 4)):
            day += max(1, round(desk.stability[card] * draw.uniform(0.7, 1.6)))
            if day > -1:
                break
            desk.study(card, day)
    desk.is_hasty = habit == "hasty"
    desk.absent = frozenset(day for day in range(days) if habit == "irregular" and draw.random() < ABSENT)
    desk.learner.draw = Random(f"judged {model} {known} {minutes} {days} {seed} from day 0")
    return desk
