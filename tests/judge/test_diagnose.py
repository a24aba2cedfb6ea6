"""Diagnose a mistake only if outputs prove it, to the last digit, at little memory cost."""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from attncli.judge.challenge import Folder
from attncli.judge.diagnose import most_like
from attncli.sandbox.namespaces import memory_at_most
from in_process import grade, write_challenge

pytestmark = pytest.mark.usefixtures("one_thread")

WEIGHTED = '''
"""Rounds too early.

rung: hardened
"""
import torch
def average(x, weight):
    wide = torch.promote_types(x.dtype, torch.float32)
    share = {share}
    return (x.to(wide) * share.to(wide)).sum(-1).to(x.dtype)
'''
SOUND = WEIGHTED.format(share="weight.to(wide) / weight.to(wide).sum()")
SUM_ROUNDED = WEIGHTED.format(share="weight.to(wide) / weight.to(wide).sum().to(x.dtype)")
SHARE_ROUNDED = WEIGHTED.format(share="(weight.to(wide) / weight.to(wide).sum()).to(x.dtype)")
INPUTS = """
SIXTEEN_BITS = 'float32'
def case(make):
    D = make.size(2, 7)
    make.call("average", make.normal(make.size(1, 4), D), make.uniform(D, low=0.1, high=0.9))
"""


def named(folder, source: str, **asked) -> list[str]:
    return [found["wrong"] for found in grade(folder, source, **asked)["diagnosis"]]


def test_two_mistakes_of_the_last_digit_are_told_apart(tmp_path):
    wrong = {"sum-rounded": SUM_ROUNDED, "share-rounded": SHARE_ROUNDED}
    spec = {"entry": ["average"], "required": ["loads", "low-precision"], "forbidden": []}
    folder = write_challenge(tmp_path, spec, SOUND, INPUTS, wrong)
    assert grade(folder, SOUND)["verdict"] == "accepted"
    for name, source in wrong.items():
        assert named(folder, source.replace("(x.to(wide) *", "(1 * x.to(wide) *")) == [name]


HALF = WEIGHTED.format(share="weight.to(wide) / weight.to(wide).sum()").replace(
    "wide = torch.promote_types(x.dtype, torch.float32)", "wide = x.dtype"
)


def test_a_mistake_of_the_second_rung_alone_is_not_taken_for_one_of_the_first(tmp_path):
    """Both compute in 16 bits, where the known mistake's other error does not show."""
    other = HALF.replace("hardened", "solved").replace(
        "def average(x, weight):", "def average(x, weight):\n    if x.dtype.itemsize > 2: return 2 * x.sum(-1)"
    )
    spec = {"entry": ["average"], "required": ["loads", "matches-reference", "low-precision"], "forbidden": []}
    folder = write_challenge(tmp_path, spec, SOUND, INPUTS, {"half": HALF, "other": other})
    report = grade(folder, HALF.replace("(x.to(wide) *", "(1 * x.to(wide) *"))
    assert report["rung"] == "solved"
    assert [found["wrong"] for found in report["diagnosis"]] == ["half"]


DRAWN = """
import torch
def pick(scores, generator):
    best = (scores == scores.amax()).nonzero()[:, 0]
    return int(best[{index}])
"""
RANDOM = DRAWN.format(index="torch.randint(len(best), (), generator=generator)")
TIES = """
import torch
def case(make):
    scores = make.size(2, 4)
    make.call("pick", make.keep(torch.tensor([1.0, 2.0, 2.0][: scores] + [0.0])), make.generator())
"""


def test_a_random_answer_that_is_right_by_chance_is_not_taken_for_a_rule(tmp_path):
    spec = {"entry": ["pick"], "required": ["loads", "matches-reference"], "forbidden": []}
    known = {"highest": DRAWN.format(index=-1)}
    folder = write_challenge(tmp_path, spec, DRAWN.format(index=0), TIES, known)
    assert named(folder, known["highest"]) == ["highest"]
    assert [named(folder, RANDOM, seed=stream) for stream in range(4)] == [[]] * 4


ROUNDED = """
import torch
def lower(x):
    return torch.{function}(x)
def upper(x):
    return -torch.{other}(-x)
"""
HALVES = """
import torch
def case(make):
    x = make.normal(make.size(2, 6), 4)
    make.call("lower", x), make.call("upper", x)
"""


def test_a_mistake_of_two_functions_is_named_where_one_of_them_has_it(tmp_path):
    spec = {"entry": ["lower", "upper"], "required": ["loads", "matches-reference"], "forbidden": []}
    known = {"nearest": ROUNDED.format(function="round", other="round")}
    folder = write_challenge(tmp_path, spec, ROUNDED.format(function="floor", other="floor"), HALVES, known)
    assert named(folder, ROUNDED.format(function="round", other="floor")) == ["nearest"]


SPLIT = """
import torch
def halves(total):
    part = {part}
    return part, total - part
"""
JUDGED = """
def case(make):
    total = make.normal(make.size(1, 5), 3)
    def holds(got):
        wrong = (got[0] + got[1] - total).abs() > 1e-4 * total.abs()
        return ("wrong", "错") if bool(wrong.any()) else None
    make.judge(holds, make.call("halves", total))
"""


def test_results_that_a_property_judges_are_compared_as_well(tmp_path):
    """A number may be split in any way, but the parts must add up."""
    spec = {"entry": ["halves"], "required": ["loads", "matches-reference"], "forbidden": []}
    short = SPLIT.replace("return part, total - part", "return part, {rest}")
    known = {
        "doubled": short.format(part="total / 2", rest="total"),
        "nothing": short.format(part="total", rest="total"),
    }
    folder = write_challenge(tmp_path, spec, SPLIT.format(part="total / 4"), JUDGED, known)
    assert grade(folder, SPLIT.format(part="total / 3"))["verdict"] == "accepted"
    assert named(folder, short.format(part="0.5 * total", rest="1.0 * total")) == ["doubled"]
    assert named(folder, short.format(part="total / 3", rest="total")) == []


