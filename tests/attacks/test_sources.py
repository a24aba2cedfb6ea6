"""Reject sources that are hard to read (ATTN_SOURCES of them), and sources that let the library do the work."""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attncli.bank.loader import load_challenge
from attncli.domain.challenge import IMPORTS, TORCH_MODULES
from attncli.domain.grade_report import CheckResult, GradeReport
from attncli.judge.client import GradeOptions, GradeRequest, Judge
from attncli.judge.protocol import reading_of
from attncli.paths import bundled_impl
from attncli.practice.grade import LARGEST_SUBMISSION, specification
from attncli.practice.library import challenge_of
from attncli.sandbox.source_reading import Rules, read_source
from hostile_sources import LARGEST, source

SOURCES = int(os.environ.get("ATTN_SOURCES", "300"))
# The slowest is some 3 s on the machine that this was written on, all of it in Python's own parser.
SECONDS = 20.0
MEMORY_BYTES = 1 << 30
ENTRY = {"positional": ["x"], "defaults": 0, "keywords": [], "needed": [], "more_positional": False}
RULES = Rules(
    imports=[*IMPORTS, "__future__"],
    modules=TORCH_MODULES,
    forbidden=["softmax", "torch._*", "torch.optim.*", "scaled_dot_product_*"],
    entry={"f": {**ENTRY, "more_keywords": False}},
)
TWINS = {
    "adamw_distributed": ("adamw", "torch.distributed is not allowed in a submission"),
    "layer_norm_rms": ("layer-norm", "F.rms_norm"),
    "rms_norm_by_layer_norm": ("rms-norm", "F.layer_norm"),
    "rms_norm_by_normalize": ("rms-norm", "F.normalize"),
    "softmax_by_cross_entropy": ("softmax-stable", "F.cross_entropy"),
    "lm_loss_by_linear_cross_entropy": ("causal-lm-loss", "F.linear_cross_entropy"),
    "attention_backward_by_grad_fn": ("attention-backward", "is not allowed here"),
    "kernel_alias": ("softmax-kernel", ""),  # a kernel copies what torch has computed out of sight
    "sdpa_alias": ("sdpa", "_C is not allowed in a submission"),
}
SDPA = b"def sdpa(q, k, v, mask=None, scale=None):\n    return q\n"
MANY_NAMES = b"".join(b"a%x," % k for k in range(9_000))
COSTLY: dict[str, bytes] = {
    "an f-string of many fields": SDPA + b"if 0:\n    x = f'" + b"{q}" * 40_000 + b"'\n",
    "many scopes with many names": b"def f(" + MANY_NAMES + b"): return [" + b"lambda:0," * 6_000 + b"]\n" + SDPA,
    "punycode": b"# coding: punycode\n" + SDPA + b"a" * 60_000,
    "names in a list": SDPA + b"x = lambda: [" + b"q," * 60_000 + b"]\n",
}


def graded(judge: Judge, id: str, source: bytes, **asked: Any) -> GradeReport:
    folder = next(bundled_impl().glob(f"*/{id}"))
    spec, options = (
        specification(challenge_of(load_challenge(folder / "challenge.yaml").documents[0])),
        GradeOptions(**asked),
    )
    return judge.grade(GradeRequest(spec=spec, folder=folder, source=source, filename="mine.py", options=options))


def failed(report: GradeReport) -> CheckResult:
    return next(check for check in report.checks if check.status == "fail")


# One whose name is not that of the library, one that is found by what it copies.
FEW = ("rms_norm_by_layer_norm", "kernel_alias")


@pytest.mark.sandbox
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.full] * (name not in FEW)) for name in TWINS])
def test_the_library_is_found_by_whatever_name_it_is_reached(judge: Judge, name: str) -> None:
    id, said = TWINS[name]
    file = Path(__file__).parent / "twins" / f"{name}.py"
    report = graded(judge, id, file.read_bytes(), rung="hardened", timeout_seconds=30)
    assert (report.verdict, failed(report).name) == ("rejected", "forbidden")
    assert said in failed(report).message.en


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] * (name != "punycode")) for name in COSTLY]
)
def test_a_file_that_is_costly_to_read_costs_the_judge_nothing(judge: Judge, name: str) -> None:
    graded(judge, "sdpa", SDPA)
    before = processor_seconds(judge)
    report = graded(judge, "sdpa", COSTLY[name], timeout_seconds=3)
    assert report.verdict == "rejected" and len(COSTLY[name]) <= LARGEST_SUBMISSION
    assert processor_seconds(judge) - before < 10


def processor_seconds(judge: Judge) -> float:
    fields = Path(f"/proc/{judge._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_every_source_is_read_in_little_time_and_memory() -> None:
    """Read all in a process with a memory limit, as in a worker; each reading yields messages."""

    def read_all(tell: Callable[[str], None]) -> None:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES, used + MEMORY_BYTES))
        slowest = (0.0, 0)
        for seed in range(SOURCES):
            text = source(seed)
            start = time.process_time()
            read = json.loads(json.dumps(read_source(text, RULES)))
            slowest = max(slowest, (time.process_time() - start, seed))
            reading_of(read)
            assert len(text) <= LARGEST + 3 and len(json.dumps(read)) < 2_000_000
        tell(json.dumps(slowest))

    seconds, seed = json.loads(in_a_child(read_all))
    assert seconds < SECONDS, f"source {seed} took {seconds:.1f} s"


def in_a_child(run: Callable[[Callable[[str], None]], None]) -> str:
    """Run `run` in a fork and return its text. Raises AssertionError if the fork fails."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            run(lambda text: os.write(writes, text.encode()) and None)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writes)
    with os.fdopen(reads) as told:
        text = told.read()
    assert os.waitpid(child, 0)[1] == 0, "the child ended before it had read all"
    return text
