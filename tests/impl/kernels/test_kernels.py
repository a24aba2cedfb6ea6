"""Compare kernels with their references: the judge's cases, values and gradients, within the judge's tolerance.

A kernel takes the same exam of two streams as a submission. Its gradients are tested more than a submission's: in 16
bits and odd layouts too. `make test` asks every kernel one stream in float32 and float64, and the rest of a quarter.
"""

import ast
import inspect
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from torch import Tensor

from attncli.domain.challenge import Facts
from attncli.judge.case import Case, Input, parts_of
from attncli.judge.challenge import Folder
from attncli.judge.exam import Exam
from attncli.judge.growth import MeasuredGrowth, contracts, examine_growth
from attncli.judge.guard import Guard
from attncli.judge.protocol import Request
from attncli.judge.questions import EdgeWithGradients, Gradients, Values
from attncli.judge.reference import Observed, Rounded, run_reference
from attncli.judge.submission import FailedCase
from tests.impl.kernels.conftest import DEVICE, FOLDERS, kernel_of

STREAMS = (0, 1)
# Drawn cases of a check on a stream; the interpreter takes some milliseconds for each program of a kernel.
EXAMPLES = 4
DRAWN = ("matches-reference", "stable", "low-precision", "layout")


class RoundedInside(Folder):
    """For kernels with ROUNDS_INSIDE: 16-bit values may be rounded inside too, as tensor cores do.

    The tolerance is then the effect of one-ulp input changes, as for challenges with SIXTEEN_BITS = "native".
    """

    @property
    def facts(self) -> Facts:  # type: ignore[override]
        return replace(super().facts, sixteen_bits="native")


@cache
def challenge_at(folder: Path) -> Folder:
    return Folder(yaml.safe_load((folder / "challenge.yaml").read_text(encoding="utf-8")), folder)


@cache
def exams(folder: Path) -> list[Exam]:
    challenge = challenge_at(folder)
    found = [Exam(challenge, stream) for stream in STREAMS]
    if getattr(kernel_of(folder), "ROUNDS_INSIDE", False):
        for exam in found:
            exam.folder = RoundedInside(challenge.spec, challenge.path)
    return found


def for_inference(folder: Path) -> bool:
    """Return True if a kernel has no backward pass; its docstring must then say so."""
    tree = ast.parse((folder / "kernel.py").read_text(encoding="utf-8"))
    bases = [ast.unparse(base) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for base in node.bases]
    return not any(base.endswith("autograd.Function") for base in bases)


def differentiable(folder: Path) -> bool:
    return challenge_at(folder).facts.gradients and not for_inference(folder)


BY_CONTENT = sorted(FOLDERS, key=lambda folder: sha256((folder / "kernel.py").read_bytes()).digest())


def each(folders: Iterable[Path]) -> pytest.MarkDecorator:
    """Run the test for each kernel; in `make test` for one that is chosen by content.

    `tests/test_challenges.py` has the judge compare all of them.
    """
    chosen = BY_CONTENT[:1]
    marked = [
        pytest.param(folder, id=folder.name, marks=() if folder in chosen else pytest.mark.full) for folder in folders
    ]
    return pytest.mark.parametrize("folder", marked)


def test_a_kernel_has_its_references_entry_points_and_says_what_it_moves_and_computes() -> None:
    assert FOLDERS
    for folder in FOLDERS:
        challenge, kernel = challenge_at(folder), kernel_of(folder)
        for name in challenge.entry:
            assert signature(getattr(kernel, name)) == signature(challenge.reference[name]), folder.name
        said = kernel.__doc__ or ""
        assert "Bytes:" in said and "Operations:" in said, folder.name
        assert not challenge.facts.gradients or ("for inference" in said.lower()) == for_inference(folder), folder.name


def signature(function: Any) -> str:
    """Return the signature as written, without the memory address of a default function."""
    return re.sub(" at 0x[0-9a-f]+", "", str(inspect.signature(function)))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_values_and_gradients_are_those_of_the_reference(folder: Path) -> None:
    exam = exams(folder)[0]
    asked = [*drawn(exam, "matches-reference", 1)]
    if differentiable(folder):
        asked += [Gradients(exam.folder, question.case) for question in drawn(exam, "gradients", 1)]
    assert asked
    for question in asked:
        put(question, folder)


@each(FOLDERS)
@pytest.mark.parametrize("check", DRAWN)
def test_values_are_those_of_the_reference(folder: Path, check: str) -> None:
    for exam in exams(folder):
        for question in drawn(exam, check):
            put(question, folder)


@pytest.mark.slow
@each(folder for folder in FOLDERS if differentiable(folder))
@pytest.mark.parametrize("check", DRAWN)
def test_gradients_are_those_of_the_reference(folder: Path, check: str) -> None:
    for exam in exams(folder):
        for question in drawn(exam, "gradients" if check == "matches-reference" else check):
            put(Gradients(exam.folder, question.case), folder)


