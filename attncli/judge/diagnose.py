"""Name the mistake: find the known wrong solution that explains the answers of a submission.

A name is given only on evidence: the wrong solution must give what the submission gives wherever that is wrong, over
the failing case and further ones. Where none does, two of them may together, the answers may have a pattern in common
(see patterns.py), or one may explain most of what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any, Literal

import torch
from torch import Tensor

from attncli.domain.challenge import CaseRung
from attncli.domain.grade_report import Diagnosis
from attncli.judge.case import Case
from attncli.judge.challenge import Demands, Folder, call_name
from attncli.judge.compare import (
    CLEARLY,
    CONTRADICTED,
    MOST_EXPLAINED,
    NEARER,
    SAME_GRADIENT,
    SOME_EXPLAINED,
    Path,
    Rules,
    agreeing,
    compare,
    leaves,
)
from attncli.judge.guard import alone
from attncli.judge.messages import say
from attncli.judge.patterns import Sample, pattern_of, rounding_of, samples, subject, wrong_parts
from attncli.judge.protocol import Request
from attncli.judge.reference import (
    Expectation,
    Observed,
    as_given,
    broken_gradient_properties,
    broken_properties,
    largest,
    run_reference,
)
from attncli.sandbox.namespaces import memory_at_most
from attncli.sandbox.values import EIGHT_BIT_FLOATS, Raised

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


# How far a known mistake explains the answers of a submission, entry by entry.
#
# Each part of an answer is compared three times: the submission with the reference, the known mistake with the
# reference, the submission with the known mistake. Where the submission is wrong and gives what the mistake gives, the
# mistake explains it. Where the submission is right and the mistake is not, the submission has not made this mistake.

# Each of two mistakes must show in so many answers, and in so many entries altogether.
LEAST_ANSWERS = 2
LEAST_ENTRIES = 4
# What many mistakes give must agree in so many answers.
LEAST_PLAIN = 3
# One that leaves something unexplained must explain so many wrong entries, in so many probes, to be named.
LEAST_ENTRIES_OF_MOST = 8
LEAST_PROBES_OF_MOST = 3


@dataclass(frozen=True, slots=True)
class Entries:
    """One part of an answer: where the submission is wrong, where the mistake is, and where both give the same.

    `numbers`: where the submission and the mistake both give a number, no infinity and no NaN. `plain`: where what the
    submission gives is also given by many other mistakes, such as 0 and NaN. `entry`: the name of the function; empty
    where it is not known. `failed`: one of them gave no answer. `measured`: the entries are floating-point numbers.
    """

    wrong: Tensor
    other: Tensor
    same: Tensor
    numbers: Tensor
    plain: Tensor
    entry: str = ""
    failed: bool = False
    measured: bool = False

    @property
    def explained(self) -> Tensor:
        return self.wrong & self.same

    @property
    def contradicted(self) -> Tensor:
        """Where the submission is right and the mistake gives something else."""
        return ~self.wrong & ~self.same

    @property
    def another(self) -> Tensor:
        """Where the submission is wrong and the mistake gives another number: there is a different one."""
        return self.wrong & ~self.same & self.numbers


class Answered:
    """The answer of a submission to a probe, beside the reference's in the same dtypes."""

    def __init__(self, probe: Probe, sound: Observed, float32_inside: bool) -> None:
        self.probe, self.case = probe, probe.request.case
        self.sound, self.got = sound, probe.observed
        self._float32_inside = float32_inside
        self._wrong: dict[Path, Tensor] = {}
        self._parts_of_sound = self._parts(sound)
        self._parts_of_got = {} if self.got is None else self._parts(self.got)
        self._complaint = "" if self.got is None else self._complains(self.got)

    def beside(self, other: Observed | None) -> list[Entries]:
        """Compare what a known mistake gives, None where it fails."""
        if self.got is None or other is None:
            return [_whole(self.got is None, other is None, self.got is other, failed=True)]
        parts = self._parts(other)
        found = [entries for key in self._parts_of_sound for entries in self._entries(key, parts.get(key))]
        return [*found, *self._judged(other)]

    def _parts(self, observed: Observed) -> dict[Any, Any]:
        gradients = {("gradient", k): value for k, value in enumerate(observed.gradients)}
        return {**observed.parts(self.case), **gradients}

    def _rules(self, key: Any, sound: Any) -> Rules:
        if isinstance(key, tuple):
            return Rules(lambda path: None, {}, True, largest(sound) * SAME_GRADIENT)
        slack = lambda path: self.probe.due.slack((key, *path))  # noqa: E731
        return Rules(slack, {}, exact=key in self.case.exact, float32_inside=self._float32_inside)

    def _entries(self, key: Any, other: Any) -> Iterator[Entries]:
        sound, got = self._parts_of_sound[key], self._parts_of_got.get(key)
        rules, entry = self._rules(key, sound), call_name(self.case, key) if isinstance(key, int) else ""
        due, mine, theirs = dict(leaves(sound)), dict(leaves(got)), dict(leaves(other))
        if due.keys() == mine.keys() == theirs.keys() and _has_values([*mine.values(), *theirs.values()]):
            for path, value in due.items():
                yield replace(self._leaf(rules, (key, *path), value, mine[path], theirs[path]), entry=entry)
            return
        wrong, elsewhere = (not _same_value(sound, value, rules) for value in (got, other))
        yield replace(_whole(wrong, elsewhere, _same_value(got, other, rules)), entry=entry)

    def _leaf(self, rules: Rules, path: Path, due: Any, got: Any, other: Any) -> Entries:
        if isinstance(due, Tensor) and isinstance(got, Tensor) and got.dtype in self.case.dtypes.get(path, ()):
            due = due.to(got.dtype)
        if path not in self._wrong:
            self._wrong[path] = ~alike(due, got, rules, path[1:])
        wrong, same = self._wrong[path], alike(other, got, rules, path[1:])
        elsewhere = wrong if bool(same.all()) else ~alike(due, other, rules, path[1:])
        if not wrong.shape == elsewhere.shape == same.shape:
            return _whole(bool(wrong.any()), bool(elsewhere.any()), bool(same.all()))
        if not all(_is_floating(value) and value.shape == wrong.shape for value in (due, got, other)):
            plain = (
                _is_plain(got).expand(wrong.shape)
                if isinstance(got, Tensor) and not got.dim()
                else torch.zeros_like(wrong)
            )
            return Entries(wrong, elsewhere, same, torch.ones_like(wrong), plain)
        due, got, other = map(_computable, (due, got, other))
        numbers = got.isfinite() & other.isfinite()
        same = same & (~wrong | ~numbers | _nearer(got, other, due))
        return Entries(wrong, elsewhere, same, numbers, _is_plain(got), measured=True)

    def _complains(self, observed: Observed) -> str:
        """Return the first complaint of the properties of the case."""
        gradients = broken_gradient_properties(self.case, observed) if observed.gradients else ()
        return next((broken.message.en for broken in chain(broken_properties(self.case, observed), gradients)), "")

    def _judged(self, other: Observed) -> Iterator[Entries]:
        """Compare results that properties judge: what they leave open may differ.

        If entries that are like those of the other answer are replaced by the reference's, nothing may be left for
        the properties to complain of: then these entries are all that is wrong.
        """
        assert self.got is not None
        theirs = self._complains(other)
        if not self._complaint or not theirs:
            yield _whole(bool(self._complaint), bool(theirs), self._complaint == theirs)
        elif any(map(self._complains, (self._mended(self.got, other), self._mended(other, self.got)))):
            # The complaint about one entry, with its numbers, is as good as that entry.
            yield _whole(True, True, self._complaint == theirs and any(map(str.isdigit, theirs)))
        else:
            for step in sorted(self.case.ignored):
                yield from self._alike_and_wrong(step, self.got.outcomes[step], other.outcomes[step])

    def _mended(self, observed: Observed, like: Observed) -> Observed:
        outcomes = list(observed.outcomes)
        for k in self.case.ignored:
            outcomes[k] = _mended(outcomes[k], like.outcomes[k], self.sound.outcomes[k])
        triples = zip(observed.gradients, like.gradients, self.sound.gradients, strict=True)
        return replace(observed, outcomes=outcomes, gradients=[_mended(*values) for values in triples])

    def _alike_and_wrong(self, step: int, got: Any, other: Any) -> Iterator[Entries]:
        due, mine, theirs = (dict(leaves(value)) for value in (self.sound.outcomes[step], got, other))
        for path in due.keys() & mine.keys() & theirs.keys():
            wrong, same = ~alike(due[path], mine[path], _PLAIN), alike(theirs[path], mine[path], _PLAIN)
            if wrong.shape == same.shape:
                wrong = wrong & same
                everywhere = torch.ones_like(same)
                yield Entries(wrong, wrong, everywhere, everywhere, torch.zeros_like(same))


