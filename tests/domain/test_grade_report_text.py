"""Render grade reports: every reason of the contract has a text, and the judge's sentences have a Chinese form."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.grade_report import CheckResult, Counterexample, GradeReport, read
from attncli.domain.grade_report_text import (
    REACHED,
    REASONS,
    STATUSES,
    VERDICTS,
    headline,
    status_of,
    to_harden,
    told,
    unproved,
)
from attncli.i18n import Localised

CONTRACT = (
    "exception timeout memory exited crashed output too-large refused protocol shape dtype values not-finite gradient "
    "nondeterministic depends-on-earlier-calls forbidden growth mutated aliased missing-entry-point"
).split()


def test_every_reason_of_the_contract_has_words_and_no_other() -> None:
    assert sorted(REASONS) == sorted(CONTRACT)


@pytest.mark.parametrize("table", [REASONS, STATUSES, VERDICTS, REACHED])
def test_words_are_in_both_languages_and_differ_from_each_other(table) -> None:
    for lang in ("en", "zh"):
        assert len({text[lang] for text in table.values()}) == len(table)
    assert all(re.search("[\u4e00-\u9fff]", text.zh) for text in table.values())


def failed(reason: str, message: str, chinese: str = "") -> CheckResult:
    return CheckResult(name="pure", status="fail", reason=reason, message=Localised(message, chinese or message))


def test_a_failed_check_begins_with_its_reason_and_the_edge_case_stands_apart() -> None:
    document: dict[str, Any] = {
        "name": "pure",
        "status": "fail",
        "reason": "mutated",
        "message": "one key: its value is the answer: changed its argument q in place",
        "message_zh": "原地修改了参数 q",
        "counterexample": {"edge_case": "one key: its value is the answer"},
    }
    check = read(CheckResult, document)
    assert told(check, "zh") == "［one key: its value is the answer］改动了输入：原地修改了参数 q"
    assert told(check, "en") == document["message"]
    document["counterexample"]["edge_case_zh"] = "一个 key：它的 value 就是答案"
    assert told(read(CheckResult, document), "zh") == "［一个 key：它的 value 就是答案］改动了输入：原地修改了参数 q"
    assert told(CheckResult(name="loads", status="pass"), "zh") == ""


def test_what_has_no_chinese_is_said_as_it_is_without_the_label_twice() -> None:
    shown = Counterexample(edge_case="one")
    check = replace(failed("exception", "one: ValueError: no"), counterexample=shown)
    assert told(check, "zh") == "［one］抛出异常：ValueError: no"


def test_the_chinese_of_a_report_is_shown_without_control_characters() -> None:
    check = failed("values", "an unfair coin", "硬币\x1b[2J不公平")
    assert told(check, "zh") == "数值不对：硬币不公平"
    assert told(check, "en") == "an unfair coin"


@given(st.text())
def test_no_message_breaks_the_translation_or_reaches_the_terminal_raw(message: str) -> None:
    for lang in ("en", "zh"):
        said = told(failed("exception", f"\x1b[2J{message}"), lang)
        assert "\x1b" not in said and "\n" not in said


def report(rung: str, *checks: dict) -> GradeReport:
    verdict = "accepted" if rung != "none" else "rejected"
    return read(GradeReport, {"challenge": "c", "verdict": verdict, "rung": rung, "checks": list(checks)})


@pytest.mark.parametrize(
    ("rung", "en", "zh"),
    [
        ("none", "rejected", "未通过"),
        ("solved", "solved: correct at the whiteboard", "已解出：达到白板面试的要求"),
        ("hardened", "hardened: ready for production", "已加固：达到生产环境的要求"),
    ],
)
def test_what_is_read_first_is_what_was_reached(rung: str, en: str, zh: str) -> None:
    assert (headline(report(rung), "en"), headline(report(rung), "zh")) == (en, zh)
    assert headline(replace(report("none"), verdict="error"), "en") == "the judge failed"
    asked_for_more = replace(report("solved"), verdict="rejected")
    assert headline(asked_for_more, "en") == "solved, but not hardened"
    assert headline(asked_for_more, "zh") == "已解出，但未加固"


def test_what_fails_on_the_second_rung_alone_is_the_next_step() -> None:
    first = {"name": "gradients", "status": "fail", "rung": "solved"}
    second = {"name": "layout", "status": "fail", "rung": "hardened"}
    badge = {"name": "device", "status": "fail", "rung": "hardened", "required": False}
    assert [
        status_of(check)
        for check in (read(CheckResult, each) for each in (first, second, {**second, "status": "pass"}))
    ] == ["fail", "harden", "pass"]
    assert to_harden(report("solved", second, badge)) == ["layout"]


def test_what_was_not_proved_counts_once_all_the_rest_is_hardened() -> None:
    skipped = {"name": "device", "status": "skipped", "required": True}
    assert unproved(report("hardened", skipped)) == ["device"]
    assert unproved(report("solved", skipped)) == []


def test_that_nothing_was_raised_is_not_called_an_exception() -> None:
    said = "应抛出 ValueError，却返回了：形状 [2, 1] 的 bool 张量"
    assert told(failed("exception", "returned a bool tensor of shape [2, 1]", said), "zh") == said
