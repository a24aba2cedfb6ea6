"""Check that permitted operations work inside: a sandbox that rejects correct solutions is useless."""

from __future__ import annotations

import pytest
import torch

from attncli.sandbox import values
from attncli.sandbox.zygote_client import Reply, Worker

from .conftest import SECONDS, Grade, verdict

pytestmark = [pytest.mark.sandbox, pytest.mark.usefixtures("nothing_left")]

WORKING = {
    "torch": "import torch\nassert torch.allclose(torch.eye(3) @ torch.eye(3), torch.eye(3))",
    "attention and its gradient": (
        "import torch, torch.nn.functional as F\nx = torch.randn(1, 2, 4, 8, requires_grad=True)\n"
        "F.scaled_dot_product_attention(x, x, x, is_causal=True).sum().backward()\nassert x.grad is not None"
    ),
    "einsum": "import torch\ntorch.einsum('bhtd,bhsd->bhts', torch.ones(1, 2, 3, 4), torch.ones(1, 2, 5, 4))",
    "modules and optimisers": (
        "import torch\nmodel = torch.nn.TransformerEncoderLayer(8, 2, batch_first=True)\n"
        "step = torch.optim.AdamW(model.parameters())\nmodel(torch.ones(1, 3, 8)).sum().backward()\nstep.step()"
    ),
    "linear algebra": "import torch\ntorch.linalg.svd(torch.randn(5, 4))\ntorch.fft.rfft(torch.ones(8))",
    "flex attention": (
        "import torch\nfrom torch.nn.attention.flex_attention import flex_attention\n"
        "x = torch.ones(1, 2, 16, 16)\nflex_attention(x, x, x)"
    ),
    "compiling without code generation": (
        "import torch\nassert torch.compile(lambda x: x + 1, backend='eager')(torch.ones(2)).sum() == 4"
    ),
    "the compiler's own parts": "import torch._dynamo.config\nassert torch._dynamo.config.cache_size_limit > 0",
    "checkpointing": (
        "import torch\nfrom torch.utils.checkpoint import checkpoint\nx = torch.ones(3, requires_grad=True)\n"
        "checkpoint(torch.sin, x, use_reentrant=False).sum().backward()"
    ),
    "vmap and grad": "import torch\ntorch.func.vmap(torch.func.grad(lambda x: (x * x).sum()))(torch.ones(3, 2))",
    "low precision": "import torch\n(torch.ones(4, 4, dtype=torch.bfloat16) @ torch.ones(4, 4, dtype=torch.bfloat16))",
    "the meta device": "import torch\ntorch.ones(2, 2, device='meta') @ torch.ones(2, 2, device='meta')",
    "its own source": "import inspect\ndef f(x):\n    return x + 41\nassert 'x + 41' in inspect.getsource(f)",
    "the library, lazily": (
        "import json, heapq, random, statistics, decimal, fractions, tokenize, unittest, sqlite3, hashlib, zoneinfo\n"
        "import dataclasses, functools, itertools, collections, typing, re, math, cmath, unicodedata\n"
        "assert hashlib.sha256(b'').hexdigest().startswith('e3b0c442')"
    ),
    "a few threads": (
        "import threading\nfound = []\nthreads = [threading.Thread(target=found.append, args=(k,)) for k in range(4)]\n"
        "[t.start() for t in threads]\n[t.join() for t in threads]\nassert sorted(found) == [0, 1, 2, 3]"
    ),
    "a thread pool": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as pool: assert list(pool.map(abs, [-1, -2])) == [1, 2]"
    ),
    "more torch threads": "import torch\ntorch.set_num_threads(2)\ntorch.ones(700, 700) @ torch.ones(700, 700)",
    "random bytes and time": "import os, time, uuid\nos.urandom(8)\ntime.localtime()\ntime.sleep(0.001)\nuuid.uuid4()",
    "a dataclass": "import dataclasses\n@dataclasses.dataclass\nclass A: x: int = 1\nassert A() == A()",
    "writing to nowhere": "import os\nopen(os.devnull, 'w').write('x')",
    "reading standard input": "import sys\nassert sys.stdin.read() == ''",
    "a source in another encoding": "# -*- coding: utf-8 -*-\nname = '注意力'\nassert len(name) == 3",
}


@pytest.mark.slow
def test_what_a_submission_may_do(load: Grade) -> None:
    for name, source in WORKING.items():
        assert verdict(load(source)) == ("loaded", ""), name
    reply = load("def f(): pass\nclass C: pass\nx = 3", entry=("f", "C", "x", "absent"))
    assert isinstance(reply, Reply)
    assert reply.header["names"] == {"f": "function", "C": "class", "x": "int"}


def test_a_call_takes_tensors_and_gives_tensors(worker: Worker) -> None:
    assert verdict(worker.load(b"def f(x): return x * 2", "submission.py", ["f"], SECONDS))[0] == "loaded"
    x = torch.arange(6.0).reshape(2, 3)
    header = {"op": "run", "steps": [{"op": "call", "name": "f", "args": [["t", 0]]}]}
    header["tensors"] = [values.describe_tensor(x)]
    for _ in range(3):
        reply = worker.request(header, [values.bytes_of(x)], SECONDS)
        assert isinstance(reply, Reply)
        (result,) = values.read_table(reply.header["tensors"], reply.payload)
        assert torch.equal(result, x * 2)


def test_a_callable_of_the_judges_is_asked_for_and_counted(worker: Worker) -> None:
    assert verdict(worker.load(b"def f(g): return [g(k) for k in range(5)]", "s.py", ["f"], SECONDS))[0] == "loaded"
    asked = []

    def answer(header: dict, payload: memoryview) -> tuple[dict, list]:
        asked.append(header["arguments"])
        return {"value": ["i", len(asked)], "tensors": []}, []

    header = {"op": "run", "steps": [{"op": "call", "name": "f", "args": [["c", 0]]}], "callables": [None]}
    reply = worker.request(header, [], SECONDS, on_invoke=answer)
    assert isinstance(reply, Reply) and len(asked) == 5
    assert reply.header["outcomes"][0]["tree"] == ["l", [["i", k] for k in range(1, 6)]]


def test_what_is_printed_is_kept_and_cleaned_also_before_a_crash(load: Grade, worker: Worker) -> None:
    load(r"print('\x1b[31mred\x1b[0m', 'tab\t', end='')" + "\nimport sys\nprint('错误', file=sys.stderr)")
    assert worker.printed == "red tab\t错误\n"
    ending = load("print('before', end='')\nimport os\nos._exit(1)")
    assert ending.printed.endswith("before")


def test_exceptions_and_crashes_are_shown_with_the_learners_lines(load: Grade, call: Grade) -> None:
    reply = load("x = 1\ndef f(:\n    pass")
    assert isinstance(reply, Reply)
    assert (reply.header["type"], reply.header["frames"][0]["line"]) == ("SyntaxError", 2)
    reply = call("def g():\n    return 1 / 0\ndef f():\n    return g()")
    assert isinstance(reply, Reply) and reply.header["type"] == "ZeroDivisionError"
    frames = [(frame["line"], frame["function"], frame["code"]) for frame in reply.header["frames"]]
    assert frames == [(4, "f", "return g()"), (2, "g", "return 1 / 0")]
    ending = call("import ctypes\ndef f():\n    ctypes.string_at(0)")
    assert ending.message.en == "killed by SIGSEGV during a call, in line 3 (f)"
