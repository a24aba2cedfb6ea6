"""Check bit-exact results, statistics over many calls, read data, nested modules, and forbidden dtypes."""

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


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("-x", ""),
        ("-x + 0.0", "values"),
        ("-x * 1.0000001", "values"),
        ("torch.where(x.isnan(), 0.0, -x)", "values"),
        ("(-x).nan_to_num(nan=float('nan'), neginf=-3e38)", "values"),
        ("-(x / 0.0) * 0.0 - x", "not-finite"),
    ],
)
def test_exact_results_count_every_bit_and_the_sign_of_zero(tmp_path, body, reason):
    folder = challenge(tmp_path, NEGATE, NEGATE_INPUTS, "negate", ["loads", "matches-reference"])
    report = grade(folder, f"import torch\ndef negate(x):\n    return {body}\n")
    assert check(report, "matches-reference").get("reason", "") == reason, report


COIN = "import torch\ndef toss(p, generator):\n    return int(torch.rand((), generator=generator) < p), 'side'\n"
COIN_INPUTS = """
def case(make):
    make.call("toss", 1.0, make.generator())
def random(make):
    counts = make.tally(2000, "toss", 0.3, make.generator())
    def holds(outcomes):
        tally = outcomes[counts.step]
        if set(tally) != {(0, "side"), (1, "side")} or sum(tally.values()) != 2000:
            return "no coin", "不是硬币"
        return None if abs(tally[1, "side"] - 600) < 120 else ("an unfair coin", "硬币不公平")
    make.property(holds)
"""


def test_a_tally_counts_the_results_of_many_calls(tmp_path):
    folder = challenge(tmp_path, COIN, COIN_INPUTS, "toss", ["loads", "matches-reference", "random"])
    assert grade(folder, COIN)["verdict"] == "accepted"
    failed = check(grade(folder, COIN.replace("< p", "< max(p, 0.5)")), "random")
    assert (failed["message"], failed["message_zh"]) == ("an unfair coin", "硬币不公平")
    constant = "def toss(p, generator):\n    return 1, 'side'\n"
    assert check(grade(folder, constant), "random")["message"] == "no coin"
    tensors = COIN.replace("int(torch", "(torch").replace(", 'side'", "").replace("< p)", "< p)")
    assert grade(folder, tensors)["verdict"] == "rejected"


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


def test_what_was_read_stays_as_it_was_read(tmp_path):
    folder = challenge(tmp_path, HOLDER, HOLDER_INPUTS, "Holder", ["loads", "matches-reference", "pure"])
    assert grade(folder, HOLDER)["verdict"] == "accepted"
    assert grade(folder, HOLDER.replace("+= 1", "+= 2"))["verdict"] == "rejected"
    assert grade(folder, HOLDER.replace("ones_like(base.weight)", "zeros_like(base.weight)"))["verdict"] == "rejected"


def test_a_module_around_a_module_must_take_its_dtype_from_it(tmp_path):
    folder = challenge(tmp_path, HOLDER, HOLDER_INPUTS, "Holder", ["loads", "matches-reference"])
    careless = HOLDER.replace("ones_like(base.weight)", "ones(2, 3)")
    assert check(grade(folder, careless), "matches-reference")["status"] == "fail"


TWICE = "def twice(x):\n    return x + x\n"
TWICE_INPUTS = "def case(make):\n    make.call('twice', make.normal(make.size(1, 3)))\n"


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_a_forbidden_dtype_is_seen_however_it_is_named(tmp_path, name):
    required = ["loads", "forbidden"]
    folder = challenge(tmp_path, TWICE, TWICE_INPUTS, "twice", required, forbidden=["bfloat16", "float16", "half"])
    assert grade(folder, TWICE)["verdict"] == "accepted"
    dtype = f"getattr(torch, '{name[:3]}' + '{name[3:]}')"
    hidden = f"import torch\ndef twice(x):\n    return 2 * x.to({dtype}).float()\n"
    assert check(grade(folder, hidden), "forbidden")["reason"] == "forbidden"


SORTED = "def tops(values, k):\n    return sorted(values)[-k:]\n"
SORTED_INPUTS = "def case(make):\n    make.call('tops', make.integers(0, 50, 5).tolist(), 2)\n"


def test_reordering_a_plain_list_is_a_change(tmp_path):
    folder = challenge(tmp_path, SORTED, SORTED_INPUTS, "tops", ["loads", "matches-reference", "pure"])
    assert grade(folder, SORTED)["verdict"] == "accepted"
    careless = "def tops(values, k):\n    values.sort()\n    return values[-k:]\n"
    assert check(grade(folder, careless), "pure")["reason"] == "mutated"


ROWS = "def first(p):\n    return int((p.cumsum(0) > 0.5).nonzero()[0])\n"
ROWS_INPUTS = """
import torch
GRADIENTS = False
def case(make):
    make.call("first", make.keep(torch.softmax(torch.randn(3, generator=make.random), 0)))
"""


def test_values_that_obey_a_law_are_not_made_simpler(tmp_path):
    folder = challenge(tmp_path, ROWS, ROWS_INPUTS, "first", ["loads", "matches-reference"])
    report = grade(folder, ROWS.replace("return int", "return 1 + int"))
    shown = check(report, "matches-reference")["counterexample"]["args"]["p"]["values"]
    assert sum(shown) == pytest.approx(1.0, abs=1e-5)
