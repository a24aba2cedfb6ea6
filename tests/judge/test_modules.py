"""Run programs of steps beyond plain calls: classes, modules, callables and generators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attncli.errors import JudgeFailed
from in_process import check, grade, write_challenge

CHECKS = ["loads", "matches-reference", "gradients", "low-precision", "layout", "device", "pure", "forbidden"]


def challenge(root, reference, inputs, entry, **spec):
    return write_challenge(root, {"entry": [entry], "required": CHECKS, **spec}, reference, inputs, {})


MODULE = """
import torch
from torch import nn

class Gate(nn.Module):
    def __init__(self, d, bias=True):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d))
        self.proj = nn.Linear(d, d, bias=bias)
        self.register_buffer("steps", torch.zeros(3), persistent=False)

    def forward(self, x):
        return torch.sigmoid(self.weight) * self.proj(x)
"""
MODULE_INPUTS = """
def case(make):
    d = make.size(1, 5)
    gate = make.new("Gate", d, bias=True)
    make.set(gate, {"weight": make.normal(d), "proj": make.normal(d, d), "proj.bias": make.normal(d)})
    make.method(gate, "forward", make.normal(2, d))
    make.train(gate, False)
    make.method(gate, "forward", make.normal(3, d))
    make.read(gate, "trainable")
    make.read(gate, "state_dict")
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    return challenge(tmp_path_factory.mktemp("gate"), MODULE, MODULE_INPUTS, "Gate")


@pytest.mark.parametrize(
    ("old", "new", "name", "reason"),
    [
        ("torch.sigmoid(self.weight) * self.proj(x)", "self.proj(x) / (1 + (-self.weight).exp())", "", ""),
        ("self.proj(x)", "self.proj(x).detach()", "gradients", "gradient"),
        ("torch.sigmoid(self.weight)", "torch.sigmoid(self.weight.detach())", "gradients", "gradient"),
        ("persistent=False", "persistent=True", "matches-reference", "shape"),
        ("(torch.randn(d))", "(torch.randn(d), requires_grad=False)", "matches-reference", "shape"),
        ("sigmoid", "tanh", "matches-reference", "values"),
    ],
)
def test_a_module_is_graded_with_weights_set_from_outside(module, old, new, name, reason):
    report = grade(module, MODULE.replace(old, new))
    if not name:
        assert report["verdict"] == "accepted", report
        return
    assert (check(report, name)["status"], check(report, name)["reason"]) == ("fail", reason)


WATCHED_INPUTS = """
import torch
GRADIENTS = False
def sound(calls, outcomes):
    return None if 1 <= len(calls) <= 2 and all(c == [[3], "int"] for c in calls) else (f"calls {calls}", "调用不对")
def case(make):
    f = make.callable(lambda t, power: t ** power)
    make.count(f, sound)
    make.call("squares", f, make.normal(3, grad=False))
"""


def test_calls_may_be_judged_by_what_is_sound_instead_of_by_what_the_reference_does(tmp_path):
    once = "def squares(f, x):\n    return f(x, 2)\n"
    twice = "def squares(f, x):\n    f(x, 2)\n    return f(x, power=2)\n"
    thrice = "def squares(f, x):\n    f(x, 2), f(x, 2)\n    return f(x, 2)\n"
    spec = {"entry": ["squares"], "required": ["loads", "matches-reference"]}
    folder = write_challenge(tmp_path, spec, once, WATCHED_INPUTS, {"thrice": thrice})
    assert grade(folder, once)["verdict"] == grade(folder, twice)["verdict"] == "accepted"
    report = grade(folder, thrice)
    assert check(report, "matches-reference")["message"].startswith("calls [[[3], 'int']")
    assert [found["wrong"] for found in report["diagnosis"]] == ["thrice"]
    assert grade(folder, "def squares(f, x):\n    return x * x\n")["verdict"] == "rejected"


LOOSE_INPUTS = """
import torch
SIXTEEN_BITS = 'float32'
def case(make):
    make.dtypes(make.call("pair", make.normal(make.size(1, 4)))[1], torch.float32, make.dtype)
"""


def test_a_part_of_a_result_may_come_in_more_than_one_dtype(tmp_path):
    pair = "import torch\ndef pair(x):\n    wide = x.float() if x.element_size() < 4 else x\n"
    pair += "    y = wide.exp()\n    return y.to(x.dtype), y.sum()\n"
    folder = challenge(tmp_path, pair, LOOSE_INPUTS, "pair")
    assert grade(folder, pair)["verdict"] == "accepted"
    for sound in ("y.sum().to(x.dtype)", "y.sum().float()"):
        report = grade(folder, pair.replace("y.sum()", sound))
        assert report["verdict"] == "accepted", (sound, report)
    for wrong, reason in (("y.sum().half()", "dtype"), ("y.sum().bfloat16().to(x.dtype)", "values")):
        assert check(grade(folder, pair.replace("y.sum()", wrong)), "matches-reference")["reason"] == reason
    assert grade(folder, pair.replace("return y.to(x.dtype)", "return y"))["verdict"] == "rejected"


def test_a_call_that_leaves_something_in_its_module_is_found_where_it_must_not(tmp_path):
    reference = MODULE.replace("torch.sigmoid(self.weight) * self.proj(x)", "self.proj(x)")
    inputs = "MODULES_UNCHANGED = True\n" + MODULE_INPUTS
    folder = challenge(tmp_path, reference, inputs, "Gate", required=["loads", "pure"])
    assert grade(folder, reference)["verdict"] == "accepted"
    for left in ("self.last = x.detach()", "self.steps.add_(1)", "self.seen.append(len(x))", "self.proj.called = 1"):
        source = reference.replace("return self.proj(x)", f"{left}\n        return self.proj(x)")
        found = check(grade(folder, source.replace("self.proj = ", "self.seen = []\n        self.proj = ")), "pure")
        assert found["status"] == "fail", left
        assert found["message"] == "a call to forward leaves state in its module"


