"""Report invalid calls in the learner's language; English stays unchanged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Attn = Callable[..., Any]

MISTAKES = {
    "bank": ("Missing command; see `attn bank --help`", "缺少命令；用法见 `attn bank --help`"),
    "hint": ("Missing argument 'CHALLENGE'; see `attn hint --help`", "缺少参数 'CHALLENGE'；用法见 `attn hint --help`"),
    "completion": (
        "Missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish; see `attn completion --help`",
        "缺少参数 '{bash|zsh|fish}'；可选：bash, zsh, fish；用法见 `attn completion --help`",
    ),
    "answer a-1": (
        "Missing option '--rating'. Choose from: again, hard, good, easy; see `attn answer --help`",
        "缺少选项 '--rating'；可选：again, hard, good, easy；用法见 `attn answer --help`",
    ),
    "export anki": (
        "Missing option '-o' / '--output'; see `attn export anki --help`",
        "缺少选项 '-o' / '--output'；用法见 `attn export anki --help`",
    ),
    "doctor --zzz": (
        "No such option '--zzz'; see `attn doctor --help`",
        "没有选项 '--zzz'；用法见 `attn doctor --help`",
    ),
    "export anki --outptu x": (
        "No such option '--outptu'. Did you mean '--output'?",
        "没有选项 '--outptu'；是不是 '--output'？",
    ),
    "review --limi 3": (
        "No such option '--limi'. (Did you mean one of: '--limit', '--plain'?)",
        "没有选项 '--limi'；是不是 '--limit', '--plain'？",
    ),
    "grad": ("unknown command grad; did you mean grade?", "没有命令 grad；是不是 grade？"),
    "zzzzz": ("unknown command zzzzz; run `attn --help` for a list", "没有命令 zzzzz；用 `attn --help` 查看所有命令"),
    "bank nosuch": ("No such command 'nosuch'; see `attn bank --help`", "没有命令 'nosuch'；用法见 `attn bank --help`"),
    "bank chekc": ("No such command 'chekc'. Did you mean 'check'?", "没有命令 'chekc'；是不是 'check'？"),
    "due --json=3": (
        "Option '--json' does not take a value; see `attn --help`",
        "选项 '--json' 不带值；用法见 `attn --help`",
    ),
    "export summary -o": (
        "Option '-o' requires an argument; see `attn --help`",
        "选项 '-o' 需要一个值；用法见 `attn --help`",
    ),
    "undo x": (
        "Got unexpected extra argument (x); see `attn undo --help`",
        "多出了参数（x）；用法见 `attn undo --help`",
    ),
    "undo x y": (
        "Got unexpected extra arguments (x y); see `attn undo --help`",
        "多出了参数（x y）；用法见 `attn undo --help`",
    ),
    "quiz --count x": (
        "Invalid value for '--count': 'x' is not a valid integer range; see `attn quiz --help`",
        "'--count' 的值不合要求：'x' 不是数；用法见 `attn quiz --help`",
    ),
    "quiz --count 0": (
        "Invalid value for '--count': 0 is not in the range x>=1; see `attn quiz --help`",
        "'--count' 的值不合要求：0 不在范围 x>=1 内；用法见 `attn quiz --help`",
    ),
    "grade a b --timeout x": (
        "Invalid value for '--timeout': 'x' is not a valid float range; see `attn grade --help`",
        "'--timeout' 的值不合要求：'x' 不是数；用法见 `attn grade --help`",
    ),
    "mock --level low": (
        "Invalid value for '--level': 'low' is not one of 'screen', 'onsite', 'research'; see `attn mock --help`",
        "'--level' 的值不合要求：'low' 不是其中之一：'screen', 'onsite', 'research'；用法见 `attn mock --help`",
    ),
    "plan --interview soon": (
        "'soon' is not a date; write it like 2027-03-31, 31 Mar or in 3 weeks",
        "'soon' 不是日期；请写成 2027-03-31、3月31日或 3周后 这样",
    ),
    "due --at noon": (
        "noon is not a time such as 2026-05-01T09:30:00+02:00",
        "noon 不是 2026-05-01T09:30:00+02:00 这样的时间",
    ),
    "due --at 2026-05-01": (
        "2026-05-01 has no UTC offset; end it with Z or, e.g., +08:00",
        "2026-05-01 没有时区偏移；请在末尾加上 Z 或 +08:00 之类",
    ),
    "--home= due": ("--home needs a folder", "--home 需要指定目录"),
    "experiment x -o /": (
        "Invalid value for '-o' / '--output': File '/' is a directory; see `attn experiment --help`",
        "'-o' / '--output' 的值不合要求：'/' 是目录，不是文件；用法见 `attn experiment --help`",
    ),
}


@pytest.mark.parametrize("call", MISTAKES)
def test_a_mistake_in_a_call_is_told_in_both_languages(attn: Attn, monkeypatch: Any, call: str) -> None:
    english, chinese = MISTAKES[call]
    assert (attn(*call.split()).line, attn(*call.split()).code) == (f"attn: {english}", 2)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert (attn(*call.split()).line, attn(*call.split()).code) == (f"attn: {chinese}", 2)


def test_the_option_counts_where_the_mistake_stands_before_it(attn: Attn) -> None:
    assert attn("undo", "--nope", "--lang", "zh").line.startswith("attn: 没有选项 '--nope'")
    assert attn("undo", "--nope", "--lang=en").line.startswith("attn: No such option '--nope'")
    assert attn("--lang", "fr", "due").line.startswith("attn: Invalid value for '--lang'")


def test_a_file_in_place_of_a_folder_is_told_in_chinese(attn: Attn, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    said = attn("--lang", "zh", "--home", str(file), "due").line
    assert said == f"attn: '--home' 的值不合要求：'{file}' 是文件，不是目录；用法见 `attn --help`"
