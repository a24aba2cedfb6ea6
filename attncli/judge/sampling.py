"""Which cases a grading looks at: the edge cases of a challenge, shares of examples, samples of a pinned stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attncli.judge.case import Case
from attncli.judge.drawing import Declared
from attncli.judge.folder import Folder
from attncli.judge.profiles import Profile
from attncli.judge.recorder import Recorder
from attncli.judge.search import Search


def edge_functions(folder: Folder) -> Iterator[tuple[str, str, Callable[[Recorder], Any]]]:
    """(label, attribute, function) of every `edge_…` in the order of the file, then of the motifs."""
    for attribute, function in vars(folder.inputs).items():
        if attribute.startswith("edge_") and callable(function):
            label = (function.__doc__ or attribute.removeprefix("edge_").replace("_", " ")).strip().splitlines()[0]
            yield label.rstrip("."), attribute, function
    for attribute, motif in folder.motifs.items():
        yield motif.label.en, attribute, folder.record(attribute)


def labels_in_chinese(folder: Folder) -> dict[str, str]:
    """What edge cases are called in Chinese, by their English label: the last line of a longer docstring."""
    functions = [(label, record.__doc__ or "") for label, _, record in edge_functions(folder)]
    own = {label: text.strip().splitlines()[-1].strip() for label, text in functions if "\n" in text.strip()}
    return {**own, **{motif.label.en: motif.label.zh for motif in folder.motifs.values()}}


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
