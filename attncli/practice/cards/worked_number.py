"""A numeric card worked through with one set of numbers: what is printed has to be answered too."""

from __future__ import annotations

import re
from dataclasses import dataclass

from attncli.domain.arithmetic import evaluate
from attncli.domain.card import NumericCard
from attncli.practice.marking import NumericTask, shown, task_of

_POWER = re.compile(r"\s*\*\*\s*")
_NAME = re.compile(r"\b[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class WorkedNumber:
    """The task with the numbers that lists show too, and the steps from them to the answer."""

    task: NumericTask
    steps: tuple[str, ...]


def worked(card: NumericCard) -> WorkedNumber:
    """`card` with the first value of each parameter, as `Card.listed` asks it."""
    chosen = {name: choices[0] for name, choices in card.parameters}
    task = task_of(card, chosen)
    values = {name: value for name, (_, value) in chosen.items()}
    formula = _NAME.sub(lambda name: _written(values[name[0]]) if name[0] in values else name[0], card.compute)
    steps = [_typeset(card.compute), _typeset(formula)]
    computed = evaluate(card.compute, values)
    if card.compute_unit != card.unit:
        steps.append(f"{shown(computed)} {card.compute_unit}".strip())
    steps.append(f"{shown(task.expected)} {card.unit}".strip())
    return WorkedNumber(task, tuple(dict.fromkeys(steps)))


def _written(value: float) -> str:
    plain = f"{value:.15g}"
    return f"({plain})" if value < 0 else plain


def _typeset(formula: str) -> str:
    return " ".join(_POWER.sub("^", formula).replace("*", "×").split())
