"""What to study on a day before the interview, in order: where the next minute is best spent.

Pure: cards with their memory, a forgetting curve and a day in, an order out. Until the last pass a card is kept above a
threshold of recall, what is asked most before all else, reviews before new cards of the same weight; in the last pass
each minute goes where it raises the expected recall on the day most. `benchmarks/plan.py` holds this against others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from attncli.memory.learner_curve import Curve
from attncli.memory.stability import StabilityGrowth

KEPT_RECALL = 0.7
ENOUGH_RECALL = 0.93
"""A card that is recalled so well is left alone until the last pass."""
UNSURE_RECALL, UNSURE_TRIALS = 0.2, 40
"""How much higher the threshold is while nothing is known of the learner, and at how many reviews half of that."""


@dataclass(frozen=True, slots=True)
class Item:
    """A card as the plan sees it; `stability_days` is None while it is unseen. Days are study days (ordinals).

    `weight` is how much it is asked, in any unit; the seconds are what learning and reviewing it take this learner.
    """

    id: str
    weight: float
    stability_days: float | None
    difficulty: float
    review_day: int
    learn_seconds: float
    review_seconds: float
    topic: str = ""

    def after(self, stability_days: float, difficulty: float, day: int) -> Item:
        """The same card, studied on `day`; written out, since `replace` takes ten times as long."""
        return Item(
            self.id,
            self.weight,
            stability_days,
            difficulty,
            day,
            self.learn_seconds,
            self.review_seconds,
            self.topic,
        )

    @property
    def seconds(self) -> float:
        return self.learn_seconds if self.stability_days is None else self.review_seconds


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the plan believes: how this learner forgets (from so many `trials`), what learning a card leaves behind."""

    interview_day: int
    curve: Curve
    growth: StabilityGrowth
    fresh_stability: float
    fresh_difficulty: float
    trials: int

    @property
    def kept_recall(self) -> float:
        """The recall below which a card is reviewed: higher while little is known of how the learner forgets."""
        return KEPT_RECALL + UNSURE_RECALL * UNSURE_TRIALS / (UNSURE_TRIALS + self.trials)

    def recall(self, item: Item, day: int) -> float:
        """Recall on `day` if nothing more is done; 0 for an unseen card."""
        if item.stability_days is None:
            return 0.0
        return self.curve.recall(item.stability_days, day - item.review_day)

    def studied(self, item: Item, day: int) -> Item:
        """The card as it is to be expected after it was learned or reviewed on `day`."""
        difficulty = self.fresh_difficulty if item.stability_days is None else item.difficulty
        return item.after(self._stability_after(item, day), difficulty, day)

    def gain(self, item: Item, day: int) -> float:
        """How much weighted recall on the interview day a second spent on this card on `day` brings."""
        after = self.curve.recall(self._stability_after(item, day), self.interview_day - day)
        return item.weight * (after - self.recall(item, self.interview_day)) / item.seconds

    def _stability_after(self, item: Item, day: int) -> float:
        if item.stability_days is None:
            return self.fresh_stability
        elapsed = day - item.review_day
        chance = self.curve.recall(item.stability_days, elapsed)
        return self.growth.expected(item.stability_days, item.difficulty, elapsed, chance)


def study_order(items: Sequence[Item], day: int, outlook: Outlook, passing: bool) -> Iterator[Item]:
    """The cards to study on `day`, the first most urgent; none that was studied that day. `passing`: the last pass.

    Recall falls with elapsed days over stability: that ratio is compared in its place, which is faster.
    """
    open_items = [item for item in items if item.review_day < day]
    if passing:
        yield from _by_gain(open_items, day, outlook)
        return
    kept, enough = outlook.curve.ratio_at(outlook.kept_recall), outlook.curve.ratio_at(ENOUGH_RECALL)
    now, rest = list[tuple[float, bool, float, int, Item]](), list[Item]()
    for place, item in enumerate(open_items):
        stability = item.stability_days
        if stability is None:
            now.append((-item.weight, True, 0.0, place, item))
        elif (ratio := (day - item.review_day) / stability) > kept:
            now.append((-item.weight, False, ratio, place, item))
        elif ratio > enough:
            rest.append(item)
    for *_, item in sorted(now):
        yield item
    yield from _by_gain(rest, day, outlook)


def _by_gain(items: Iterable[Item], day: int, outlook: Outlook) -> list[Item]:
    worth = [(-outlook.gain(item, day), place, item) for place, item in enumerate(items)]
    return [item for loss, _, item in sorted(worth) if loss < 0]
