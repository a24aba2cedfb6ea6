"""Name the mistake: find the known wrong solution that explains the answers of a submission.

A diagnosis needs evidence: wherever the submission is wrong, in the failing case and further ones, the wrong solution
must give the same. If none does, two of them may do so together, the answers may share a pattern (see patterns.py), or
one may explain most of the wrong entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any, Literal

import torch
from torch import Tensor

from attncli.domain.grade_report import Diagnosis
from attncli.domain.vocabulary import CaseRung
from attncli.judge.case import Case
from attncli.judge.challenge import Folder, call_name
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

# The number of probes after which an unlikely mistake is dropped.
FIRST = 5
# The number of tokens in a phrase of code. Phrases distinguish mistakes that no output distinguishes.
PHRASE = 4
# A random answer is compared under this many further states of the generators.
RANDOM_STATES = 2
# The memory limit of a wrong solution in the judge's process. One whose memory grows with the square of the length also
# gets the long cases made to catch others.
MEMORY_MIB = 1024

# Each of two mistakes must show in this many answers, and in this many entries altogether.
LEAST_ANSWERS = 2
LEAST_ENTRIES = 4
# A value that many mistakes give, such as 0 or NaN, must agree in this many answers.
LEAST_PLAIN = 3
# A mistake that leaves entries unexplained must explain this many wrong ones, in this many probes, to be named.
LEAST_ENTRIES_OF_MOST = 8
LEAST_PROBES_OF_MOST = 3

ProbeKind = Literal["drawn", "again", "edge"]


@dataclass(frozen=True)
class Probe:
    """A case that was put to the submission, with its answer (None where it failed) and the expected one.

    `kind`: "drawn" is the failing case or a drawn one of its kind, "again" the failing case under another random state,
    "edge" another edge case.
    """

    request: Request
    observed: Observed | None
    expectation: Expectation
    kind: ProbeKind = "drawn"

    def on(self, namespace: Mapping[str, Any]) -> Observed:
        """Run other code on the case, with gradients where they were asked for."""
        case, cotangents = self.request.case, None
        if "gradients" in self.request.want:
            cotangents = self.request.cotangents
        leaves = self.request.leaves
        return run_reference(namespace, case, as_given, leaf_indices=leaves, cotangents=cotangents, as_in_worker=True)


def diagnose(
    folder: Folder, probes: Sequence[Probe], rung: CaseRung, text: str, among: Sequence[str] = ()
) -> list[Diagnosis]:
    """Return the known mistakes that explain the answers, or the pattern that the answers share; [] without a proof.

    `rung` is that of the failing case: a submission that reached the first rung has no mistake that fails there.
    `among` limits the names to those that fewer probes left. If several remain, return the one whose code is most
    similar to `text`, the submission's.
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
    return _in_common(folder, probes) or [_named(folder, name) for name in suspects.likeliest()]


def _named(folder: Folder, name: str) -> Diagnosis:
    mistake = folder.mistake(name)
    return Diagnosis(name, mistake.says.en or name, mistake.cards or tuple(folder.spec.get("cards") or ()))


def _in_common(folder: Folder, probes: Sequence[Probe]) -> list[Diagnosis]:
    """Return the pattern that all answers to the drawn cases share, [] if there is none."""
    found: list[Sample] = []
    for probe in probes:
        if probe.kind != "drawn":
            continue
        if probe.observed is None:
            return []
        of_probe = samples(probe.request.case, probe.observed, probe.expectation, folder)
        if of_probe is None:
            return []
        found += of_probe
    wrong = wrong_parts(found)
    what = subject(wrong, found) if wrong else say("the-result")
    pattern = pattern_of(wrong, what) or rounding_of(wrong, what, folder)
    return [Diagnosis(pattern[0], pattern[1].en, (), pattern[1].zh)] if pattern else []


def most_like(text: str, others: Mapping[str, str]) -> str:
    """Return the name of the text that shares the most distinctive phrases with `text`."""
    phrases = {name: _phrases(other) for name, other in others.items()}
    common, mine = set.intersection(*phrases.values()), _phrases(text)
    return max(phrases, key=lambda name: len((phrases[name] - common) & mine) / max(1, len(phrases[name] - common)))


