"""The edge cases of a challenge: those of its `inputs.py` and of its motifs, and what they are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attncli.judge.challenge import Folder
from attncli.judge.make import Recorder


def edge_functions(folder: Folder) -> Iterator[tuple[str, str, Callable[[Recorder], Any]]]:
    """(label, attribute, function) of every `edge_…` in the order of the file, then of the motifs."""
    for attribute, function in list(vars(folder.inputs).items()):
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
