"""Which piece breaks an engine: found by swapping pieces inside it, never by grading them.

The engine runs with all of the learner's pieces; where that is not what the references do, with each of them alone
among references; and where each is right alone, the smallest set that is wrong together is looked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from attncli.errors import JudgeFailed
from attncli.ladder.comparing import Difference, difference
from attncli.ladder.engine import MEMORY_MIB, PATIENCE, SECONDS, TRUTH_SECONDS, Files, Part, checkpoint_of, day
from attncli.sandbox.worker_process import Worker

OpenWorker = Callable[[int], Worker]
OnRun = Callable[[int, Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class Blame:
    """The pieces that break the engine, together where there are several, and where it first showed."""

    pieces: tuple[str, ...]
    difference: Difference


@dataclass(frozen=True, slots=True)
class Climb:
    """How it went: who broke the engine, and the day of an engine in which all others have their seats."""

    blames: tuple[Blame, ...]
    parts: tuple[Part, ...]

    @property
    def broken(self) -> frozenset[str]:
        return frozenset(id for blame in self.blames for id in blame.pieces)


class Engines:
    """Engines of any mix of pieces, each in a fresh worker, against the one that has references alone."""

    def __init__(
        self,
        files: Files,
        open_worker: OpenWorker,
        on_run: OnRun = lambda number, own: None,
        seconds: float = SECONDS,
        patience: float = PATIENCE,
    ) -> None:
        """`seconds` is what a part of the day may take where the learner's pieces have seats, and at least `patience`
        times as long as the references take for their whole day: slow code that is right is waited for."""
        self._files, self._open, self._on_run, self._seconds = files, open_worker, on_run, seconds
        self._runs = 0
        self.truth = self._day_of_references(patience)

    def run(self, own: Mapping[str, str]) -> tuple[list[Part], Difference | None]:
        """The day of an engine with these pieces, up to where it first differs from what it should be."""
        self._begin(own)
        parts: list[Part] = []
        with self._open(MEMORY_MIB) as worker:
            seen_day = day(worker, self._files, own, self._seconds, checkpoint_of(self.truth[0]))
            for due, seen in zip(self.truth, seen_day, strict=False):
                parts.append(seen)
                found = difference(due, seen)
                if found is not None:
                    return parts, found
        return parts, None

    def _day_of_references(self, patience: float) -> list[Part]:
        self._begin(())
        with self._open(MEMORY_MIB) as worker:
            begun = time.monotonic()
            parts = list(day(worker, self._files, {}, TRUTH_SECONDS))
            self._seconds = max(self._seconds, float(round(patience * (time.monotonic() - begun))))
        if parts[-1].stopped is not None:
            raise JudgeFailed(f"the engine stops with references alone ({parts[-1].stopped.said}); see attn doctor")
        return parts

    def _begin(self, own: Mapping[str, str] | tuple[()]) -> None:
        self._runs += 1
        self._on_run(self._runs, list(own))


def climb(engines: Engines, own: Mapping[str, str]) -> Climb:
    """Runs the engine with all of `own`, and finds those that break it. Raises JudgeFailed."""
    if not own:
        return Climb((), tuple(engines.truth))
    parts, wrong = engines.run(own)
    if wrong is None:
        return Climb((), tuple(parts))
    blames = list(_alone(engines, own, wrong))
    while True:
        rest = _without(own, [id for blame in blames for id in blame.pieces])
        parts, wrong = engines.run(rest) if rest else (engines.truth, None)
        if wrong is None:
            return Climb(tuple(blames), tuple(parts))
        blames.append(_together(engines, rest, wrong))


def _alone(engines: Engines, own: Mapping[str, str], wrong: Difference) -> list[Blame]:
    """The pieces that break an engine in which everything else is a reference."""
    if len(own) == 1:
        return [Blame(tuple(own), wrong)]
    found = [(id, engines.run({id: text})[1]) for id, text in own.items()]
    return [Blame((id,), where) for id, where in found if where is not None]


def _together(engines: Engines, own: Mapping[str, str], wrong: Difference) -> Blame:
    """The fewest of these pieces that are wrong together; none can be left out of them."""
    for id in list(own):
        fewer = _without(own, [id])
        where = engines.run(fewer)[1] if fewer else None
        if where is not None:
            own, wrong = fewer, where
    return Blame(tuple(own), wrong)


def _without(own: Mapping[str, str], ids: Sequence[str]) -> dict[str, str]:
    return {id: text for id, text in own.items() if id not in ids}
