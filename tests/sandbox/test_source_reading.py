"""Check which code the source reading takes for forbidden, and which not."""

from __future__ import annotations

import sys

import torch

from attncli.domain.challenge import FORBIDDEN_EVERYWHERE, IMPORTS, KERNEL_IMPORTS, KERNEL_NAMES, TORCH_MODULES
from attncli.sandbox.source_reading import Rules, Scan, parse, read_source

EVERYWHERE = [name for names in FORBIDDEN_EVERYWHERE.values() for name in names]
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def rules(*forbidden: str, kernel: bool = False) -> Rules:
    imports = [*IMPORTS, "__future__", *(KERNEL_IMPORTS if kernel else ())]
    names = {"forbidden": [*EVERYWHERE, *forbidden], "kernel_names": [*KERNEL_NAMES]}
    return Rules(imports=imports, modules=TORCH_MODULES, **names)


def named(source: str, *forbidden: str) -> list[str]:
    return [item.name for item in Scan(parse(source.encode()), rules(*forbidden)).find()]


def test_builtins_are_out_of_bounds_where_a_function_does_not_bind_their_names():
    for source in (
        "def f(input, dim=-1):\n    return input.exp()",
        "def f(x, *, input):\n    g = lambda y: y + input\n    return g(x)",
        "def f(x):\n    input = x.float()\n    return [input + i for i in range(3)]",
        "f = lambda input: input * 2",
        "f = lambda input: input",
        "def f(*open, **vars):\n    return open, vars",
    ):
        assert named(source) == [], source
    for source in (
        "def f(x):\n    return eval(x)",
        "def f(x):\n    global input\n    input = input\n    return x",
        "def f(eval):\n    return 1\ndef g(x):\n    return eval(x)",
        "def f(x, input=open):\n    return x",
        "def f(x, eval=eval):\n    return eval(x)",
        "open = open\n",
    ):
        assert named(source), source


def test_torchs_own_are_named_however_they_are_reached_and_a_method_of_the_files_own_is_not():
    source = "class Norm:\n    def layer_norm(self, x):\n        return x\n"
    source += "def layer_norm(x):\n    norm = Norm()\n    return norm.layer_norm(x) + Norm().layer_norm(x)\n"
    assert named(source, "layer_norm") == []
    layer_norm = ("x", "torch", "F", "torch.nn.functional")
    for line in (*(f"{owner}.layer_norm(x)" for owner in layer_norm), "(x + 1).layer_norm()"):
        source = f"import torch\nimport torch.nn.functional as F\ndef layer_norm(x):\n    return {line}\n"
        assert len(named(source, "layer_norm")) == 1, line


def test_modules_that_may_not_be_imported_are_not_had_through_others():
    for source in (
        "import dataclasses\nsystem = dataclasses.sys",
        "import collections\nlock = collections._sys.modules['_thread']",
        "from dataclasses import sys",
        "from dataclasses import inspect as look",
        "def f(x):\n    return x.os.environ",
    ):
        assert named(source), source
    line = "return list(net.modules()), torch.random, collections.abc"
    assert named(f"import collections.abc\nimport torch\ndef f(net):\n    {line}\n") == []


def as_told(call: str) -> list[str]:
    """Return the names that a statement's name matches; a star matches all such names of torch."""
    if not call.endswith("*"):
        return [call]
    owner, start = call[:-1].split(".")
    names = dir({"nn": torch.nn, "torch": torch}[owner])
    return [f"{owner}.{name}" for name in names if name.startswith(start) and not name.startswith("__")]


def test_what_every_statement_forbids_is_refused():
    for call in FORBIDDEN_EVERYWHERE:
        calls = as_told(call)
        found = named(HEAD + "".join(f"a = {written}\n" for written in calls))
        assert calls and len(set(found)) == len(calls), call


def in_kernel(line: str) -> list[str]:
    source = f"import triton\nimport triton.language as tl\n{line}\n"
    return [item.name for item in Scan(parse(source.encode()), rules("softmax", kernel=True)).find()]


