"""Motifs: the edge cases that techniques share, composed from a challenge's `case` and its facts.

A motif is one program of a few turns, which fix the feature under test and take the branches of `case` in turn. It
applies if `case` uses that feature, which is found by recording `case` a few times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from attncli.i18n import Localised, _
from attncli.judge.case import LEADS, Profile, Style, Turn, in_turns
from attncli.judge.drawing import Declared, Used
from attncli.judge.make import Recorder

# The attributes that `Folder.record` accepts besides the functions of `inputs.py`.
MOTIF_PREFIX = "motif_"
BRANCHES_PREFIX = "branches_"
# Extremes that belong to the second rung in every challenge.
HARDENED_MOTIFS = frozenset({"scores-very-low"})
BRANCHES_AT_ONCE = 4
MOST_MASKS = 18
LONG_LEAD = 150
_PROBED_TURNS = 12
_IN_STYLES: tuple[Style, ...] = ("by-keyword", "by-keyword", "by-position", "by-position", *("left-out",) * 4)


@dataclass(frozen=True, slots=True)
class Motif:
    """One shared edge case.

    `profile` replaces those of the check; `elsewhere`: also ask it in other layouts and on other devices;
    `about_calls`: ask it in one dtype only; `extreme`: its gradients may fail in a single dtype, so ask for them in
    each.
    """

    name: str
    label: Localised
    turns: Sequence[Turn]
    profile: str = ""
    elsewhere: bool = False
    about_calls: bool = False
    extreme: bool = False

    @property
    def attribute(self) -> str:
        return MOTIF_PREFIX + self.name


def motifs(record: Callable[[Recorder], Any], declared: Declared) -> list[Motif]:
    """Return the motifs that apply to a `case`."""
    make = Recorder(lambda kind, low, high: low, Profile("ordinary"), declared=declared)
    for number in range(_PROBED_TURNS):
        make.begin(Turn(number=number, every=3))
        record(make)
    used = make.used
    found = [*_of_sizes(used, declared), *_of_calls(used), *_of_scores(used), *_of_masks(used)]
    return [motif for motif in found if motif.name not in declared.facts.without_motifs]


def every_branch(record: Callable[[Recorder], Any], first: int) -> Callable[[Recorder], Any]:
    """Record a `case` in several of its branches, from the `first` on; for checks with few cases."""
    return in_turns(record, [Turn(number=first + k) for k in range(BRANCHES_AT_ONCE)])


def _of_sizes(used: Used, declared: Declared) -> Iterator[Motif]:
    ranges = {axis: declared.facts.sizes[axis] for axis in declared.facts.sizes if axis in used.sizes}
    smallest = {axis: limits[0] for axis, limits in ranges.items()}
    if ranges:
        yield Motif(
            "ones",
            _("every size at its smallest"),
            [Turn(number=n, sizes=smallest, lead=0 if n < 2 else 1) for n in range(3)],
            elsewhere=True,
        )
    if len(ranges) > 1:
        turns = [Turn(number=n, sizes={axis: limits[0]}) for n, (axis, limits) in enumerate(ranges.items())]
        yield Motif("one", _("each axis at its minimum in turn"), turns)
        yield Motif(
            "equal",
            _("all sizes equal: a transposition keeps every shape"),
            [Turn(number=n, every=3 + n % 2) for n in range(4)],
        )
    masks = (None, 0 if used.masks else None)
    long: list[tuple[str, int]] = [(axis, limits[2]) for axis, limits in ranges.items() if len(limits) > 2]
    if long or used.lead:
        others = {axis: min(limits[1], max(limits[0], 3)) for axis, limits in ranges.items()}
        held = [({**others, axis: size}, (2,)) for axis, size in long]
        held += [(others, (LONG_LEAD,))] if used.lead else []
        turns = [
            Turn(number=2 * n + k, sizes=sizes, lead=lead, mask=masks[k])
            for n, (sizes, lead) in enumerate(held)
            for k in range(2)
        ]
        yield Motif("long", _("each axis very long in turn"), turns)
    if used.lead:
        turns = [
            Turn(number=rank, lead=rank, mask=3 if used.masks and rank % 2 else None) for rank in range(len(LEADS))
        ]
        yield Motif("leads", _("none to five leading dimensions"), turns, elsewhere=True)


def _of_calls(used: Used) -> Iterator[Motif]:
    again = [Turn(number=n) for n in (0, 0, 1, 1, 0)]
    yield Motif("again", _("calls of equal shape do not share state"), again, about_calls=True)
    if used.named:
        label = _("positional, keyword and default arguments")
        turns = [Turn(number=n, style=style) for n, style in enumerate(_IN_STYLES)]
        yield Motif("styles", label, turns, about_calls=True)
    if used.alike:
        label = _("one tensor for several arguments")
        yield Motif("same", label, [Turn(number=n, every=3, same=True) for n in range(3)])


def _of_scores(used: Used) -> Iterator[Motif]:
    if not used.scores:
        return
    for name, english, chinese, profile in (
        ("far-apart", "scores of ±200: exp of them overflows", "分数为 ±200：直接取 exp 会溢出", ""),
        (
            "later-keys-lead",
            "a hidden key would win by far: nothing of it may remain",
            "被挡的 key 本来会遥遥领先：不能留下任何影响",
            "",
        ),
        (
            "very-low",
            "visible scores near −3·10⁴ and one of 3·10⁴: no constant stands for −∞",
            "可见分数约 −3·10⁴，另有一个 3·10⁴：任何常数都代替不了 −∞",
            "",
        ),
        ("beyond-float16", "float16 inputs whose scores pass 65 504", "float16 输入，分数超过 65 504", "fp16"),
        (
            "tied-in-bfloat16",
            "bfloat16 inputs with scores around 1000, which would tie in bfloat16",
            "bfloat16 输入，分数约 1000，在 bfloat16 里会打平",
            "bf16",
        ),
    ):
        turns = [Turn(number=n, scores=name, lead=1) for n in range(4)]
        yield Motif(f"scores-{name}", Localised(english, chinese), turns, profile, extreme=True)


def _of_masks(used: Used) -> Iterator[Motif]:
    if not used.masks:
        return
    turns = [Turn(number=n, mask=n, lead=2) for n in range(min(MOST_MASKS, used.masks))]
    turns += [Turn(number=n, mask=n, lead=(3, 3), every=3) for n in range(min(MOST_MASKS, used.masks))]
    yield Motif("masks", _("masks of every shape that broadcasts"), turns)
    label = _("fully masked rows: zeros, and zero gradients")
    turns = [Turn(number=n, mask=n // 2, empty_rows=True, lead=n % 3) for n in range(4)]
    yield Motif("empty-rows", label, turns, extreme=True)
