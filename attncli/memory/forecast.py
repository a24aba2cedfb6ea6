"""The days until the interview played through, and the recall to expect on the day, with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log, sqrt

from attncli.memory.queue_order import pass_days
from attncli.memory.scheduler import DEFAULT_DECAY

# How one review changes stability, as plain numbers: what forecasts compute thousands of times.
#
# The formulas are FSRS-6's, and a test holds them to py-fsrs. Schedules come from `scheduler`, never from here.

PUBLISHED: tuple[float, ...] = (
    0.212,
    1.2931,
    2.3065,
    8.2956,
    6.4133,
    0.8334,
    3.0194,
    0.001,
    1.8722,
    0.1666,
    0.796,
    1.4835,
    0.0614,
)
PUBLISHED += (0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, DEFAULT_DECAY)
LEAST_STABILITY_DAYS = 0.001
FIRST_RATINGS = (0.25, 0.15, 0.5, 0.1)
"""How often a new card is rated again, hard, good and easy, before anything is known of the learner."""
PRIOR_RATINGS = 20
"""How many first ratings of the learner's own weigh as much as these."""


def first_shares(counts: Sequence[int]) -> list[float]:
    """How often new cards are first rated again, hard, good and easy, after so many ratings of each."""
    total = sum(counts) + PRIOR_RATINGS
    return [(seen + PRIOR_RATINGS * share) / total for seen, share in zip(counts, FIRST_RATINGS, strict=True)]


@dataclass(frozen=True, slots=True)
class StabilityGrowth:
    """FSRS-6 with 21 weights, as functions of stability (days), difficulty (1…10) and recall (0…1)."""

    weights: Sequence[float] = PUBLISHED
    _factor: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_factor", 0.9 ** (-1 / self.weights[20]) - 1)

    def recall(self, stability: float, elapsed_days: float) -> float:
        """The probability of recall, as FSRS sees it when it makes the next stability."""
        return float((1 + self._factor * elapsed_days / stability) ** -self.weights[20])

    def recalled(self, stability: float, difficulty: float, recall: float) -> float:
        """Stability after a good answer."""
        w = self.weights
        gain = exp(w[8]) * (11 - difficulty) * stability ** -w[9] * (exp((1 - recall) * w[10]) - 1)
        return float(stability * (1 + gain))

    def forgotten(self, stability: float, difficulty: float, recall: float) -> float:
        """Stability after a forgotten answer, before it is learned again the same day."""
        w = self.weights
        long_term = w[11] * difficulty ** -w[12] * ((stability + 1) ** w[13] - 1) * exp((1 - recall) * w[14])
        return float(max(LEAST_STABILITY_DAYS, min(long_term, stability / exp(w[17] * w[18]))))

    def rated(self, stability: float, difficulty: float, elapsed_days: float, rating: int) -> float:
        """Stability after a review on a later day, rated 1…4; a forgotten card is learned again the same day."""
        recall = self.recall(stability, elapsed_days)
        if rating == 1:
            return self.learned_again(self.forgotten(stability, difficulty, recall))
        gained = self.recalled(stability, difficulty, recall) - stability
        return stability + gained * {2: self.weights[15], 4: self.weights[16]}.get(rating, 1.0)

    def harder(self, difficulty: float, rating: int) -> float:
        """Difficulty after a rating of 1…4."""
        w = self.weights
        moved = difficulty + (10 - difficulty) * -w[6] * (rating - 3) / 9
        easiest = w[4] - exp(w[5] * 3) + 1
        return min(10.0, max(1.0, w[7] * easiest + (1 - w[7]) * moved))

    def learned_again(self, stability: float) -> float:
        """Stability after a good answer on the day of another one."""
        w = self.weights
        return float(stability * max(1.0, exp(w[17] * w[18]) * stability ** -w[19]))

    def first(self, rating: int) -> float:
        """Stability after the learning steps of a new card that was first rated so (1…4), and then good."""
        start = max(LEAST_STABILITY_DAYS, self.weights[rating - 1])
        return self.learned_again(start) if rating < 4 else start

    def first_difficulty(self, rating: int) -> float:
        """Difficulty after the first rating."""
        w = self.weights
        return min(10.0, max(1.0, w[4] - exp(w[5] * (rating - 1)) + 1))

    def fresh(self, shares: Sequence[float] = FIRST_RATINGS) -> tuple[float, float]:
        """(stability, difficulty) to expect of a card learned today; `shares` of the four first ratings."""
        stability = exp(sum(share * log(self.first(rating)) for rating, share in enumerate(shares, 1)))
        return stability, sum(share * self.first_difficulty(rating) for rating, share in enumerate(shares, 1))

    def expected(self, stability: float, difficulty: float, elapsed_days: float, recall: float) -> float:
        """The stability to expect of a review, in the geometric mean; `recall` is how likely it is remembered.

        That mean is what counts: recall falls about evenly with the logarithm of stability.
        """
        seen = self.recall(stability, elapsed_days)
        if elapsed_days < 1:
            return self.learned_again(stability)
        good = self.recalled(stability, difficulty, seen)
        again = self.learned_again(self.forgotten(stability, difficulty, seen))
        return float(good**recall * again ** (1 - recall))


