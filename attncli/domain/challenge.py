"""Challenges: what is asked and how it is graded, the mistakes of `wrong/`, and repairs that plant mistakes.

The tables of facts, motifs, imports and forbidden names are here because the judge reads submissions by them, the bank
checks files by them, and statements quote them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from itertools import combinations
from random import Random
from textwrap import dedent, indent
from typing import Annotated, Any, Final, Literal, get_args

from attncli.domain.arithmetic import compile_expression
from attncli.domain.card import Flag, FollowUp, Id, Name, Source
from attncli.domain.checks import CHECK_NAMES
from attncli.domain.text import FULL_WIDTH, IDEOGRAPHS, is_chinese
from attncli.domain.vocabulary import CaseRung, Limits, WrittenAs
from attncli.i18n import NOTHING, Localised, Text

CheckName = Annotated[str, WrittenAs(Literal[CHECK_NAMES])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """One folder of `impl/`, whose path is `folder`.

    `hardened` says what the second rung asks for in addition; empty for nothing special. `kernel`: the learner writes
    a GPU kernel in Triton. `mistakes` maps each file of `wrong/` to its mistake, read on demand.
    """

    id: Id
    track: Id
    level: Annotated[int, Limits(ge=1, le=5, strict=True)]
    version: Annotated[int, Limits(ge=1, strict=True)] = 1
    title: Localised
    entry: Annotated[tuple[Name, ...], Limits(min_length=1)]
    statement: Localised
    hardened: Annotated[Localised, WrittenAs(Localised | None)] = NOTHING
    hints: Annotated[tuple[Localised, ...], Limits(min_length=1)]
    required: Annotated[tuple[CheckName, ...], Limits(min_length=1)]
    badges: tuple[CheckName, ...] = ()
    forbidden: tuple[Text, ...] = ()
    kernel: Flag = False
    must_know: Flag = False
    cards: tuple[Id, ...] = ()
    follow_ups: tuple[FollowUp, ...] = ()
    sources: tuple[Source, ...] = ()
    mistakes: Mapping[str, Mistake] = field(default_factory=dict)
    folder: str


# Mistakes, as the docstrings of wrong solutions tell them

SUMMARY = "summary"
SUMMARY_ZH = "Chinese summary"
SYMPTOM = "symptom"
SYMPTOM_ZH = "症状"
CARDS = "cards"
RUNG = "rung"
FIELDS = (SUMMARY, SUMMARY_ZH, SYMPTOM, SYMPTOM_ZH, CARDS, RUNG)

_NAMED = re.compile(rf"(?P<name>[A-Za-z_]+|[{IDEOGRAPHS}]{{1,6}})[ \t]*[:：](?P<text>.*)")
_FOLD = re.compile(rf"(?<=[{FULL_WIDTH}])\n|\n(?=[{FULL_WIDTH}])")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake in both languages, the cards that explain it, and the rung that code with it does not reach.

    It is read from the docstring of a wrong solution: the summary in English, then in Chinese, then fields:

        Divides by D − 1 (the default of torch.var).
        方差除以了 D − 1（torch.var 的默认行为）。

        symptom: Off by √((D−1)/D).
        症状：差一个 √((D−1)/D)。

        cards: norm-05
        rung: solved
    """

    says: Localised
    symptom: Localised
    cards: tuple[str, ...]
    rung: CaseRung


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a docstring, over one or more lines; `line` counts from 1, the line of the opening quotes."""

    name: str
    text: str
    line: int


def mistake_in(docstring: str) -> Mistake:
    """Read the mistake of a docstring. Missing texts are empty; a missing rung is the first, the strictest."""
    texts: dict[str, str] = {}
    for part in fields_in(docstring):
        texts.setdefault(part.name, part.text)
    summary, symptom = texts.get(SUMMARY, ""), texts.get(SYMPTOM, "")
    return Mistake(
        says=Localised(summary, texts.get(SUMMARY_ZH) or summary),
        symptom=Localised(symptom, texts.get(SYMPTOM_ZH) or symptom),
        cards=listed(texts.get(CARDS, "")),
        rung="hardened" if texts.get(RUNG) == "hardened" else "solved",
    )


def fields_in(docstring: str) -> list[Field]:
    """Return the fields of a docstring in order, unknown and repeated ones too."""
    # Lines are joined; Chinese goes on without a space.
    pieces = ((name, _FOLD.sub("", "\n".join(lines)), line) for name, lines, line in _pieces(docstring))
    return [Field(name, text.replace("\n", " ").strip(), line) for name, text, line in pieces]


def listed(text: str) -> tuple[str, ...]:
    """Split a text at its commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _pieces(docstring: str) -> Iterator[tuple[str, list[str], int]]:
    """Yield (name, lines, number of the first line) of each field."""
    current: tuple[str, list[str], int] | None = None
    in_summary = True
    for number, raw in enumerate(docstring.splitlines(), 1):
        line = raw.strip()
        in_summary = in_summary and (bool(line) or current is None)
        start = _field_start(line, current[0] if current else "", in_summary)
        if start is not None:
            if current:
                yield current
            current = (start[0], [start[1]], number)
        elif line and current:
            current[1].append(line)
    if current:
        yield current