def _phrases(text: str) -> set[tuple[str, ...]]:
    """Return every run of `PHRASE` tokens; comments and docstrings are left out."""
    tokens = re.findall(r"\w+|[^\w\s]", re.sub(r'""".*?"""|#[^\n]*', "", text, flags=re.DOTALL))
    return set(zip(*(tokens[k:] for k in range(PHRASE)), strict=False))


class Suspects:
    """The known mistakes that the submission may have made, compared with it on a growing number of probes."""

    def __init__(self, folder: Folder, probes: Sequence[Probe]) -> None:
        self._folder = folder
        native = answers_of(probes, folder.reference)
        inside = folder.facts.float32_inside
        pairs = zip(probes, native, strict=True)
        self._answered = [Answered(probe, expected, inside) for probe, expected in pairs if expected is not None]
        self._suspected: list[Evidence] = []

    def complete(self, names: Sequence[str]) -> list[str]:
        """Return the mistakes that explain all wrong entries, and remember those that explain some."""
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
        """Return every pair of mistakes that together explain all wrong entries, each in different ones."""
        halves = [evidence for evidence in self._suspected if evidence.may_be_half]
        for evidence in halves:
            self._extend(evidence, len(self._answered))
        halves = [evidence for evidence in halves if evidence.may_be_half and evidence.shows]
        return [(a.name, b.name) for a, b in combinations(halves, 2) if a.completes(b)]

    def likeliest(self) -> list[str]:
        """Return the one mistake that clearly explains most wrong entries, if any; there may be another one too."""
        for evidence in self._suspected:
            if evidence.explains_some:
                self._extend(evidence, len(self._answered))
        likely = sorted((e for e in self._suspected if e.explains_most), key=lambda e: -e.share)
        close = len(likely) > 1 and likely[1].share > likely[0].share - CLEARLY
        return [] if not likely or close else [likely[0].name]

    def _extend(self, evidence: Evidence, count: int) -> None:
        """Compare the submission with a mistake on the first `count` probes."""
        asked = self._answered[len(evidence.probes) : count]
        given = answers_of([answer.probe for answer in asked], self._folder.wrong(evidence.name).__dict__)
        for answer, other in zip(asked, given, strict=True):
            evidence.probes.append(answer.beside(other))
            evidence.again.append(answer.probe.kind == "again")


# Comparing a submission with a known mistake, entry by entry


