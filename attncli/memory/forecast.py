"""Forecast an interview: simulate the days until then, and estimate the recall on the day.

Pure functions: they take cards with their memory, the learner's forgetting curve and the seconds of each day, and give
a plan and an expected recall. FSRS-6's formulas are written out on plain numbers, because a forecast computes them
thousands of times. A test compares them with py-fsrs; schedules never use them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log, sqrt

from attncli.memory.queue_order import own_share, pass_days
from attncli.memory.scheduler import DEFAULT_DECAY, curve_factor

# Stability

PUBLISHED: tuple[float, ...] = (
    *(0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194, 0.001, 1.8722, 0.1666, 0.796),
    *(1.4835, 0.0614, 0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, DEFAULT_DECAY),
)
"""The published weights of FSRS-6."""
LEAST_STABILITY_DAYS = 0.001
FIRST_RATINGS = (0.25, 0.15, 0.5, 0.1)
"""The shares of new cards first rated again, hard, good and easy, before the learner has rated any."""


def first_shares(counts: Sequence[int]) -> list[float]:
    """Return the expected shares of first ratings (again, hard, good, easy), given the `counts` seen so far."""
    total = sum(counts)
    own = own_share(total)
    return [(1 - own) * share + own * seen / max(1, total) for seen, share in zip(counts, FIRST_RATINGS, strict=True)]


@dataclass(frozen=True, slots=True)
class StabilityGrowth:
    """FSRS-6 with 21 weights, as functions of stability (days), difficulty (1…10) and recall (0…1)."""

    weights: Sequence[float] = PUBLISHED
    _factor: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_factor", curve_factor(self.weights[20]))

    def recall(self, stability: float, elapsed_days: float) -> float:
        """Return the probability of recall that FSRS uses for the next stability."""
        return float((1 + self._factor * elapsed_days / stability) ** -self.weights[20])

    def recalled(self, stability: float, difficulty: float, recall: float) -> float:
        """Return the stability after a good answer."""
        w = self.weights
        gain = exp(w[8]) * (11 - difficulty) * stability ** -w[9] * (exp((1 - recall) * w[10]) - 1)
        return float(stability * (1 + gain))

    def forgotten(self, stability: float, difficulty: float, recall: float) -> float:
        """Return the stability after forgetting, before the card is learned again the same day."""
        w = self.weights
        long_term = w[11] * difficulty ** -w[12] * ((stability + 1) ** w[13] - 1) * exp((1 - recall) * w[14])
        return float(max(LEAST_STABILITY_DAYS, min(long_term, stability / exp(w[17] * w[18]))))

    def rated(self, stability: float, difficulty: float, elapsed_days: float, rating: int) -> float:
        """Return the stability after a review on a later day, rated 1…4; a forgotten card is relearned the same day."""
        recall = self.recall(stability, elapsed_days)
        if rating == 1:
            return self.learned_again(self.forgotten(stability, difficulty, recall))
        gained = self.recalled(stability, difficulty, recall) - stability
        return stability + gained * {2: self.weights[15], 4: self.weights[16]}.get(rating, 1.0)

    def harder(self, difficulty: float, rating: int) -> float:
        """Return the difficulty after a rating of 1…4."""
        w = self.weights
        moved = difficulty + (10 - difficulty) * -w[6] * (rating - 3) / 9
        easiest = w[4] - exp(w[5] * 3) + 1
        return min(10.0, max(1.0, w[7] * easiest + (1 - w[7]) * moved))

    def learned_again(self, stability: float) -> float:
        """Return the stability after a second good answer on one day."""
        w = self.weights
        return float(stability * max(1.0, exp(w[17] * w[18]) * stability ** -w[19]))

    def first(self, rating: int) -> float:
        """Return the stability after the learning steps of a new card that was first rated 1…4, and then good."""
        start = max(LEAST_STABILITY_DAYS, self.weights[rating - 1])
        return self.learned_again(start) if rating < 4 else start

    def first_difficulty(self, rating: int) -> float:
        """Return the difficulty after the first rating, 1…4."""
        w = self.weights
        return min(10.0, max(1.0, w[4] - exp(w[5] * (rating - 1)) + 1))

    def fresh(self, shares: Sequence[float] = FIRST_RATINGS) -> tuple[float, float]:
        """Return the expected (stability, difficulty) of a card learned today, given the shares of first ratings."""
        stability = exp(sum(share * log(self.first(rating)) for rating, share in enumerate(shares, 1)))
        return stability, sum(share * self.first_difficulty(rating) for rating, share in enumerate(shares, 1))

    def expected(self, stability: float, difficulty: float, elapsed_days: float, recall: float) -> float:
        """Return the expected stability after a review that is remembered with probability `recall`.

        It is a geometric mean, because recall falls about evenly with the logarithm of stability.
        """
        if elapsed_days < 1:
            return self.learned_again(stability)
        predicted = self.recall(stability, elapsed_days)
        good = self.recalled(stability, difficulty, predicted)
        again = self.learned_again(self.forgotten(stability, difficulty, predicted))
        return float(good**recall * again ** (1 - recall))


# How fast the learner forgets

SAMPLED_CARDS = 400
"""The number of cards, the most recently reviewed, from which forgetting is estimated: reading all rows takes long."""
SCALES = (0.1, 0.15, 0.22, 0.33, 0.47, 0.68, 1.0, 1.47, 2.15, 3.16, 4.6)
STEEPNESS = (0.7, 1.0, 1.6, 2.6, 4.2, 7.0, 12.0)
"""Decay, as multiples of the decay with which stability was computed."""
LOG_SCALE, LOG_STEEPNESS = -0.3, 0.3
SCALE_SPREAD, STEEPNESS_SPREAD = 0.7, 0.6
"""The prior: means and standard deviations of the logarithms. Learners forget a little faster than FSRS expects."""
BINS_PER_UNIT = 4


@dataclass(frozen=True, slots=True)
class Trial:
    """One review of a card on a later day than the one before, as evidence about forgetting."""

    stability_days: float
    elapsed_days: float
    recalled: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """A forgetting curve over FSRS stability; `share` is its probability (all shares sum to 1).

    `factor` is the F of (1 + F·t/S)^(−decay).
    """

    scale: float
    decay: float
    share: float = 1.0
    factor: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", curve_factor(self.decay) / self.scale)

    def recall(self, stability_days: float, elapsed_days: float) -> float:
        return float((1 + self.factor * max(0.0, elapsed_days) / stability_days) ** -self.decay)

    def ratio_at(self, recall: float) -> float:
        """Return the ratio of elapsed days to stability at which recall has fallen to `recall`."""
        return float(recall ** (-1 / self.decay) - 1) / self.factor


def weigh(trials: Iterable[Trial], decay: float = DEFAULT_DECAY) -> list[Curve]:
    """Return every curve of a grid of scale and decay, with its probability after the reviews; never empty.

    Recall depends only on the ratio of elapsed days to stability, so a histogram of it is all that the log contributes.
    The posterior is mixed with the prior, see `own_share`.
    """
    counts: dict[int, list[int]] = {}
    for trial in trials:
        bin = round(BINS_PER_UNIT * log(max(1e-3, trial.elapsed_days / trial.stability_days)))
        counts.setdefault(bin, [0, 0])[trial.recalled] += 1
    before, logs = dict[Curve, float](), dict[Curve, float]()
    for scale in SCALES:
        for steepness in STEEPNESS:
            curve = Curve(scale, decay * steepness)
            off = ((log(scale) - LOG_SCALE) / SCALE_SPREAD, (log(steepness) - LOG_STEEPNESS) / STEEPNESS_SPREAD)
            before[curve] = -(off[0] ** 2 + off[1] ** 2) / 2
            logs[curve] = before[curve] + sum(_likelihood(curve, bin, *seen) for bin, seen in counts.items())
    own = own_share(sum(map(sum, counts.values())))
    prior, posterior = _shares(before), _shares(logs)
    return [Curve(c.scale, c.decay, (1 - own) * prior[c] + own * posterior[c]) for c in logs]


def _shares(logs: Mapping[Curve, float]) -> dict[Curve, float]:
    """Convert unnormalised log probabilities to probabilities that sum to 1."""
    most = max(logs.values())
    total = sum(exp(value - most) for value in logs.values())
    return {curve: exp(value - most) / total for curve, value in logs.items()}


def likely(curves: Iterable[Curve], least_share: float = 0.005) -> list[Curve]:
    """Keep the curves with at least `least_share`, and scale their shares to sum to 1."""
    kept = [curve for curve in curves if curve.share >= least_share]
    total = sum(curve.share for curve in kept)
    return [Curve(curve.scale, curve.decay, curve.share / total) for curve in kept]


def middle(curves: Iterable[Curve]) -> Curve:
    """Return one curve to plan with: the geometric mean of these, with their total share."""
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


# The cards to study on a day

KEPT_RECALL = 0.75
"""The recall below which a card is reviewed before the last pass."""
LAST_DAYS = 3
"""In this many last days before the interview, only must-know and own material is new."""
PACED_DAYS, MOST_OF_AVERAGE = 8, 2
"""With at least so many days left, a day has at most this multiple of the average number of new cards."""
LONG_AGO = -1_000_000
"""A study day before all others."""
FULL = 0.9
ENOUGH_RECALL = 0.93
"""A card that is recalled so well is not studied until the last pass."""


@dataclass(frozen=True, slots=True)
class Item:
    """A card in a plan; `stability_days` is None while it is unseen. Days are study days (ordinals).

    `weight` is how often interviewers ask it, in any unit. The seconds are this learner's for this card. `own` cards
    were added, imported or flagged by the learner; while unseen, they come first.
    """

    id: str
    weight: float
    stability_days: float | None
    difficulty: float
    review_day: int
    learn_seconds: float
    review_seconds: float
    topic: str = ""
    own: bool = False
    must_know: bool = False

    def after(self, stability_days: float, difficulty: float, day: int) -> Item:
        """Return the card as studied on `day`; written out because `replace` takes ten times as long."""
        seconds, marks = (self.learn_seconds, self.review_seconds), (self.own, self.must_know)
        return Item(self.id, self.weight, stability_days, difficulty, day, *seconds, self.topic, *marks)

    @property
    def seconds(self) -> float:
        return self.learn_seconds if self.stability_days is None else self.review_seconds


@dataclass(frozen=True, slots=True)
class Outlook:
    """The assumptions of a plan: this learner's forgetting (from `trials` reviews), and the memory of a fresh card.

    `set_day` is the day on which the date of the interview was set.
    """

    interview_day: int
    curve: Curve
    growth: StabilityGrowth
    fresh_stability: float
    fresh_difficulty: float
    trials: int
    set_day: int = LONG_AGO

    def is_late(self, day: int) -> bool:
        """Return True in the last three days, when only must-know and own material is new.

        A plan made four to seven days ahead has new cards to the end. Without them in its last three days, simulated
        learners who began with nothing lost eight points of recall.
        """
        is_short = LAST_DAYS < self.interview_day - self.set_day < PACED_DAYS
        return self.interview_day - day <= LAST_DAYS and not is_short

    def recall(self, item: Item, day: int) -> float:
        """Return the recall on `day` without further study; 0 for an unseen card."""
        if item.stability_days is None:
            return 0.0
        return self.curve.recall(item.stability_days, day - item.review_day)

    def studied(self, item: Item, day: int) -> Item:
        """Return the card as expected after it was learned or reviewed on `day`."""
        difficulty = self.fresh_difficulty if item.stability_days is None else item.difficulty
        return item.after(self._stability_after(item, day), difficulty, day)

    def gain(self, item: Item, day: int) -> float:
        """Return the weighted recall on the interview day that a second spent on this card on `day` adds."""
        after = self.curve.recall(self._stability_after(item, day), self.interview_day - day)
        return item.weight * (after - self.recall(item, self.interview_day)) / item.seconds

    def _stability_after(self, item: Item, day: int) -> float:
        if item.stability_days is None:
            return self.fresh_stability
        elapsed = day - item.review_day
        chance = self.curve.recall(item.stability_days, elapsed)
        return self.growth.expected(item.stability_days, item.difficulty, elapsed, chance)


def study_order(items: Sequence[Item], day: int, outlook: Outlook, passing: bool) -> Iterator[Item]:
    """Yield the cards to study on `day`, the most urgent first, without those already studied that day.

    Before the last pass cards are kept above a threshold of recall: those asked most come first, reviews before new
    cards of the same weight. In the last pass (`passing`) each minute goes where it raises the expected recall on the
    interview day most. `benchmarks/plan.py` compares this order with others. The ratio of elapsed days to stability
    replaces recall, which is slower to compute.
    """
    late = outlook.is_late(day)
    open_items = list[Item]()
    for item in items:
        if item.review_day >= day:
            continue
        if item.stability_days is None and item.own:
            yield item
        elif item.stability_days is not None or item.must_know or not late:
            open_items.append(item)
    if passing:
        yield from _by_gain(open_items, day, outlook)
        return
    kept, enough = outlook.curve.ratio_at(KEPT_RECALL), outlook.curve.ratio_at(ENOUGH_RECALL)
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


# Simulating the days

ALWAYS_WITHIN_REACH = 2000
PROBE_DAYS = 10.0
MODEL_DOUBT, UNSURE_DOUBT, UNSURE_TRIALS = 0.02, 0.2, 40
"""The doubt about the curve that stays, what is added before any review, and the number of reviews that halves this."""
INTERVAL_Z = 1.645
"""The interval should cover the recall of 90 % of learners."""


@dataclass(frozen=True, slots=True)
class PlannedDay:
    """One day: its cards in the order of study, those of them that are `new`, and the seconds that they take."""

    day: int
    cards: tuple[str, ...]
    new: tuple[str, ...]
    seconds: float
    is_last_pass: bool


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected share of cards recalled on the day, and the interval around it; all in 0…1."""

    recall: float
    low: float
    high: float


