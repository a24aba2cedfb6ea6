"""Run our right and wrong solutions against other public graders' tests; print which wrong ones pass.

    python benchmarks/league.py --torchcode DIR --deep-ml DIR [--ours]

DIR is a copy of the other project that you fetched: https://github.com/duoan/TorchCode (MIT) and
https://github.com/Open-Deep-ML/DML-OpenProblem (its Educational Use Only License). Their tests are read from there and
run unchanged; this program contains none of their code. A wrong solution counts only if its mistake is visible in the
form of their task: its values or gradients differ from the reference's on arguments drawn here. Each task's
own statement asks for the same conventions as our challenge (pairs and sign of RoPE, the feature map, the scale).
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import multiprocessing
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from league_bouts import DEEP_ML, TORCHCODE, Bout, Functions
from timing import ROOT

DRAWS = 30
SEEN = 1e-3
PRINTED = 1e-4
SECONDS = 20.0
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf")

Passes = Callable[[Functions], bool]


@dataclass(frozen=True, slots=True)
class Test:
    """The tests of one task: a function that runs them on a solution, and their text."""

    passes: Passes
    text: str


def torchcode_test(folder: Path, task: str) -> Test:
    """Return the asserts of a TorchCode task; each runs in a namespace that has only the function, as in its judge."""
    path = folder / "torch_judge" / "tasks" / f"{task}.py"
    spec = importlib.util.spec_from_file_location(f"torchcode_{task}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    name, tests = module.TASK["function_name"], [test["code"] for test in module.TASK["tests"]]

    def passes(functions: Functions) -> bool:
        for code in tests:
            exec(code.replace("{fn}", name), {name: functions[name]})
        return True

    return Test(passes, "".join(tests))


def deep_ml_test(folder: Path, task: str) -> Test:
    """Return the snippets of a deep-ml problem; they pass if they print the expected numbers."""
    import numpy

    cases = json.loads((folder / "build" / f"{task}.json").read_text(encoding="utf-8"))["test_cases"]

    def passes(functions: Functions) -> bool:
        for case in cases:
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(case["test"], {"np": numpy, **functions})
            if not same_numbers(printed.getvalue(), case["expected_output"]):
                return False
        return True

    return Test(passes, json.dumps(cases))


def same_numbers(printed: str, expected: str) -> bool:
    """Return True if two texts have the same numbers, up to print's rounding."""
    got, due = ([float(found) for found in NUMBER.findall(text)] for text in (printed, expected))
    return len(got) == len(due) and all(abs(a - b) <= PRINTED * (1 + abs(b)) for a, b in zip(got, due, strict=True))


def within_time(ask: Callable[[], bool]) -> bool:
    """Return the result of `ask`, run in its own process; False if it raises, dies or takes too long."""
    context = multiprocessing.get_context("fork")
    told, tell = context.Pipe(duplex=False)

    def run() -> None:
        try:
            tell.send(ask())
        except BaseException:  # noqa: BLE001 - a wrong solution may raise anything: it fails
            tell.send(False)

    process = context.Process(target=run)
    process.start()
    said = told.recv() if told.poll(SECONDS) else False
    process.kill()
    process.join()
    return bool(said)


def solution(path: Path) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": path.stem}
    exec(compile(path.read_bytes(), str(path), "exec"), namespace)
    return namespace


def outcome(function: Callable[..., Any], arguments: Sequence[Any]) -> list[torch.Tensor]:
    """Return values, then gradients, as a list of tensors."""
    leaves = [each.clone().requires_grad_() if isinstance(each, torch.Tensor) else each for each in arguments]
    try:
        found = function(*leaves)
    except RuntimeError as error:
        if "requires grad" not in str(error):
            raise
        leaves, found = list(arguments), function(*arguments)
    values = list(_tensors(found))
    tracked = [value for value in values if value.requires_grad]
    inputs = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not tracked or not inputs:
        return values
    weights = [torch.linspace(-1, 1, value.numel(), dtype=value.dtype).reshape(value.shape) for value in tracked]
    total = sum((value * weight).sum() for value, weight in zip(tracked, weights, strict=True))
    gradients = torch.autograd.grad(total, inputs, allow_unused=True)
    return values + [torch.zeros(()) if gradient is None else gradient for gradient in gradients]


def _tensors(found: Any) -> Iterator[torch.Tensor]:
    if isinstance(found, list | tuple) and not all(isinstance(each, int | float) for each in found):
        for each in found:
            yield from _tensors(each)
    else:
        yield torch.as_tensor(found)