REQUIRED = ["loads", "matches-reference", "edge-cases", "pure", "gradients", "layout", "device"]


def graded(root: Path, source: str, entry: str, reference: str, inputs: str) -> dict[str, Any]:
    spec = {"id": "kind", "entry": entry.split(), "required": REQUIRED, "forbidden": [], "cards": []}
    folder = write_challenge(root, spec, "import torch\n" + reference, "import torch\n" + inputs, {})
    return grade(folder, "import torch\n" + source)


def accepted(*asked: Any) -> bool:
    return graded(*asked)["verdict"] == "accepted"


def reasons(root: Path, source: str, *challenge: Any) -> set[str]:
    """Return the reasons of a rejection, check by check."""
    report = graded(root, source, *challenge)
    assert report["verdict"] == "rejected", report
    return {found["reason"] for found in report["checks"] if found["status"] == "fail" and found["required"]}


RAGGED = (
    "pack unpack",
    """
def pack(parts):
    return torch.cat(parts), torch.tensor([len(p) for p in parts], dtype=torch.int32, device=parts[0].device)

def unpack(x, sizes):
    return [2 * part for part in x.split(sizes)]
""",
    """
def case(make):
    parts = [make.normal(n, 3) for n in (make.size(0, 4), make.size(1, 5), 0)]
    packed = make.call("pack", parts)
    make.call("unpack", make.normal(6, 3), [2, 0, 4])
""",
)


@pytest.mark.slow
def test_lists_of_tensors_of_unequal_length_go_in_and_come_out(tmp_path):
    assert accepted(tmp_path, RAGGED[1].replace("2 * part", "part + part"), *RAGGED)
    assert "values" in reasons(tmp_path, RAGGED[1].replace("2 * part", "3 * part"), *RAGGED)
    assert "shape" in reasons(tmp_path, RAGGED[1].replace("x.split(sizes)]", "x.split(sizes) if len(part)]"), *RAGGED)
    assert reasons(tmp_path, RAGGED[1].replace("2 * part", "2 * part.detach()"), *RAGGED) == {"gradient"}
    kept = RAGGED[1].replace("    return torch.cat", "    parts.append(parts.pop(0))\n    return torch.cat")
    assert reasons(tmp_path, kept, *RAGGED)


WALKED = (
    "total",
    """
def total(chunks):
    result = 0.0
    for chunk in chunks:
        result = result + chunk.exp().sum(-1)
    return result
""",
    """
def case(make):
    make.call("total", make.iterator([make.normal(2, make.size(1, 4)) for _ in range(make.size(1, 3))]))

def edge_list(make):
    "a list"
    make.call("total", [make.normal(2, 3), make.normal(2, 1)])
""",
)


def test_an_iterator_can_be_walked_once(tmp_path):
    assert accepted(tmp_path, "def total(chunks):\n    return torch.cat(list(chunks), -1).exp().sum(-1)\n", *WALKED)
    twice = """
def total(chunks):
    most = max(chunk.max().item() for chunk in chunks)
    return sum((chunk - most).exp().sum(-1) for chunk in chunks) * 2.718281828 ** most
"""
    assert reasons(tmp_path, twice, *WALKED)
    first_alone = "def total(chunks):\n    return next(iter(chunks)).exp().sum(-1)\n"
    assert "values" in reasons(tmp_path, first_alone, *WALKED)
    in_place = WALKED[1].replace("chunk.exp()", "chunk.exp_()")
    assert reasons(tmp_path, in_place, *WALKED)


CALLED = (
    "sharded",
    """
def sharded(x, shards, act, reduce):
    return reduce([act(x @ shard) for shard in shards])
""",
    """
def shards(make, grad):
    return make.normal(2, 3, grad=grad), [make.normal(3, 4, grad=grad) for _ in range(make.size(1, 3))]

def case(make):
    act = make.function(make.pick(["lambda x: x.tanh()", "torch.nn.functional.silu"]))
    make.call("sharded", *shards(make, True), act, make.function("lambda parts: torch.stack(parts).sum(0)"))

def edge_reduced_once(make):
    "one reduction"
    reduce = make.callable(lambda parts: sum(parts))
    make.count(reduce)
    make.call("sharded", *shards(make, False), make.function("torch.relu"), reduce)
""",
)


@pytest.mark.slow
def test_functions_are_differentiated_through_and_callables_counted(tmp_path):
    assert accepted(tmp_path, CALLED[1].replace("[act", "list(act").replace("shards]", "shards)"), *CALLED)
    assert reasons(tmp_path, CALLED[1].replace("act(x @", "act(x.detach() @"), *CALLED) == {"gradient"}
    by_itself = CALLED[1].replace("reduce([", "sum([")
    assert reasons(tmp_path, by_itself, *CALLED) == {"shape"}
    twice = CALLED[1].replace("return", "part = reduce([x @ shards[0]])\n    return")
    assert reasons(tmp_path, twice, *CALLED) == {"shape"}
    inputs = CALLED[2].replace("make.callable(lambda parts: sum(parts))", 'make.function("sum")')
    with pytest.raises(JudgeFailed, match=r"make.count needs a make.callable"):
        graded(tmp_path, CALLED[1], CALLED[0], CALLED[1], inputs)