class Reach:
    """Selects the cards that can be reached in some time: all of them, unless there are thousands."""

    def __init__(self, items: Iterable[Item], interview_day: int) -> None:
        self.items = list(items)
        self._unseen = [item for item in self.items if item.stability_days is None]
        self._seen = [item for item in self.items if item.stability_days is not None]
        self.unseen = len(self._unseen)
        if len(self.items) > ALWAYS_WITHIN_REACH:
            self._unseen.sort(key=lambda item: -item.weight)
            self._seen.sort(key=lambda item: (-item.weight, -self._ratio(item, interview_day)))
        self._least_seconds = [min((item.seconds for item in each), default=1.0) for each in (self._unseen, self._seen)]

    @staticmethod
    def _ratio(item: Item, day: int) -> float:
        """Return elapsed days over stability; recall falls as it grows."""
        return max(0, day - item.review_day) / (item.stability_days or 1.0)

    def within(self, seconds: float) -> dict[str, Item]:
        """Return the cards that can be reached in `seconds`, by id."""
        most = [max(ALWAYS_WITHIN_REACH, int(seconds / least)) for least in self._least_seconds]
        return {item.id: item for item in (*self._unseen[: most[0]], *self._seen[: most[1]])}


def play_through(
    items: Iterable[Item] | Reach, outlook: Outlook, seconds_of_day: Mapping[int, float]
) -> tuple[list[PlannedDay], list[Item]]:
    """Return every day until the interview as planned today, and the cards as expected after the last day."""
    reach = items if isinstance(items, Reach) else Reach(items, outlook.interview_day)
    cards = reach.within(sum(seconds_of_day.values()))
    days = list(each_day(cards, outlook, seconds_of_day))
    return days, [cards.get(item.id, item) for item in reach.items]


