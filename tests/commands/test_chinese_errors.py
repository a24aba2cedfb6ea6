"""Report every rejected command fully in Chinese, with the same exit code as in English."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attncli import paths
from attncli.commands.session import Boundary, Session

Attn = Callable[..., Any]
SENTENCE = re.compile(r"(?:\b[A-Za-z]+[,;]? ){2}[a-z]+\b")
CODE = re.compile(
    r"`[^`]*`|（[^（）]*）|可用：[^；]*|请改正后.*|attn config .*|attn bank check|attn experiment ID|--\S+"
)

# The folder HERE has a.py, text.txt, a folder `empty` and a config.toml with three faults.
REFUSED = {
    "show nosuch": "没有卡片 nosuch；`attn cards` 列出全部",
    "show at-01": "没有卡片 at-01；是不是 att-01？",
    "cards zzzzqq": "没有匹配 zzzzqq 的卡片；请减少几个词，或换别的词",
    "cards --topic nope": "没有主题 nope；可用：att, kv",
    "cards --topic kvv": "没有主题 kvv；是不是 kv？可用：att, kv",
    "challenges --track nope": "没有类别 nope；`attn challenges` 列出全部",
    "start doubel": "没有编程题 doubel；是不是 double？",
    "start double --bug --repair 1": "--bug 和 --repair 不能同时使用；请去掉其中一个",
    "start double --seed 3": "--seed 用来选定排错练习；请同时给出 --repair N",
    "grade double HERE/none.py": "没有文件 HERE/none.py；请用 `attn start CHALLENGE` 创建",
    "grade double HERE": "HERE 不是文件；请给出要评测的 Python 文件",
    "grade double HERE/a.py --timeout nan": "--timeout 不是数字；请给出秒数，例如 10",
    "undo": "本机没有可以撤销的操作",
    "config lnag": "没有设置项 lnag；是不是 lang？",
    "config lang de": "lang：'de' 无效；可用：en, zh",
    "config new_per_day x": "new_per_day：'x' 不是 0 到 9999 之间的整数",
    "config topic_retention.att 3": "topic_retention：att：3.0 不是 0.7 到 0.97 之间的数",
    "config interview 2020-01-01": "interview：2020-01-01 已经过去；请填将来的日期，或留空",
    "--home HERE due": (
        "HERE/config.toml：theme：'pink' 无效；可用：dark, light, contrast；day_start：25 不是时刻；请写成 "
        "04:00 这样；没有设置项 themes；是不是 theme？"
    ),
    "plan": "还没有设定面试日期；请用 --interview 2027-03-31，或设置：attn config interview 2027-03-31",
    "export summary --interview 2020-01-01": "--interview：2020-01-01 已经过去；请给出将来的日期，或去掉它",
    "export summary --format pdf -o HERE/a.html": "--format pdf 与 HERE/a.html（html）不一致；请改其中一个",
    "export anki -o HERE/a.txt": "无法写入 HERE/a.txt；Anki 牌组的文件名须以 .apkg 结尾",
    "export log -o HERE/a.txt": "无法写入 HERE/a.txt；学习记录的文件名须以 .jsonl 或 .ndjson 结尾",
    "export log -o HERE/no/x.jsonl": "无法写入 HERE/no/x.jsonl（没有这个文件或目录）；请换一个位置",
    "import log HERE/none.jsonl": "没有文件 HERE/none.jsonl；请用 `attn backup` 创建备份",
    "import log HERE/text.txt": (
        "HERE/text.txt:1：不是学习记录（Expecting value: line 1 column 1 (char 0)）；"
        "没有合并任何内容，请重新导出这个文件"
    ),
    "import anki HERE/text.txt": (
        "HERE/text.txt 不是 Anki 导出的文件，或已损坏（不是 zip 文件）；请从 Anki 重新导出（文件 → "
        "导出，.apkg 或 .colpkg）"
    ),
    "sync HERE/none": "没有目录 HERE/none；请先在各设备共用的目录里创建",
    "restore HERE/none": "没有文件 HERE/none；请用 `attn backup` 创建备份",
    "restore HERE/text.txt": "HERE/text.txt 中没有可用的记录；没有恢复任何内容",
    "backup -o HERE/a.py": "HERE/a.py 已存在，不会覆盖；请用 -o 指定别的文件",
    "bank check HERE/none": "没有 none；请给出题库文件或存放题库的目录",
    "bank check HERE/text.txt": "1 个文件中有 1 处问题；请改正，再运行 attn bank check",
    "verify nosuch": "没有编程题 nosuch；`attn challenges` 列出全部",
    "new challenge X": "X 不是编程题的名称；请写成 TRACK/ID，只用小写字母、数字和单个连字符",
    "new card A/B": "“a/b”不能作为主题；只能用小写字母、数字和单个连字符，例如 mine",
    "experiment nosuch": "没有实验 nosuch；`attn experiment` 列出全部",
    "experiment --quick": "请给出一个实验：attn experiment ID；`attn experiment` 列出全部",
    "cohort HERE/none": "没有目录 HERE/none；文件应放在 DIR/LEARNER/CHALLENGE.py",
    "cohort HERE -o HERE/x.doc": "HERE/x.doc 的后缀须为其中之一：.csv, .htm, .html, .json；请用 -o 指定别的文件",
    "hint nosuch": "没有编程题 nosuch；`attn challenges` 列出全部",
    "review": "应用需要在终端中运行；请用 `attn review --plain`",
    "drill --topic att --kind numeric --plain": (
        "没有符合 --topic att --kind numeric 的卡片；放宽后：去掉 --kind 有 3 张、去掉 --topic 有 1 张"
    ),
    "optimize": "与前一次相隔一天以上的复习只有 0 次，拟合需要 500 次；请继续复习，以后再试",
    "answer att-01 --rating good --at 1980-01-01T00:00:00Z": (
        "1980-01-01T00:00:00+00:00 不在 1990 年到 2200 年之间；请换一个时间，或校准本机时钟"
    ),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    (folder / "empty").mkdir(parents=True)
    (folder / "a.py").touch()
    (folder / "text.txt").write_text("no bank, no log, no deck", encoding="utf-8")
    (folder / "config.toml").write_text('theme = "pink"\nday_start = 25\nthemes = 1\n', encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("call", REFUSED)
def test_a_refusal_is_told_in_chinese_with_its_code(attn: Attn, here: Path, call: str) -> None:
    words = [word.replace("HERE", str(here)) for word in call.split()]
    chinese = attn("--lang", "zh", *words)
    assert chinese.line.replace(str(here), "HERE") == f"attn: {REFUSED[call]}"
    assert chinese.code == attn("--lang", "en", *words).code


def test_no_english_sentence_is_left() -> None:
    assert [text for text in REFUSED.values() if SENTENCE.search(CODE.sub("", text))] == []


def test_a_broken_bank_is_remarked_in_chinese(attn: Attn, home: Path) -> None:
    (home / "banks").mkdir(parents=True)
    (home / "banks" / "mine.yaml").write_text("- 1\n", encoding="utf-8")
    result = attn("due", "--lang", "zh")
    assert result.code == 0 and result.err.startswith("attn: 已跳过：")
    assert attn("due").err.startswith("attn: skipped: ")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyboardInterrupt(), "已中断；已经记录的内容都保留"),
        (MemoryError(), "内存不足；请关闭其他程序后重试"),
        (OSError(28, "No space left on device"), "无法写出结果（磁盘已满）；请腾出磁盘空间，或输出到别处"),
        (ZeroDivisionError("by zero"), "意外错误 ZeroDivisionError：by zero；完整的错误信息在 LOG；请反馈给我们"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_the_end_of_the_program_is_told_in_chinese(
    home: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, error: BaseException, told: str
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    monkeypatch.setattr("attncli.commands.session.discard", lambda: None)
    session = Session()
    with Boundary(session):
        raise error
    log = paths.home(home, {}).log / "attn.log"
    assert capsys.readouterr().err.strip().replace(str(log), "LOG") == f"attn: {told}"
