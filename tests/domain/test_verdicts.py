"""Grade reports in words: every reason of the contract has them, and the judge's sentences have a Chinese form."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.verdicts import REASONS, STATUSES, VERDICTS, in_chinese, told

CONTRACT = (
    "exception timeout memory exited crashed output too-large refused protocol shape dtype values not-finite gradient "
    "nondeterministic depends-on-earlier-calls forbidden growth mutated aliased missing-entry-point"
).split()


def test_every_reason_of_the_contract_has_words_and_no_other() -> None:
    assert sorted(REASONS) == sorted(CONTRACT)


@pytest.mark.parametrize("table", [REASONS, STATUSES, VERDICTS])
def test_words_are_in_both_languages_and_differ_from_each_other(table) -> None:
    for lang in ("en", "zh"):
        assert len({text[lang] for text in table.values()}) == len(table)
    assert all(re.search("[\u4e00-\u9fff]", text.zh) for text in table.values())


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("largest error 1.41 at [0, 1]; tolerance 1.0e-05", "最大误差 1.41，位于 [0, 1]；容差 1.0e-05"),
        (
            "gradient of params['wk']: largest error 1.73 at [5, 1]; tolerance 6.0e-05",
            "params['wk'] 的梯度：最大误差 1.73，位于 [5, 1]；容差 6.0e-05",
        ),
        (
            "largest error 3 at [1, 0, 0]; tolerance 6.5e-05 in result[0] (decode_step, call 2 of 3)",
            "最大误差 3，位于 [1, 0, 0]；容差 6.5e-05，在 result[0]（decode_step，第 2 次调用，共 3 次）",
        ),
        (
            "the stored counterexample: shape [1] where [2, 1, 1] was expected",
            "上次保存的反例：形状为 [1]，应为 [2, 1, 1]",
        ),
        (
            "nan at [0, 0] where 1 was expected (sdpa, call 1 of 2)",
            "[0, 0] 处为 nan，应为 1（sdpa，第 1 次调用，共 2 次）",
        ),
        (
            "gave another answer for the same input (dtype float32 where float64 was expected)",
            "相同输入得到了不同的结果（dtype 为 float32，应为 float64）",
        ),
        ("still running after 10 s in a call of sdpa", "运行 10 秒后仍未结束，在调用 sdpa 时"),
        ("needs matches-reference", "需先通过 matches-reference"),
        (
            "ValueError: needs care (line 6: raise E('needs care'))",
            "ValueError: needs care（第 6 行：raise E('needs care')）",
        ),
        (
            "what adamw_step keeps for later calls shares memory with an argument",
            "adamw_step 留给之后调用的状态与参数共享内存",
        ),
        ("two objects made by Cache share memory", "Cache 创建的两个对象共享内存"),
        ("a call of forward leaves something in its module", "调用 forward 在模块里留下了东西"),
        (
            "answers for what its arguments held before they were changed in place",
            "参数被原地改动之后，返回的仍是按旧值算出的结果",
        ),
        (
            "sdpa seeds torch's global generator, which belongs to the caller",
            "sdpa 给 torch 的全局随机数生成器设了种子，而它属于调用者",
        ),
        (
            "generate draws from torch's global generator, although it is given one",
            "generate 已经拿到生成器，却仍从 torch 的全局随机数生成器取数",
        ),
        (
            "the result of step hangs on the graph of autograd: use torch.no_grad()",
            "step 的返回值挂在 autograd 计算图上：请用 torch.no_grad()",
        ),
        (
            "what is kept between calls hangs on the graph of autograd: use torch.no_grad()",
            "调用之间保留的状态挂在 autograd 计算图上：请用 torch.no_grad()",
        ),
        ("something that no table knows", "something that no table knows"),
    ],
)
def test_a_sentence_of_the_judge_is_said_in_chinese(english: str, chinese: str) -> None:
    assert in_chinese(english) == chinese


def test_a_failed_check_begins_with_its_reason_and_the_edge_case_stands_apart() -> None:
    check = {
        "reason": "mutated",
        "message": "one key: its value is the answer: changed its argument q in place",
        "counterexample": {"edge_case": "one key: its value is the answer"},
    }
    assert told(check, "zh") == "［one key: its value is the answer］改动了输入：原地修改了参数 q"
    assert told(check, "en") == check["message"]
    check["counterexample"]["edge_case_zh"] = "一个 key：它的 value 就是答案"
    assert told(check, "zh") == "［一个 key：它的 value 就是答案］改动了输入：原地修改了参数 q"
    assert told({"name": "loads", "status": "pass"}, "zh") == ""


def test_what_a_challenge_words_itself_is_said_in_its_own_chinese() -> None:
    check = {"reason": "values", "message": "an unfair coin", "message_zh": "硬币\x1b[2J不公平"}
    assert told(check, "zh") == "数值不对：硬币不公平"
    assert told(check, "en") == "an unfair coin"


@given(st.text())
def test_no_message_breaks_the_translation_or_reaches_the_terminal_raw(message: str) -> None:
    for lang in ("en", "zh"):
        said = told({"reason": "exception", "message": f"\x1b[2J{message}"}, lang)
        assert "\x1b" not in said and "\n" not in said
