"""Which of the bugs that were planted in a file it still has, from what it returned.

Every choice of them gives a file of its own. The one whose answers the submission gives holds the bugs that are left;
where the submission has changed more than that, the one whose answers it gives most often, as far as these show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncli.domain.repairs import Repair, choices, planted
from attncli.judge.challenge import Folder, load_module
from attncli.judge.naming.probes import Probe, answers_of, same_answers
from attncli.judge.reference import Namespace, Observed
from attncli.judge.truth.demands import Demands

Choice = frozenset[str]


class PlantedFiles:
    """The reference of a challenge with each choice of some bugs in it, and what these files answer."""

    def __init__(self, folder: Folder, repairs: Sequence[Repair], most: int | None = None) -> None:
        self._folder = folder
        self._float32_inside = Demands(folder).float32_inside
        count = len(repairs) if most is None else most
        self._repairs = {frozenset(repair.wrong for repair in chosen): chosen for chosen in choices(repairs, count)}
        self._loaded: dict[Choice, Namespace] = {}
        self._answers: dict[tuple[Choice, int], Observed | None] = {}

    @property
    def choices(self) -> list[Choice]:
        """From the file without a bug on, those with fewer bugs first."""
        return list(self._repairs)

    def text(self, choice: Choice) -> str:
        return planted(self._folder.reference_source, self._repairs[choice])

    def _namespace(self, choice: Choice) -> Namespace:
        if not choice:
            return self._folder.reference.__dict__
        if choice not in self._loaded:
            name = "_".join(["planted", self._folder.id, *sorted(choice)]).replace("-", "_")
            path = self._folder.path / "reference.py"
            self._loaded[choice] = load_module(path, name, self.text(choice)).__dict__
        return self._loaded[choice]

    def answer(self, choice: Choice, probe: Probe) -> Observed | None:
        """What the file with these bugs answers; None where it fails."""
        key = (choice, id(probe))
        if key not in self._answers:
            self._answers[key] = answers_of([probe], self._namespace(choice))[0]
        return self._answers[key]

    def agree(self, probe: Probe, first: Observed | None, second: Observed | None) -> bool:
        """Whether two answers to a probe are the same; to fail is an answer."""
        if first is None or second is None:
            return first is second
        return same_answers(probe, first, second, self._float32_inside)

    def fits(self, choice: Choice, probe: Probe, got: Observed | None) -> bool:
        return self.agree(probe, got, self.answer(choice, probe))


Answered = Sequence[tuple[Probe, Observed | None]]


def bugs_left(files: PlantedFiles, answered: Answered) -> Choice:
    """The bugs that the answers of a submission show, or do not show to be gone."""
    fitting = files.choices
    for probe, got in answered:
        fitting = [choice for choice in fitting if files.fits(choice, probe, got)]
    if fitting and answered:
        return fitting[0]
    return _shown_by_most(files, answered)


def _shown_by_most(files: PlantedFiles, answered: Answered) -> Choice:
    everything = files.choices[-1]
    fitting = [frozenset(c for c in files.choices if files.fits(c, probe, got)) for probe, got in answered]
    telling = [found for found in fitting if 0 < len(found) < len(files.choices)]
    if not telling:
        return everything
    best = max(files.choices, key=lambda choice: (sum(choice in found for found in telling), -len(choice)))
    agreeing = [found for found in telling if best in found]
    return everything - {bug for bug in everything - best if any(best | {bug} not in found for found in agreeing)}


def undistinguished(files: PlantedFiles, probes: Sequence[Probe]) -> Iterator[tuple[Choice, Choice]]:
    """Pairs of choices that no probe tells apart: a bug hides in one of them, or it shows nowhere."""
    groups = [files.choices]
    for probe in probes:
        groups = [part for group in groups for part in _parted(files, probe, group)]
    for group in groups:
        yield from ((group[0], other) for other in group[1:])


def _parted(files: PlantedFiles, probe: Probe, group: list[Choice]) -> list[list[Choice]]:
    parts: list[list[Choice]] = []
    for choice in group if len(group) > 1 else ():
        answer = files.answer(choice, probe)
        like = next((part for part in parts if files.agree(probe, files.answer(part[0], probe), answer)), None)
        if like is None:
            parts.append([choice])
        else:
            like.append(choice)
    return parts