def sees_all(reach: Reach, outlook: Outlook, seconds_of_day: Mapping[int, float]) -> bool:
    """Return True if the `seconds_of_day` suffice to see every card."""
    unseen, cards = reach.unseen, reach.within(sum(seconds_of_day.values()))
    for day in each_day(cards, outlook, seconds_of_day):
        unseen -= len(day.new)
        if not unseen:
            return True
    return not unseen


def each_day(cards: dict[str, Item], outlook: Outlook, seconds_of_day: Mapping[int, float]) -> Iterator[PlannedDay]:
    """Yield the days in order, and update `cards` to their expected state after each day."""
    usual_seconds = sum(seconds_of_day.values()) / max(1, len(seconds_of_day))
    most_new = _most_new(cards.values(), outlook.interview_day - min(seconds_of_day, default=0))
    for day, seconds in sorted(seconds_of_day.items()):
        seen = sum(item.review_seconds for item in cards.values() if item.stability_days is not None)
        passing = outlook.interview_day - day <= pass_days(seen, usual_seconds)
        order = study_order(list(cards.values()), day, outlook, passing) if seconds > 0 else ()
        planned = _day(order, day, seconds, most_new, passing)
        for id in planned.cards:
            cards[id] = outlook.studied(cards[id], day)
        yield planned


