"""Challenges: what is asked, how it is graded, and where a learner may stand with one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from textwrap import dedent, indent
from typing import Final, Literal, get_args

from attncli.domain.card import FollowUp, Source
from attncli.domain.text import FULL_WIDTH, IDEOGRAPHS, Localised, is_chinese

# Mistakes that can be planted in a reference together, in place of some of its lines; which of them a round draws.

REPAIRS = "repairs.yaml"
MOST_BUGS = 4
LEAST_REPAIRS = 4


@dataclass(frozen=True, slots=True)
class Repair:
    """A mistake to plant: the lines `find` of the reference become `replace`, both without the indentation there.

    `wrong` names the file of `wrong/` that makes the same mistake and says what there is to say about it.
    """

    wrong: str
    find: str
    replace: str

    def document(self) -> dict[str, str]:
        return {"wrong": self.wrong, "find": self.find, "replace": self.replace}


@dataclass(frozen=True, slots=True)
class Span:
    """The lines from `first` up to and without `end`, counted from 0, and what stands before each of them."""

    first: int
    end: int
    indentation: str

    def overlaps(self, other: Span) -> bool:
        return self.first < other.end and other.first < self.end


def spans(source: str, find: str) -> list[Span]:
    """Every place at which the lines `find` stand in `source`."""
    wanted, lines = _lines(find), source.splitlines()
    if not wanted:
        return []
    starts = range(len(lines) - len(wanted) + 1)
    return [span for first in starts if (span := _span(lines, first, wanted)) is not None]


def _span(lines: Sequence[str], first: int, wanted: Sequence[str]) -> Span | None:
    if not lines[first].endswith(wanted[0]):
        return None
    before = lines[first].removesuffix(wanted[0])
    here = lines[first : first + len(wanted)]
    if before.strip() or any(line != before + due and (line or due) for line, due in zip(here, wanted, strict=True)):
        return None
    return Span(first, first + len(wanted), before)


def planted(source: str, repairs: Iterable[Repair]) -> str:
    """`source` with these mistakes in it. Raises ValueError where one of them has not exactly one place."""
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
    """The round of a number: `count` of the mistakes in an order of the challenge's own, each choice in its turn."""
    rounds = list(combinations(repairs, count))
    Random(f"{challenge}:{count}").shuffle(rounds)
    return rounds[number % len(rounds)]


def choices(repairs: Sequence[Repair], most: int = MOST_BUGS) -> Iterator[tuple[Repair, ...]]:
    """Every choice of up to so many of the mistakes, the empty one first."""
    for count in range(min(most, len(repairs)) + 1):
        yield from combinations(repairs, count)


# The two rungs of a challenge: solved is right at the whiteboard, hardened is ready for production.

CaseRung = Literal["solved", "hardened"]
Rung = Literal["none", "solved", "hardened"]
RUNGS: tuple[CaseRung, ...] = ("solved", "hardened")


# What a wrong solution gets wrong, as its docstring says it.
#
#     Divides by D − 1 (the default of torch.var).
#     方差除以了 D − 1（torch.var 的默认行为）。
#
#     symptom: Off by √((D−1)/D).
#     症状：差一个 √((D−1)/D)。
#
#     cards: norm-05
#     rung: solved
#
# What it is in English, then in Chinese; then fields, each of which may go on in the next line. `rung` is the one that
# the file must not reach.

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
    """A mistake in both languages, the cards that explain it, and the rung that code with it does not reach."""

    says: Localised
    symptom: Localised
    cards: tuple[str, ...]
    rung: CaseRung


@dataclass(frozen=True, slots=True)
class Field:
    """A part of the docstring; `line` counts from 1, the line of the opening quotes."""

    name: str
    text: str
    line: int


def fields_in(docstring: str) -> list[Field]:
    """The fields of a docstring in their order, unknown ones and repeated ones too."""
    return [Field(name, _folded(lines), line) for name, lines, line in _pieces(docstring)]


def mistake_in(docstring: str) -> Mistake:
    """The mistake that a docstring tells. What is missing is empty, and the rung then the first: the strictest."""
    told: dict[str, str] = {}
    for field in fields_in(docstring):
        told.setdefault(field.name, field.text)
    return Mistake(
        says=Localised(told.get(SUMMARY, ""), told.get(SUMMARY_ZH, "") or told.get(SUMMARY, "")),
        symptom=Localised(told.get(SYMPTOM, ""), told.get(SYMPTOM_ZH, "") or told.get(SYMPTOM, "")),
        cards=listed(told.get(CARDS, "")),
        rung="hardened" if told.get(RUNG) == "hardened" else "solved",
    )