_PLAIN = Rules(lambda path: None, {})


def _whole(wrong: bool, other: bool, same: bool, failed: bool = False) -> Entries:
    """Return one entry for an answer as a whole."""
    masks = [torch.tensor(value) for value in (wrong, other, same, not failed, failed)]
    return Entries(masks[0], masks[1], masks[2], masks[3], masks[4], failed=failed)


def _has_values(answers: Iterable[Any]) -> bool:
    """Tell whether no tensor among these lies where there are no values."""
    return not any(isinstance(value, Tensor) and value.is_meta for value in answers)


def _computable(value: Tensor) -> Tensor:
    """Widen floating-point numbers of 8 bits, with which torch computes nothing."""
    return value.to(torch.float32) if value.dtype in EIGHT_BIT_FLOATS else value


def _is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def _is_plain(value: Tensor) -> Tensor:
    """Tell where a floating-point result is 0, 1, −1 or no number."""
    if not value.is_floating_point():
        return torch.zeros(value.shape, dtype=torch.bool)
    size = value.detach().to(torch.float64).abs()
    return torch.eq(size, 0) | torch.eq(size, 1) | ~size.isfinite()


def alike(value: Any, other: Any, rules: Rules, path: Path = ()) -> Tensor:
    """Tell for each entry whether two answers agree; for both as a whole where they have no common form."""
    if not isinstance(value, Tensor) or not isinstance(other, Tensor):
        return torch.tensor(_same_value(value, other, rules))
    if value.shape != other.shape or value.dtype != other.dtype or not _has_values([value, other]):
        return torch.tensor(False)
    if value.is_complex():
        return torch.tensor(compare(value, value, other, rules, path) is None)
    if not value.is_floating_point():
        return torch.eq(value, other)
    value, other = _computable(value), _computable(other)
    if rules.exact:
        same: Tensor = torch.eq(value, other) & torch.eq(value.signbit(), other.signbit())
        return same.logical_or(value.isnan() & other.isnan())
    return agreeing(value, other, rules, path)


