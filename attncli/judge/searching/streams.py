"""Which drawn cases a grading looks at: shares of examples, and the first cases of a pinned stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attncli.judge.case import Case
from attncli.judge.cases.profiles import Profile
from attncli.judge.drawing import Declared
from attncli.judge.make import Recorder
from attncli.judge.searching.shrink import Search


def shares(profiles: Sequence[Profile], examples: int) -> list[tuple[Profile, int]]:
    """The examples divided over the strata, the first one taking what is left over."""
    each = max(1, examples // len(profiles))
    first = max(1, examples - each * (len(profiles) - 1))
    return [(profile, first if k == 0 else each) for k, profile in enumerate(profiles)]


def drawn(
    record: Callable[[Recorder], Any], profile: Profile, count: int, seed: int, stream: int, declared: Declared
) -> list[Case]:
    """Cases of a pinned stream, unexamined."""
    cases: list[Case] = []

    def keep(case: Case) -> None:
        cases.append(case)

    Search(record, profile, stream=stream, shrink_calls=0, declared=declared).run(keep, count + 1, seed)
    return cases[-count:]
