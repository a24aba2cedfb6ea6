"""Run Triton kernels in a worker: they work without a GPU, and accesses that a GPU would not catch are rejected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from attncli.sandbox import kernels
from attncli.sandbox.zygote_client import Reply, Worker

pytestmark = pytest.mark.sandbox

HEAD = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    {body}


def f(n=100):
    x, out = torch.ones(n), {out}
    kernel[({grid},)](x, out, n, BLOCK=32)
    return out
"""
Run = Callable[..., dict[str, Any]]
ADD_ONE = "tl.store(out + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)"


@pytest.fixture
def run(worker: Worker) -> Run:
    """Load a kernel and call its `f`; return the reply's header."""

    def asked(body: str, *want: str, out: str = "torch.empty(n)", grid: str = "triton.cdiv(n, 32)") -> dict[str, Any]:
        source = HEAD.format(body=body, out=out, grid=grid)
        loaded = worker.load(source.encode(), "submission.py", ["f"], 20.0, kernel=True)
        assert isinstance(loaded, Reply) and loaded.header["op"] == "loaded", loaded
        steps = [{"op": "call", "name": "f", "args": []}]
        header = {"op": "run", "steps": steps, "want": list(want), "filename": "submission.py"}
        reply = worker.request(header, [], 20.0)
        assert isinstance(reply, Reply), reply
        values = memoryview(reply.payload).cast("f").tolist() if len(reply.payload) % 4 == 0 else []
        return {**reply.header, "values": values}

    return asked


def test_a_kernel_runs_and_what_it_moves_and_calls_is_counted(run: Run):
    reply = run(ADD_ONE, "cost", "calls")
    assert reply["op"] == "result" and reply["values"] == [2.0] * 100
    assert reply["costs"][0]["moved"] == 100 * 8
    assert {name for name, line in reply["calls"] if line} == {"torch.ones", "torch.empty"}
    assert ["triton.launch", 0] in reply["calls"]


def test_numbers_wrap_around_and_overflow_as_they_do_compiled_without_a_warning(run: Run, worker: Worker):
    reply = run("tl.store(out + at, (at + 2147483647).to(tl.float32), mask=at < n)")
    assert reply["op"] == "result" and reply["values"][:2] == [2.0**31, -(2.0**31)]
    reply = run("tl.store(out + at, tl.exp(tl.load(x + at, mask=at < n) * 100.0), mask=at < n)")
    assert reply["values"] == [float("inf")] * 100 and worker.printed == ""


def test_functions_of_the_language_and_the_library_are_interpreted_too(run: Run):
    body = "tl.store(out + tl.program_id(0), tl.max(tl.load(x + at, mask=at < n), 0))"
    assert run(body, out="torch.zeros(4)")["values"] == [1.0] * 4
    body = "tl.store(out + at, tl.sum(tl.zeros((32,), tl.float32) + tl.cdiv(n, 32)) + 0 * at, mask=at < n)"
    assert run(body)["values"] == [128.0] * 100


def test_block_pointers_are_looked_at_like_all_others(run: Run):
    block = "{} = tl.make_block_ptr({}, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))"
    by_blocks = [block.format("source", "x"), block.format("result", "out")]
    both = [*by_blocks, "tl.store(result, tl.load(source, boundary_check=(0,)) + 1, boundary_check=(0,))"]
    reply = run("\n    ".join(both), "cost")
    assert reply["values"] == [2.0] * 100 and reply["costs"][0]["moved"] == 100 * 8
    unchecked = [*by_blocks, "tl.store(result, tl.load(source) + 1, boundary_check=(0,))"]
    assert run("\n    ".join(unchecked))["fault"]["kind"] == "load-outside"


def test_an_access_that_no_gpu_would_refuse_and_an_exception_are_told_with_their_lines(run: Run):
    for body, kind, index in (
        ("tl.store(out + at, tl.load(x + at) + 1, mask=at < n)", "load-outside", 100),
        ("tl.store(out + at, tl.load(x + at, mask=at < n) + 1)", "store-outside", 100),
        ("tl.store(out + at, tl.load(x + at - 1, mask=at < n), mask=at < n)", "load-outside", -1),
        ("tl.store(out + at % 32, tl.load(x + at, mask=at < n), mask=at < n)", "store-twice", 0),
        ("tl.store(x + at, tl.load(x + (at + 32) % n, mask=at < n), mask=at < n)", "store-after-load", 32),
    ):
        reply = run(body)
        assert (reply["op"], reply["reason"]) == ("raised", "exception")
        assert (reply["fault"]["kind"], reply["fault"]["index"]) == (kind, index)
        assert reply["frames"][-1]["code"] == body
    body = "tl.store(out + at, tl.dot(at, at), mask=at < n)"
    reply = run(body)
    assert reply["op"] == "raised" and reply["frames"][-1]["code"] == body and "fault" not in reply


def test_what_no_program_has_written_is_not_a_number_and_atomic_additions_are_no_race(run: Run):
    values = run(ADD_ONE, grid="n // 32")["values"]
    assert values[:96] == [2.0] * 96 and all(value != value for value in values[96:])
    body = "tl.atomic_add(out + at % 2, tl.load(x + at, mask=at < n), mask=at < n)"
    assert run(body, out="torch.zeros(2)")["values"] == [50.0, 50.0]


def test_a_file_that_is_no_kernel_finds_neither_triton_nor_numpy(worker: Worker):
    for module in ("triton", "numpy"):
        loaded = worker.load(f"import {module}\ndef f(): ...".encode(), "submission.py", ["f"], 20.0)
        assert isinstance(loaded, Reply) and loaded.header["type"] == "ModuleNotFoundError"


def test_where_triton_is_not_there_every_call_says_so(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(kernels._State, "prepared", False)
    monkeypatch.setattr(kernels.importlib, "import_module", missing)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    for interpreted in (True, False) * 2:
        with pytest.raises(ImportError, match="triton"):
            kernels.prepare(interpreted)


def test_versions_that_fail_at_every_loop_are_named():
    """With Triton 3.6 and NumPy 2.4, right kernels were rejected."""
    kernels.check_versions("3.6.0", "2.3.5")
    kernels.check_versions("3.7.1", "2.4.0")
    for triton, numpy in (("3.6.0", "2.4.1"), ("3.5.1", "2.10.0")):
        with pytest.raises(ImportError, match=f"Triton {triton} needs NumPy below 2.4; this is {numpy}"):
            kernels.check_versions(triton, numpy)
