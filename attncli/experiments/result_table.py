"""The table of an experiment, in columns of a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attncli.domain.cells import cells, left, right
from attncli.domain.line_breaks import wrapped
from attncli.domain.text import Lang, Localised
from attncli.experiments.results import Cell, SeedOutcome
from attncli.words.experiment_texts import NO, SEED, YES

GAP = "  "
PLAIN_DIGITS = 10_000
NARROWEST = 12


def table(outcomes: Sequence[SeedOutcome], lang: Lang) -> list[str]:
    """The rows of all seeds below one heading; which seed is told where there are several."""
    several = len(outcomes) > 1
    rows = [
        [str(outcome.seed)] * several + [shown(cell, lang) for cell in row]
        for outcome in outcomes
        for row in outcome.rows
    ]
    heads = [SEED[lang]] * several + [column[lang] for column in outcomes[0].columns]
    values = [[row[place] for row in rows] for place in range(len(heads))]
    folded = [wrapped(head, max([NARROWEST, *map(cells, column)])) for head, column in zip(heads, values, strict=True)]
    tall = max(map(len, folded), default=0)
    heading = [list(line) for line in zip(*([""] * (tall - len(head)) + head for head in folded), strict=True)]
    sides = [right] * several + [_side(outcomes, place) for place in range(len(outcomes[0].columns))]
    widths = [max(map(cells, column)) for column in zip(*heading, *rows, strict=True)]
    return [_line(row, widths, sides) for row in [*heading, *rows]]


def _line(row: Sequence[str], widths: Sequence[int], sides: Sequence[Callable[[str, int], str]]) -> str:
    return GAP.join(side(text, width) for side, text, width in zip(sides, row, widths, strict=True)).rstrip()


def shown(cell: Cell, lang: Lang) -> str:
    """Four digits that count; whole numbers whole."""
    if isinstance(cell, Localised):
        return cell[lang]
    if isinstance(cell, bool):
        return (YES if cell else NO)[lang]
    if isinstance(cell, int):
        return f"{cell:,}" if abs(cell) >= PLAIN_DIGITS else str(cell)
    return f"{cell:.4g}"


def _side(outcomes: Sequence[SeedOutcome], place: int) -> Callable[[str, int], str]:
    """Words stand left, numbers right."""
    told = [row[place] for outcome in outcomes for row in outcome.rows]
    words = any(isinstance(cell, Localised) and cell.en for cell in told)
    return left if words else right
