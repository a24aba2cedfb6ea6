"""The table of an experiment, in columns of a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from attncli.domain.cells import cells, left, right
from attncli.domain.text import Lang, Localised
from attncli.experiments.results import Cell, Outcome
from attncli.words.experiment_texts import NO, SEED, YES

GAP = "  "
PLAIN_DIGITS = 10_000


def table(outcomes: Sequence[Outcome], lang: Lang) -> list[str]:
    """The rows of all seeds below one heading; which seed is told where there are several."""
    several = len(outcomes) > 1
    heading = [SEED[lang]] * several + [column[lang] for column in outcomes[0].columns]
    rows = [
        [str(outcome.seed)] * several + [shown(cell, lang) for cell in row]
        for outcome in outcomes
        for row in outcome.rows
    ]
    words = [False] * several + [_is_text(outcomes, place) for place in range(len(outcomes[0].columns))]
    widths = [max(map(cells, column)) for column in zip(heading, *rows, strict=True)]
    return [
        GAP.join((left if word else right)(text, width) for text, width, word in zip(row, widths, words, strict=True))
        .rstrip()
        for row in [heading, *rows]
    ]  # fmt: skip


def shown(cell: Cell, lang: Lang) -> str:
    """Four digits that count; whole numbers whole."""
    if isinstance(cell, Localised):
        return cell[lang]
    if isinstance(cell, bool):
        return (YES if cell else NO)[lang]
    if isinstance(cell, int):
        return f"{cell:,}" if abs(cell) >= PLAIN_DIGITS else str(cell)
    return f"{cell:.4g}"


def _is_text(outcomes: Sequence[Outcome], place: int) -> bool:
    return any(isinstance(row[place], Localised) for outcome in outcomes for row in outcome.rows)
