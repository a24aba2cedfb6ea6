"""Judge growth over sizes against the reference or a bound, and project it to a real length."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attncli.judge.growth import MEASURES, extrapolate, growth_told
from attncli.sandbox.tracing import CostTrace
from in_process import check, grade, write_challenge

REFERENCE = "def total(x):\n    return x.cumsum(0)[-1]\n"
INPUTS = """
def case(make):
    make.call("total", make.normal(make.size(1, 5), 2))

def longer(make, size):
    make.call("total", make.normal(size, 2))

_SAYS = {"en": "it grows too fast", "zh": "增长过快"}
CONTRACTS = [
    {"check": "work", "measure": "flops", "case": longer, "sizes": (64, 128, 256), "growth_at_most": 3.0,
     "says": _SAYS},
    {"check": "memory", "measure": "largest", "case": longer, "sizes": (64, 128, 256), "growth_at_most": 3.0,
     "says": _SAYS, "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"}},
    {"check": "work", "measure": "calls", "case": longer, "sizes": (8, 16, 32), "growth_at_most": 1.0,
     "bound": lambda size: 10, "says": _SAYS},
]
"""


def challenge(root, required, inputs=INPUTS, reference=REFERENCE):
    spec = {"entry": ["total"], "required": ["loads", *required], "forbidden": []}
    return write_challenge(root, spec, reference, inputs, {})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return challenge(tmp_path_factory.mktemp("growth"), ["matches-reference", "work", "memory"])


def test_linear_ways_are_accepted_whatever_they_call_with_their_figures(folder):
    for line in ("x.sum(0)", "x.mean(0) * len(x)", "x.mT @ x.new_ones(len(x))", "x.flip(0).cumsum(0)[-1]"):
        report = grade(folder, f"def total(x):\n    return {line}\n")
        assert report["verdict"] == "accepted", report
    (growth,) = check(report, "memory")["growth"]
    assert growth["holds"] is True and "real" not in growth
    assert "grows too fast" not in check(report, "memory")["message"]


def test_quadratic_work_and_memory_are_rejected_with_a_projection(folder):
    source = "import torch\ndef total(x):\n    return (torch.ones(len(x), len(x), dtype=x.dtype) @ x)[0]\n"
    report = grade(folder, source)
    work, memory = (check(report, name) for name in ("work", "memory"))
    assert work["reason"] == memory["reason"] == "growth" and "it grows too fast" in work["message"]
    assert memory["message"].endswith("; at 64k context that is 16.0 GiB")
    assert memory["message_zh"].startswith("增长过快：规模 64 → 128 → 256 时，")
    assert memory["message_zh"].endswith("；64k 上下文时为 16.0 GiB")
    (growth,) = memory["growth"]
    assert (growth["real"]["bytes"], growth["holds"]) == (4 * 65_536**2, False)
    assert growth["got"] == [64**2, 128**2, 256**2]
    assert "real" not in work["growth"][0], "work is not told in bytes"


def test_the_real_size_is_measured_and_extrapolated_where_code_looks_at_values(folder):
    bends = "import torch\ndef total(x):\n    m = len(x) if len(x) < 1000 else 10 * len(x)\n"
    report = grade(folder, bends + "    return (x.new_ones(m, len(x)) @ x)[0]\n")
    assert check(report, "memory")["growth"][0]["real"]["bytes"] == 10 * 4 * 65_536**2
    looks = "import torch\ndef total(x):\n    if float(x.sum()) != 7:\n"
    report = grade(folder, looks + "        return (x.new_ones(len(x), len(x)) @ x)[0]\n")
    assert check(report, "memory")["growth"][0]["real"]["bytes"] == pytest.approx(4 * 65_536**2)


def test_a_loop_over_the_length_is_seen_by_its_calls(folder):
    source = "def total(x):\n    t = x[0]\n    for row in x[1:]:\n        t = t + row\n    return t\n"
    work = check(grade(folder, source), "work")
    assert "torch calls" in work["message"]
    assert work["growth"][0]["got"] == [7, 15, 31], "one addition a row; views are no calls"


def test_another_way_in_sixteen_bits_is_measured_where_these_are_asked_for(tmp_path):
    in_16_bits = "return (torch.ones(len(x), len(x), dtype=x.dtype) @ x)[0]"
    source = f"import torch\ndef total(x):\n    if x.dtype == torch.bfloat16: {in_16_bits}\n    return x.sum(0)\n"
    assert grade(challenge(tmp_path / "wide", ["memory"]), source)["verdict"] == "accepted"
    report = grade(challenge(tmp_path / "narrow", ["low-precision", "memory"]), source)
    found = check(report, "memory")
    (growth,) = found["growth"]
    assert (report["verdict"], growth["dtype"], growth["got"]) == ("rejected", "bfloat16", [64**2, 128**2])
    assert found["message"].startswith("it grows too fast: in bfloat16, 4,096 → 16,384 elements")
    assert found["message_zh"].startswith("增长过快：bfloat16 下，规模 64 → 128 时")


def test_every_size_counts(tmp_path):
    folder = challenge(tmp_path, ["work"], INPUTS.replace("(64, 128, 256)", "(8, 16, 32, 64, 128)"))
    late = "def total(x):\n    return (x.new_ones(len(x), len(x)) @ x)[0] if len(x) == 128 else x.sum(0)\n"
    assert check(grade(folder, late), "work")["reason"] == "growth"


ROOM = """
CONTRACTS = [{"check": "memory", "measure": "returned", "case": longer, "sizes": (8, 16), "growth_at_most": 1.05,
              "says": {"en": "keeps more", "zh": "占得更多"}, "from_nothing": True}]
