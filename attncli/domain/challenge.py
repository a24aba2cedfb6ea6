"""Challenges: their task and grading, the mistakes of `wrong/`, and repairs that plant mistakes.

The tables of facts, motifs, imports and forbidden names are here because the judge applies them to submissions, the
bank checks files with them, and statements quote them.
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

    `hardened` has the additional requirements of the second rung; empty for none. `kernel`: the learner writes a GPU
    kernel in Triton. `mistakes` maps each file of `wrong/` to its mistake, read on demand.
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


# Mistakes, as the docstrings of wrong solutions describe them

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
    """Parse the mistake in a docstring. Missing texts are empty; a missing rung is the first, the strictest."""
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
    """Return name and text of a field that starts on this line, else None; `before` names the field above."""
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
    """Return every place where the lines `find` occur in `source`."""
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
    """Plant mistakes in `source`. Raises ValueError unless each has exactly one place."""
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
    """Return the `count` mistakes of round `number`. Rounds cycle through all choices, in a fixed order."""
    rounds = list(combinations(repairs, count))
    Random(f"{challenge}:{count}").shuffle(rounds)
    return rounds[number % len(rounds)]


def choices(repairs: Sequence[Repair], most: int = MOST_BUGS) -> Iterator[tuple[Repair, ...]]:
    """Yield every combination of up to `most` mistakes, the empty one first."""
    for count in range(min(most, len(repairs)) + 1):
        yield from combinations(repairs, count)


# Facts, imports and forbidden names


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The constants that an `inputs.py` may declare: the names of the fields in capitals.

    A new constant also needs a line in `docs/challenge-format.md`.
    """

    axes: Mapping[str, str] = field(default_factory=dict)  # of each argument and result: {'x': '... D', 'return': 'D'}
    # Range of an axis: {'T': (smallest, largest)}, and optionally a third number, a long side to try.
    sizes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)  # axes that follow from others: {'H': 'G * R'}
    lead: tuple[int, int] = (0, 3)  # number of leading dimensions drawn for `...`: (fewest, most)
    sixteen_bits: str = "float32"  # float32, then rounded once; native: in 16 bits; technique: 16 bits are the task
    large: float = 60.0  # factor on drawn values in the profile large
    offset: float = 100.0  # added to drawn values in the profile offset
    # The profiles that a check draws from, where they differ: {'stable': ['large']}.
    profiles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tolerance: Mapping[str, float] = field(default_factory=dict)  # absolute tolerance by dtype, from the statement
    tolerance_stable: Mapping[str, float] | None = None  # the same for large and offset inputs
    gradients: bool = True  # False if edge cases ask for no gradient
    alias_allowed: Sequence[str] = ()  # entries whose result may be an argument
    # Methods and entries that return views of an object's state, so later calls change earlier results.
    views_of_state: Sequence[str] = ()
    without_graph: Sequence[str] = ()  # arguments on whose graph nothing may depend
    modules_unchanged: bool = False  # True if calls must leave their module unchanged
    # Edge cases, motifs and `stable` that the plain technique fails, so they belong to the second rung.
    hardened: frozenset[str] | set[str] = frozenset()
    without_motifs: frozenset[str] | set[str] = frozenset()  # names of motifs that test nothing here
    contracts: Sequence[Mapping[str, Any]] = ()  # permitted growth of work and memory

    @property
    def float32_inside(self) -> bool:
        """True if 16-bit results are float32 results rounded once."""
        return self.sixteen_bits == "float32"

    def size_of(self, axis: str, drawn: Mapping[str, int]) -> int:
        """Compute the size of an axis from drawn ones: by DERIVED, or by its name if that is a sum or product."""
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
"""The only modules of torch that may be used, however they are reached."""
KERNEL_IMPORTS: tuple[str, ...] = ("triton", "triton.language")
"""The additional imports of a kernel challenge; `KERNEL_NAMES` are the permitted names in them."""
KERNEL_NAMES = frozenset({"jit", "cdiv", "next_power_of_2", "language"})
AROUND_KERNELS = frozenset(
    "empty empty_like empty_strided new_empty zeros zeros_like new_zeros full full_like new_full fill_ zero_ "
    "copy_ clone contiguous detach to type float half view view_as reshape flatten unflatten unsqueeze squeeze "
    "transpose permute movedim expand expand_as broadcast_to broadcast_tensors broadcast_shapes t narrow select "
    "slice split chunk unbind as_strided __getitem__ __get__ __len__ size stride numel dim element_size "
    "is_contiguous is_floating_point data_ptr storage_offset promote_types result_type finfo iinfo "
    "triton.launch".split()
)
"""The torch calls allowed outside of kernels in a kernel challenge: make, inspect, view and copy tensors."""
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

    All other challenges compute with plain numbers, or are about the CPU.
    """
    return kernel or "device" in required


def gains_by_gpu(kernel: bool, required: Sequence[str]) -> bool:
    """Return True if `auto` uses an available GPU: for memory, and for kernels (compiled, and bfloat16, only there).

    A GPU's allocator counts bytes exactly. `device` alone is no reason: it can be proved without a GPU, in a stronger
    sandbox.
    """
    return kernel or (runs_on_gpu(kernel, required) and "memory" in required)


# Shapes with the names of their axes


def named(numbers: Sequence[int], axes: Sequence[str] | None) -> str:
    """Format sizes or an index, each with the name of its axis if known: `[B=2, T=1, d=3]`."""
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