CALLS = """
def ratio(x):
    {body}
"""
SHAPES = """
def case(make):
    make.call("ratio", make.normal(*[make.size(1, 3) for _ in range(make.size(1, 3))]))
"""


def test_a_file_that_fails_where_a_known_mistake_fails_is_named_by_it(tmp_path):
    spec = {"entry": ["ratio"], "required": ["loads", "matches-reference"], "forbidden": []}
    known = {
        "two-dimensions": CALLS.format(body="a, b = x.shape; return x * 2"),
        "never-empty": CALLS.format(body="assert x.numel() > 3; return x * 2"),
    }
    folder = write_challenge(tmp_path, spec, CALLS.format(body="return x * 2"), SHAPES, known)
    assert named(folder, CALLS.format(body="assert x.dim() == 2; return x + x")) == ["two-dimensions"]


LIMITED = """
def limited(x):
    return x.clamp(max={limit}){then}
"""


def test_a_mistake_is_named_beside_one_that_nobody_knows(tmp_path):
    """A case without a number for the unknown mistake does not contradict the known one."""
    spec = {"entry": ["limited"], "required": ["loads", "matches-reference"], "forbidden": []}
    inputs = 'def case(make):\n    make.call("limited", make.normal(make.size(2, 6), 4))\n'
    known = {"two": LIMITED.format(limit=0.2, then="")}
    folder = write_challenge(tmp_path, spec, LIMITED.format(limit=0.1, then=""), inputs, known)
    beside = LIMITED.format(limit=0.2, then=".where(x > -1.2, float('nan'))")
    assert named(folder, beside) == ["two"]
    assert named(folder, LIMITED.format(limit=0.2, then=".where(x < 0.5, 0.15)")) == []


def test_of_mistakes_that_no_output_tells_apart_the_code_decides():
    texts = {"whole": "if 'lora_B' in parts: pass", "letter": "if 'B' in parts: pass"}
    assert most_like("x = 1\nif 'lora_B' in parts: go()", texts) == "whole"
    assert most_like("x = 1\nif 'B' in parts: go()", texts) == "letter"


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


IMPL = Path(__file__).parents[2] / "impl"


def bundled(place: str) -> Folder:
    said = yaml.safe_load((IMPL / place / "challenge.yaml").read_text(encoding="utf-8"))
    spec = {"id": Path(place).name, "entry": said["entry"], "badges": [], "forbidden": said.get("forbidden", [])}
    required = ["loads", "matches-reference", "edge-cases"]
    return Folder({**spec, "required": required, "cards": said["cards"]}, IMPL / place)


def wrong(place: str, name: str, old: str = "", new: str = "") -> str:
    source = (IMPL / place / "wrong" / f"{name}.py").read_text(encoding="utf-8")
    assert old in source
    return source.replace(old, new)


def test_two_mistakes_at_once_are_named_where_the_outputs_prove_the_pair() -> None:
    sdpa = bundled("attention/sdpa")
    scale = "1.0 / math.sqrt(q.shape[-1])"
    found = grade(sdpa, wrong("attention/sdpa", "nan-rows", scale, "1.0"))["diagnosis"]
    pair = [(entry["wrong"], entry["beside"]) for entry in found]
    assert pair == [("nan-rows", "no-scale"), ("no-scale", "nan-rows")]
    assert all(entry["says"] and entry["cards"] for entry in found)
    half = wrong("attention/sdpa", "nan-rows", scale, "1.0 / q.shape[-1] ** 0.4")
    assert named(sdpa, half) == [], "half of a pair"
    assert named(sdpa, wrong("attention/sdpa", "softmax-over-queries", scale, "1.0")) == [], "on the same entries"
    (alone,) = grade(sdpa, wrong("attention/sdpa", "no-scale"))["diagnosis"]
    assert alone["wrong"] == "no-scale" and "beside" not in alone


CLIPPED = """
def clipped(x, low, high):
    {body}
"""
CLAMPED = "return x.clamp(low, high)"
KNOWN = {
    "no-low": "return x.clamp(max=high)",
    "no-high": "return x.clamp(min=low)",
    "doubled": "return 2 * x.clamp(low, high)",
}
CLIPS = """
def case(make):
    make.call("clipped", make.normal(make.size(1, 6), make.size(1, 7)), -0.5, 0.5)
"""
CLIP_SPEC: dict[str, Any] = {"entry": ["clipped"], "required": ["loads", "matches-reference"], "forbidden": []}


def named_in(root: Path, body: str, known: dict[str, str]) -> set[str]:
    files = {name: f'"""{name}."""\n' + CLIPPED.format(body=text) for name, text in known.items()}
    folder = write_challenge(root, CLIP_SPEC, CLIPPED.format(body=CLAMPED), CLIPS, files)
    return {entry["wrong"] for entry in grade(folder, CLIPPED.format(body=body))["diagnosis"]}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("return x", {"no-low", "no-high"}),
        ("return x.clamp(-1, high)", set()),
        ("return x.where(x > -0.5, x * 1.01)", set()),
        ("return x.where(x != x.max(), 7)", set()),
    ],
)
def test_every_entry_has_to_be_explained_by_one_of_the_two(tmp_path: Path, body: str, names: set[str]) -> None:
    assert named_in(tmp_path, body, KNOWN) == names


def test_pairs_that_cannot_be_told_apart_are_not_named_in(tmp_path: Path) -> None:
    assert named_in(tmp_path, "return x", {**KNOWN, "no-low-either": "return x.minimum(x * 0 + high)"}) == set()