def listed(text: str) -> tuple[str, ...]:
    """What stands between commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _pieces(docstring: str) -> Iterator[tuple[str, list[str], int]]:
    """(name, lines, number of the first line) of each field."""
    current: tuple[str, list[str], int] | None = None
    in_summary = True
    for number, raw in enumerate(docstring.splitlines(), 1):
        line = raw.strip()
        in_summary = in_summary and (bool(line) or current is None)
        begun = _begun(line, current[0] if current else "", in_summary)
        if begun is not None:
            if current:
                yield current
            current = (begun[0], [begun[1]], number)
        elif line and current:
            current[1].append(line)
    if current:
        yield current


def _begun(line: str, before: str, in_summary: bool) -> tuple[str, str] | None:
    """The field that begins in this line, and the line's part of its text; `before` is the one above."""
    named = _NAMED.match(line)
    if named and (named["name"] in FIELDS or not in_summary):
        return named["name"], named["text"].strip()
    if line and (not before or (before == SUMMARY and is_chinese(line))):
        return SUMMARY_ZH if is_chinese(line) else SUMMARY, line
    return None


def _folded(lines: list[str]) -> str:
    """Lines as one: Chinese goes on without a space."""
    return _FOLD.sub("", "\n".join(lines)).replace("\n", " ").strip()


Standing = Literal["new", "tried", "solved", "hardened"]

