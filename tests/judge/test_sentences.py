"""The judge's sentences: both languages have the same places, each is used, and parts may be in both languages."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from attncli.domain.text import NOTHING, Localised, quoted
from attncli.judge.sentences import SENTENCES, say

JUDGE = Path(__file__).parents[2] / "attncli" / "judge"
# Those of the sandbox: it words its own English, and names what another language needs.
OF_THE_SANDBOX = ("more-memory", "killed-loaded", "killed-called")


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("key", [key for key in SENTENCES if key not in OF_THE_SANDBOX])
def test_both_languages_name_the_same_things(key: str) -> None:
    assert places(SENTENCES[key].en) == places(SENTENCES[key].zh)


@pytest.mark.parametrize("key", SENTENCES)
def test_a_sentence_is_said_by_the_judge(key: str) -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in JUDGE.rglob("*.py"))
    assert f'"{key}"' in sources


def test_every_sentence_that_the_judge_says_is_there() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in JUDGE.rglob("*.py"))
    named = re.findall(r'\bsay\(\s*"([a-z-]+)"', sources)
    assert named and set(named) <= set(SENTENCES)


@pytest.mark.parametrize(
    ("said", "english", "chinese"),
    [
        (
            say("largest-error", error="1.41", at="[0, 1]", tolerance="1.0e-05", place=NOTHING),
            "largest error 1.41 at [0, 1]; tolerance 1.0e-05",
            "最大误差 1.41，位于 [0, 1]；容差 1.0e-05",
        ),
        (
            say("largest-error", error="3", at="[1]", tolerance="0.1", place=say("in-result", path="[0]"))
            + say("call-of-many", name="decode_step", number=2, count=3),
            "largest error 3 at [1]; tolerance 0.1 in result[0] (decode_step, call 2 of 3)",
            "最大误差 3，位于 [1]；容差 0.1，在 result[0]（decode_step，第 2 次调用，共 3 次）",
        ),
        (
            say("kept-counterexample", fault=say("other-shape", got=[1], due=[2, 1, 1], place=NOTHING)),
            "the stored counterexample: shape [1] where [2, 1, 1] was expected",
            "上次保存的反例：形状为 [1]，应为 [2, 1, 1]",
        ),
        (
            say("other-value", got="nan", at="[0, 0]", due="1", place=NOTHING),
            "nan at [0, 0] where 1 was expected",
            "[0, 0] 处为 nan，应为 1",
        ),
        (
            say("another-answer", fault=say("other-dtype", got="float32", due="float64", place=NOTHING)),
            "gave another answer for the same input (dtype float32 where float64 was expected)",
            "相同输入得到了不同的结果（dtype 为 float32，应为 float64）",
        ),
        (
            say("still-running", seconds="10", place=say("in-a-call", names="sdpa")),
            "still running after 10 s in a call of sdpa",
            "运行 10 秒后仍未结束，在调用 sdpa 时",
        ),
        (say("needs", check="matches-reference"), "needs matches-reference", "需先通过 matches-reference"),
        (
            say("raised-at", error="ValueError: needs care", line=6, code="raise E('needs care')"),
            "ValueError: needs care (line 6: raise E('needs care'))",
            "ValueError: needs care（第 6 行：raise E('needs care')）",
        ),
        (
            say("aliased-state", name="adamw_step"),
            "what adamw_step keeps for later calls shares memory with an argument",
            "adamw_step 留给之后调用的状态与参数共享内存",
        ),
        (
            say("aliased-objects", name="Cache"),
            "two objects made by Cache share memory",
            "Cache 创建的两个对象共享内存",
        ),
        (
            say("left-in-module", name="forward"),
            "a call of forward leaves something in its module",
            "调用 forward 在模块里留下了东西",
        ),
        (
            say("answers-from-memory"),
            "answers for what its arguments held before they were changed in place",
            "参数被原地改动之后，返回的仍是按旧值算出的结果",
        ),
        (
            say("seeds-global", name="sdpa"),
            "sdpa seeds torch's global generator, which belongs to the caller",
            "sdpa 给 torch 的全局随机数生成器设了种子，而它属于调用者",
        ),
        (
            say("default-dtype-changed", name="rope"),
            "rope changes torch's default dtype and leaves it so, for all code that runs later",
            "rope 改了 torch 的默认 dtype 却没有改回来，之后的代码都受影响",
        ),
        (
            say("autograd-switched", name="mha"),
            "mha switches autograd on or off and leaves it so, for all code that runs later",
            "mha 开关了 autograd 却没有恢复，之后的代码都受影响",
        ),
        (
            say("draws-global", name="generate"),
            "generate draws from torch's global generator, although it is given one",
            "generate 已经拿到生成器，却仍从 torch 的全局随机数生成器取数",
        ),
        (
            say("result-on-graph", name="step"),
            "the result of step hangs on the graph of autograd: use torch.no_grad()",
            "step 的返回值挂在 autograd 计算图上：请用 torch.no_grad()",
        ),
        (
            say("state-on-graph"),
            "what is kept between calls hangs on the graph of autograd: use torch.no_grad()",
            "调用之间保留的状态挂在 autograd 计算图上：请用 torch.no_grad()",
        ),
        (
            say("mutated-argument", name="q"),
            "changed its argument q in place",
            "原地修改了参数 q",
        ),
    ],
)
def test_a_sentence_is_said_in_both_languages(said: Localised, english: str, chinese: str) -> None:
    assert said == Localised(english, chinese)


def test_a_part_in_both_languages_goes_into_each() -> None:
    fault = say("other-shape", got=[1], due=[2, 1], place=say("in-result", path="[0]"))
    said = say("gradient-of", name="params['wk']", fault=fault)
    assert said.en == "gradient of params['wk']: shape [1] where [2, 1] was expected in result[0]"
    assert said.zh == "params['wk'] 的梯度：形状为 [1]，应为 [2, 1]，在 result[0]"


def test_what_the_learners_code_says_may_look_like_a_place() -> None:
    said = say("raised-at", error="ValueError: {x}", line=6, code="raise ValueError('{x}')")
    assert said.zh == "ValueError: {x}（第 6 行：raise ValueError('{x}')）"
    assert quoted("{x}") == Localised("{x}", "{x}")
