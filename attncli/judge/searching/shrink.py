"""Searching for a counterexample with Hypothesis: a pinned stream, and shrinking within a budget of calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.internal.conjecture.providers as providers
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as pinned
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException

from attncli.judge.answers.finding import CaseFinding, Examine
from attncli.judge.cases.profiles import Profile
from attncli.judge.drawing import Declared, Draw
from attncli.judge.make import Recorder

SHRINK_CALLS = 120

CaseFunction = Callable[[Recorder], Any]


def ignore_source_constants() -> None:
    """Hypothesis seeds its draws with constants found in loaded source files; a stream must not depend on those."""
    if hasattr(providers, "_get_local_constants") and hasattr(providers, "Constants"):
        empty = providers.Constants()  # type: ignore[attr-defined]
        providers._get_local_constants = lambda: empty


ignore_source_constants()


class _Failed(Exception):
    """This example fails."""


class Search:
    """One stratum of one check: draws `examples` cases and keeps the smallest that `examine` finds fault with."""

    def __init__(
        self, record: CaseFunction, profile: Profile, *, stream: int, shrink_calls: int, declared: Declared
    ) -> None:
        self._record = record
        self._profile = profile
        self._stream = stream
        self._shrink_calls = shrink_calls
        self._declared = declared
        self.best: CaseFinding | None = None
        self.first: CaseFinding | None = None
        self.examples = 0
        self._after_failure = 0

    def run(self, examine: Examine, examples: int, seed: int, sound: int = 0) -> CaseFinding | None:
        """The smallest finding, or None. The same seed gives the same cases everywhere.

        The first `sound` of them are known to be answered well, and not examined again.
        """
        phases = [Phase.generate, Phase.shrink] if self._shrink_calls else [Phase.generate]
        decorate = settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=phases,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=Verbosity.quiet,
        )

        def body(data: st.DataObject) -> None:
            self._one(data, examine, sound)

        try:
            pinned(seed)(decorate(given(st.data())(body)))()
        except (_Failed, HypothesisException, ExceptionGroup):
            if self.best is None:
                raise
        return self.best

    def _one(self, data: st.DataObject, examine: Examine, sound: int) -> None:
        if self.best is not None and (self.best.fatal or self._after_failure >= self._shrink_calls):
            return
        recorder = Recorder(_hypothesis_draw(data), self._profile, self._stream, declared=self._declared)
        self._record(recorder)
        if self.best is None:
            self.examples += 1
        else:
            self._after_failure += 1
        known = self.best is None and self.examples <= sound
        finding = None if known else examine(recorder.case)
        if finding is None:
            return
        self.first = self.first or finding
        if self.best is None or finding.case.weight <= self.best.case.weight:
            self.best = finding
        raise _Failed


_INTEGERS: dict[tuple[int, int], st.SearchStrategy[int]] = {}


def _hypothesis_draw(data: st.DataObject) -> Draw:
    choices: Any = getattr(data, "conjecture_data", None)
    if hasattr(choices, "draw_integer"):
        # The same draws as below without a strategy around each: a third of the time of a small example.
        return lambda kind, low, high: int(choices.draw_integer(low, high)) if low < high else low

    def draw(kind: str, low: int, high: int) -> int:
        strategy = _INTEGERS.get((low, high))
        if strategy is None:
            strategy = _INTEGERS[low, high] = st.integers(low, high)
        return data.draw(strategy)

    return draw