CHECK_NAMES: tuple[str, ...] = (
    "loads",
    "matches-reference",
    "gradients",
    "edge-cases",
    "stable",
    "low-precision",
    "layout",
    "device",
    "pure",
    "random",
    "forbidden",
    "work",
    "memory",
    "speed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """One folder of `impl/`: what is asked, how it is graded. `folder` is its place on disk.

    `hardened` says what the second rung asks for besides, empty where that is nothing special. `kernel`: what is
    written is a GPU kernel in Triton. `mistakes` are those of the files in `wrong/`, each read when it is asked for.
    `follow_ups` are what interviewers ask next, each with its answer.
    """

    id: str
    track: str
    level: int
    title: Localised
    statement: Localised
    hardened: Localised
    entry: tuple[str, ...]
    hints: tuple[Localised, ...]
    required: tuple[str, ...]
    badges: tuple[str, ...]
    forbidden: tuple[str, ...]
    cards: tuple[str, ...]
    mistakes: Mapping[str, Mistake]
    folder: str
    version: int = 1
    kernel: bool = False
    follow_ups: tuple[FollowUp, ...] = ()
    sources: tuple[Source, ...] = ()


# The facts that a challenge's `inputs.py` may declare: what each says. The judge composes from them what all share.
#
# A new one needs a field with its default in `judge/cases/facts.py` too, where the judge reads it, and a line in
# `docs/challenge-format.md`.

FACTS: Mapping[str, str] = {
    "AXES": "the axes of each argument and result: {'x': '... D', 'return': '... D'}",
    "SIZES": "what is drawn for an axis: {'T': (smallest, largest)}, with a third number where one long side is tried",
    "DERIVED": "axes that follow from others: {'H': 'G * R'}",
    "LEAD": "how many leading dimensions `...` stands for when drawn: (fewest, most)",
    "SIXTEEN_BITS": "float32 (computed in float32, rounded once), native (in 16 bits), technique (they are the point)",
    "LARGE": "the factor on drawn values in the profile large",
    "OFFSET": "what is added to drawn values in the profile offset",
    "PROFILES": "the profiles that a check draws from, where they differ: {'stable': ['large']}",
    "TOLERANCE": "absolute tolerances by dtype that the statement grants",
    "TOLERANCE_STABLE": "the same for large and offset inputs",
    "GRADIENTS": "False where no gradient is asked for at edge cases",
    "ALIAS_ALLOWED": "entries whose result may be an argument",
    "VIEWS_OF_STATE": "methods and entries whose results are views of what an object keeps: later calls show through",
    "WITHOUT_GRAPH": "entries whose result has no gradient",
    "MODULES_UNCHANGED": "True where a call must leave nothing in its module",
    "HARDENED": "edge cases, motifs and `stable` that the technique as such does not meet: asked on the second rung",
    "WITHOUT_MOTIFS": "motifs that say nothing here, by name",
    "CONTRACTS": "how work and memory may grow",
}
# What `HARDENED` and `WITHOUT_MOTIFS` may name besides edge cases of the challenge's own.
MOTIFS = frozenset(
    {
        *("ones", "one", "equal", "long", "leads", "again", "styles", "same", "masks", "empty-rows"),
        *("scores-far-apart", "scores-later-keys-lead", "scores-very-low"),
        *("scores-beyond-float16", "scores-tied-in-bfloat16"),
    }
)
SixteenBits = Literal["float32", "native", "technique"]
SIXTEEN_BITS: tuple[SixteenBits, ...] = get_args(SixteenBits)


# What a submission may import, and what none may call: the judge reads by these tables, statements quote them.

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
# The modules of torch that may be used, and no others, however they are reached.
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
# What a challenge that asks for a kernel allows besides, and the names that it may use of it.
KERNEL_IMPORTS: tuple[str, ...] = ("triton", "triton.language")
KERNEL_NAMES = frozenset({"jit", "cdiv", "next_power_of_2", "language"})
# What torch may do outside of kernels, where kernels are asked for: make tensors, look at them, view and copy them.
AROUND_KERNELS = frozenset(
    {
        *("empty", "empty_like", "empty_strided", "new_empty", "zeros", "zeros_like", "new_zeros", "full", "full_like"),
        *("new_full", "fill_", "zero_", "copy_", "clone", "contiguous", "detach", "to", "type", "float", "half"),
        *(
            "view",
            "view_as",
            "reshape",
            "flatten",
            "unflatten",
            "unsqueeze",
            "squeeze",
            "transpose",
            "permute",
            "movedim",
        ),
        *(
            "expand",
            "expand_as",
            "broadcast_to",
            "broadcast_tensors",
            "broadcast_shapes",
            "t",
            "narrow",
            "select",
            "slice",
        ),
        *(
            "split",
            "chunk",
            "unbind",
            "as_strided",
            "__getitem__",
            "__get__",
            "__len__",
            "size",
            "stride",
            "numel",
            "dim",
        ),
        *("element_size", "is_contiguous", "is_floating_point", "data_ptr", "storage_offset", "promote_types"),
        *("result_type", "finfo", "iinfo", "triton.launch"),
    }
)
# How a statement writes it, and the names that the judge refuses for it.
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
# Modules outside of `TORCH_MODULES` whose calls a trace finds where the reading did not.
TRACED_MODULES: tuple[str, ...] = ("torch.distributed", "torch.ops", "torch.optim", "torch.overrides", "torch.utils")


# Which device a challenge is graded on.

CPU: Final = "cpu"
CUDA: Final = "cuda"
AUTO: Final = "auto"
CHOICES = (AUTO, CPU, CUDA)


def runs_on_gpu(kernel: bool, required: Sequence[str]) -> bool:
    """Whether a GPU shows anything of a challenge: of a kernel, and of what has to stay on the device of its inputs.

    The others compute with plain numbers, or are asked for on the CPU: they are graded there whatever is asked.
    """
    return kernel or "device" in required


def gains_by_gpu(kernel: bool, required: Sequence[str]) -> bool:
    """Whether `auto` takes a GPU that is there: for kernels, which are compiled and run in bfloat16 nowhere else, and
    where memory is asked for, which its allocator tells to the byte.

    Devices are no reason: they are proved without a GPU as well, behind a sandbox that covers more.
    """
    return kernel or (runs_on_gpu(kernel, required) and "memory" in required)


# Shapes and places in a tensor with the names of their axes: `[B=2, T=1, d=3]`.


def named(numbers: Sequence[int], axes: Sequence[str] | None) -> str:
    """Sizes or an index, each behind the name of its axis where there is one."""
    names = axes if axes and len(axes) == len(numbers) else [""] * len(numbers)
    parts = [f"{name}={number}" if name else str(number) for name, number in zip(names, numbers, strict=True)]
    return f"[{', '.join(parts)}]"


def spread(says: str, dimensions: int) -> list[str]:
    """The names of axes from `"... T d"`: one each, "" for those that `...` stands for; [] where they do not fit."""
    names = says.split()
    if names[:1] == ["..."] and 0 < dimensions < len(names) - 1:
        return names[-dimensions:]  # a mask may lack its leading axes
    free = dimensions - len(names) + names.count("...")
    if names.count("...") > 1 or free < 0 or (free and "..." not in names):
        return []
    at = names.index("...") if "..." in names else len(names)
    return [*names[:at], *[""] * free, *names[at + 1 :]]