def _same_value(value: Any, other: Any, rules: Rules) -> bool:
    if isinstance(value, Raised):
        return isinstance(other, Raised) and other.names[0] == value.names[0]
    return compare(value, value, other, rules) is None


def _nearer(got: Tensor, other: Tensor, due: Tensor) -> Tensor:
    """Tell where an answer is far nearer to another one than to what is right."""
    got, other, due = (tensor.detach().to(torch.float64) for tensor in (got, other, due))
    return ~due.isfinite() | ((got - other).abs() * NEARER <= (got - due).abs())


def _mended(value: Any, like: Any, sound: Any) -> Any:
    """Put the reference's values where two answers agree."""
    if isinstance(value, Tensor) and isinstance(like, Tensor) and isinstance(sound, Tensor):
        same = alike(value, like, _PLAIN)
        if value.shape == sound.shape == same.shape:
            return torch.where(same, sound.to(value.dtype), value)
    if type(value) is type(like) is type(sound) and isinstance(value, (list, tuple, dict)):
        if isinstance(value, dict) and value.keys() == like.keys() == sound.keys():
            return {key: _mended(part, like[key], sound[key]) for key, part in value.items()}
        if not isinstance(value, dict) and len(value) == len(like) == len(sound):
            return type(value)(_mended(*parts) for parts in zip(value, like, sound, strict=True))
    return sound if _same_value(value, like, _PLAIN) else value