def _most_new(items: Iterable[Item], days_left: int) -> int:
    """Return the most new cards of one day."""
    unseen = sum(item.stability_days is None for item in items)
    return max(1, MOST_OF_AVERAGE * unseen // days_left) if days_left >= PACED_DAYS else unseen


def _day(order: Iterable[Item], day: int, seconds: float, most_new: int, passing: bool) -> PlannedDay:
    """Fill a day in this order; a card that takes too long for the time left is skipped for a shorter one."""
    cards, new, used = list[str](), list[str](), 0.0
    for item in order:
        if item.stability_days is None and len(new) >= most_new:
            continue
        if used + item.seconds > seconds:
            if used >= FULL * seconds:
                break
            continue
        used += item.seconds
        cards.append(item.id)
        if item.stability_days is None:
            new.append(item.id)
    return PlannedDay(day, tuple(cards), tuple(new), used, passing)


@dataclass(frozen=True, slots=True)
class Scenario:
    """About a third of the probable curves, and the cards on the interview day under them."""

    curves: tuple[Curve, ...]
    items: Mapping[str, Item]


def scenarios(
    items: Sequence[Item] | Reach, outlook: Outlook, curves: Sequence[Curve], seconds_of_day: Mapping[int, float]
) -> list[Scenario]:
    """Simulate the days three times: for a learner who forgets fast, as expected, and slowly."""
    found = []
    for third in thirds(curves):
        _, after = play_through(items, replace(outlook, curve=middle(third)), seconds_of_day)
        found.append(Scenario(tuple(third), {item.id: item for item in after}))
    return found


def thirds(curves: Sequence[Curve]) -> list[list[Curve]]:
    """Split the curves, from the steepest to the flattest, into up to three groups of about the same share."""
    groups: list[list[Curve]] = [[], [], []]
    passed = 0.0
    for curve in sorted(curves, key=lambda curve: curve.recall(1.0, PROBE_DAYS)):
        groups[min(2, int(3 * (passed + curve.share / 2)))].append(curve)
        passed += curve.share
    return [group for group in groups if group]


def model_doubt(trials: int) -> float:
    """Return the possible error of the forgetting curve itself, as a share of recall; larger after few reviews.

    Chosen so that the interval covers the recall of simulated learners, also if their memory does not follow FSRS.
    """
    return MODEL_DOUBT + UNSURE_DOUBT * UNSURE_TRIALS / (UNSURE_TRIALS + trials)


def expected_recall(weights: Mapping[str, float], scenarios: Sequence[Scenario], outlook: Outlook) -> Expected:
    """Return the weighted share of these cards that is recalled on the day; unseen ones count 0.

    The interval covers chance, the choice of the curve, and the error that all curves share.
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
    """Return the scenarios without further study: the cards as they are now."""
    now = {item.id: item for item in items}
    return [Scenario(tuple(third), now) for third in thirds(curves)]
