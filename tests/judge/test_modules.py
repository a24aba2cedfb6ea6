"""Run programs of steps beyond plain calls: classes, modules, callables and generators."""

from __future__ import annotations

import pytest

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


@pytest.fixture
def module(tmp_path):
    return challenge(tmp_path, MODULE, MODULE_INPUTS, "Gate")


def test_a_module_is_graded_with_weights_set_from_outside(module):
    other = MODULE.replace("torch.sigmoid(self.weight) * self.proj(x)", "self.proj(x) / (1 + (-self.weight).exp())")
    report = grade(module, other)
    assert report["verdict"] == "accepted", report


@pytest.mark.parametrize(
    ("old", "new", "name", "reason"),
    [
        ("self.proj(x)", "self.proj(x).detach()", "gradients", "gradient"),
        ("torch.sigmoid(self.weight)", "torch.sigmoid(self.weight.detach())", "gradients", "gradient"),
        ("persistent=False", "persistent=True", "matches-reference", "shape"),
        ("torch.zeros(3)", "torch.zeros(3)", "", ""),
        ("nn.Parameter(torch.randn(d))", "nn.Parameter(torch.randn(d), requires_grad=False)", "matches-reference", ""),
        ("sigmoid", "tanh", "matches-reference", "values"),
    ],
)
def test_mistakes_in_a_module_are_found(module, old, new, name, reason):
    report = grade(module, MODULE.replace(old, new))
    if not name:
        assert report["verdict"] == "accepted"
        return
    assert check(report, name)["status"] == "fail"
    assert check(report, name)["reason"] == reason or not reason


CAST = """
import torch

def case(make):
    d = make.size(1, 5)
    gate = make.new("Gate", d, bias=True)
    make.cast(gate, torch.bfloat16)
    make.set(gate, {"weight": make.normal(d), "proj": make.normal(d, d), "proj.bias": make.normal(d)})
    make.method(gate, "forward", make.keep(torch.ones(2, d).bfloat16(), dtype="fixed"))
    make.read(gate, "weight")

MODULES_UNCHANGED = True
"""


def test_a_module_may_have_another_dtype_than_its_inputs(tmp_path):
    folder = challenge(tmp_path, MODULE, CAST, "Gate")
    assert grade(folder, MODULE)["verdict"] == "accepted"
    widened = MODULE.replace("self.proj(x)", "self.proj(x).float()")
    message = check(grade(folder, widened), "matches-reference")["message"]
    assert "dtype float32, expected bfloat16" in message


def test_two_instances_that_share_state_are_found(tmp_path):
    reference = """
class Counter:
    def __init__(self):
        self.seen = []

    def add(self, x):
        self.seen = [*self.seen, x.sum()]
        return sum(self.seen)
"""
    inputs = """
def case(make):
    first, second = make.new("Counter"), make.new("Counter")
    for owner in (first, second, first, second):
        make.method(owner, "add", make.normal(make.size(1, 3)))
"""
    folder = challenge(tmp_path, reference, inputs, "Counter")
    assert grade(folder, reference)["verdict"] == "accepted"
    shared = reference.replace("        self.seen = []\n", "        pass\n    seen = []\n")
    shared = shared.replace("self.seen = [*self.seen, x.sum()]", "self.seen.append(x.sum())")
    assert grade(folder, shared)["verdict"] == "rejected"


def test_a_module_built_of_others_is_no_instance_that_shares_with_them(tmp_path):
    reference = "def count(model):\n    return sum(p.numel() for p in model.parameters())\n"
    inputs = """
def case(make):
    inner = make.new("torch.nn.ModuleDict", {"layer": make.new("torch.nn.Linear", make.size(1, 3), 2)})
    make.call("count", make.new("torch.nn.ModuleDict", {"block": inner}))
"""
    assert grade(challenge(tmp_path, reference, inputs, "count"), reference)["verdict"] == "accepted"


CALLABLE = """
def apply_twice(f, x):
    return f(f(x))
"""
CALLABLE_INPUTS = """
import torch
GRADIENTS = False
def case(make):
    f = make.callable(lambda t: t * 2 + 1)
    make.count(f)
    make.call("apply_twice", f, make.normal(make.size(1, 4), grad=False))
"""


def test_a_callable_stays_in_the_judge_and_its_calls_are_counted(tmp_path):
    checks = {"required": ["loads", "matches-reference", "pure", "forbidden"]}
    folder = challenge(tmp_path, CALLABLE, CALLABLE_INPUTS, "apply_twice", **checks)
    assert grade(folder, CALLABLE)["verdict"] == "accepted"
    thrice = "def apply_twice(f, x):\n    f(x)\n    return f(f(x))\n"
    assert check(grade(folder, thrice), "matches-reference")["message"].endswith("(calls to the given function)")
    by_hand = "def apply_twice(f, x):\n    return 4 * x + 3\n"
    assert grade(folder, by_hand)["verdict"] == "rejected"
    misuse = "def apply_twice(f, x):\n    return f(x, x)\n"
    assert "TypeError" in check(grade(folder, misuse), "matches-reference")["message"]


