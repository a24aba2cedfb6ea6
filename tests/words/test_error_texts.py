"""Every error that the program words in English has its Chinese, and no Chinese is left of one that is gone."""

from __future__ import annotations

import ast
import errno
from importlib import import_module
from string import Formatter

import pytest

from attncli.errors import remedy_at_home, remedy_for
from attncli.i18n import Localised
from attncli.words import error_texts
from attncli.words.in_chinese import in_chinese, tables
from tests.support.worded_errors import Worded, modules, worded_errors

# What is worded elsewhere: by Click, by another error, in the learner's language already, or clause by clause.
HANDED_ON = {
    "cli.py": {"‹error›", "‹format_message›", "‹message›; see `attn --help`", "‹message›; see `‹path› --help`"},
    "commands/setup.py": {
        "‹problem›",
        "‹problem›; every other row counts, and `attn restore FILE` brings back a backup",
    },
    "commands/grade.py": {"‹id›"},
    "commands/experiments.py": {"‹lang›"},
    "config.py": {"‹path›: ‹join›", "topic_retention: ‹problem›"},
    "paths.py": {"cannot write ‹path› (‹strerror›); ‹remedy›"},
    "judge/client.py": {"‹answer›"},
    "store/database.py": {"‹unwritable›"},
}
# Its words are put together of counts: the three that there are stand in the test below.
COUNTED = {"commands/authoring.py"}
# Texts whose English is put together of pieces that say nothing alone; each is told in a test below.
PUT_TOGETHER = {
    "bank": [
        "{reason} (a constant of the challenge's own begins with an underscore)",
        "function {name} takes {least} arguments, got {count}",
        "{reason_name} has {count} entries, must have at least {least}",
        "take them out",
        "the slip gives {answer} for {values}, and the right answer {other}: within the tolerance they are one",
        "function {name} takes {least} argument, got {count}",
        "write each blank as ____, one for every entry",
        "take it out",
        "{reason_name} has {count} entries, must have at most {most}",
        "{reason_name} is {value}, must be at most {most}",
        "{reason_name} is {value}, must be at least {least}",
        "the slip gives {answer} for {values}, and slip {key} {other}: within the tolerance they are one",
        "did you mean {near}? use one of {names}",
        "write what interviewers ask next, or leave them out",
    ],
    "config.py": ["{path}.toml: {clause}"],
    "experiments/runner.py": [
        "experiment {id} was killed by signal {signal} before it had a result ({said})",
        "experiment {id} ended with status {status} before it had a result ({said})",
    ],
}
FILES = (
    "assistant_error_texts doctor_texts error_challenge_texts error_practice_texts error_store_texts error_texts"
).split()
TABLES = [
    text
    for file in FILES
    for table in vars(import_module(f"attncli.words.{file}")).values()
    if isinstance(table, tuple)
    for text in table
    if isinstance(text, Localised) and text not in error_texts.REASONS
]


def file_of(worded: Worded) -> str:
    return worded.place.partition(":")[0]


def test_every_error_has_its_chinese() -> None:
    missing = [
        f"{worded.place}: {worded.message}"
        for worded in worded_errors()
        if file_of(worded) not in COUNTED
        and worded.message not in HANDED_ON.get(file_of(worded), ())
        and in_chinese(worded.message.replace("‹remedy›", "name another path")) is None
    ]
    assert missing == []


@pytest.mark.parametrize("number", sorted(errno.errorcode))
def test_every_remedy_of_the_system_s_errors_has_its_chinese(number: int) -> None:
    error = OSError(number, "x")
    for remedy in (remedy_for(error, "name another path"), remedy_at_home(error, "name another path")):
        assert in_chinese(remedy) is not None


def test_the_errors_are_found_in_the_source() -> None:
    found = {(file_of(worded), worded.message) for worded in worded_errors()}
    assert len(found) > 250
    assert ("commands/grade.py", "--timeout is no number; give seconds, such as 10") in found
    assert ("config.py", "there is no setting ‹key›; did you mean ‹near›?") in found
    assert all((file, message) in found for file, messages in HANDED_ON.items() for message in messages)
    assert {file for file, _ in found} >= COUNTED


@pytest.mark.parametrize(
    ("counted", "told"),
    [
        ("1 problem in 1 file", "1 个文件中有 1 处问题"),
        ("3 problems in 1 file", "1 个文件中有 3 处问题"),
        ("3 problems in 2 files", "2 个文件中有 3 处问题"),
    ],
)
def test_problems_of_banks_are_counted_in_chinese(counted: str, told: str) -> None:
    line = f"{counted}; correct them and run attn bank check again"
    assert in_chinese(line) == f"{told}；请改正后重新运行 attn bank check"


def test_every_text_of_an_error_is_in_a_table_that_is_looked_through() -> None:
    looked_through = {text.en: text.zh for table in tables() for text in table}
    assert len(TABLES) > 700
    assert [text.en for text in TABLES if looked_through.get(text.en) != text.zh] == []


def test_no_chinese_is_left_of_an_error_that_is_gone() -> None:
    sources = [module for module in modules() if module.path.parent.name != "words"]
    nodes = (node for module in sources for node in ast.walk(module.tree))
    written = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    said = " \n ".join([*written, *(worded.message for worded in worded_errors())])
    unsaid = {
        text.en
        for text in TABLES
        for literal, *_ in Formatter().parse(text.en)
        if not all(piece in said for piece in literal.split("; "))
    }
    assert unsaid == {text for texts in PUT_TOGETHER.values() for text in texts}


def test_how_an_experiment_ended_is_told_in_chinese() -> None:
    line = "experiment lora was killed by signal 9 before it had a result (Killed); run it again"
    assert in_chinese(line) == "实验 lora 得出结果之前被信号 9 终止（Killed）；请再运行一次"
    line = "experiment lora ended with status 1 before it had a result (KeyError: 'x'); run it again"
    assert in_chinese(line) == "实验 lora 得出结果之前以状态 1 结束（KeyError: 'x'）；请再运行一次"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "/a/x.jsonl:3: its checksum does not fit; every other row counts, and `attn restore FILE` brings back a"
            " backup",
            "/a/x.jsonl 第 3 行：校验和不符；其余记录照常有效，也可用 `attn restore FILE` 恢复备份",
        ),
        ("/a/x.jsonl:4: rows 2 to 3 are missing before it", "/a/x.jsonl 第 4 行：前面缺少第 2 到 3 条记录"),
        (
            "/a/x.jsonl lacks rows that it had; `attn restore FILE` brings back a backup",
            "/a/x.jsonl 少了原有的记录；可用 `attn restore FILE` 恢复备份",
        ),
    ],
)
def test_what_is_wrong_with_a_history_is_told_in_chinese(line: str, told: str) -> None:
    assert in_chinese(line) == told
