"""Name the mistake: find the known wrong solution that explains the answers of a submission.

A name is given only on evidence: the wrong solution must give what the submission gives wherever that is wrong, over
the failing case and further ones. Where none does, two of them may together, the answers may have a pattern in common
(see patterns.py), or one may explain most of what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from attncli.domain.grade_report import Diagnosis
from attncli.domain.rungs import CaseRung
from attncli.judge.challenge import Folder
from attncli.judge.messages import say
from attncli.judge.naming.evidence import Answered, Evidence
from attncli.judge.naming.probes import Probe, answers_of
from attncli.judge.naming.roundings import rounding_of
from attncli.judge.naming.samples import Sample, samples, subject, wrong_parts
from attncli.judge.patterns import pattern_of
from attncli.judge.truth.demands import Demands
from attncli.judge.truth.tolerance import CLEARLY

# So many probes show whether a mistake is worth the others.
FIRST = 5
# The code of mistakes that no output tells apart is compared in phrases of so many tokens.
PHRASE = 4


def diagnose(
    folder: Folder, probes: Sequence[Probe], rung: CaseRung, text: str, among: Sequence[str] = ()
) -> list[Diagnosis]:
    """Name the known mistakes that explain the answers, or what the answers have in common; [] without a proof.

    `rung` is that of the failing case: an answer that reached the first rung has made no mistake that fails it.
    `among` limits the names to some that fewer probes had left; of those that these leave, too, the one is named whose
    code is most like `text`, the submission's.
    """
    names = [n for n in among or folder.wrong_names() if rung == "solved" or folder.mistake(n).rung == rung]
    suspects = Suspects(folder, probes)
    complete = suspects.complete(names)
    if among and complete:
        texts = {name: folder.wrong_text(name) for name in complete}
        return [_named(folder, most_like(text, texts))]
    if complete or among:
        return [_named(folder, name) for name in complete]
    pairs = suspects.pairs()
    if len(pairs) == 1:
        first, second = pairs[0]
        return [replace(_named(folder, first), beside=second), replace(_named(folder, second), beside=first)]
    likely = _in_common(Demands(folder), probes)
    return likely or [_named(folder, name) for name in suspects.likeliest()]


class Suspects:
    """The known mistakes that the submission may have made, compared with it on more and more probes."""

    def __init__(self, folder: Folder, probes: Sequence[Probe]) -> None:
        self._folder = folder
        native = answers_of(probes, folder.reference.__dict__)
        inside = Demands(folder).float32_inside
        pairs = zip(probes, native, strict=True)
        self._answered = [Answered(probe, sound, inside) for probe, sound in pairs if sound is not None]
        self._suspected: list[Evidence] = []

    def complete(self, names: Sequence[str]) -> list[str]:
        """Return the mistakes that explain all that is wrong; of the others those stay that explain a part of it."""
        found = []
        for name in names:
            evidence = Evidence(name)
            self._extend(evidence, FIRST)
            if evidence.complete:
                self._extend(evidence, len(self._answered))
                if evidence.complete and evidence.proved:
                    found.append(name)
            if evidence.explains_some or evidence.may_be_half:
                self._suspected.append(evidence)
        return found

    def pairs(self) -> list[tuple[str, str]]:
        """Return every pair of mistakes that together explain all that is wrong, each in entries of its own."""
        halves = [evidence for evidence in self._suspected if evidence.may_be_half]
        for evidence in halves:
            self._extend(evidence, len(self._answered))
        halves = [evidence for evidence in halves if evidence.may_be_half and evidence.shows]
        return [(a.name, b.name) for a, b in combinations(halves, 2) if a.completes(b)]

    def likeliest(self) -> list[str]:
        """Return the one mistake that explains most of what is wrong: another one may be beside it."""
        for evidence in self._suspected:
            if evidence.explains_some:
                self._extend(evidence, len(self._answered))
        likely = sorted((e for e in self._suspected if e.explains_most), key=lambda e: -e.share)
        close = len(likely) > 1 and likely[1].share > likely[0].share - CLEARLY
        return [] if not likely or close else [likely[0].name]

    def _extend(self, evidence: Evidence, count: int) -> None:
        """Compare a mistake on so many probes, or on all that are left."""
        asked = self._answered[len(evidence.probes) : count]
        given = answers_of([answer.probe for answer in asked], self._folder.wrong(evidence.name).__dict__)
        for answer, other in zip(asked, given, strict=True):
            evidence.probes.append(answer.beside(other))
            evidence.again.append(answer.probe.kind == "again")


def _in_common(demands: Demands, probes: Sequence[Probe]) -> list[Diagnosis]:
    found: list[Sample] = []
    for probe in probes:
        if probe.kind != "drawn":
            continue
        if probe.observed is None:
            return []
        of_probe = samples(probe.request.case, probe.observed, probe.due, demands)
        if of_probe is None:
            return []
        found += of_probe
    wrong = wrong_parts(found)
    what = subject(wrong, found) if wrong else say("the-result")
    pattern = pattern_of(wrong, what) or rounding_of(wrong, what, demands)
    return [Diagnosis(pattern[0], pattern[1].en, (), pattern[1].zh)] if pattern else []


def most_like(text: str, others: Mapping[str, str]) -> str:
    """Return the name of the text of which most of what the others have not stands in `text`, too."""
    phrases = {name: _phrases(other) for name, other in others.items()}
    common, mine = set.intersection(*phrases.values()), _phrases(text)
    return max(phrases, key=lambda name: len((phrases[name] - common) & mine) / max(1, len(phrases[name] - common)))


def _phrases(text: str) -> set[tuple[str, ...]]:
    """Return all that stands in so many neighbouring tokens, comments left out."""
    tokens = re.findall(r"\w+|[^\w\s]", re.sub(r'""".*?"""|#[^\n]*', "", text, flags=re.DOTALL))
    return set(zip(*(tokens[k:] for k in range(PHRASE)), strict=False))


def _named(folder: Folder, name: str) -> Diagnosis:
    mistake = folder.mistake(name)
    return Diagnosis(name, mistake.says.en or name, mistake.cards or tuple(folder.spec.get("cards") or ()))