class Evidence:
    """What speaks for and against one known mistake, probe by probe."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.probes: list[list[Entries]] = []
        self.again: list[bool] = []

    @property
    def parts(self) -> Iterator[Entries]:
        return chain(*self.probes)

    @property
    def shares(self) -> list[tuple[int, int]]:
        """How many of the wrong entries it explains, for each probe with any to which the submission gave an answer."""
        counts = []
        for entries in self.probes:
            answered = [part for part in entries if bool(part.explained.any()) or not part.failed]
            wrong = sum(int(part.wrong.sum()) for part in answered)
            counts.append((sum(int(part.explained.sum()) for part in answered), wrong))
        return [(explained, wrong) for explained, wrong in counts if wrong]

    @property
    def explained(self) -> int:
        return sum(explained for explained, _ in self.shares)

    @property
    def complete(self) -> bool:
        """Tell whether it explains all that is wrong, and nothing speaks against it."""
        unexplained = any(bool((part.wrong & ~part.same).any()) for part in self.parts)
        return not unexplained and not self._contradicted() and self.explained > 0

    @property
    def proved(self) -> bool:
        """Tell whether enough shows it: one entry may agree by chance, and so may failures, NaN, 0 and 1.

        The failing case under other random states is no further evidence.
        """
        told = [[part for part in entries if bool(part.explained.any())] for entries in self.probes]
        told = [parts for parts, again in zip(told, self.again, strict=True) if parts and not again]
        if any(bool((part.explained & part.plain).any()) for parts in told for part in parts if part.failed):
            return len(told) >= LEAST_PLAIN and any(not part.failed for part in self.parts)
        if not any(bool((part.explained & ~part.plain).any()) for parts in told for part in parts):
            return len(told) >= LEAST_PLAIN
        return (
            len(told) >= LEAST_ANSWERS or sum(int(p.explained.sum()) for parts in told for p in parts) >= LEAST_ENTRIES
        )

    @property
    def share(self) -> float:
        """The share of wrong entries that it explains, averaged over the probes with any."""
        shares = [explained / wrong for explained, wrong in self.shares]
        return sum(shares) / len(shares) if shares else 0.0

    @property
    def explains_some(self) -> bool:
        another = any(bool(part.another.any()) for part in self.parts)
        return not another and self.share >= SOME_EXPLAINED and self._contradicted() <= CONTRADICTED * self.explained

    @property
    def explains_most(self) -> bool:
        """Tell whether it explains all but what has no number, over so many measured entries of several probes."""
        counts = [sum(int(p.explained.sum()) for p in entries if p.measured) for entries in self.probes]
        enough = sum(counts) >= LEAST_ENTRIES_OF_MOST and sum(count > 0 for count in counts) >= LEAST_PROBES_OF_MOST
        return enough and self.share >= MOST_EXPLAINED and self.explains_some

    def _contradicted(self) -> int:
        """Count what the submission gets right and the mistake does not, in calls that the submission gets wrong
        elsewhere: a mistake may be made in one function of two."""
        wrong = {part.entry for part in self.parts if part.entry and bool(part.wrong.any())}
        counted = (part for part in self.parts if not part.entry or not wrong or part.entry in wrong)
        return sum(int(part.contradicted.sum()) for part in counted)

    @property
    def may_be_half(self) -> bool:
        """Tell whether it shows, and the submission gives the same wherever it does."""
        alike = not any(bool((part.other & ~part.same).any()) for part in self.parts)
        return alike and any(bool(part.other.any()) for part in self.parts)

    @property
    def shows(self) -> bool:
        """Tell whether it shows often enough to be one of two mistakes."""
        counts = [sum(int(part.other.sum()) for part in entries) for entries in self.probes]
        return sum(count > 0 for count in counts) >= LEAST_ANSWERS and sum(counts) >= LEAST_ENTRIES

    def completes(self, other: Evidence) -> bool:
        """Tell whether all that is wrong is explained by one of the two, and no entry by both."""
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            if mine.wrong.shape != theirs.wrong.shape or bool((mine.other & theirs.other).any()):
                return False
            if bool((mine.wrong & ~(mine.other | theirs.other)).any()):
                return False
        return True


# Probes: cases that were put to a submission, to be put to other code as well, and whether two answers agree.

# What a wrong solution may take here, in the judge's own process: one that holds a square of the length in memory
# meets cases that were made long to catch others.
MEMORY_MIB = 1024
ProbeKind = Literal["drawn", "again", "edge"]
# A random answer is compared under so many further states of the generators.
RANDOM_STATES = 2


@dataclass(frozen=True)
class Probe:
    """A case as it was put to the submission, its answer (None where it failed), and the expected one.

    `kind`: "drawn" is the failing case or a drawn one of its kind, "again" the failing case under another random state,
    "edge" another edge case.
    """

    request: Request
    observed: Observed | None
    due: Expectation
    kind: ProbeKind = "drawn"

    def on(self, namespace: Mapping[str, Any]) -> Observed:
        """Run other code on the case, gradients included where they were asked for."""
        case, cotangents = self.request.case, None
        if "gradients" in self.request.want:
            cotangents = self.request.cotangents
        leaves = self.request.leaves
        return run_reference(namespace, case, as_given, leaf_indices=leaves, cotangents=cotangents, as_in_worker=True)


def other_random_states(case: Case) -> list[Case]:
    """Return the case under other states of its generators and of torch's global one; none if it seeds that itself."""
    if any(step["op"] == "manual_seed" for step in case.steps):
        return []
    moves = [1000 * (turn + 1) for turn in range(RANDOM_STATES)]
    return [replace(case, seed=case.seed + k, generators=[seed + k for seed in case.generators]) for k in moves]


