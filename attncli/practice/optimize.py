"""Fit the FSRS weights to the log (`attn optimize`). A fit that predicts held-out reviews better becomes a log row."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from attncli.domain.log_row import LogRow, Rating, RowKind
from attncli.memory.optimizer import Fit, History, Workload, first_intervals, fit, workload
from attncli.memory.scheduler import SchedulePolicy
from attncli.practice.derive import derive_everything
from attncli.practice.record import recording, stamp
from attncli.practice.workspace import Workspace

MOST_REVIEWS = 100_000
"""A fit to so many reviews is as good as one to all; whole cards are chosen, the same ones every time."""
TIMED_REVIEWS = 1_000
SECONDS_A_REVIEW = 20.0
"""Time of a review if none was measured."""
ABOUT_ALL = ""

Chosen = list[tuple[str, History]]


@dataclass(frozen=True, slots=True)
class FitSide:
    """The consequences of one set of weights; `recall` is None if nothing comes due."""

    parameters: tuple[float, ...]
    log_loss: float
    rmse_bins: float
    first_interval_days: dict[Rating, float]
    minutes_a_day: float
    recall: float | None

    def document(self) -> dict[str, Any]:
        return {
            "parameters": list(self.parameters),
            "log_loss": self.log_loss,
            "rmse_bins": self.rmse_bins,
            "first_interval_days": {rating.word: days for rating, days in self.first_interval_days.items()},
            "minutes_a_day": self.minutes_a_day,
            "recall_when_due": self.recall,
        }


@dataclass(frozen=True, slots=True)
class Optimised:
    """The result of a fit: `kept` if it is in force, its number of reviews, and both sets of weights."""

    kept: bool
    reviews: int
    held_back: int
    gain: float
    standard_error: float
    before: FitSide
    after: FitSide

    def document(self) -> dict[str, Any]:
        """Return the JSON of `attn optimize --json`."""
        return asdict(self) | {"before": self.before.document(), "after": self.after.document()}


def optimise(workspace: Workspace, progress: Callable[[int], None] | None = None) -> Optimised:
    """Fit the weights; if they predict better, record them and derive every schedule again.

    Raises TooFewReviews, EnvironmentFailure without the fitter.
    """
    chosen = histories(workspace)
    in_force = workspace.fit_in_force()
    found = fit([history for _, history in chosen], in_force.weights, in_force.day)
    judged = found.judged
    result = Optimised(
        judged.is_better,
        found.reviews,
        judged.held_back,
        judged.gain,
        judged.standard_error,
        *_sides(workspace, chosen, found),
    )
    if result.kept:
        record_fit(workspace, found.parameters, {"reviews": found.reviews}, progress)
    return result


def record_fit(
    workspace: Workspace,
    parameters: tuple[float, ...],
    details: dict[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
) -> LogRow:
    """Put weights in force (empty for the published ones) and derive every schedule again; `attn undo` undoes it."""
    with recording(workspace):
        when = stamp(workspace, ABOUT_ALL, {RowKind.FIT})
        payload = {**(details or {}), "parameters": list(parameters)}
        row = workspace.store.log.append(RowKind.FIT, ABOUT_ALL, when.now, when.day, payload)
        workspace.forget_policy()
        derive_everything(workspace, progress)
    return row


def histories(workspace: Workspace) -> Chosen:
    """Return the reviews in force of each card under all its ids: whole histories, with up to MOST_REVIEWS reviews."""
    store, challenges = workspace.store, set(workspace.store.index.challenge_ids())
    last_day = workspace.moment().day + 1
    chosen, reviews = Chosen(), 0
    for card, schedule in sorted(store.schedules.all(), key=lambda pair: zlib.crc32(pair[0].encode())):
        if card in challenges:
            continue
        history = [(day, rating) for day, rating in store.log.reviews_of(store.index.names_of(card)) if day <= last_day]
        if history:
            chosen.append((card, history))
        reviews += schedule.repetitions
        if reviews >= MOST_REVIEWS:
            break
    return chosen


def _sides(workspace: Workspace, chosen: Chosen, found: Fit) -> tuple[FitSide, FitSide]:
    """Compare the weights in force with the fitted ones; both simulations forget cards as the fit predicts."""
    when = workspace.moment()
    old, new = workspace.policy, workspace.policy._replace(parameters=found.parameters)
    available = workspace.store.queue.available(when)
    cards = [(card, history) for card, history in chosen if card in available]
    times_ms = [ms for _, _, ms, _ in workspace.store.log.timed_reviews(0, when.day, TIMED_REVIEWS) if ms]
    seconds = median(times_ms) / 1000 if times_ms else SECONDS_A_REVIEW

    def side(policy: SchedulePolicy, log_loss: float, rmse_bins: float) -> FitSide:
        load = workload(cards, when.day, policy, new) if cards else Workload(0.0, None)
        minutes = load.reviews_a_day * seconds / 60
        return FitSide(policy.parameters, log_loss, rmse_bins, first_intervals(policy), minutes, load.recall)

    judged = found.judged
    return (
        side(old, judged.log_loss_before, judged.rmse_bins_before),
        side(new, judged.log_loss_after, judged.rmse_bins_after),
    )
