"""Report a pattern of wrong answers if all of them prove it, and nothing if they nearly do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from in_process import grade, write_challenge

SCORES = """
import math
import torch

def scores(q, k):
    return {answer}
"""
DUE = "q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])"
IN_BFLOAT16 = DUE.replace("q @ k", "q.bfloat16().to(q.dtype) @ k.bfloat16().to(q.dtype)")
INPUTS = """
AXES = {"q": "... T d", "k": "... S d", "return": "... T S"}

def case(make):
    H, T, S, d = make.size(1, 4), make.size(1, 5), make.size(1, 6), make.size(1, 7)
    make.call("scores", make.normal(H, T, d), make.normal(H, S, d))
"""
SPEC: dict[str, Any] = {"entry": ["scores"], "required": ["loads", "matches-reference"], "forbidden": []}


def told(root: Path, answer: str, inputs: str = INPUTS) -> list[dict[str, Any]]:
    report = grade(write_challenge(root, SPEC, SCORES.format(answer=DUE), inputs, {}), SCORES.format(answer=answer))
    assert report["verdict"] == "rejected"
    found: list[dict[str, Any]] = report["diagnosis"]
    return found


@pytest.mark.parametrize(
    ("answer", "wrong", "says", "chinese"),
    [
        (f"({DUE}).transpose(-1, -2)", "transposed", "two axes swapped: T and S", "两个轴互换了：T 与 S"),
        (f"({DUE}).roll(1, -1)", "off-by-one", "off by one along S", "沿 S 错开了一位：每个位置放的是前一个位置的值"),
        (f"({DUE}).roll(-1, -2)", "off-by-one", "along T: each position holds the value of the one after", "后一个"),
        (f"-({DUE})", "sign-flipped", "opposite sign", "正负号全部相反"),
        ("q @ k.transpose(-1, -2)", "scaled", "is √d times the expected value", "整体是正确值的 √d 倍"),
        ("q @ k.transpose(-1, -2) / q.shape[-1]", "scaled", "1/√d times", "1/√d 倍"),
        (f"({DUE}) / math.log(2)", "scaled", "1/log 2 times", "1/log 2 倍"),
        (f"({DUE}) * 2", "scaled", "is 2 times", "2 倍"),
        (f"({DUE}) * -0.25", "scaled", "is −1/4 times", "−1/4 倍"),
        (f"({DUE}) * 0.731", "scaled", "0.731 times", "0.731 倍"),
        (f"({DUE}) * k.shape[-2]", "scaled", "is S times", "S 倍"),
        (f"({DUE}) + 1", "shifted", "too large by 1", "大 1"),
        (f"({DUE}) - 0.5", "shifted", "too small by 1/2", "小 1/2"),
        (f"torch.cat([({DUE})[:1] * 3, ({DUE})[1:]])", "one-place-wrong", "only at -3 = 0", "-3 = 0"),
        (f"torch.cat([({DUE})[:, :-1], ({DUE})[:, -1:] ** 2], 1)", "one-place-wrong", "only at T = −1", "T = −1 处"),
        (f"({DUE}).bfloat16().to(q.dtype)", "rounded-to-bfloat16", "precision of bfloat16", "只有 bfloat16 的精度"),
        (f"({DUE}).half().to(q.dtype)", "rounded-to-float16", "precision of float16", "只有 float16 的精度"),
        (IN_BFLOAT16, "inputs-rounded-to-bfloat16", "inputs rounded to bfloat16", "输入舍入到 bfloat16"),
    ],
)
def test_a_proved_pattern_is_told(tmp_path: Path, answer: str, wrong: str, says: str, chinese: str) -> None:
    (found,) = told(tmp_path, answer)
    assert (found["wrong"], found["cards"]) == (wrong, [])
    assert says in found["says"] and chinese in found["says_zh"], found


def test_float32_inside_float64_is_told(tmp_path: Path) -> None:
    inputs = INPUTS + 'PROFILES = {"matches-reference": ["float64"]}\n'
    narrow = DUE.replace("q @ k", "q.float() @ k.float()")
    (found,) = told(tmp_path, f"({narrow}).to(q.dtype)", inputs)
    assert found["wrong"] == "rounded-to-float32"


@pytest.mark.parametrize(
    "answer",
    [
        f"torch.zeros_like({DUE})",
        f"torch.ones_like({DUE})",
        f"({DUE}).transpose(-1, -2) * 1.01",
        f"({DUE}).transpose(-1, -2).contiguous().view(({DUE}).shape)",
        f"({DUE}) * (1 + 1e-4 * torch.rand(()))",
        f"({DUE}) * (q.shape[-1] + k.shape[-2])",
        f"({DUE}) * 1.5 + 0.5",
        f"({DUE}) + q.sum()",
        f"({DUE}).roll(2, -1)",
        f"({DUE}).abs()",
        f"({DUE}) if q.shape[-1] < 4 else ({DUE}) * 2",
        f"({DUE}).transpose(-1, -2) if k.shape[-2] > 2 else ({DUE}) + 1",
        f"({DUE}).double().mul(1.003).to(q.dtype).bfloat16().to(q.dtype) * 1.0001",
        f"({DUE}) * torch.where(torch.arange(({DUE}).shape[0]) % 2 == 0, 2.0, 1.0)[:, None, None]",
    ],
)
def test_what_answers_nearly_have_in_common_is_not_told(tmp_path: Path, answer: str) -> None:
    assert told(tmp_path, answer) == []


def test_tensors_that_are_too_small_or_of_one_size_prove_nothing(tmp_path: Path) -> None:
    for T, S in ((1, 1), (2, 1), (3, 3)):
        inputs = f"def case(make):\n    make.call('scores', make.normal({T}, 2), make.normal({S}, 2))\n"
        assert told(tmp_path, f"({DUE}) * 2", inputs) == []
    inputs = """
AXES = {"q": "T d", "k": "S d", "return": "T S"}

def case(make):
    n = make.size(1, 7)
    make.call("scores", make.normal(n, 3), make.normal(n, 3))
"""
    assert told(tmp_path, f"({DUE}) * q.shape[-2]", inputs) == [], "two sizes that are always equal"


def test_a_part_of_the_result_is_named_where_the_others_are_right(tmp_path: Path) -> None:
    inputs = "def case(make):\n    make.call('halves', make.normal(make.size(2, 5), make.size(1, 6)))\n"
    two = 'def halves(x):\n    return x * 2, {{"sum": {answer}}}\n'
    folder = write_challenge(tmp_path, {**SPEC, "entry": ["halves"]}, two.format(answer="x - 1"), inputs, {})
    (found,) = grade(folder, two.format(answer="1 - x"))["diagnosis"]
    assert found["says"] == "Part [1]['sum'] of the result has the opposite sign everywhere."
    assert found["says_zh"] == "结果的 [1]['sum'] 部分的正负号全部相反。"


def test_a_known_mistake_comes_before_a_pattern(tmp_path: Path) -> None:
    wrong = {"no-scale": '"""Forgets the scale."""\n' + SCORES.format(answer="q @ k.transpose(-1, -2)")}
    folder = write_challenge(tmp_path, SPEC, SCORES.format(answer=DUE), INPUTS, wrong)
    (found,) = grade(folder, SCORES.format(answer="1 * q @ k.transpose(-1, -2)"))["diagnosis"]
    assert found["wrong"] == "no-scale" and "says_zh" not in found