@pytest.mark.full
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_edge_cases_are_those_of_the_reference(folder: Path) -> None:
    """Compare values and gradients in one run; run a case only once if no profile changes its dtypes."""
    exam, asked = exams(folder)[0], set()
    for edge in exam.edges("edge-cases"):
        case = edge.question.case
        key = edge.label, case.profile.dtype if any(item.follow for item in case.inputs) else None
        if key not in asked:
            asked.add(key)
            # Backward takes exp(score − logsumexp), both rounded at 3·10⁴: 0.4 % off, more on some processors.
            rounded = "3·10⁴" in edge.label
            kind = EdgeWithGradients if differentiable(folder) and not rounded else Values
            put(kind(exam.folder, case), folder, edge.label)


@each(folder for folder in FOLDERS if contracts(challenge_at(folder), "memory"))
def test_memory_grows_as_the_challenge_promises(folder: Path) -> None:
    """Count the memory that kernels take from torch; registers are not counted."""
    exam = exams(folder)[0]
    for promised in contracts(exam.folder, "memory"):
        contract = replace(promised, sizes=promised.sizes[:2])
        grown = examine_growth(exam, Kernel(folder), contract, {}, "ordinary")
        assert isinstance(grown, MeasuredGrowth), grown.message.en
        assert grown.holds, f"{contract.says['en']}: {grown.got} where {grown.due} are due"


class Kernel:
    """A kernel in place of a submission, for the judge's measurements."""

    def __init__(self, folder: Path) -> None:
        self.guard = Guard()
        self._namespace = vars(kernel_of(folder))

    def run(self, request: Request) -> Observed:
        return answer(self._namespace, request.case, costs=request.want)


def drawn(exam: Exam, check: str, examples: int = EXAMPLES) -> Iterator[Any]:
    if check in exam.folder.spec["required"]:
        for stratum in exam.strata(check, examples):
            yield from stratum.questions
    else:  # what the challenge does not ask for, the kernel is still asked for in float32
        yield from exam.strata("matches-reference", examples)[0].questions


def put(question: Any, folder: Path, label: str = "") -> None:
    """Ask the kernel a question, and fail with the judge's message."""
    request = question.request
    if request is None:
        return
    kernel = vars(kernel_of(folder))
    with torch.no_grad() if "no-grad" in request.want else nullcontext():
        observed = answer(kernel, question.case, request.leaves, request.cotangents)
    found: FailedCase | None = question.finding(observed)
    if found is not None:
        case = question.case
        shapes = [(tuple(item.value.shape), item.value.dtype, item.value.stride()) for item in case.inputs]
        pytest.fail(f"{found.message.en}\n{label} {case.profile.name}\n{case.steps[:3]}\n{shapes[:8]}")


def answer(
    kernel: Mapping[str, Any],
    case: Case,
    leaves: Sequence[int] = (),
    cotangents: Sequence[Any] = (),
    costs: Collection[str] = (),
) -> Observed:
    """Return the kernel's answer to a case; fail if it changes its arguments."""
    given: list[Tensor] = []

    def cast(item: Input) -> Tensor:
        given.append(laid_out(item.value))
        return given[-1]

    vectors = [(step, path, vector.to(DEVICE)) for step, path, vector in cotangents] if cotangents else None
    observed = run_reference(
        kernel, case, Rounded(cast), leaf_indices=leaves, cotangents=vectors, costs=costs, device=DEVICE
    )
    may_change = {part[1] for tree in case.shared for part in parts_of(tree) if part[0] == "t"}
    for place, (item, now) in enumerate(zip(case.inputs, given, strict=True)):
        assert place in may_change or same(now.detach().cpu(), item.value), f"input {place} was changed"
    on_cpu = [moved(part) for part in (observed.outcomes, observed.shared, observed.gradients)]
    observed.outcomes, observed.shared, observed.gradients = on_cpu
    return observed


def laid_out(value: Tensor) -> Tensor:
    """Return a copy on the device with the strides of the original, including gaps between its rows."""
    memory = torch.empty(0, dtype=value.dtype).set_(value.detach().untyped_storage())  # type: ignore[call-overload]
    copied = memory.to(DEVICE, copy=True)
    return copied.as_strided(value.shape, value.stride(), value.storage_offset())


def same(a: Tensor, b: Tensor) -> bool:
    return bool(((a == b) | (a != a) & (b != b)).all())


def moved(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.cpu()
    if type(value) in (list, tuple):
        return type(value)(moved(part) for part in value)
    if type(value) is dict:
        return {key: moved(part) for key, part in value.items()}
    return value
