"""Diagnose a mistake only if outputs prove it, to the last digit, at little memory cost."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest
import torch
import yaml

from attncli.judge.challenge import Folder
from attncli.judge.diagnose import diagnose, most_like
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
HALF = SOUND.replace("torch.promote_types(x.dtype, torch.float32)", "x.dtype")
SUM_ROUNDED = WEIGHTED.format(share="weight.to(wide) / weight.to(wide).sum().to(x.dtype)")
SHARE_ROUNDED = WEIGHTED.format(share="(weight.to(wide) / weight.to(wide).sum()).to(x.dtype)")
INPUTS = """
SIXTEEN_BITS = 'float32'
def case(make):
    D = make.size(2, 7)
    make.call("average", make.normal(make.size(1, 4), D), make.uniform(D, low=0.1, high=0.9))
"""


LINE = "def f(x):\n    {}\n"


def named(folder, source: str, **asked) -> list[str]:
    return [found["wrong"] for found in grade(folder, source, **asked)["diagnosis"]]


def of_lines(root: Path, right: str, inputs: str, known: dict[str, str]) -> Folder:
    """Write a challenge on a function of one line, with known mistakes of one line."""
    spec = {"entry": ["f"], "required": ["loads", "matches-reference"], "forbidden": []}
    files = {name: f'"""{name}."""\n' + LINE.format(line) for name, line in known.items()}
    return write_challenge(root, spec, LINE.format(right), inputs, files)


def test_two_mistakes_of_the_last_digit_are_told_apart(tmp_path):
    wrong = {"sum-rounded": SUM_ROUNDED, "share-rounded": SHARE_ROUNDED}
    spec = {"entry": ["average"], "required": ["loads", "low-precision"], "forbidden": []}
    folder = write_challenge(tmp_path, spec, SOUND, INPUTS, wrong)
    assert grade(folder, SOUND)["verdict"] == "accepted"
    for name, source in wrong.items():
        assert named(folder, source.replace("(x.to(wide) *", "(1 * x.to(wide) *")) == [name]


def test_a_mistake_of_the_second_rung_alone_is_not_taken_for_one_of_the_first(tmp_path):
    """Both compute in 16 bits, where the known mistake's other error does not show."""
    also = "weight):\n    if x.dtype.itemsize > 2: return 2 * x.sum(-1)"
    other = HALF.replace("hardened", "solved").replace("weight):", also)
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


def test_a_mistake_of_two_functions_is_named_where_one_of_them_has_it(tmp_path):
    rounded = "import torch\ndef lower(x):\n    return torch.{}(x)\ndef upper(x):\n    return -torch.{}(-x)\n"
    inputs = 'x = make.normal(make.size(2, 6), 4)\n    make.call("lower", x), make.call("upper", x)\n'
    spec = {"entry": ["lower", "upper"], "required": ["loads", "matches-reference"], "forbidden": []}
    known, right = {"nearest": rounded.format("round", "round")}, rounded.format("floor", "floor")
    folder = write_challenge(tmp_path, spec, right, f"def case(make):\n    {inputs}", known)
    assert named(folder, rounded.format("round", "floor")) == ["nearest"]


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
    known = {name: short.format(part=p, rest="total") for name, p in (("doubled", "total / 2"), ("nothing", "total"))}
    folder = write_challenge(tmp_path, spec, SPLIT.format(part="total / 4"), JUDGED, known)
    assert grade(folder, SPLIT.format(part="total / 3"))["verdict"] == "accepted"
    assert named(folder, short.format(part="0.5 * total", rest="1.0 * total")) == ["doubled"]
    assert named(folder, short.format(part="total / 3", rest="total")) == []


def test_a_file_that_fails_where_a_known_mistake_fails_is_named_by_it(tmp_path):
    inputs = """
def case(make):
    make.call("f", make.normal(*[make.size(1, 3) for _ in range(make.size(1, 3))]))
"""
    known = {"two-dimensions": "a, b = x.shape; return x * 2", "never-empty": "assert x.numel() > 3; return x * 2"}
    folder = of_lines(tmp_path, "return x * 2", inputs, known)
    assert named(folder, LINE.format("assert x.dim() == 2; return x + x")) == ["two-dimensions"]