def test_a_generator_gives_the_same_numbers_on_both_sides(tmp_path):
    reference = (
        "import torch\ndef noisy(x, generator):\n    return x + torch.rand(x.shape, generator=generator).to(x.dtype)\n"
    )
    inputs = """
def case(make):
    g = make.generator()
    x = make.normal(make.size(1, 4))
    make.call("noisy", x, g)
    make.call("noisy", x, g)
"""
    folder = challenge(tmp_path, reference, inputs, "noisy", required=["loads", "matches-reference", "pure"])
    assert grade(folder, reference)["verdict"] == "accepted"
    assert grade(folder, reference.replace(", generator=generator", ""))["verdict"] == "rejected"


def test_torchs_own_modules_can_be_arguments(tmp_path):
    reference = """
from torch import nn
class Wrapped(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base
    def forward(self, x):
        return 2 * self.base(x)
"""
    inputs = """
def case(make):
    i, o = make.size(1, 4), make.size(1, 4)
    base = make.new("torch.nn.Linear", i, o)
    make.set(base, {"weight": make.normal(o, i), "bias": make.normal(o)})
    wrapped = make.new("Wrapped", base)
    make.method(wrapped, "forward", make.normal(2, i))
"""
    folder = challenge(tmp_path, reference, inputs, "Wrapped")
    assert grade(folder, reference)["verdict"] == "accepted"
    assert grade(folder, reference.replace("2 *", "3 *"))["verdict"] == "rejected"


def test_properties_judge_what_has_no_single_answer(tmp_path):
    reference = "import torch\ndef shuffle(x):\n    return x[torch.randperm(len(x))]\n"
    inputs = """
import torch
def case(make):
    x = make.spread(make.size(2, 9), grad=False)
    make.compare(make.call("shuffle", x), False)
    def holds(outcomes):
        mine = outcomes[0].sort().values
        return None if torch.equal(mine, x.sort().values) else ("not a permutation of x", "不是 x 的排列")
    make.property(holds)
"""
    folder = challenge(tmp_path, reference, inputs, "shuffle", required=["loads", "matches-reference"])
    assert grade(folder, reference)["verdict"] == "accepted"
    report = grade(folder, "def shuffle(x):\n    return x * 0\n")
    failed = check(report, "matches-reference")
    assert (failed["message"], failed["message_zh"]) == ("not a permutation of x", "不是 x 的排列")
    nothing = check(grade(folder, "def shuffle(x):\n    return None\n"), "matches-reference")
    assert nothing["status"] == "fail" and nothing["message_zh"].startswith("结果的结构不符合要求（AttributeError")


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
    pair = (
        "import torch\ndef pair(x):\n    wide = x.float() if x.element_size() < 4 else x\n    y = wide.exp()\n"
        "    return y.to(x.dtype), y.sum()\n"
    )
    folder = challenge(tmp_path, pair, LOOSE_INPUTS, "pair")
    assert grade(folder, pair)["verdict"] == "accepted"
    for sound in ("y.sum().to(x.dtype)", "y.sum().float()"):
        report = grade(folder, pair.replace("y.sum()", sound))
        assert report["verdict"] == "accepted", (sound, report)
    half = grade(folder, pair.replace("y.sum()", "y.sum().half()"))
    assert check(half, "matches-reference")["reason"] == "dtype"
    rough = grade(folder, pair.replace("y.sum()", "y.sum().bfloat16().to(x.dtype)"))
    assert check(rough, "matches-reference")["status"] == "fail"
    assert grade(folder, pair.replace("return y.to(x.dtype)", "return y"))["verdict"] == "rejected"


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        ("return self.proj(x)", "accepted"),
        ("y = self.proj(x)\n        self.last = y.detach()\n        return y", "rejected"),
        ("self.steps.add_(1)\n        return self.proj(x)", "rejected"),
        ("self.seen.append(len(x))\n        return self.proj(x)", "rejected"),
        ("self.proj.called = True\n        return self.proj(x)", "rejected"),
    ],
)
def test_a_call_that_leaves_something_in_its_module_is_found_where_it_must_not(tmp_path, lines, verdict):
    reference = MODULE.replace("torch.sigmoid(self.weight) * self.proj(x)", "self.proj(x)")
    inputs = "MODULES_UNCHANGED = True\n" + MODULE_INPUTS
    folder = challenge(tmp_path, reference, inputs, "Gate", required=["loads", "pure"])
    source = reference.replace("return self.proj(x)", lines).replace(
        "self.proj = ", "self.seen = []\n        self.proj = "
    )
    report = grade(folder, source)
    assert report["verdict"] == verdict, report
    if verdict == "rejected":
        assert check(report, "pure")["message"] == "a call to forward leaves state in its module"


PARAMETRISED = """
from torch import nn
from torch.nn.utils import parametrize

class Doubled(nn.Module):
    def forward(self, weight):
        return 2 * weight

def double(layer):
    parametrize.register_parametrization(layer, "weight", Doubled())
"""
PARAMETRISED_INPUTS = """
def case(make):
    width = make.size(1, 3)
    layer = make.new("torch.nn.Linear", 2, width)
    make.set(layer, {"weight": make.normal(width, 2, grad=False)})
    make.call("double", layer)
    make.read(layer, "weight")
"""


def test_a_call_may_give_a_layer_another_class(tmp_path):
    folder = challenge(tmp_path, PARAMETRISED, PARAMETRISED_INPUTS, "double", required=["loads", "pure", "forbidden"])
    assert grade(folder, PARAMETRISED)["verdict"] == "accepted"
