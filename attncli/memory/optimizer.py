"""Fitting the FSRS-6 weights to reviews, and judging over time whether a fit foretells recall better.

The fitter is fsrs-rs (the extra `optimize`); what it makes of earlier reviews is asked to foretell later ones that it
has not seen, three times over. A fit is better if what it gains in log loss is more than the standard error of that
gain: a fit to noise hardly gains that.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

from attncli.domain.log_row import HIGHEST_WEIGHTS, LOWEST_WEIGHTS, Rating, Schedule, State
from attncli.errors import EnvironmentFailure, TooFewReviews
from attncli.memory.scheduler import SchedulePolicy, Scheduler, retrievability

NEEDED_REVIEWS = 500
NEEDED_SINCE_FIT = 100
"""Where a fit is in force, only what came after it can tell whether another is better."""
FIRST_FITTED = 0.6
FOLDS = 4
"""Fitted to the first share of the reviews, and judged on the next part; with that part, judged on the one after it."""
LEAST_GAIN = 0.0001
"""Less than this may come of rounding."""
LONGEST_HISTORY = 128
_DECIMALS = 4
_LEAST = 1e-6

History = Sequence[tuple[int, int]]
"""The reviews of one card in order: study day, and rating 1…4."""


@dataclass(frozen=True, slots=True)
class FitQuality:
    """How well the old and the new weights foretell reviews that the new ones were not fitted to."""

    held_back: int
    log_loss_before: float
    log_loss_after: float
    rmse_bins_before: float
    rmse_bins_after: float
    standard_error: float

    @property
    def is_better(self) -> bool:
        return self.gain > max(LEAST_GAIN, self.standard_error)

    @property
    def gain(self) -> float:
        """In log loss."""
        return self.log_loss_before - self.log_loss_after


@dataclass(frozen=True, slots=True)
class Fit:
    """Weights fitted to all reviews, and how fits to the earlier ones stood the later ones."""

    parameters: tuple[float, ...]
    reviews: int
    judged: FitQuality


class _Item(NamedTuple):
    """A review on a later day than the one before, with the history that leads to it."""

    day: int
    elapsed_days: int
    recalled: bool
    before: Any
    whole: Any


def telling_reviews(histories: Iterable[History]) -> int:
    """How many reviews say something about memory: those on a later day than the one before."""
    return sum(later[0] > earlier[0] for history in histories for earlier, later in pairwise(history[:LONGEST_HISTORY]))


def fit(histories: Sequence[History], current: tuple[float, ...], fitted_day: int = 0) -> Fit:
    """The weights that suit these reviews, judged against the `current` ones (none for the published).

    Those were fitted on `fitted_day`, and are tried on later reviews alone. Raises TooFewReviews,
    EnvironmentFailure without the fitter.
    """
    reviews = telling_reviews(histories)
    if reviews < NEEDED_REVIEWS:
        raise TooFewReviews(
            f"{reviews} reviews came a day or more after the one before, {NEEDED_REVIEWS} are needed to fit anything; "
            "nothing was changed; go on reviewing and ask again",
            reviews,
            NEEDED_REVIEWS,
        )
    library = _library()
    items = _items(library, histories)
    before = current or _rounded(library.DEFAULT_PARAMETERS)
    unseen = len(items) - (bisect_right(items, fitted_day, key=_day) if current else 0)
    if unseen < NEEDED_SINCE_FIT:
        raise TooFewReviews(
            f"{unseen} reviews have told something since the last fit, {NEEDED_SINCE_FIT} are needed to say whether "
            "another is better; nothing was changed; go on reviewing and ask again",
            unseen,
            NEEDED_SINCE_FIT,
        )
    start = max(len(items) - unseen, int(len(items) * FIRST_FITTED))
    return Fit(_fitted(library, items), reviews, _judged(library, items, start, before))


def _library() -> ModuleType:
    try:
        import fsrs_rs_python
    except ImportError as error:
        raise EnvironmentFailure(
            "fitting needs fsrs-rs-python, which is not installed; install it: pip install 'attncli[optimize]'"
        ) from error
    found: ModuleType = fsrs_rs_python
    return found


def _items(library: ModuleType, histories: Sequence[History]) -> list[_Item]:
    """In the order of time: later reviews weigh more in a fit."""
    items = []
    for history in histories:
        days = [day for day, _ in history[:LONGEST_HISTORY]]
        waits = [0, *(max(0, later - earlier) for earlier, later in pairwise(days))]
        reviews = [library.FSRSReview(rating, wait) for (_, rating), wait in zip(history, waits, strict=False)]
        for place in range(1, len(reviews)):
            if waits[place]:
                before, whole = library.FSRSItem(reviews[:place]), library.FSRSItem(reviews[: place + 1])
                items.append(_Item(days[place], waits[place], history[place][1] > 1, before, whole))
    items.sort(key=_day)
    return items


def _day(item: _Item) -> int:
    return item.day


def _fitted(library: ModuleType, items: Sequence[_Item]) -> tuple[float, ...]:
    """Rounded, within the bounds that py-fsrs sets; the published ones where the fitter finds nothing."""
    published = _rounded(library.DEFAULT_PARAMETERS)
    try:
        found = library.FSRS(published).compute_parameters([item.whole for item in items])
    except ValueError:
        return published
    return _rounded(found) if all(map(math.isfinite, found)) else published


def _rounded(weights: Sequence[float]) -> tuple[float, ...]:
    bounds = zip(weights, LOWEST_WEIGHTS, HIGHEST_WEIGHTS, strict=True)
    return tuple(min(max(round(weight, _DECIMALS), low), high) for weight, low, high in bounds)


def _judged(library: ModuleType, items: Sequence[_Item], start: int, before: tuple[float, ...]) -> FitQuality:
    losses = list[tuple[float, float]]()
    bins = [0.0, 0.0]
    marks = [start + (len(items) - start) * fold // FOLDS for fold in range(FOLDS)]
    days = [*(items[mark].day for mark in marks), items[-1].day + 1]
    for first_day, end_day in pairwise(days):
        later = [item for item in items if first_day <= item.day < end_day]
        after = _fitted(library, [item for item in items if item.day < first_day])
        if later:
            losses += zip(_losses(library, before, later), _losses(library, after, later), strict=True)
            for place, weights in enumerate((before, after)):
                bins[place] += len(later) * _rmse_bins(library, weights, later)
    count = len(losses)
    old_loss, new_loss = (sum(column) / count for column in zip(*losses, strict=True))
    gain = old_loss - new_loss
    spread = math.sqrt(sum((old - new - gain) ** 2 for old, new in losses) / count)
    return FitQuality(count, old_loss, new_loss, bins[0] / count, bins[1] / count, spread / math.sqrt(count))


def _losses(library: ModuleType, weights: tuple[float, ...], items: Sequence[_Item]) -> list[float]:
    """How surprised these weights are by what each review showed."""
    states = library.FSRS(weights).memory_state_batch([item.before for item in items])
    return [
        _loss(retrievability(state.stability, item.elapsed_days, weights[20]), item.recalled)
        for state, item in zip(states, items, strict=True)
    ]


def _loss(recall: float, recalled: bool) -> float:
    return -math.log(max(_LEAST, recall if recalled else 1 - recall))


def _rmse_bins(library: ModuleType, weights: tuple[float, ...], items: Sequence[_Item]) -> float:
    return float(library.FSRS(weights).evaluate([item.whole for item in items]).rmse_bins)


# What `attn optimize` tells of weights: first intervals, and the reviews and minutes that the seen cards will take.

AHEAD_DAYS = 90
MOST_CARDS = 500
"""So many cards are played through; they stand for the rest."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Over the next days: reviews a day, and the share of due cards that is recalled (None where none comes due)."""

    reviews_a_day: float
    recall: float | None


