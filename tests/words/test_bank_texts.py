"""Everything that `attn bank check` finds wrong has its Chinese: what is handed over, and what is put together."""

from __future__ import annotations

import re

import pytest

from attncli.words.in_chinese import in_chinese, told_in
from tests.support.worded_errors import phrases, worded_problems

# Worded by pydantic or by a value, and told in Chinese as far as it goes.
AS_GIVEN = {
    f"{subject}{rest}"
    for subject in ("this", "‹loc›")
    for rest in (" ‹value› ‹fault›", ": ‹item›; correct it", " ‹value› is not known; ‹guess› use one of ‹join›")
}
# Handed on or told where they are put together: the phrases of these are tested by themselves, below.
HANDED_ON = {"‹message›", "‹error›", "‹notes›", "‹value›", "", "formula ‹formula› ‹fault›"}
ROOMS = ("bank/", "domain/")


def without_handed_on(line: str) -> str:
    """A line without the clauses that are put together elsewhere, and tested by themselves."""
    return "; ".join(clause for clause in line.split("; ") if not re.fullmatch(r"(‹\w+› ?)+", clause))


def test_every_problem_has_its_chinese() -> None:
    worded = [problem for problem in worded_problems() if problem.place.startswith(ROOMS)]
    assert len(worded) > 180
    assert {problem.message for problem in worded} >= HANDED_ON, "nothing is left out that nobody says"
    missing = [f"{problem.place}: {problem.message}" for problem in worded if problem.message not in HANDED_ON]
    assert [line for line in missing if in_chinese(without_handed_on(line.partition(": ")[2])) is None] == []


def test_every_phrase_of_a_problem_has_its_chinese() -> None:
    found = phrases("bank", ("str", "Iterator[str]", "Iterator[tuple[int, str]]"))
    assert len(found) > 60
    lines = {without_handed_on(said): said for _, said in found}
    missing = {said for line, said in lines.items() if in_chinese(line) is in_chinese(f"formula x {line}") is None}
    assert missing == AS_GIVEN


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            'my.yaml:3:5: missing "answer": write it as answer: …',
            'my.yaml:3:5: 缺少 "answer"：请写成 answer: …',
        ),
        (
            'my.yaml:4:5: key "awnser" is not known here; did you mean "answer"?',
            'my.yaml:4:5: 这里没有键 "awnser"；是不是 "answer"？',
        ),
        (
            'my.yaml:4:5: item 2 of "tags" must be text, found the number 3; put it in quotes',
            'my.yaml:4:5: "tags" 的第 2 项 应为文本，这里是数字 3；请加引号',
        ),
        (
            "my.yaml:9:1: malformed YAML: mapping values are not allowed in this context; "
            "put text that contains a colon and a space in quotes, or check the indentation",
            "my.yaml:9:1: YAML 格式错误：mapping values are not allowed in this context；"
            "文本中有冒号加空格时请加引号，或检查缩进",
        ),
        (
            'my.yaml:9:1: formula "\\fraq" uses a command the terminal cannot draw (\\fraq); use a common one',
            'my.yaml:9:1: 公式 "\\fraq" 用了终端画不出的命令（\\fraq）；请用常见的命令',
        ),
    ],
)
def test_a_problem_is_told_in_chinese_and_its_place_stays(line: str, told: str) -> None:
    assert told_in("zh", line) == told
    assert told_in("en", line) == line
