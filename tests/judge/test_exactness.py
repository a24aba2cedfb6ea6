"""Check bit-exact results, read data, forbidden dtypes, gradients that cancel, opaque parts and randomness."""

from __future__ import annotations

import pytest

from in_process import check, grade, write_challenge


def challenge(root, reference, inputs, entry, required, **spec):
    return write_challenge(root, {"entry": [entry], "required": required, **spec}, reference, inputs, {})


NEGATE = "def negate(x):\n    return -x\n"
NEGATE_INPUTS = """
import torch
GRADIENTS = False
def case(make):
    x = make.keep(torch.tensor([0.0, 1.0, float("nan"), float("inf")]), dtype="fixed")
    make.exact(make.call("negate", x))
"""


def test_exact_results_count_every_bit_and_the_sign_of_zero(tmp_path):
    folder = challenge(tmp_path, NEGATE, NEGATE_INPUTS, "negate", ["loads", "matches-reference"])
    for body, reason in (
        ("-x", ""),
        ("-x + 0.0", "values"),
        ("-x * 1.0000001", "values"),
        ("torch.where(x.isnan(), 0.0, -x)", "values"),
        ("(-x).nan_to_num(nan=float('nan'), neginf=-3e38)", "values"),
        ("-(x / 0.0) * 0.0 - x", "not-finite"),
    ):
        report = grade(folder, f"import torch\ndef negate(x):\n    return {body}\n")
        assert check(report, "matches-reference").get("reason", "") == reason, report


HOLDER = """
import torch
from torch import nn
class Holder(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base
        self.extra = nn.Parameter(torch.ones_like(base.weight))
    def grow(self):
        with torch.no_grad():
            self.extra += 1
    def forward(self, x):
        return self.base(x) + x @ self.extra.T
"""
HOLDER_INPUTS = """
def case(make):
    base = make.new("torch.nn.Linear", 3, 2, bias=False)
    make.set(base, {"weight": make.normal(2, 3, grad=False)})
    holder = make.new("Holder", base)
    make.read(holder, "extra")
    make.method(holder, "grow")
    make.read(holder, "extra")
    make.method(holder, "forward", make.normal(4, 3))
"""


def test_what_was_read_stays_as_it_was_read_and_a_module_takes_its_dtype_from_the_one_inside(tmp_path):
    folder = challenge(tmp_path, HOLDER, HOLDER_INPUTS, "Holder", ["loads", "matches-reference", "pure"])
    assert grade(folder, HOLDER)["verdict"] == "accepted"
    assert grade(folder, HOLDER.replace("+= 1", "+= 2"))["verdict"] == "rejected"
    for careless in ("zeros_like(base.weight)", "ones(2, 3)"):
        report = grade(folder, HOLDER.replace("ones_like(base.weight)", careless))
        assert check(report, "matches-reference")["status"] == "fail"


def test_a_forbidden_dtype_is_seen_however_it_is_named(tmp_path):
    reference = "def twice(x):\n    return x + x\n"
    inputs = "def case(make):\n    make.call('twice', make.normal(make.size(1, 3)))\n"
    forbidden = ["bfloat16", "float16", "half"]
    folder = challenge(tmp_path, reference, inputs, "twice", ["loads", "forbidden"], forbidden=forbidden)
    assert grade(folder, reference)["verdict"] == "accepted"
    for dtype in ("getattr(torch, 'bfl' + 'oat16')", "getattr(torch, 'flo' + 'at16')"):
        hidden = f"import torch\ndef twice(x):\n    return 2 * x.to({dtype}).float()\n"
        assert check(grade(folder, hidden), "forbidden")["reason"] == "forbidden"


def test_reordering_a_plain_list_is_a_change(tmp_path):
    reference = "def tops(values, k):\n    return sorted(values)[-k:]\n"
    inputs = "def case(make):\n    make.call('tops', make.integers(0, 50, 5).tolist(), 2)\n"
    folder = challenge(tmp_path, reference, inputs, "tops", ["loads", "matches-reference", "pure"])
    assert grade(folder, reference)["verdict"] == "accepted"
    careless = "def tops(values, k):\n    values.sort()\n    return values[-k:]\n"
    assert check(grade(folder, careless), "pure")["reason"] == "mutated"


ROWS_INPUTS = """
import torch
GRADIENTS = False
def case(make):
    make.call("first", make.keep(torch.softmax(torch.randn(3, generator=make.random), 0)))
"""


def test_values_that_obey_a_law_are_not_made_simpler(tmp_path):
    reference = "def first(p):\n    return int((p.cumsum(0) > 0.5).nonzero()[0])\n"
    folder = challenge(tmp_path, reference, ROWS_INPUTS, "first", ["loads", "matches-reference"])
    report = grade(folder, reference.replace("return int", "return 1 + int"))
    shown = check(report, "matches-reference")["counterexample"]["args"]["p"]["values"]
    assert sum(shown) == pytest.approx(1.0, abs=1e-5)


