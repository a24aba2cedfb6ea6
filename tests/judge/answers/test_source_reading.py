"""What the reading of a source takes for forbidden, and what it leaves alone."""

from __future__ import annotations

import sys

import pytest
import torch

from attncli.domain.allowed_imports import FORBIDDEN_EVERYWHERE, IMPORTS
from attncli.judge.answers.source_reading import outside_kernels, read_source


def named(source: str, *forbidden: str) -> list[str]:
    return [item.name for item in read_source(source.encode(), forbidden).forbidden]


@pytest.mark.parametrize(
    "source",
    [
        "def f(input, dim=-1):\n    return input.exp()",
        "def f(x, *, input):\n    g = lambda y: y + input\n    return g(x)",
        "def f(x):\n    input = x.float()\n    return [input + i for i in range(3)]",
        "f = lambda input: input * 2",
        "f = lambda input: input",
        "def f(*open, **vars):\n    return open, vars",
    ],
)
def test_names_that_a_function_binds_are_its_own(source):
    assert named(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return eval(x)",
        "def f(x):\n    global input\n    input = input\n    return x",
        "def f(eval):\n    return 1\ndef g(x):\n    return eval(x)",
        "def f(x, input=open):\n    return x",
        "def f(x, eval=eval):\n    return eval(x)",
        "open = open\n",
    ],
)
def test_builtins_stay_out_of_bounds_where_they_are_not_bound(source):
    assert named(source)


def test_a_method_of_the_files_own_may_have_a_forbidden_name():
    source = """
class Norm:
    def layer_norm(self, x):
        return x
def layer_norm(x):
    norm = Norm()
    return norm.layer_norm(x) + Norm().layer_norm(x)
"""
    assert named(source, "layer_norm") == []


@pytest.mark.parametrize(
    "line",
    [
        "x.layer_norm(3)",
        "torch.layer_norm(x)",
        "F.layer_norm(x)",
        "torch.nn.functional.layer_norm(x)",
        "(x + 1).layer_norm()",
    ],
)
def test_torchs_own_are_named_however_they_are_reached(line):
    source = f"import torch\nimport torch.nn.functional as F\ndef layer_norm(x):\n    return {line}\n"
    assert len(named(source, "layer_norm")) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import dataclasses\nsystem = dataclasses.sys",
        "import collections\nlock = collections._sys.modules['_thread']",
        "from dataclasses import sys",
        "from dataclasses import inspect as look",
        "def f(x):\n    return x.os.environ",
    ],
)
def test_modules_that_may_not_be_imported_are_not_had_through_others(source):
    assert named(source)


def test_the_modules_of_a_network_are_its_own():
    line = "return list(net.modules()), torch.random, collections.abc"
    assert named(f"import collections.abc\nimport torch\ndef f(net):\n    {line}\n") == []


def as_told(call: str) -> list[str]:
    """What a learner may write for a name as statements write it; a star stands for every such name of torch."""
    if not call.endswith("*"):
        return [call]
    owner, start = call[:-1].split(".")
    names = dir({"nn": torch.nn, "torch": torch}[owner])
    return [f"{owner}.{name}" for name in names if name.startswith(start) and not name.startswith("__")]


@pytest.mark.parametrize("call", FORBIDDEN_EVERYWHERE)
def test_what_every_statement_forbids_is_refused(call):
    calls = as_told(call)
    head = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    found = named(head + "".join(f"a = {written}\n" for written in calls))
    assert calls and len(set(found)) == len(calls)


def in_kernel(line: str) -> list[str]:
    source = f"import triton\nimport triton.language as tl\n{line}\n"
    return [fault.name for fault in read_source(source.encode(), ("softmax",), kernel=True).forbidden]


def test_triton_may_be_imported_where_a_kernel_is_asked_for_and_nowhere_else():
    assert in_kernel("@triton.jit\ndef f(x, B: tl.constexpr):\n    return tl.sum(x) + triton.cdiv(3, 2)") == []
    assert named("import triton\nimport triton.language as tl\n") == ["triton", "triton.language"]


@pytest.mark.parametrize(
    "line",
    [
        "import triton.runtime.interpreter",
        "from triton import knobs",
        "triton.runtime.interpreter.interpreter_builder = None",
        "a = triton.testing.do_bench",
        "a = tl.softmax",
        "from triton.language import softmax",
    ],
)
def test_what_belongs_to_tritons_inside_or_does_the_work_itself_is_refused(line):
    assert in_kernel(line)


def test_around_kernels_torch_makes_views_and_copies_and_a_kernel_is_launched():
    around = [("torch.empty_like", 3), ("torch.Tensor.shape.__get__", 4), ("torch.float16", 4), ("triton.launch", 0)]
    assert outside_kernels(around) is None
    assert "Tensor.add" in outside_kernels([*around, ("torch.Tensor.add", 9)]).en
    assert "no Triton kernel" in outside_kernels(around[:-1]).en


def test_what_every_statement_allows_to_import_may_be_imported_and_nothing_else():
    assert named("from __future__ import annotations\n" + "".join(f"import {module}\n" for module in IMPORTS)) == []
    for module in sorted({*sys.stdlib_module_names, "numpy", "attncli"} - {*IMPORTS, "__future__"}):
        assert named(f"import {module}\n") == [module]
