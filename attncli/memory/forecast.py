"""The days until the interview played through, and the recall to expect on the day, with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from attncli.memory.last_pass import pass_days
from attncli.memory.learner_curve import Curve, middle
from attncli.memory.plan_day import UNSURE_TRIALS, Item, Outlook, study_order

ALWAYS_WITHIN_REACH = 2000
PROBE_DAYS = 10.0
MODEL_DOUBT, UNSURE_DOUBT = 0.02, 0.2
INTERVAL_Z = 1.645
"""The recall of 0.9 of the learners is meant to lie inside the interval."""


@dataclass(frozen=True, slots=True)
class PlannedDay:
    """What one day brings: the cards in the order of study, and the seconds that they take."""

    day: int
    new: tuple[str, ...]
    reviews: tuple[str, ...]
    seconds: float
    is_last_pass: bool

    @property
    def cards(self) -> int:
        return len(self.new) + len(self.reviews)


@dataclass(frozen=True, slots=True)
class Expected:
    """The share of cards to be recalled on the day, and the interval that it most likely lies in; all in 0…1."""

    recall: float
    low: float
    high: float


class Reach:
    """The cards that so much time may get to at all: every one, unless there are thousands."""

    def __init__(self, items: Iterable[Item], interview_day: int) -> None:
        self.items = list(items)
        self._unseen = [item for item in self.items if item.stability_days is None]
        self._seen = [item for item in self.items if item.stability_days is not None]
        self.unseen = len(self._unseen)
        if len(self.items) > ALWAYS_WITHIN_REACH:
            self._unseen.sort(key=lambda item: -item.weight)
            self._seen.sort(key=lambda item: (-item.weight, -_ratio(item, interview_day)))
        self._least_seconds = [min((item.seconds for item in each), default=1.0) for each in (self._unseen, self._seen)]

    def within(self, seconds: float) -> dict[str, Item]:
        """By id, the ones that so many seconds allow."""
        most = [max(ALWAYS_WITHIN_REACH, int(seconds / least)) for least in self._least_seconds]
        return {item.id: item for item in (*self._unseen[: most[0]], *self._seen[: most[1]])}


def play_through(
    items: Iterable[Item] | Reach, outlook: Outlook, seconds_of_day: Mapping[int, float]
) -> tuple[list[PlannedDay], list[Item]]:
    """Every day until the interview as planned today, and the cards as they are to be expected on its eve."""
    reach = items if isinstance(items, Reach) else Reach(items, outlook.interview_day)
    cards = reach.within(sum(seconds_of_day.values()))
    days = list(_each_day(cards, outlook, seconds_of_day))
    return days, [cards.get(item.id, item) for item in reach.items]


def sees_all(reach: Reach, outlook: Outlook, seconds_of_day: Mapping[int, float]) -> bool:
    """Whether no card is left unseen in that time."""
    unseen, cards = reach.unseen, reach.within(sum(seconds_of_day.values()))
    for day in _each_day(cards, outlook, seconds_of_day):
        unseen -= len(day.new)
        if not unseen:
            return True
    return not unseen


def _each_day(cards: dict[str, Item], outlook: Outlook, seconds_of_day: Mapping[int, float]) -> Iterator[PlannedDay]:
    """The days one after the other; `cards` become what is to be expected of them."""
    for day, seconds in sorted(seconds_of_day.items()):
        seen = sum(item.review_seconds for item in cards.values() if item.stability_days is not None)
        passing = outlook.interview_day - day <= pass_days(seen, _usual(seconds_of_day))
        planned = _day(list(cards.values()), day, outlook, seconds, passing)
        for id in (*planned.new, *planned.reviews):
            cards[id] = outlook.studied(cards[id], day)
        yield planned


def _ratio(item: Item, day: int) -> float:
    """Elapsed days over stability, with which recall falls."""
    return max(0, day - item.review_day) / (item.stability_days or 1.0)


def _day(items: Sequence[Item], day: int, outlook: Outlook, seconds: float, passing: bool) -> PlannedDay:
    new, reviews, used = list[str](), list[str](), 0.0
    if seconds > 0:
        for item in study_order(items, day, outlook, passing):
            if used + item.seconds > seconds:
                break
            used += item.seconds
            (new if item.stability_days is None else reviews).append(item.id)
    return PlannedDay(day, tuple(new), tuple(reviews), used, passing)


def _usual(seconds_of_day: Mapping[int, float]) -> float:
    return sum(seconds_of_day.values()) / max(1, len(seconds_of_day))


@dataclass(frozen=True, slots=True)
class Scenario:
    """One third of what is believed of the learner's forgetting, and the cards as that leaves them on the day."""

    curves: tuple[Curve, ...]
    items: Mapping[str, Item]


def scenarios(
    items: Sequence[Item] | Reach, outlook: Outlook, curves: Sequence[Curve], seconds_of_day: Mapping[int, float]
) -> list[Scenario]:
    """The days played through three times: for a learner who forgets fast, as expected, and slowly."""
    found = []
    for third in thirds(curves):
        _, after = play_through(items, replace(outlook, curve=middle(third)), seconds_of_day)
        found.append(Scenario(tuple(third), {item.id: item for item in after}))
    return found


def thirds(curves: Sequence[Curve]) -> list[list[Curve]]:
    """The curves from the steepest to the flattest in up to three groups of about the same share."""
    groups: list[list[Curve]] = [[], [], []]
    passed = 0.0
    for curve in sorted(curves, key=lambda curve: curve.recall(1.0, PROBE_DAYS)):
        groups[min(2, int(3 * (passed + curve.share / 2)))].append(curve)
        passed += curve.share
    return [group for group in groups if group]


def model_doubt(trials: int) -> float:
    """How far the forgetting curve itself may be off, as a share of recall: more while few reviews have told.

    Chosen so that the interval holds what simulated learners recalled, also those whose memory is none of FSRS's.
    """
    return MODEL_DOUBT + UNSURE_DOUBT * UNSURE_TRIALS / (UNSURE_TRIALS + trials)


def expected_recall(weights: Mapping[str, float], scenarios: Sequence[Scenario], outlook: Outlook) -> Expected:
    """The weighed share of these cards that is recalled on the day; unseen ones count 0.

    The interval holds what is not known of the learner (the curves, and what no curve says) and the luck of so many
    cards.
    """
    total = sum(weights.values())
    if not total:
        return Expected(0.0, 0.0, 0.0)
    shares, means, luck = list[float](), list[float](), 0.0
    for scenario in scenarios:
        seen = [(weights[id] / total, scenario.items[id]) for id in weights]
        for curve in scenario.curves:
            chances = [
                (share, curve.recall(item.stability_days, outlook.interview_day - item.review_day))
                for share, item in seen
                if item.stability_days is not None
            ]
            shares.append(curve.share)
            means.append(sum(share * chance for share, chance in chances))
            luck += curve.share * sum(share**2 * chance * (1 - chance) for share, chance in chances)
    mean = sum(share * value for share, value in zip(shares, means, strict=True))
    doubt = sum(share * (value - mean) ** 2 for share, value in zip(shares, means, strict=True))
    reach = INTERVAL_Z * sqrt(doubt + luck + (model_doubt(outlook.trials) * mean) ** 2)
    return Expected(mean, max(0.0, mean - reach), min(1.0, mean + reach))


def thirds_as_now(items: Sequence[Item], curves: Sequence[Curve]) -> list[Scenario]:
    """The cards as they are: what is recalled if nothing more is done."""
    now = {item.id: item for item in items}
    return [Scenario(tuple(third), now) for third in thirds(curves)]