"""


def test_room_to_spare_of_any_constant_size_is_seen_where_the_first_size_counts(tmp_path):
    inputs = INPUTS[: INPUTS.index("_SAYS")] + ROOM
    folder = challenge(tmp_path, ["memory"], inputs, "def total(x):\n    return x.cumsum(0)\n")
    for spare, verdict in ((0, "accepted"), (64, "rejected")):
        line = f"x.new_empty(len(x) + {spare}, 2)[: len(x)].copy_(x.cumsum(0))"
        assert grade(folder, f"def total(x):\n    return {line}\n")["verdict"] == verdict


@given(st.tuples(*[st.integers(0, 50)] * 3), st.integers(1, 100_000))
def test_a_quadratic_is_extrapolated_exactly(coefficients, size):
    a, b, c = coefficients
    *values, due = (float(a + b * n + c * n * n) for n in (16, 64, 200, size))
    assert extrapolate((16, 64, 200), values, size) == pytest.approx(due, rel=1e-6, abs=1e-3)


def test_costs_count_for_nothing_where_the_answer_is_wrong(folder):
    """The answer is right at every drawn size, and cheap but wrong at the measured sizes."""
    for wrong in ("x.new_zeros(2)", "x[:1].sum(0)", "x.sum(0) * 1.01", "x.sum(0).double()"):
        report = grade(folder, f"def total(x):\n    if len(x) > 5:\n        return {wrong}\n    return x.sum(0)\n")
        assert report["verdict"] == "rejected" and check(report, "matches-reference")["status"] == "pass", wrong
        work = check(report, "work")
        assert work["reason"] in ("values", "dtype")
        assert work["message"].startswith("the result is wrong at size 64, where its cost is measured: ")
        assert work["message_zh"].startswith("测量开销时（规模 64）结果不对：")


BROKEN = {
    "holds": False,
    "says": {"en": "the largest tensor grows with T²", "zh": "最大的张量随 T² 增长"},
    "measure": "largest",
    "sizes": [32, 96],
    "got": [1024.0, 9216.0],
    "due": [320.0, 960.0],
    "real": {"size": 65536, "en": "64k context", "zh": "64k 上下文", "bytes": 3 * 2.0**20},
}


def test_figures_of_growth_are_told_in_both_languages():
    told = growth_told([BROKEN])
    figures = "elements in the largest tensor at sizes 32 → 96; expected 320 → 960"
    assert told.en == (f"the largest tensor grows with T²: 1,024 → 9,216 {figures}; at 64k context that is 3.0 MiB")
    assert told.zh.endswith("最大张量的元素数为 1,024 → 9,216；应为 320 → 960；64k 上下文时为 3.0 MiB")
    for measure in MEASURES:
        kept = {**BROKEN, "holds": True, "measure": measure, "real": None}
        assert growth_told([kept]).en == f"1,024 → 9,216 {MEASURES[measure].en} at sizes 32 → 96; expected 320 → 960"
    said = growth_told([kept, kept])
    assert said.en.count("; expected") == said.zh.count("；应为") == 2


def test_attention_of_torch_counts_its_two_products() -> None:
    attention = getattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu", None)
    if attention is None:
        pytest.skip("this torch has no flash attention for the CPU")
    q, k, v = torch.zeros(2, 3, 5, 8), torch.zeros(2, 3, 7, 8), torch.zeros(2, 3, 7, 8)
    with CostTrace() as seen:
        attention(q, k, v)
    assert seen.figures()["flops"] == 2 * 6 * 5 * 7 * (8 + 8)