# How fast this learner forgets: the FSRS curve, its scale and its decay weighed by the learner's own reviews.
#
# Recall depends on elapsed days over stability alone, so a histogram of that ratio is all that is needed of the log.

SAMPLED_CARDS = 400
"""How many cards, the most recently reviewed, tell how a learner forgets: reading a million rows would take long."""
SCALES = (0.1, 0.15, 0.22, 0.33, 0.47, 0.68, 1.0, 1.47, 2.15, 3.16, 4.6)
STEEPNESS = (0.7, 1.0, 1.6, 2.6, 4.2, 7.0, 12.0)
"""Decay, as a multiple of the one that stability was computed with."""
LOG_SCALE, LOG_STEEPNESS = -0.3, 0.3
SCALE_SPREAD, STEEPNESS_SPREAD = 0.7, 0.6
"""Means and standard deviations of the logarithms before a review is seen: a little faster than FSRS expects."""
BINS_PER_UNIT = 4


@dataclass(frozen=True, slots=True)
class Trial:
    """One review of a card on a later day than the one before: what it tells about forgetting."""

    stability_days: float
    elapsed_days: float
    recalled: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """A forgetting curve over FSRS stability; `share` is how much it is believed (all shares sum to 1).

    `factor` is the F of (1 + F·t/S)^(−decay).
    """

    scale: float
    decay: float
    share: float = 1.0
    factor: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", float(0.9 ** (-1 / self.decay) - 1) / self.scale)

    def recall(self, stability_days: float, elapsed_days: float) -> float:
        return float((1 + self.factor * max(0.0, elapsed_days) / stability_days) ** -self.decay)

    def ratio_at(self, recall: float) -> float:
        """The elapsed days over stability at which recall has fallen so far."""
        return float(recall ** (-1 / self.decay) - 1) / self.factor


def weigh(trials: Iterable[Trial], decay: float = DEFAULT_DECAY) -> list[Curve]:
    """Every curve of the grid with the share that prior and reviews leave it; never empty."""
    counts: dict[int, list[int]] = {}
    for trial in trials:
        bin = round(BINS_PER_UNIT * log(max(1e-3, trial.elapsed_days / trial.stability_days)))
        counts.setdefault(bin, [0, 0])[trial.recalled] += 1
    logs = {}
    for scale in SCALES:
        for steepness in STEEPNESS:
            curve = Curve(scale, decay * steepness)
            off = ((log(scale) - LOG_SCALE) / SCALE_SPREAD, (log(steepness) - LOG_STEEPNESS) / STEEPNESS_SPREAD)
            logs[curve] = -(off[0] ** 2 + off[1] ** 2) / 2 + sum(
                _likelihood(curve, bin, *seen) for bin, seen in counts.items()
            )
    most = max(logs.values())
    total = sum(exp(value - most) for value in logs.values())
    return [Curve(curve.scale, curve.decay, exp(value - most) / total) for curve, value in logs.items()]


def likely(curves: Iterable[Curve], least_share: float = 0.005) -> list[Curve]:
    """Those that are believed at all, their shares brought to 1 again."""
    kept = [curve for curve in curves if curve.share >= least_share]
    total = sum(curve.share for curve in kept)
    return [Curve(curve.scale, curve.decay, curve.share / total) for curve in kept]


def middle(curves: Iterable[Curve]) -> Curve:
    """One curve to plan with: the mean of the logarithms."""
    listed = list(curves)
    total = sum(curve.share for curve in listed)
    return Curve(
        exp(sum(curve.share * log(curve.scale) for curve in listed) / total),
        exp(sum(curve.share * log(curve.decay) for curve in listed) / total),
        total,
    )


def _likelihood(curve: Curve, bin: int, forgotten: int, recalled: int) -> float:
    chance = min(0.999, max(0.001, curve.recall(1.0, exp(bin / BINS_PER_UNIT))))
    return recalled * log(chance) + forgotten * log(1 - chance)


# What to study on a day before the interview, in order: where the next minute is best spent.
#
# Pure: cards with their memory, a forgetting curve and a day in, an order out. Until the last pass a card is kept
# above a threshold of recall, what is asked most before all else, reviews before new cards of the same weight; in the
# last pass each minute goes where it raises the expected recall on the day most. `benchmarks/plan.py` holds this
# against others.

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