@alone
def answers_of(probes: Sequence[Probe], namespace: Mapping[str, Any]) -> list[Observed | None]:
    """Return what the program's own code answers, within the memory that it may take here; None where it fails."""
    with memory_at_most(MEMORY_MIB):
        return [_answer_of(probe, namespace) for probe in probes]


def _answer_of(probe: Probe, namespace: Mapping[str, Any]) -> Observed | None:
    try:
        return probe.on(namespace)
    except Exception:  # noqa: BLE001 - a mistake may fail in any way
        return None


def same_answers(probe: Probe, first: Observed, second: Observed, float32_inside: bool) -> bool:
    """Tell whether two answers to a probe agree, within the tolerance of its case."""
    case = probe.request.case
    before, after = first.parts(case, watched=True), second.parts(case, watched=True)
    for key, value in before.items():
        slack = lambda path, key=key: probe.due.slack((key, *path))  # noqa: E731
        rules = Rules(slack, {}, exact=key in case.exact, float32_inside=float32_inside)
        if key not in after or _differ(value, after[key], rules):
            return False
    pairs = zip(first.gradients, second.gradients, strict=True)
    return not any(_differ(a, b, Rules(lambda path: None, {}, True, largest(a) * SAME_GRADIENT)) for a, b in pairs)


def _differ(value: Any, other: Any, rules: Rules) -> bool:
    if isinstance(value, Raised):
        return not isinstance(other, Raised) or other.names[0] != value.names[0]
    return compare(value, value, other, rules) is not None