def first_intervals(policy: SchedulePolicy) -> dict[Rating, float]:
    """Days until a card that was answered once comes again, for each rating, steps aside."""
    at = datetime(2000, 1, 1, tzinfo=UTC)
    shown = Scheduler(policy.without_steps()).previews("", None, at, at.toordinal())
    return {rating: schedule.interval_days for rating, schedule in shown.items()}


def workload(
    histories: Sequence[tuple[str, History]], today: int, policy: SchedulePolicy, truth: SchedulePolicy
) -> Workload:
    """What these cards will ask for if they are scheduled by `policy` and remembered as `truth` says."""
    played = histories[:MOST_CARDS]
    scheduler, memory = Scheduler(policy), Scheduler(truth)
    asked, recalls = 0, list[float]()
    for subject, history in played:
        shown, kept = _fold(scheduler, subject, history), _fold(memory, subject, history)
        draw = random.Random(subject)
        while (day := max(today, shown.due_day)) < today + AHEAD_DAYS:
            recalls.append(retrievability(kept.stability_days or 1.0, day - kept.review_day, truth.decay))
            ratings = [Rating.GOOD if draw.random() < recalls[-1] else Rating.AGAIN]
            while ratings:
                asked += 1
                rating = ratings.pop()
                shown = _review(scheduler, subject, shown, rating, day)
                kept = _review(memory, subject, kept, rating, day)
                if shown.state is not State.REVIEW and shown.interval_days < 1:
                    ratings.append(Rating.GOOD)
    scale = len(histories) / len(played) if played else 0.0
    return Workload(asked * scale / AHEAD_DAYS, sum(recalls) / len(recalls) if recalls else None)


def _fold(scheduler: Scheduler, subject: str, history: History) -> Schedule:
    (day, rating), *later = history
    schedule = _review(scheduler, subject, None, Rating(rating), day)
    for day, rating in later:
        schedule = _review(scheduler, subject, schedule, Rating(rating), day)
    return schedule


def _review(scheduler: Scheduler, subject: str, before: Schedule | None, rating: Rating, day: int) -> Schedule:
    return scheduler.review(subject, before, rating, datetime.fromordinal(day).replace(tzinfo=UTC), day)
