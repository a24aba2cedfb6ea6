"""Ask an answer for the properties that a case demands of its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from attncli.domain.text import Localised
from attncli.judge.case import Case, Complaint, DigitsLost
from attncli.judge.messages import say
from attncli.judge.reference import Observed


class Broken(NamedTuple):
    """A complaint. `of_values`: it speaks of the values of this very case; a complaint about calls holds for simpler
    values too. `digits_only`: float64's digits are all that is missing.
    """

    message: Localised
    of_values: bool
    digits_only: bool


def broken_properties(case: Case, got: Observed) -> Iterator[Broken]:
    """Yield the complaints about an answer, in the order of the properties."""
    questions = [(partial(holds, got.outcomes), True) for holds in case.properties]
    questions += [(partial(holds, got.calls[k], got.outcomes), False) for k, holds in case.watched.items()]
    for question, of_values in questions:
        yield from _complaint(question, of_values)


def broken_gradient_properties(case: Case, got: Observed) -> Iterator[Broken]:
    """Yield the complaints about the gradients of random results."""
    for holds in case.gradient_properties:
        yield from _complaint(partial(holds, got.outcomes, got.gradients), True)


def _complaint(question: Callable[[], Complaint | None], of_values: bool) -> Iterator[Broken]:
    """Yield what a property finds to be wrong. It is written for results of the form that was asked for: an error that
    it raises at others says that they have not that form."""
    try:
        complaint = question()
    except (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        message = say("other-form-of-result", error=f"{type(error).__name__}: {str(error)[:300]}")
        yield Broken(message, of_values, digits_only=False)
        return
    if complaint is None:
        return
    said = Localised(*complaint)
    digits_only = isinstance(complaint, DigitsLost)
    yield Broken(say("digits-lost", fault=said) if digits_only else said, of_values, digits_only)
