"""Two mistakes at once: a submission does what two known wrong solutions do in different entries of the answers.

The proof: wherever one of the two differs from the reference, the submission gives what that one gives; everywhere else
it gives what the reference gives; the two never differ from it in the same entry. So nothing has to be guessed about
how two mistakes act together, and what cannot be told apart in this way is not named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from attncli.judge.cases.case import Case
from attncli.judge.naming.samples import LEAST_ENTRIES, WIDE
from attncli.judge.truth.compare import Rules, agreeing, leaves
from attncli.judge.truth.expectation import Expectation
from attncli.judge.truth.reference import Observed

# Each of the two must show in so many answers, and in `LEAST_ENTRIES` altogether.
LEAST_ANSWERS = 2

Masks = list[Tensor]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a submission gave for a case, and what the reference gives in the same dtypes."""

    case: Case
    due: Expectation
    got: Observed
    sound: Observed

    def differing(self, first: Observed, second: Observed) -> Masks | None:
        """Where two outcomes differ, leaf by leaf; None where they are not of one form."""
        before, after = dict(leaves(first.parts(self.case))), dict(leaves(second.parts(self.case)))
        if before.keys() != after.keys():
            return None
        found = []
        for path, value in before.items():
            mask = self._differing(value, after[path], path)
            if mask is None:
                return None
            found.append(mask)
        return found

    def _differing(self, value: Any, other: Any, path: Any) -> Tensor | None:
        if not isinstance(value, Tensor) or not isinstance(other, Tensor):
            same = type(value) is type(other) and (value == other or value != value)
            return torch.tensor(not same)
        if value.shape != other.shape or value.dtype != other.dtype:
            return None
        if not value.is_floating_point():
            return value != other
        if value.dtype not in WIDE:
            return None
        return ~agreeing(value, other, Rules(self.due.slack, {}), path)


@dataclass(frozen=True, slots=True)
class _Part:
    """A wrong solution that may be half of what is wrong: where it differs from the reference, answer by answer."""

    name: str
    differs: Sequence[Masks]

    def shows(self) -> bool:
        counts = [sum(int(mask.sum()) for mask in masks) for masks in self.differs]
        return sum(count > 0 for count in counts) >= LEAST_ANSWERS and sum(counts) >= LEAST_ENTRIES


def pairs_of(
    answers: Sequence[Answer], names: Iterable[str], outcome: Callable[[str, int], Observed | None]
) -> list[tuple[str, str]]:
    """Every pair that explains all answers; `outcome(name, k)` is what a wrong solution gives for the k-th case."""
    wrong = [answer.differing(answer.sound, answer.got) for answer in answers]
    if any(masks is None for masks in wrong):
        return []
    parts = [part for name in names if (part := _part(answers, name, outcome)) is not None and part.shows()]
    return [(a.name, b.name) for a, b in combinations(parts, 2) if _explain(a, b, [masks or [] for masks in wrong])]


def _part(answers: Sequence[Answer], name: str, outcome: Callable[[str, int], Observed | None]) -> _Part | None:
    """None where the submission does not give what it gives, and differs from the reference there."""
    differs: list[Masks] = []
    for k, answer in enumerate(answers):
        other = outcome(name, k)
        from_sound = answer.differing(answer.sound, other) if other is not None else None
        from_got = answer.differing(answer.got, other) if other is not None else None
        if from_sound is None or from_got is None:
            return None
        if any(bool((a & b).any()) for a, b in zip(from_sound, from_got, strict=True)):
            return None
        differs.append(from_sound)
    return _Part(name, differs)


def _explain(a: _Part, b: _Part, wrong: Sequence[Masks]) -> bool:
    for mine, other, due in zip(a.differs, b.differs, wrong, strict=True):
        for first, second, differs in zip(mine, other, due, strict=True):
            if bool((first & second).any()) or bool((differs & ~(first | second)).any()):
                return False
    return True