LAYER_NORM = """
def layer_norm(x, gamma, beta, eps):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * gamma + beta
"""
NORM_INPUTS = """
import torch

def case(make):
    D = make.size(1, 2)
    x = make.normal(make.size(1, 3), D, mean=2.0)
    make.call("layer_norm", x, make.normal(D), make.normal(D), make.pick([1e-5, 1e-6]))
"""
TORCHS_OWN = """
import torch
def layer_norm(x, gamma, beta, eps):
    return torch.native_layer_norm(x, x.shape[-1:], gamma, beta, eps)[0]
"""


def test_rows_of_one_feature_grant_what_their_terms_round_and_no_term_that_lacks(tmp_path):
    """A gradient that cancels is judged by the size of its terms before the cancellation."""
    required = ["loads", "matches-reference", "gradients"]
    folder = challenge(tmp_path, LAYER_NORM, NORM_INPUTS, "layer_norm", required, forbidden=[])
    for stream in range(4):
        assert grade(folder, TORCHS_OWN, seed=stream, quick=True)["rung"] == "hardened"
    for find, replace in (("x - x.mean", "x - x.detach().mean"), ("(centred.square", "(centred.detach().square")):
        report = grade(folder, LAYER_NORM.replace(find, replace), quick=True)
        assert report["rung"] == "none" and check(report, "gradients")["status"] == "fail"


STEP = """
def step(x, cache):
    total = x if cache is None else cache["total"] + x
    return total * 1, {"total": total * 1}
"""
STEP_INPUTS = """
GRADIENTS = False

def case(make):
    cache, width = None, make.size(1, 3)
    for _ in range(2):
        handle = make.call("step", make.normal(width), cache)
        make.opaque(handle[1])
        cache = handle[1]
"""


def test_the_form_of_an_opaque_part_is_free(tmp_path):
    """A part that only later calls use may have any form; all other parts are judged as usual."""
    folder = challenge(tmp_path, STEP, STEP_INPUTS, "step", ["loads", "matches-reference", "pure"])
    for body, verdict in (
        ("seen = tuple(s * 1 for s in (*(cache or ()), x)); return sum(seen), seen", "accepted"),
        ("return x * 1, x * 1", "rejected"),
        ("return x * 1 if cache is None else cache + x", "rejected"),
    ):
        assert grade(folder, f"def step(x, cache):\n    {body}\n")["verdict"] == verdict
    assert grade(folder, STEP)["verdict"] == "accepted"


REFERENCE = "import torch\n" + "def draw(count, generator=None):\n    return torch.rand(count, generator=generator)\n"
INPUTS = """
import torch
GRADIENTS = False

def case(make):
    generator = make.generator() if make.flag() else None
    make.compare(make.call("draw", make.size(4, 9), generator), False)
"""
REPEATED = f"""{INPUTS}
def edge_global(make):
    'the global generator begins anew'
    handles = []
    for _ in range(2):
        make.manual_seed(5)
        handles.append(make.call("draw", 8))
        make.compare(handles[-1], False)
    make.compare(make.call("draw", 8), False)
    first, second = (handle.step for handle in handles)
    make.property(lambda o: None if torch.equal(o[first], o[second]) else ("not the same draw", "抽到的不一样"))
"""
PRIVATE = REFERENCE.replace(
    "return", "if generator is None:\n        generator = torch.Generator()\n        generator.seed()\n    return"
)


def test_the_generators_are_no_impurity_but_randomness_from_elsewhere_and_seeding_the_global_one_are(tmp_path):
    required = ["loads", "edge-cases", "pure"]
    once, repeated = (
        challenge(tmp_path / name, REFERENCE, inputs, "draw", required, forbidden=[])
        for name, inputs in (("once", INPUTS), ("repeated", REPEATED))
    )
    assert grade(once, REFERENCE)["verdict"] == grade(repeated, REFERENCE)["verdict"] == "accepted"
    assert check(grade(once, PRIVATE), "pure")["reason"] == "nondeterministic"
    failed = check(grade(repeated, PRIVATE), "edge-cases")
    assert "not the same draw" in failed["message"]
    steps = [step["call"] for step in failed["counterexample"]["calls"]]
    assert steps == ["manual_seed", "draw", "manual_seed", "draw", "draw"]
    seeds = REFERENCE.replace("return", "torch.manual_seed(6)\n    return")
    assert "seeds torch's global generator" in check(grade(repeated, seeds), "edge-cases")["message"]