@dataclass(frozen=True, slots=True)
class Entries:
    """One part of an answer, compared entry by entry.

    `wrong`: the submission is wrong. `other`: the known mistake is wrong. `same`: both give the same. `numbers`: both
    give a finite number. `plain`: many mistakes give the same value, such as 0 or NaN. `entry` is the name of the
    function, "" where it is not known. `failed`: one of them gave no answer. `measured`: the entries are floating-point
    numbers.
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
    def another(self) -> Tensor:
        """The entries where the submission is wrong and the mistake gives another number."""
        return self.wrong & ~self.same & self.numbers


class Answered:
    """The answer of a submission to a probe, with the reference's in the same dtypes."""

    def __init__(self, probe: Probe, expected: Observed, float32_inside: bool) -> None:
        self.probe, self.case = probe, probe.request.case
        self.expected, self.actual = expected, probe.observed
        self._float32_inside = float32_inside
        self._wrong: dict[Path, Tensor] = {}
        self._expected_parts = self._parts(expected)
        self._actual_parts = {} if self.actual is None else self._parts(self.actual)
        self._complaint = "" if self.actual is None else self._complains(self.actual)

    def beside(self, other: Observed | None) -> list[Entries]:
        """Compare with the answer of a known mistake; None if that failed."""
        if self.actual is None or other is None:
            return [_whole(self.actual is None, other is None, self.actual is other, failed=True)]
        parts = self._parts(other)
        found = [entries for key in self._expected_parts for entries in self._entries(key, parts.get(key))]
        return [*found, *self._judged(other)]

    def _parts(self, observed: Observed) -> dict[Any, Any]:
        gradients = {("gradient", k): value for k, value in enumerate(observed.gradients)}
        return {**observed.parts(self.case), **gradients}

    def _entries(self, key: Any, other: Any) -> Iterator[Entries]:
        expected, actual = self._expected_parts[key], self._actual_parts.get(key)
        entry = call_name(self.case, key) if isinstance(key, int) else ""
        if isinstance(key, tuple):
            rules = _gradient_rules(expected)
        else:
            rules = _value_rules(self.probe, key, self._float32_inside)
        wanted, mine, theirs = dict(leaves(expected)), dict(leaves(actual)), dict(leaves(other))
        if wanted.keys() == mine.keys() == theirs.keys() and _has_values([*mine.values(), *theirs.values()]):
            for path, value in wanted.items():
                yield replace(self._leaf(rules, (key, *path), value, mine[path], theirs[path]), entry=entry)
            return
        wrong, other_wrong = (not _same_value(expected, value, rules) for value in (actual, other))
        yield replace(_whole(wrong, other_wrong, _same_value(actual, other, rules)), entry=entry)

    def _leaf(self, rules: Rules, path: Path, expected: Any, actual: Any, other: Any) -> Entries:
        dtypes = self.case.dtypes.get(path, ())
        if isinstance(expected, Tensor) and isinstance(actual, Tensor) and actual.dtype in dtypes:
            expected = expected.to(actual.dtype)
        if path not in self._wrong:
            self._wrong[path] = ~alike(expected, actual, rules, path[1:])
        wrong, same = self._wrong[path], alike(other, actual, rules, path[1:])
        other_wrong = wrong if bool(same.all()) else ~alike(expected, other, rules, path[1:])
        if not wrong.shape == other_wrong.shape == same.shape:
            return _whole(bool(wrong.any()), bool(other_wrong.any()), bool(same.all()))
        values = (expected, actual, other)
        if not all(isinstance(v, Tensor) and v.is_floating_point() and v.shape == wrong.shape for v in values):
            plain = torch.zeros_like(wrong)
            if isinstance(actual, Tensor) and not actual.dim():
                plain = _is_plain(actual).expand(wrong.shape)
            return Entries(wrong, other_wrong, same, torch.ones_like(wrong), plain)
        expected, actual, other = map(_computable, values)
        numbers = actual.isfinite() & other.isfinite()
        same = same & (~wrong | ~numbers | _nearer(actual, other, expected))
        return Entries(wrong, other_wrong, same, numbers, _is_plain(actual), measured=True)

    def _complains(self, observed: Observed) -> str:
        """Return the first complaint of the properties of the case, "" if there is none."""
        gradients = broken_gradient_properties(self.case, observed) if observed.gradients else ()
        return next((broken.message.en for broken in chain(broken_properties(self.case, observed), gradients)), "")

    def _judged(self, other: Observed) -> Iterator[Entries]:
        """Compare results that properties judge, which may differ where the properties allow it.

        Entries that agree with the other answer are replaced by the reference's. If no property complains then, these
        are the only wrong entries.
        """
        assert self.actual is not None
        theirs = self._complains(other)
        if not self._complaint or not theirs:
            yield _whole(bool(self._complaint), bool(theirs), self._complaint == theirs)
        elif any(map(self._complains, (self._mended(self.actual, other), self._mended(other, self.actual)))):
            # A complaint with the numbers of one entry is as good evidence as that entry.
            yield _whole(True, True, self._complaint == theirs and any(map(str.isdigit, theirs)))
        else:
            for step in sorted(self.case.ignored):
                yield from self._alike_and_wrong(step, self.actual.outcomes[step], other.outcomes[step])

    def _mended(self, observed: Observed, like: Observed) -> Observed:
        outcomes = list(observed.outcomes)
        for k in self.case.ignored:
            outcomes[k] = _mended(outcomes[k], like.outcomes[k], self.expected.outcomes[k])
        triples = zip(observed.gradients, like.gradients, self.expected.gradients, strict=True)
        return replace(observed, outcomes=outcomes, gradients=[_mended(*values) for values in triples])

    def _alike_and_wrong(self, step: int, actual: Any, other: Any) -> Iterator[Entries]:
        wanted, mine, theirs = (dict(leaves(value)) for value in (self.expected.outcomes[step], actual, other))
        for path in wanted.keys() & mine.keys() & theirs.keys():
            wrong, same = ~alike(wanted[path], mine[path], _NO_SLACK), alike(theirs[path], mine[path], _NO_SLACK)
            if wrong.shape == same.shape:
                wrong = wrong & same
                everywhere = torch.ones_like(same)
                yield Entries(wrong, wrong, everywhere, everywhere, torch.zeros_like(same))


