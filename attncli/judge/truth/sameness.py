"""Whether two answers to one case are the same answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from torch import Tensor

from attncli.judge.case import Case
from attncli.judge.compare import Mismatch, Rules, compare, leaves
from attncli.judge.reference import Observed
from attncli.judge.truth.expectation import Expectation


def same(case: Case, expectation: Expectation, first: Observed, second: Observed) -> Mismatch | None:
    """Where two answers to one case differ by more than the tolerance of the case.

    What is not compared with the reference's is random, perhaps, but it comes from the same state of the generators.
    """
    before, after = first.parts(case), second.parts(case)
    due = dict(leaves(expectation.truth.parts(case)))
    for key, value in before.items():
        slack = partial(_slack_below, expectation, key)
        exact = key in case.exact or not _of_the_form_of(due, key, value)
        mismatch = compare(value, value, after[key], Rules(slack, {}, exact=exact))
        if mismatch is not None:
            return replace(mismatch, path=(key, *mismatch.path))
    for k in sorted(case.ignored):
        value, again = first.outcomes[k], second.outcomes[k]
        if isinstance(value, Tensor) and case.steps[k]["op"] in ("call", "method"):
            mismatch = compare(value, value, again, Rules(lambda path: None, {}))
            if mismatch is not None:
                return replace(mismatch, path=(k, *mismatch.path))
    return None


def _of_the_form_of(due: Mapping[Any, Any], key: Any, value: Any) -> bool:
    """Whether the tensors in an answer are as large as those that are due; what is said of these says nothing of
    others, which need not be widened either to be compared."""
    found = [(due.get((key, *path)), part) for path, part in leaves(value) if isinstance(part, Tensor)]
    return all(isinstance(want, Tensor) and want.shape == part.shape for want, part in found)


def _slack_below(expectation: Expectation, key: Any, path: Sequence[Any]) -> Tensor | None:
    return expectation.slack((key, *path))