def differs(bout: Bout, wrong: Mapping[str, Any], reference: Mapping[str, Any]) -> bool:
    """Return True if a mistake is visible in the task's form, on any of DRAWS drawn arguments."""
    mine, due = (_first(bout.functions(each)) for each in (wrong, reference))
    chance = torch.Generator().manual_seed(0)
    for _ in range(DRAWS):
        arguments = bout.draw(chance)
        expected = outcome(due, arguments)
        try:
            got = outcome(mine, arguments)
        except Exception:  # noqa: BLE001 - it raises, unlike the reference
            return True
        if [each.shape for each in got] != [each.shape for each in expected]:
            return True
        if any(not torch.allclose(a.double(), b.double(), SEEN, SEEN) for a, b in zip(got, expected, strict=True)):
            return True
    return False


def _first(functions: Functions) -> Callable[..., Any]:
    return functions.get("draw") or next(iter(functions.values()))


@dataclass(slots=True)
class Score:
    """The score of one task; `let_through` names the wrong solutions that passed its tests."""

    wrong: int = 0
    right: int = 0
    let_through: tuple[str, ...] = ()
    turned_away: tuple[str, ...] = ()


def score(bout: Bout, test: Test) -> Score:
    folder = ROOT / "impl" / bout.challenge
    reference = solution(folder / "reference.py")

    def accepted(file: Path) -> bool:
        return within_time(lambda: test.passes(bout.functions(solution(file))))

    def counts(file: Path) -> bool:
        told = "rung: solved" in file.read_text(encoding="utf-8").split('"""')[1]
        return told and within_time(lambda: differs(bout, solution(file), reference))

    right = [folder / "reference.py", *sorted(folder.glob("right/*.py"))]
    wrong = [file for file in sorted(folder.glob("wrong/*.py")) if counts(file)]
    return Score(
        len(wrong),
        len(right),
        tuple(file.stem for file in wrong if accepted(file)),
        tuple(file.stem for file in right if not accepted(file)),
    )


def play(name: str, bouts: Sequence[Bout], read: Callable[[Path, str], Test], folder: Path) -> None:
    """Print the scores of one project's graders."""
    tests = {bout.task: read(folder, bout.task) for bout in bouts}
    mark = sha256("".join(tests[task].text for task in sorted(tests)).encode()).hexdigest()[:12]
    print(f"{name} {version(folder)} (tests {mark})")
    scores = {bout.task: score(bout, tests[bout.task]) for bout in bouts}
    for bout in bouts:
        found = scores[bout.task]
        let, away = ", ".join(found.let_through) or "nothing", ", ".join(found.turned_away) or "none"
        killed = found.wrong - len(found.let_through)
        print(f"  {bout.task:<18} rejects {killed:>3} of {found.wrong:>3} wrong; lets through {let}")
        if found.turned_away:
            print(f"  {'':<18} rejects {len(found.turned_away)} of {found.right} right ones: {away}")
    wrong, right = sum(found.wrong for found in scores.values()), sum(found.right for found in scores.values())
    let = sum(len(found.let_through) for found in scores.values())
    away = sum(len(found.turned_away) for found in scores.values())
    print(
        f"  kill rate {wrong - let} of {wrong} ({(wrong - let) / wrong:.0%}), false rejections {away} of {right}",
        flush=True,
    )


def version(folder: Path) -> str:
    """Return the version that the copy states, if any."""
    file = folder / "torch_judge" / "_version.py"
    found = (
        re.search(r"__version__\s*=\s*\W(.+?)\W\s*$", file.read_text(encoding="utf-8"), re.M) if file.exists() else None
    )
    return found[1] if found else "without a version of its own"


def play_ours(bouts: Sequence[Bout]) -> None:
    """Grade the same files with our own judge."""
    from attncli import __version__
    from attncli.practice.verify import verify_challenges
    from grading import all_challenges

    wanted = {bout.challenge.rpartition("/")[2] for bout in bouts}
    proofs = verify_challenges([challenge for challenge in all_challenges() if challenge.id in wanted], 1, 2)
    kinds = [[found["file"].startswith("wrong/") for found in proof.surprises] for proof in proofs]
    let, away = (sum(kind.count(missed) for kind in kinds) for missed in (True, False))
    wrong, right = sum(proof.wrong for proof in proofs), sum(proof.sound for proof in proofs)
    print(f"attn {__version__}, the same challenges, all of their wrong files")
    print(f"  kill rate {wrong - let} of {wrong} ({(wrong - let) / wrong:.0%}), false rejections {away} of {right}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchcode", type=Path, metavar="DIR")
    parser.add_argument("--deep-ml", type=Path, metavar="DIR")
    parser.add_argument("--ours", action="store_true", help="our own judge on the same challenges, some minutes")
    options = parser.parse_args()
    if not (options.torchcode or options.deep_ml):
        parser.error("name a copy of at least one of them")
    torch.set_num_threads(1)
    if options.torchcode:
        play("TorchCode", TORCHCODE, torchcode_test, options.torchcode)
    if options.deep_ml:
        play("deep-ml", DEEP_ML, deep_ml_test, options.deep_ml)
    if options.ours:
        play_ours([*TORCHCODE, *DEEP_ML])
    return 0


if __name__ == "__main__":
    sys.exit(main())
