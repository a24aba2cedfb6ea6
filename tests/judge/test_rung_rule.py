"""Assign checks to the whiteboard or production rung by one rule; the first rung is required before the second."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.challenge import Facts
from attncli.domain.checks import CHECK_NAMES, CHECKS
from attncli.i18n import Localised
from attncli.judge.case import Case, Input, Profile
from attncli.judge.exam import rung_of, rung_of_finding
from attncli.judge.submission import FailedCase, gravest_finding
from in_process import INPUTS, SPEC, check, grade, write_challenge

DTYPES = st.sampled_from([torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool])
WIDE = (torch.float64, torch.float32)


def case(profile: torch.dtype, *inputs: torch.dtype) -> Case:
    return Case(Profile("some", profile), inputs=[Input(torch.zeros(1, dtype=dtype), False, False) for dtype in inputs])


@given(check=st.sampled_from(CHECK_NAMES), profile=DTYPES, inputs=st.lists(DTYPES, max_size=3), named=st.booleans())
def test_the_rung_follows_from_check_dtypes_and_name(check, profile, inputs, named):
    said = Facts(hardened={"edge_far"} if named else set())
    in_16_bits = any(dtype.itemsize == 2 for dtype in (profile, *inputs))
    due = "hardened" if CHECKS[check].rung == "hardened" or named or in_16_bits else "solved"
    assert rung_of(case(profile, *inputs), check, "edge_far", said) == due
    found = rung_of(case(profile, *inputs), check, "edge_far", Facts(sixteen_bits="technique"))
    assert (found == "hardened") == (CHECKS[check].rung == "hardened")


def test_shared_memory_and_lost_digits_of_float64_belong_to_production():
    for reason, rung in {"values": "solved", "mutated": "solved", "aliased": "hardened", "gradient": "solved"}.items():
        finding = FailedCase(case(torch.float32), reason, Localised("", ""))
        assert rung_of_finding(finding, "solved") == rung and rung_of_finding(finding, "hardened") == "hardened"
    finding = FailedCase(case(torch.float64), "values", Localised("", ""), digits_only=True)
    assert rung_of_finding(finding, "solved") == "hardened"


def test_what_breaks_the_first_rung_is_told_before_what_breaks_the_second():
    digits = FailedCase(case(torch.float64), "values", Localised("", ""), digits_only=True)
    light = [digits, FailedCase(case(torch.float64), "aliased", Localised("", ""))]
    grave = FailedCase(case(torch.float64), "values", Localised("", ""))
    assert gravest_finding([None, *light, grave]) is grave
    assert gravest_finding([None, *light]) is light[0]
    assert gravest_finding([None]) is None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_challenge(tmp_path_factory.mktemp("rungs"))


def body(line: str, before: str = "") -> str:
    return f"import torch\n{before}\ndef scaled_sum(x, weight, scale=2.0):\n    {line}\n"


RIGHT = "return (x * weight).sum(-1) * scale"
FLOAT32 = "return (x.float() * weight.float()).sum(-1) * scale if x.dtype != torch.float64 else " + RIGHT[7:]
ON_THE_CPU = "return (x * torch.ones(x.shape[-1], dtype=x.dtype) * weight).sum(-1) * scale"
ONE_BUFFER = (
    "y = (x * weight).sum(-1) * scale\n"
    "    out = kept.setdefault((x.shape, x.dtype), torch.empty(x.shape[:-1], dtype=x.dtype))\n"
    "    return y if y.requires_grad else out.copy_(y)"
)
IN_FLOAT32 = "return ((x.float() * weight.float()).sum(-1) * scale).to(x.dtype)"
LOST = "float64 lost digits ("


@pytest.mark.slow
def test_what_is_reached_and_accepted(folder):
    for source, rung, failing in (
        (body(RIGHT), "hardened", None),
        (body(FLOAT32), "solved", "low-precision"),
        (body(ON_THE_CPU), "solved", "device"),
        (body("return (x * weight).sum(-1)"), "none", "matches-reference"),
        (body("x.mul_(1); return (x * weight).sum(-1) * scale"), "none", "gradients"),
        (body("return (x.detach() * weight).sum(-1) * scale"), "none", "gradients"),
        ("def scaled_sum(x):\n    return x\n", "none", "loads"),
    ):
        asked = {"none": [], "solved": ["solved"], "hardened": ["solved", "hardened"]}[rung]
        for wanted in ("solved", "hardened"):
            report = grade(folder, source, rung=wanted)
            assert report["rung"] == rung
            assert report["verdict"] == ("accepted" if wanted in asked else "rejected")
        failed = [item for item in report["checks"] if item["status"] == "fail"]
        assert (failed[0]["name"] if failed else None) == failing
        assert {item["rung"] for item in failed} <= {"hardened" if rung == "solved" else "solved"}
        if failing == "matches-reference":
            said = {"message": "checked once the file is solved", "message_zh": "先解出来，再检查这一项"}
            for name in ("low-precision", "layout", "device"):
                assert check(report, name).items() >= {"status": "skipped", **said}.items()


def test_what_is_computed_in_float32_is_solved_and_says_so_where_float64_is_asked_for(folder):
    report = grade(folder, body(IN_FLOAT32))
    assert report["rung"] == "solved"
    for name in ("matches-reference", "edge-cases"):
        found = check(report, name)
        assert found["rung"] == "hardened" and LOST in found["message"] and "float64 的精度" in found["message_zh"]
    assert check(report, "low-precision")["status"] == "pass"


def test_more_than_digits_is_not_solved(folder):
    for line in (
        IN_FLOAT32.replace(".to(x.dtype)", ""),
        IN_FLOAT32.replace("* scale)", "* scale * (1 + 1e-4 * (x.dtype == torch.float64)))"),
        IN_FLOAT32.replace("x.float()", "(x.detach() if x.dtype == torch.float64 else x).float()"),
        "if x.dtype == torch.float64: x.data.mul_(2)\n    " + IN_FLOAT32,
    ):
        report = grade(folder, body(line))
        assert report["rung"] == "none", line
        assert not any(LOST in item.get("message", "") for item in report["checks"])


def test_a_shared_result_is_told_after_all_that_weighs_more(tmp_path):
    required = ["loads", "matches-reference", "edge-cases", "pure"]
    folder = write_challenge(tmp_path, {"required": required})
    report = grade(folder, body(ONE_BUFFER, "kept = {}"))
    assert report["rung"] == "solved"
    assert {check(report, name).get("reason") for name in ("edge-cases", "pure")} <= {"aliased", None}
    assert check(report, "pure")["rung"] == "hardened"
    wrong = grade(folder, body(ONE_BUFFER.replace("* scale", "* 2.0"), "kept = {}"))
    assert wrong["rung"] == "none" and check(wrong, "matches-reference")["reason"] == "values"


EDGES = '''
import torch
HARDENED = {"edge_far"}

def case(make):
    make.call("scaled_sum", make.normal(2, make.size(1, 3)), make.normal(1))

def edge_sixteen_bits(make):
    """Sixteen bits."""
    x = make.keep(torch.full((2, 3), 0.1).half(), dtype="fixed")
    make.call("scaled_sum", x, make.keep(torch.ones(1).half(), dtype="fixed"))

def edge_far(make):
    """Far away."""
    make.call("scaled_sum", make.normal(1, 2, scale=1e6), make.normal(1))

def edge_one(make):
    """One entry."""
    make.call("scaled_sum", make.normal(1, 1), make.normal(1))
'''


def test_faults_of_the_technique_lead_whatever_the_order_of_the_cases(tmp_path):
    spec = {"required": ["loads", "edge-cases"], "forbidden": []}
    folder = write_challenge(tmp_path, {**SPEC, **spec}, inputs=EDGES, wrong={})
    for off, rung, label in (
        ("0", "hardened", ""),
        ("(x.dtype == torch.float16)", "solved", "Sixteen bits"),
        ("(x.abs().max() > 1e4)", "solved", "Far away"),
        ("(x.numel() == 1 or x.dtype == torch.float16)", "none", "One entry"),
    ):
        report = grade(folder, body(f"return (x * weight).sum(-1) * scale + {off}"))
        assert report["rung"] == rung
        assert check(report, "edge-cases").get("message", "").startswith(label)


COSTLY = """
CONTRACTS = [{
    "check": "work", "measure": "flops", "sizes": (2, 4, 8), "growth_at_most": 9.0, "bound": lambda n: 1000.0 * n,
    "case": lambda make, n: make.call("scaled_sum", make.normal(n, 4), make.normal(4)),
    "says": {"en": "few", "zh": "少"},
}]
"""


def test_what_is_wrong_in_16_bits_is_told_once_and_not_again_as_a_cost(tmp_path):
    required = ["loads", "matches-reference", "low-precision", "work"]
    folder = write_challenge(tmp_path, {"required": required}, inputs=INPUTS + COSTLY)
    report = grade(folder, body("y = (x * weight).sum(-1) * scale\n    return y + (y.element_size() == 2)"))
    assert report["rung"] == "solved"
    assert check(report, "low-precision")["status"] == "fail"
    assert (check(report, "work")["status"], check(report, "work")["rung"]) == ("pass", "solved")


def test_what_could_not_be_asked_behind_a_badge_that_ended_the_file_is_not_proved(tmp_path):
    spec = {"required": ["loads", "matches-reference", "layout", "device"], "badges": ["low-precision"]}
    folder = write_challenge(tmp_path, spec)
    for ends, rung in (("raise MemoryError", "solved"), ("raise ValueError", "hardened")):
        report = grade(folder, body(f"if x.dtype == torch.bfloat16: {ends}\n    {RIGHT}"))
        assert check(report, "low-precision")["status"] == "fail"
        assert report["rung"] == rung


def test_a_shared_result_does_not_hide_what_is_remembered_between_calls(tmp_path):
    folder = write_challenge(tmp_path, {"required": ["loads", "pure"]})
    drifts = ONE_BUFFER.replace("* scale", "* scale + 1e-3 * (len(seen) > 12)")
    source = body(f"seen.append(1)\n    {drifts}", "kept, seen = {}, []")
    assert grade(folder, source)["rung"] == "none"
    assert grade(folder, source.replace("len(seen) > 12", "len(seen) > 10**6"))["rung"] == "solved"