_NO_SLACK = Rules(lambda path: None, {})


def _value_rules(probe: Probe, key: Any, float32_inside: bool) -> Rules:
    """Return the rules for one outcome or shared object of a probe."""
    exact = key in probe.request.case.exact
    slack = probe.expectation.slack
    return Rules(lambda path: slack.get((key, *path)), {}, exact=exact, float32_inside=float32_inside)


def _gradient_rules(expected: Any) -> Rules:
    return Rules(lambda path: None, {}, True, largest(expected) * SAME_GRADIENT)


def _whole(wrong: bool, other: bool, same: bool, failed: bool = False) -> Entries:
    """Return one entry for an answer as a whole."""
    masks = [torch.tensor(value) for value in (wrong, other, same, not failed, failed)]
    return Entries(masks[0], masks[1], masks[2], masks[3], masks[4], failed=failed)


def _has_values(answers: Iterable[Any]) -> bool:
    """Return True if none of these tensors is on the meta device."""
    return not any(isinstance(value, Tensor) and value.is_meta for value in answers)


def _computable(value: Tensor) -> Tensor:
    """Widen 8-bit floating-point numbers, for which torch has no arithmetic."""
    return value.to(torch.float32) if value.dtype in EIGHT_BIT_FLOATS else value


def _is_plain(value: Tensor) -> Tensor:
    """Return a mask of the floating-point entries that are 0, ±1, infinite or NaN."""
    if not value.is_floating_point():
        return torch.zeros(value.shape, dtype=torch.bool)
    size = value.detach().to(torch.float64).abs()
    return torch.eq(size, 0) | torch.eq(size, 1) | ~size.isfinite()


def alike(value: Any, other: Any, rules: Rules, path: Path = ()) -> Tensor:
    """Return a mask of the entries on which two answers agree; a single value if their forms differ."""
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


def _nearer(actual: Tensor, other: Tensor, expected: Tensor) -> Tensor:
    """Return a mask of the entries that are far nearer to `other` than to `expected`."""
    actual, other, expected = (tensor.detach().to(torch.float64) for tensor in (actual, other, expected))
    return ~expected.isfinite() | ((actual - other).abs() * NEARER <= (actual - expected).abs())


def _mended(value: Any, like: Any, expected: Any) -> Any:
    """Return `value` with the reference's values where it agrees with `like`."""
    if isinstance(value, Tensor) and isinstance(like, Tensor) and isinstance(expected, Tensor):
        same = alike(value, like, _NO_SLACK)
        if value.shape == expected.shape == same.shape:
            return torch.where(same, expected.to(value.dtype), value)
    if type(value) is type(like) is type(expected) and isinstance(value, (list, tuple, dict)):
        if isinstance(value, dict) and value.keys() == like.keys() == expected.keys():
            return {key: _mended(part, like[key], expected[key]) for key, part in value.items()}
        if not isinstance(value, dict) and len(value) == len(like) == len(expected):
            return type(value)(_mended(*parts) for parts in zip(value, like, expected, strict=True))
    return expected if _same_value(value, like, _NO_SLACK) else value


# Weighing the evidence