def test_a_mistake_is_named_beside_one_that_nobody_knows(tmp_path):
    """A case without a number for the unknown mistake does not contradict the known one."""
    inputs = 'def case(make):\n    make.call("f", make.normal(make.size(2, 6), 4))\n'
    folder = of_lines(tmp_path, "return x.clamp(max=0.1)", inputs, {"two": "return x.clamp(max=0.2)"})
    assert named(folder, LINE.format("return x.clamp(max=0.2).where(x > -1.2, float('nan'))")) == ["two"]
    assert named(folder, LINE.format("return x.clamp(max=0.2).where(x < 0.5, 0.15)")) == []


def test_of_mistakes_that_no_output_tells_apart_the_code_decides():
    texts = {"whole": "if 'lora_B' in parts: pass", "letter": "if 'B' in parts: pass"}
    assert most_like("x = 1\nif 'lora_B' in parts: go()", texts) == "whole"
    assert most_like("x = 1\nif 'B' in parts: go()", texts) == "letter"


@pytest.mark.skipif(sys.platform != "linux", reason="the judge runs on Linux, and memory is counted as there")
def test_a_wrong_solution_that_takes_much_memory_is_no_danger_to_the_judge_and_the_limit_is_for_a_while(tmp_path):
    hungry = '"""Takes {mib} MiB on its way."""\nimport torch\ndef scaled_sum(x, weight, scale=2.0):\n'
    hungry += "    torch.empty({mib} * 2**20, dtype=torch.uint8)\n    return (x * weight).sum(-1)\n"
    wrong = {"takes-little": hungry.format(mib=256), "takes-much": hungry.format(mib=3072)}
    assert named(write_challenge(tmp_path, {}, wrong=wrong), hungry.format(mib=0)) == ["takes-little"]
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


@pytest.mark.slow
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


def test_every_entry_has_to_be_explained_by_one_of_a_pair_that_can_be_told_from_others(tmp_path: Path) -> None:
    inputs = 'def case(make):\n    make.call("f", make.normal(make.size(1, 6), make.size(1, 7)))\n'
    right = "return x.clamp(-0.5, 0.5)"
    known = {"no-low": "return x.clamp(max=0.5)", "no-high": "return x.clamp(min=-0.5)", "doubled": f"{right} * 2"}
    folder = of_lines(tmp_path / "known", right, inputs, known)
    for body, names in (
        ("return x", {"no-low", "no-high"}),
        ("return x.clamp(-1, 0.5)", set()),
        ("return x.where(x > -0.5, x * 1.01)", set()),
        ("return x.where(x != x.max(), 7)", set()),
    ):
        assert set(named(folder, LINE.format(body))) == names, body
    more = of_lines(tmp_path / "more", right, inputs, {**known, "no-low-either": "return x.minimum(x * 0 + 0.5)"})
    assert named(more, LINE.format("return x")) == []


def test_once_a_mistake_is_named_no_other_is_looked_for(tmp_path, monkeypatch):
    inputs = """
def case(make):
    make.call("f", make.normal(make.size(2, 4)))

def random(make):
    make.call("f", make.normal(9))
"""
    looks = []
    monkeypatch.setattr("attncli.judge.grade.diagnose", lambda *asked: looks.append(asked) or diagnose(*asked))
    folder = of_lines(tmp_path, "return x", inputs, {"doubled": "return x * 2 if len(x) < 9 else x"})
    folder.spec["required"].append("random")
    assert named(folder, LINE.format("return -x if len(x) == 9 else x * 2")) == ["doubled"] and len(looks) == 1
    looks.clear()
    assert named(folder, LINE.format("return x.sin()")) == [] and len(looks) == 2
