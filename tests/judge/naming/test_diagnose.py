"""A mistake is named where outputs prove it, to the last digit, and looking for it costs the judge little memory."""

from __future__ import annotations

import resource
import sys

import pytest
import torch

from attncli.sandbox.limits import memory_at_most
from in_process import grade, write_challenge

WEIGHTED = """
import torch
def average(x, weight):
    wide = torch.promote_types(x.dtype, torch.float32)
    share = {share}
    return (x.to(wide) * share.to(wide)).sum(-1).to(x.dtype)
"""
SOUND = WEIGHTED.format(share="weight.to(wide) / weight.to(wide).sum()")
SUM_ROUNDED = WEIGHTED.format(share="weight.to(wide) / weight.to(wide).sum().to(x.dtype)")
SHARE_ROUNDED = WEIGHTED.format(share="(weight.to(wide) / weight.to(wide).sum()).to(x.dtype)")
INPUTS = """
SIXTEEN_BITS = 'float32'
def case(make):
    D = make.size(2, 7)
    make.call("average", make.normal(make.size(1, 4), D), make.uniform(D, low=0.1, high=0.9))
"""


@pytest.mark.parametrize("name", ["sum-rounded", "share-rounded"])
def test_two_mistakes_of_the_last_digit_are_told_apart(tmp_path, name):
    wrong = {"sum-rounded": SUM_ROUNDED, "share-rounded": SHARE_ROUNDED}
    spec = {"entry": ["average"], "required": ["loads", "low-precision"], "forbidden": []}
    folder = write_challenge(tmp_path, spec, SOUND, INPUTS, wrong)
    assert grade(folder, SOUND)["verdict"] == "accepted"
    report = grade(folder, wrong[name].replace("(x.to(wide) *", "(1 * x.to(wide) *"))
    assert report["verdict"] == "rejected"
    assert [found["wrong"] for found in report["diagnosis"]] == [name]


HUNGRY = '"""Takes {mib} MiB on its way."""\nimport torch\ndef scaled_sum(x, weight, scale=2.0):\n'
HUNGRY += "    torch.empty({mib} * 2**20, dtype=torch.uint8)\n    return (x * weight).sum(-1)\n"


@pytest.mark.skipif(sys.platform != "linux", reason="the judge runs on Linux")
def test_a_wrong_solution_that_takes_much_memory_is_no_danger_to_the_judge(tmp_path):
    wrong = {"takes-little": HUNGRY.format(mib=256), "takes-much": HUNGRY.format(mib=3072)}
    report = grade(write_challenge(tmp_path, {}, wrong=wrong), HUNGRY.format(mib=0))
    assert [found["wrong"] for found in report["diagnosis"]] == ["takes-little"]


@pytest.mark.skipif(sys.platform != "linux", reason="counted as Linux counts it")
def test_the_limit_is_for_a_while_only():
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(RuntimeError, match="memory"), memory_at_most(64):
        torch.empty(2**28, dtype=torch.uint8)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert torch.empty(2**28, dtype=torch.uint8).numel() == 2**28