class Evidence:
    """The evidence for and against one known mistake, probe by probe.

    If the submission is wrong and gives the same as the mistake, the mistake explains it. If the submission is right
    where the mistake is wrong, it does not have this mistake.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.probes: list[list[Entries]] = []
        self.again: list[bool] = []

    @property
    def parts(self) -> Iterator[Entries]:
        return chain(*self.probes)

    @property
    def shares(self) -> list[tuple[int, int]]:
        """The explained and the wrong entries of each probe that the submission answered wrongly."""
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
    def share(self) -> float:
        """The share of wrong entries that the mistake explains, averaged over the probes with any."""
        shares = [explained / wrong for explained, wrong in self.shares]
        return sum(shares) / len(shares) if shares else 0.0

    @property
    def complete(self) -> bool:
        """Return True if the mistake explains all wrong entries, and nothing contradicts it."""
        unexplained = any(bool((part.wrong & ~part.same).any()) for part in self.parts)
        return not unexplained and not self._contradicted() and self.explained > 0

    @property
    def proved(self) -> bool:
        """Return True if the evidence suffices: single entries, failures, NaN, 0 and 1 may agree by chance.

        The failing case under other random states does not count as further evidence.
        """
        found = [[part for part in entries if bool(part.explained.any())] for entries in self.probes]
        found = [parts for parts, again in zip(found, self.again, strict=True) if parts and not again]
        flat = list(chain(*found))
        if any(part.failed and bool((part.explained & part.plain).any()) for part in flat):
            return len(found) >= LEAST_PLAIN and any(not part.failed for part in self.parts)
        if not any(bool((part.explained & ~part.plain).any()) for part in flat):
            return len(found) >= LEAST_PLAIN
        return len(found) >= LEAST_ANSWERS or sum(int(part.explained.sum()) for part in flat) >= LEAST_ENTRIES

    @property
    def explains_some(self) -> bool:
        another = any(bool(part.another.any()) for part in self.parts)
        return not another and self.share >= SOME_EXPLAINED and self._contradicted() <= CONTRADICTED * self.explained

    @property
    def explains_most(self) -> bool:
        """Return True if the mistake explains all finite wrong entries, and enough measured ones in enough probes."""
        counts = [sum(int(p.explained.sum()) for p in entries if p.measured) for entries in self.probes]
        enough = sum(counts) >= LEAST_ENTRIES_OF_MOST and sum(count > 0 for count in counts) >= LEAST_PROBES_OF_MOST
        return enough and self.share >= MOST_EXPLAINED and self.explains_some

    def _contradicted(self) -> int:
        """Count the entries that the submission gets right and the mistake does not.

        Only functions that the submission gets wrong elsewhere count: only one of two may have the mistake.
        """
        wrong = {part.entry for part in self.parts if part.entry and bool(part.wrong.any())}
        counted = (part for part in self.parts if not part.entry or not wrong or part.entry in wrong)
        return sum(int((~part.wrong & ~part.same).sum()) for part in counted)

    @property
    def may_be_half(self) -> bool:
        """Return True if the mistake shows, and the submission gives the same wherever it shows."""
        alike = not any(bool((part.other & ~part.same).any()) for part in self.parts)
        return alike and any(bool(part.other.any()) for part in self.parts)

    @property
    def shows(self) -> bool:
        """Return True if the mistake shows often enough to be one of two."""
        counts = [sum(int(part.other.sum()) for part in entries) for entries in self.probes]
        return sum(count > 0 for count in counts) >= LEAST_ANSWERS and sum(counts) >= LEAST_ENTRIES

    def completes(self, other: Evidence) -> bool:
        """Return True if each wrong entry is explained by one of the two, and no entry by both."""
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            if mine.wrong.shape != theirs.wrong.shape or bool((mine.other & theirs.other).any()):
                return False
            if bool((mine.wrong & ~(mine.other | theirs.other)).any()):
                return False
        return True


# Running other code on probes


def other_random_states(case: Case) -> list[Case]:
    """Return the case under other states of its generators and torch's global one; [] if it seeds the latter itself."""
    if any(step["op"] == "manual_seed" for step in case.steps):
        return []
    shifts = [1000 * (turn + 1) for turn in range(RANDOM_STATES)]
    return [replace(case, seed=case.seed + k, generators=[seed + k for seed in case.generators]) for k in shifts]


@alone
def answers_of(probes: Sequence[Probe], namespace: Mapping[str, Any]) -> list[Observed | None]:
    """Return the answers that other code gives to the probes, within bounded memory; None where it fails."""
    answers: list[Observed | None] = []
    with memory_at_most(MEMORY_MIB):
        for probe in probes:
            try:
                answers.append(probe.on(namespace))
            except Exception:  # noqa: BLE001 - a mistake may fail in any way
                answers.append(None)
    return answers


def same_answers(probe: Probe, first: Observed, second: Observed, float32_inside: bool) -> bool:
    """Return True if two answers to a probe agree, within the tolerance of its case."""
    case = probe.request.case
    before, after = first.parts(case, watched=True), second.parts(case, watched=True)
    for key, value in before.items():
        if key not in after or not _same_value(value, after[key], _value_rules(probe, key, float32_inside)):
            return False
    pairs = zip(first.gradients, second.gradients, strict=True)
    return all(_same_value(a, b, _gradient_rules(a)) for a, b in pairs)