def test_triton_may_be_imported_where_a_kernel_is_asked_for_and_its_inside_nowhere():
    assert in_kernel("@triton.jit\ndef f(x, B: tl.constexpr):\n    return tl.sum(x) + triton.cdiv(3, 2)") == []
    assert named("import triton\nimport triton.language as tl\n") == ["triton", "triton.language"]
    for line in (
        "import triton.runtime.interpreter",
        "from triton import knobs",
        "triton.runtime.interpreter.interpreter_builder = None",
        "a = triton.testing.do_bench",
        "a = tl.softmax",
        "from triton.language import softmax",
    ):
        assert in_kernel(line), line


def test_what_every_statement_allows_to_import_may_be_imported_and_nothing_else():
    assert named("from __future__ import annotations\n" + "".join(f"import {module}\n" for module in IMPORTS)) == []
    for module in sorted({*sys.stdlib_module_names, "numpy", "attncli"} - {*IMPORTS, "__future__"}):
        assert named(f"import {module}\n") == [module]


def test_names_are_resolved_by_the_modules_of_torch():
    for line, name in (
        ("F.torch._C._nn", "_C"),
        ("F.torch.nn.functional.torch.distributed", "torch.distributed"),
        ("torch.torch.torch.optim.Adam", "torch.optim"),
        ("torch.nn.attention.flex_attention", "torch.nn.attention"),
        ("torch.export", "torch.export"),
        ("torch.onnx.export", "torch.onnx"),
        ("torch.autograd.torch.linalg._linalg", "torch._C._linalg"),
        ("F._in_projection", "torch.nn.functional._in_projection"),
        ("F.importlib", "importlib"),
        ("F.dataclasses.keyword", "keyword"),
        ("vars(F)", "vars"),
        ("F.__dict__", "__dict__"),
        ("F.__getattribute__('torch')", "__getattribute__"),
        ("getattr(F, 'torch').nn.functional.layer_norm", "torch.Tensor.layer_norm"),
        ("getattr(torch, '_C')", "_C"),
        ("getattr(torch, 'o' + 'ps')", "getattr"),
        ("x.DisableTorchFunction()", "DisableTorchFunction"),
        ("m.ops", "torch.ops"),
        ("nn.LazyBatchNorm2d", "torch.nn.LazyBatchNorm2d"),
        ("torch.native_layer_norm", "torch.native_layer_norm"),
    ):
        source = f"{HEAD}m = torch\ndef f(x):\n    return {line}\n"
        assert named(source, "layer_norm", "batch_norm")[0] == name, line


def test_what_may_be_used_is_left_alone():
    for line in (
        "torch.nn.functional.linear(x, x), torch.linalg.svd(x), torch.special.ndtr(torch.fft.rfft(x))",
        "torch.func.vmap(f)(x), torch.random.manual_seed(0), torch.nn.init.zeros_(x), torch.cuda.is_available()",
        "torch.finfo(x.dtype).max, torch.inf, collections.abc, F.math.pi",
        "getattr(x, 'shape'), hasattr(x, name), getattr(self, name)",
        "self.__dict__, self.layer_norm, x.norm(), no.such.thing, torch.no_such_thing",
    ):
        source = f"{HEAD}import collections.abc\nname = 'a'\ndef f(self, x):\n    return {line}\n"
        assert named(source, "layer_norm") == [], line


def test_a_file_that_cannot_be_read_says_why_and_utf_8_may_be_said_in_any_way():
    for source, key, said in (
        (b"# coding: punycode\nx = 1", "at-line", "punycode"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'", "at-line", "save it as UTF-8"),
        (b"x = '\xe9'", "at-line", "save it as UTF-8"),
        (b"def f(:\n", "at-line", "invalid syntax"),
        (b"x = 1\0", "at-line", "null bytes"),
        (b"x = " + b"1+" * 30_000 + b"1", "nests-too-deeply", ""),
        (b"-" * 100_000 + b"1", "not-parsed", "MemoryError"),
    ):
        syntax = read_source(source, rules())["syntax"]
        assert syntax is not None and syntax[0] == key and said in str(syntax[1].get("error", "")), source[:40]
    for head in (b"\xef\xbb\xbf", b"# coding: utf8\n", b"#!/usr/bin/python\n# vim: fileencoding=UTF-8\n"):
        assert read_source(head + b"x = 1", rules()) == {"syntax": None, "entry": None, "forbidden": None}