def _field_start(line: str, before: str, in_summary: bool) -> tuple[str, str] | None:
    """Return the name and first line of the field that starts here; `before` names the field above."""
    named = _NAMED.match(line)
    if named and (named["name"] in FIELDS or not in_summary):
        return named["name"], named["text"].strip()
    if line and (not before or (before == SUMMARY and is_chinese(line))):
        return SUMMARY_ZH if is_chinese(line) else SUMMARY, line
    return None


# Repairs: rounds of mistakes planted in a reference

REPAIRS = "repairs.yaml"
MOST_BUGS = 4
LEAST_REPAIRS = 4


@dataclass(frozen=True, slots=True)
class Repair:
    """A mistake to plant: the lines `find` of the reference become `replace`, both without the indentation there.

    `wrong` names the file of `wrong/` that makes the same mistake and explains it.
    """

    wrong: str
    find: str
    replace: str


@dataclass(frozen=True, slots=True)
class Span:
    """The lines from `first` to before `end`, counted from 0, and their common indentation."""

    first: int
    end: int
    indentation: str

    def overlaps(self, other: Span) -> bool:
        return self.first < other.end and other.first < self.end


def spans(source: str, find: str) -> list[Span]:
    """Find every place of the lines `find` in `source`."""
    searched, lines = _lines(find), source.splitlines()
    if not searched:
        return []
    starts = range(len(lines) - len(searched) + 1)
    return [span for first in starts if (span := _span(lines, first, searched)) is not None]


def _span(lines: Sequence[str], first: int, searched: Sequence[str]) -> Span | None:
    if not lines[first].endswith(searched[0]):
        return None
    indentation = lines[first].removesuffix(searched[0])
    pairs = zip(lines[first : first + len(searched)], searched, strict=True)
    if indentation.strip() or any(line != indentation + plain and (line or plain) for line, plain in pairs):
        return None
    return Span(first, first + len(searched), indentation)


def planted(source: str, repairs: Iterable[Repair]) -> str:
    """Plant mistakes in `source`. Raises ValueError if one of them does not have exactly one place."""
    lines = source.splitlines()
    for span, repair in sorted(((_only(source, repair), repair) for repair in repairs), key=lambda at: -at[0].first):
        lines[span.first : span.end] = indent("\n".join(_lines(repair.replace)), span.indentation).splitlines()
    return "\n".join(lines) + "\n"


def _only(source: str, repair: Repair) -> Span:
    found = spans(source, repair.find)
    if len(found) != 1:
        raise ValueError(f"the lines of {repair.wrong} stand at {len(found)} places of the reference")
    return found[0]


def _lines(text: str) -> list[str]:
    return dedent(text).strip("\n").splitlines()


