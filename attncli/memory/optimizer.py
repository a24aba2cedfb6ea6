"""Fit the FSRS-6 weights to reviews, judge whether a fit predicts recall better, and estimate the workload.

The fitter is fsrs-rs (the extra `optimize`). Three times, a fit to earlier reviews predicts later ones that it has not
seen. A fit is better if its gain in log loss exceeds the standard error of that gain; a fit to noise rarely reaches it.
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
from attncli.i18n import _
from attncli.memory.scheduler import SchedulePolicy, Scheduler, retrievability

NEEDED_REVIEWS = 500
NEEDED_SINCE_FIT = 100
"""Only reviews after the fit in force can show whether another is better."""
FIRST_FITTED = 0.6
FOLDS = 4
"""A fit to the first fold of the reviews is judged on the second, a fit to two folds on the third, and so on."""
LEAST_GAIN = 0.0001
"""A smaller gain may come from rounding."""
LONGEST_HISTORY = 128
_DECIMALS = 4
_LEAST_PROBABILITY = 1e-6

AHEAD_DAYS = 90
MOST_CARDS = 500
"""The workload is simulated for at most so many cards, and scaled to all."""

History = Sequence[tuple[int, int]]
"""The reviews of one card in order: study day, and rating 1…4."""


@dataclass(frozen=True, slots=True)
class FitQuality:
    """The fit of the old and the new weights to reviews that were held out."""

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
        """The decrease in log loss."""
        return self.log_loss_before - self.log_loss_after


@dataclass(frozen=True, slots=True)
class Fit:
    """Weights fitted to all reviews, and how well fits to earlier reviews predicted later ones."""

    parameters: tuple[float, ...]
    reviews: int
    judged: FitQuality


class _Item(NamedTuple):
    """A review on a later day than the previous one; history `before` excludes it, `whole` includes it."""

    day: int
    elapsed_days: int
    recalled: bool
    before: Any
    whole: Any


def telling_reviews(histories: Iterable[History]) -> int:
    """Count the reviews that are evidence of memory: those on a later day than the previous one."""
    return sum(later[0] > earlier[0] for history in histories for earlier, later in pairwise(history[:LONGEST_HISTORY]))


def fit(histories: Sequence[History], current: tuple[float, ...], fitted_day: int = 0) -> Fit:
    """Fit weights to these reviews, and compare them with the `current` ones (empty: the published ones).

    The current weights were fitted on `fitted_day`, so the comparison counts only later reviews. Raises TooFewReviews,
    and EnvironmentFailure without the fitter.
    """
    reviews = telling_reviews(histories)
    if reviews < NEEDED_REVIEWS:
        raise TooFewReviews(
            _(
                "only {reviews} reviews came a day or more after the previous one; fitting needs "
                "{needed_reviews}; keep reviewing and try again",
                reviews=reviews,
                needed_reviews=NEEDED_REVIEWS,
            ),
            reviews,
            NEEDED_REVIEWS,
        )
    library = _library()
    items = _items(library, histories)
    before = current or _rounded(library.DEFAULT_PARAMETERS)
    unseen = len(items) - (bisect_right(items, fitted_day, key=lambda item: item.day) if current else 0)
    if unseen < NEEDED_SINCE_FIT:
        raise TooFewReviews(
            _(
                "only {unseen} useful reviews since the last fit; another fit needs "
                "{needed_since_fit}; keep reviewing and try again",
                unseen=unseen,
                needed_since_fit=NEEDED_SINCE_FIT,
            ),
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
            _("fitting needs fsrs-rs-python, which is not installed; install it: pip install 'attncli[optimize]'")
        ) from error
    library: ModuleType = fsrs_rs_python
    return library


def _items(library: ModuleType, histories: Sequence[History]) -> list[_Item]:
    """Return the reviews in order of time, because later ones weigh more in a fit."""
    items = []
    for history in histories:
        days = [day for day, _ in history[:LONGEST_HISTORY]]
        waits = [0, *(max(0, later - earlier) for earlier, later in pairwise(days))]
        reviews = [library.FSRSReview(rating, wait) for (_, rating), wait in zip(history, waits, strict=False)]
        for place in range(1, len(reviews)):
            if waits[place]:
                before, whole = library.FSRSItem(reviews[:place]), library.FSRSItem(reviews[: place + 1])
                items.append(_Item(days[place], waits[place], history[place][1] > 1, before, whole))
    items.sort(key=lambda item: item.day)
    return items


def _fitted(library: ModuleType, items: Sequence[_Item]) -> tuple[float, ...]:
    """Return fitted weights, rounded and within py-fsrs's bounds; the published ones if the fitter finds none."""
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
                rmse = library.FSRS(weights).evaluate([item.whole for item in later]).rmse_bins
                bins[place] += len(later) * float(rmse)
    count = len(losses)
    old_loss, new_loss = (sum(column) / count for column in zip(*losses, strict=True))
    gain = old_loss - new_loss
    spread = math.sqrt(sum((old - new - gain) ** 2 for old, new in losses) / count)
    return FitQuality(count, old_loss, new_loss, bins[0] / count, bins[1] / count, spread / math.sqrt(count))


def _losses(library: ModuleType, weights: tuple[float, ...], items: Sequence[_Item]) -> list[float]:
    """Return the log loss of each review under these weights."""
    states = library.FSRS(weights).memory_state_batch([item.before for item in items])
    losses = []
    for state, item in zip(states, items, strict=True):
        recall = retrievability(state.stability, item.elapsed_days, weights[20])
        losses.append(-math.log(max(_LEAST_PROBABILITY, recall if item.recalled else 1 - recall)))
    return losses


# Effects of weights


@dataclass(frozen=True, slots=True)
class Workload:
    """Reviews per day over the next days, and the share of due cards recalled (None if no card comes due)."""

    reviews_a_day: float
    recall: float | None


def first_intervals(policy: SchedulePolicy) -> dict[Rating, float]:
    """Return the days until a card that was answered once comes again, for each rating, without learning steps."""
    at = datetime(2000, 1, 1, tzinfo=UTC)
    shown = Scheduler(policy.without_steps()).previews("", None, at, at.toordinal())
    return {rating: schedule.interval_days for rating, schedule in shown.items()}


def workload(
    histories: Sequence[tuple[str, History]], today: int, policy: SchedulePolicy, actual: SchedulePolicy
) -> Workload:
    """Simulate these cards scheduled by `policy` while memory follows the weights of `actual`."""
    played = histories[:MOST_CARDS]
    scheduler, memory = Scheduler(policy), Scheduler(actual)
    asked, recalls = 0, list[float]()
    for subject, history in played:
        shown, kept = _fold(scheduler, subject, history), _fold(memory, subject, history)
        draw = random.Random(subject)
        while (day := max(today, shown.due_day)) < today + AHEAD_DAYS:
            recalls.append(retrievability(kept.stability_days or 1.0, day - kept.review_day, actual.decay))
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
