"""`attn optimize`."""

from __future__ import annotations

import click

from attncli.commands.session import session
from attncli.commands.shared.shared_options import json_option, print_json, print_result
from attncli.commands.shared.stdout import show_thousands
from attncli.domain.text import Lang
from attncli.errors import TooFewReviews
from attncli.memory.fit_effects import AHEAD_DAYS
from attncli.practice.optimize import Optimised, optimise
from attncli.words import fit_texts as texts
from attncli.words.shared_review_texts import RATINGS

SAME_WITHIN = 0.05
"""A change of work by less than this share is none to speak of."""


@click.command()
@json_option
def optimize(as_json: bool) -> None:
    """Fit the FSRS parameters to your own reviews; kept if they predict recall better."""
    with session().workspace() as workspace:
        try:
            done = optimise(workspace, show_thousands)
        except TooFewReviews as error:
            if as_json:
                print_json({"kept": False, "reviews": error.reviews, "needed": error.needed})
            raise
        wished, lang = workspace.settings.desired_retention, workspace.lang
    print_result(as_json, done.document, lambda: _lines(done, wished, lang))


def _lines(done: Optimised, wished: float, lang: Lang) -> list[str]:
    before, after = done.before, done.after
    lines = [
        texts.JUDGED[done.kept][lang].format(reviews=done.reviews, held_back=done.held_back),
        texts.SCORES[lang].format(
            before=before.log_loss,
            after=after.log_loss,
            gain=done.gain,
            error=done.standard_error,
            rmse_before=before.rmse_bins,
            rmse_after=after.rmse_bins,
        ),
    ]
    if not done.kept:
        return lines
    intervals = [
        texts.ONE_INTERVAL[lang].format(
            rating=RATINGS[rating][lang], before=days, after=after.first_interval_days[rating]
        )
        for rating, days in before.first_interval_days.items()
    ]
    lines.append(texts.FIRST_INTERVALS[lang].format(intervals=texts.COMMA[lang].join(intervals)))
    if before.recall is not None and after.recall is not None:
        lines.append(texts.RECALL[lang].format(before=before.recall, after=after.recall, wished=wished))
    lines.append(texts.MINUTES[lang].format(before=before.minutes_a_day, after=after.minutes_a_day, days=AHEAD_DAYS))
    return [*lines, texts.MEANING[_meaning(done)][lang], texts.IN_FORCE[lang]]


def _meaning(done: Optimised) -> str:
    before, after = done.before.minutes_a_day, done.after.minutes_a_day
    if abs(after - before) <= SAME_WITHIN * max(before, after):
        return "same"
    return "longer" if after < before else "shorter"
