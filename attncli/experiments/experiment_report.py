"""What is told of an experiment that has run: the lines for a terminal, the document for `--json`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attncli.domain.line_breaks import wrapped
from attncli.domain.text import NOTHING, Lang, Localised
from attncli.experiments.catalogue import Experiment
from attncli.experiments.result_table import table
from attncli.experiments.results import ClaimCheck, SeedOutcome
from attncli.experiments.terminal_plot import drawn
from attncli.words import experiment_texts as words

WIDEST = 100
"""Cells of a line: what is wider reads badly."""


def document(experiment: Experiment, outcomes: Sequence[SeedOutcome], quick: bool, lang: Lang) -> dict[str, Any]:
    """What was asked and what each seed gave, in one language."""
    return {
        "id": experiment.id,
        "title": experiment.title[lang],
        "claim": experiment.claim[lang],
        "cards": list(experiment.cards),
        "caveats": [caveat[lang] for caveat in experiment.caveats],
        "quick": quick,
        "holds": all(outcome.holds for outcome in outcomes),
        "seeds": [outcome.document(lang) for outcome in outcomes],
    }


def lines(experiment: Experiment, outcomes: Sequence[SeedOutcome], width: int, lang: Lang) -> Iterator[str]:
    """Title, claim, table, plots, checks, caveats, and one sentence that says what was seen."""
    yield experiment.title[lang]
    yield from wrapped(f"{words.CLAIMED[lang]}{_colon(lang)}{experiment.claim[lang]}", width)
    yield ""
    yield from table(outcomes, lang)
    for plot in outcomes[0].plots:
        yield ""
        yield from drawn(plot, width, lang)
    yield ""
    for check in merged(outcomes):
        told = words.CHECK.format(says=check.says, got=check.got, due=check.due)[lang]
        yield f"{(words.HOLDS if check.holds else words.FAILS)[lang]}  {told}"
    for caveat in experiment.caveats:
        yield from wrapped(f"{words.CAVEAT[lang]}{_colon(lang)}{caveat[lang]}", width)
    yield ""
    yield from wrapped(verdict(outcomes)[lang], width)


def verdict(outcomes: Sequence[SeedOutcome]) -> Localised:
    """One sentence: whether the claim showed, and what was seen, in a seed that did not show it if there is one."""
    telling = [outcome for outcome in outcomes if not outcome.holds]
    shown = words.NOT_SHOWN if telling else words.SHOWN
    some = len(telling or outcomes)
    several = words.IN_SEEDS.format(some=some, seeds=len(outcomes)) if len(outcomes) > 1 else NOTHING
    return words.VERDICT.format(shown=shown, seeds=several, seen=(telling or outcomes)[0].seen)


def merged(outcomes: Sequence[SeedOutcome]) -> list[ClaimCheck]:
    """Each check once, with what every seed got; it holds where it holds in all of them."""
    rows = zip(*(outcome.checks for outcome in outcomes), strict=True)
    return [
        ClaimCheck(row[0].says, all(check.holds for check in row), " / ".join(check.got for check in row), row[0].due)
        for row in rows
    ]


def unmet(outcomes: Sequence[SeedOutcome]) -> str:
    """The checks that failed, in one line; empty where all hold."""
    return "; ".join(
        f"{check.says.en}, got {check.got}, due {check.due}" for check in merged(outcomes) if not check.holds
    )


def _colon(lang: Lang) -> str:
    return "：" if lang == "zh" else ": "