def drawn(challenge: str, repairs: Sequence[Repair], count: int, number: int) -> tuple[Repair, ...]:
    """Draw round `number`: `count` mistakes. Rounds go through all choices, in an order fixed by the challenge."""
    rounds = list(combinations(repairs, count))
    Random(f"{challenge}:{count}").shuffle(rounds)
    return rounds[number % len(rounds)]


def choices(repairs: Sequence[Repair], most: int = MOST_BUGS) -> Iterator[tuple[Repair, ...]]:
    """Yield every choice of up to `most` of the mistakes, the empty one first."""
    for count in range(min(most, len(repairs)) + 1):
        yield from combinations(repairs, count)


# Facts, imports and forbidden names


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The constants that an `inputs.py` may declare: the names of the fields in capitals.

    A new one also needs a line in `docs/challenge-format.md`.
    """

    axes: Mapping[str, str] = field(default_factory=dict)  # of each argument and result: {'x': '... D', 'return': 'D'}
    # What is drawn for an axis: {'T': (smallest, largest)}, with a third number where one long side is tried.
    sizes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)  # axes that follow from others: {'H': 'G * R'}
    lead: tuple[int, int] = (0, 3)  # how many leading dimensions `...` stands for when drawn: (fewest, most)
    sixteen_bits: str = "float32"  # computed in float32 and rounded once; native: in 16 bits; technique: the point
    large: float = 60.0  # the factor on drawn values in the profile large
    offset: float = 100.0  # what is added to drawn values in the profile offset
    # The profiles that a check draws from, where they differ: {'stable': ['large']}.
    profiles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tolerance: Mapping[str, float] = field(default_factory=dict)  # absolute, by dtype, that the statement grants
    tolerance_stable: Mapping[str, float] | None = None  # the same for large and offset inputs
    gradients: bool = True  # False where no gradient is asked for at edge cases
    alias_allowed: Sequence[str] = ()  # entries whose result may be an argument
    # Methods and entries whose results are views of what an object keeps: later calls show through.
    views_of_state: Sequence[str] = ()
    without_graph: Sequence[str] = ()  # entries whose result has no gradient
    modules_unchanged: bool = False  # True where a call must leave nothing in its module
    # Edge cases, motifs and `stable` that the technique as such does not meet: asked on the second rung.
    hardened: frozenset[str] | set[str] = frozenset()
    without_motifs: frozenset[str] | set[str] = frozenset()  # motifs that say nothing here, by name
    contracts: Sequence[Mapping[str, Any]] = ()  # how work and memory may grow

    @property
    def float32_inside(self) -> bool:
        """True if 16-bit results are float32 results rounded once."""
        return self.sixteen_bits == "float32"

    def size_of(self, axis: str, drawn: Mapping[str, int]) -> int:
        """Compute the size of an axis from drawn ones: by DERIVED, or as the sum or product that is its name."""
        return int(_compiled(self.derived.get(axis, axis))(drawn))


_compiled = lru_cache(maxsize=1024)(compile_expression)
FACTS = tuple(each.name.upper() for each in fields(Facts))
MOTIFS = frozenset(
    "ones one equal long leads again styles same masks empty-rows scores-far-apart scores-later-keys-lead "
    "scores-very-low scores-beyond-float16 scores-tied-in-bfloat16".split()
)
"""The inputs that challenges share: `HARDENED` and `WITHOUT_MOTIFS` may name them."""
SixteenBits = Literal["float32", "native", "technique"]
SIXTEEN_BITS: tuple[SixteenBits, ...] = get_args(SixteenBits)

IMPORTS: tuple[str, ...] = (
    "torch",
    "math",
    "typing",
    "collections",
    "dataclasses",
    "functools",
    "heapq",
    "itertools",
    "unicodedata",
)
"""The modules that a submission may import."""
TORCH_MODULES: tuple[str, ...] = (
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.parameter",
    "torch.nn.utils",
    "torch.nn.utils.parametrize",
    "torch.autograd",
    "torch.autograd.function",
    "torch.cuda",
    "torch.fft",
    "torch.func",
    "torch.linalg",
    "torch.random",
    "torch.special",
    "torch.testing",
)
"""The modules of torch that may be used, and no others, however they are reached."""
KERNEL_IMPORTS: tuple[str, ...] = ("triton", "triton.language")
"""The imports that a kernel challenge allows in addition; `KERNEL_NAMES` are the names it may use of them."""
KERNEL_NAMES = frozenset({"jit", "cdiv", "next_power_of_2", "language"})
AROUND_KERNELS = frozenset(
    "empty empty_like empty_strided new_empty zeros zeros_like new_zeros full full_like new_full fill_ zero_ "
    "copy_ clone contiguous detach to type float half view view_as reshape flatten unflatten unsqueeze squeeze "
    "transpose permute movedim expand expand_as broadcast_to broadcast_tensors broadcast_shapes t narrow select "
    "slice split chunk unbind as_strided __getitem__ __get__ __len__ size stride numel dim element_size "
    "is_contiguous is_floating_point data_ptr storage_offset promote_types result_type finfo iinfo "
    "triton.launch".split()
)
"""The calls of torch allowed outside of kernels, where kernels are asked for: make, inspect, view and copy tensors."""
FORBIDDEN_EVERYWHERE: dict[str, tuple[str, ...]] = {
    "F.scaled_dot_product_attention": ("scaled_dot_product_*",),
    "nn.MultiheadAttention": ("MultiheadAttention", "multi_head_attention_forward"),
    "nn.Transformer*": (
        "Transformer",
        "TransformerEncoder",
        "TransformerEncoderLayer",
        "TransformerDecoder",
        "TransformerDecoderLayer",
    ),
    "torch.compile": ("torch.compile",),
    "torch._*": ("torch._*",),
}
"""Forbidden names as statements write them, each with the patterns that the judge refuses."""
TRACED_MODULES: tuple[str, ...] = ("torch.distributed", "torch.ops", "torch.optim", "torch.overrides", "torch.utils")
"""Modules outside of `TORCH_MODULES` whose calls a trace finds if reading the source missed them."""


# Devices

CPU: Final = "cpu"
CUDA: Final = "cuda"
AUTO: Final = "auto"
CHOICES = (AUTO, CPU, CUDA)


def runs_on_gpu(kernel: bool, required: Sequence[str]) -> bool:
    """Return True if a challenge is graded on a GPU on request: a kernel, or one that requires `device`.

    All others compute with plain numbers, or are about the CPU.
    """
    return kernel or "device" in required


def gains_by_gpu(kernel: bool, required: Sequence[str]) -> bool:
    """Return True if `auto` takes a GPU that is there: for kernels, compiled and in bfloat16 only there, and memory.

    A GPU's allocator counts bytes exactly. `device` alone is no reason: it is proved without a GPU as well, in a
    sandbox that covers more.
    """
    return kernel or (runs_on_gpu(kernel, required) and "memory" in required)


# Shapes with the names of their axes


def named(numbers: Sequence[int], axes: Sequence[str] | None) -> str:
    """Write sizes or an index, each behind the name of its axis if known: `[B=2, T=1, d=3]`."""
    names = axes if axes and len(axes) == len(numbers) else [""] * len(numbers)
    parts = [f"{name}={number}" if name else str(number) for name, number in zip(names, numbers, strict=True)]
    return f"[{', '.join(parts)}]"


def spread(says: str, dimensions: int) -> list[str]:
    """Return one axis name per dimension from `"... T d"`: "" for those of `...`; [] if they do not fit."""
    names = says.split()
    if names[:1] == ["..."] and 0 < dimensions < len(names) - 1:
        return names[-dimensions:]  # a mask may lack its leading axes
    free = dimensions - len(names) + names.count("...")
    if names.count("...") > 1 or free < 0 or (free and "..." not in names):
        return []
    at = names.index("...") if "..." in names else len(names)
    return [*names[:at], *[""] * free, *names[at + 1 :]]
