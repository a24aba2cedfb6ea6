"""Help, refusals and mistakes in calls, in the learner's language; English stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import click
import pytest

from attncli import paths
from attncli.cli import cli
from attncli.commands.session import Boundary, Session
from attncli.domain.text import cells

from .conftest import Attn

CHINESE = re.compile("[\u4e00-\u9fff]")
# Names, codes and the spellings of options stay as they are, alone or two in a row; a sentence has more words.
SENTENCE = re.compile(r"(?:\b[A-Za-z]+[,;]? ){2}[a-z]+\b")
OPTION = re.compile(r"^  (-\S+(?:, --\S+)?)", re.MULTILINE)
QUOTED = re.compile(r"`[^`]*`")
CODE = re.compile(r"`[^`]*`|（[^（）]*）|可用：[^；]*|attn config .*|attn bank check|attn experiment ID|--\S+|HERE\S*")


def commands(ctx: click.Context, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command with the words that call it."""
    yield path, ctx.command
    if isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            inner = ctx.command.get_command(ctx, name)
            assert inner is not None
            yield from commands(click.Context(inner, info_name=name, parent=ctx), (*path, name))


COMMANDS = dict(commands(click.Context(cli, info_name="attn")))
ALL = cast(click.Group, COMMANDS.pop(()))


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_help_in_chinese_has_the_options_of_the_english_no_english_sentence_and_no_line_too_wide(attn: Attn) -> None:
    for path in COMMANDS:
        result = attn("--lang", "zh", *path, "--help")
        assert (result.code, result.err) == (0, ""), path
        assert result.out.startswith(f"用法：{' '.join(['attn', *path])}") and "选项：" in result.out
        assert SENTENCE.findall(QUOTED.sub("", result.out.partition("\n")[2])) == [], path
        assert max(cells(line) for line in result.out.splitlines()) <= 78, path
        listed = result.out.partition("选项：\n")[2].partition("\n\n")[0]
        described = [re.match(r"(  -.*?\S {2,}| {8,})(?=\S)", line) for line in listed.splitlines()]
        assert len({cells(match[0]) for match in described if match}) == 1, "all descriptions start in one column"
        assert OPTION.findall(result.out) == OPTION.findall(attn("--lang", "en", *path, "--help").out) != []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_of_all_commands_fits_a_terminal_of_80_by_24_and_cuts_nothing(attn: Attn, lang: str) -> None:
    lines = attn("--lang", lang, "--help").out.splitlines()
    assert len(lines) <= 24 and max(cells(line) for line in lines) <= 80
    text = "\n".join(lines)
    assert "…" not in text and "..." not in text
    assert all(re.search(rf"(?<![\w-]){name}(?![\w-])", text) for name in ALL.list_commands(click.Context(ALL)))
    if lang == "zh":
        described = [line[22:].strip() for line in lines[3:19]]
        assert [line for line in described if SENTENCE.search(line) or not line] == []


def test_english_help_is_clicks_own_also_after_chinese(attn: Attn) -> None:
    before = attn("drill", "--help").out
    chinese = attn("drill", "--help", "--lang=zh").out
    assert attn("drill", "--help").out == before
    assert before.startswith("Usage: attn drill [OPTIONS]\n") and not CHINESE.search(before)
    assert re.search(r"--count 整数 +卡片数上限。［默认值：20；x>=1］", chinese)
    assert re.search(r"\[again\|hard\|good\|easy\]\n +［必填］", attn("answer", "-h", "--lang", "zh").out)


def test_what_chooses_the_language_of_help(attn: Attn, home: Path, tmp_path: Path, monkeypatch: Any) -> None:
    def is_chinese(*words: object) -> bool:
        return attn(*words).out.startswith("用法：attn due [选项]\n")

    assert is_chinese("--lang", "zh", "due", "--help") and is_chinese("due", "-h", "--lang=zh")
    attn("--home", tmp_path / "other", "config", "lang", "zh")
    assert is_chinese("due", "--help", "--home", tmp_path / "other") and not is_chinese("due", "--help")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert is_chinese("due", "--help")
    attn("config", "lang", "en")
    assert not is_chinese("due", "--help")
    monkeypatch.setenv("LANG", "C.UTF-8")
    attn("config", "lang", "zh")
    assert is_chinese("due", "--help") and not is_chinese("due", "--help", "--lang", "en")
    (home / "config.toml").write_text("lang = ", encoding="utf-8")  # cannot be read
    assert not is_chinese("due", "--help")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert is_chinese("due", "--help")


def completed(attn: Attn, monkeypatch: Any, words: str, lang: str) -> str:
    monkeypatch.setenv("LANG", lang)
    monkeypatch.setenv("_ATTN_COMPLETE", "zsh_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    out: str = attn().out
    return out


def test_completion_explains_commands_and_options_in_chinese(attn: Attn, monkeypatch: Any) -> None:
    assert "plain\nbury\n把 CARD 推迟到明天\n" in completed(attn, monkeypatch, "attn bu", "zh_CN.UTF-8")
    options = completed(attn, monkeypatch, "attn drill --", "zh_CN.UTF-8")
    assert "--weak\n只要薄弱" in options and "--help\n显示帮助并退出。" in options
    assert "bury\nTake CARD out" in completed(attn, monkeypatch, "attn bu", "C.UTF-8")
    monkeypatch.delenv("_ATTN_COMPLETE")
    assert all("_ATTN_COMPLETE" in attn("completion", shell).out for shell in ("bash", "zsh", "fish"))


# The folder HERE has a.py, text.txt, and a config.toml with two faults.
CALLS = """
show nosuch | show at-01 | cards zzzzqq | cards --topic kvv | challenges --track nope | start doubel |
start double --bug --repair 1 | start double --seed 3 | grade double HERE/none.py | grade double HERE |
grade double HERE/a.py --timeout nan | undo | config lnag | config lang de | config new_per_day x |
config topic_retention.att 3 | config interview 2020-01-01 | --home HERE due | plan |
export summary --interview 2020-01-01 | export summary --format pdf -o HERE/a.html | export anki -o HERE/a.txt |
export log -o HERE/no/x.jsonl | import log HERE/none.jsonl | import log HERE/text.txt |
import anki HERE/text.txt | sync HERE/none | restore HERE/text.txt | backup -o HERE/a.py | bank check HERE/none |
bank check HERE/text.txt | verify nosuch | new challenge X | new card A/B | experiment nosuch |
experiment --quick | cohort HERE/none | cohort HERE -o HERE/x.doc | review |
drill --topic att --kind numeric --plain | optimize | answer att-01 --rating good --at 1980-01-01T00:00:00Z
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    for name, text in {"a.py": "", "text.txt": "no bank, no log", "config.toml": "day_start = 25\nx = 1\n"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def test_refusals_are_in_chinese_with_the_same_code(attn: Attn, here: Path) -> None:
    for call in map(str.strip, CALLS.split("|")):
        words = [word.replace("HERE", str(here)) for word in call.split()]
        chinese, english = attn("--lang", "zh", *words), attn("--lang", "en", *words)
        assert chinese.code == english.code, call
        assert CHINESE.search(chinese.line) and not CHINESE.search(english.line), call
        assert not SENTENCE.search(CODE.sub("", chinese.line.replace(str(here), "HERE"))), chinese.line


def test_the_end_of_the_program_is_told_in_chinese(home: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    monkeypatch.setattr("attncli.commands.session.discard", lambda: None)
    log = paths.home(home, {}).log / "attn.log"
    for error, said in (
        (KeyboardInterrupt(), "已中断；已经记录的内容都保留"),
        (MemoryError(), "内存不足；请关闭其他程序后重试"),
        (OSError(28, "No space left on device"), "无法写出结果（磁盘已满）；请腾出磁盘空间，或输出到别处"),
        (ZeroDivisionError("by 0"), f"意外错误 ZeroDivisionError：by 0；完整的错误信息在 {log}；请反馈给我们"),
    ):
        with Boundary(Session()):
            raise error
        assert capsys.readouterr().err.strip() == f"attn: {said}"


MISTAKES = {
    "bank": "缺少命令；用法见 `attn bank --help`",
    "hint": "缺少参数 'CHALLENGE'；用法见 `attn hint --help`",
    "completion": "缺少参数 '{bash|zsh|fish}'；可选：bash, zsh, fish；用法见 `attn completion --help`",
    "answer a-1": "缺少选项 '--rating'；可选：again, hard, good, easy；用法见 `attn answer --help`",
    "export anki": "缺少选项 '-o' / '--output'；用法见 `attn export anki --help`",
    "doctor --zzz": "没有选项 '--zzz'；用法见 `attn doctor --help`",
    "export anki --outptu x": "没有选项 '--outptu'；是不是 '--output'？",
    "review --limi 3": "没有选项 '--limi'；是不是 '--limit', '--plain'？",
    "grad": "没有命令 grad；是不是 grade？",
    "zzzzz": "没有命令 zzzzz；用 `attn --help` 查看所有命令",
    "bank nosuch": "没有命令 'nosuch'；用法见 `attn bank --help`",
    "bank chekc": "没有命令 'chekc'；是不是 'check'？",
    "due --json=3": "选项 '--json' 不带值；用法见 `attn --help`",
    "export summary -o": "选项 '-o' 需要一个值；用法见 `attn --help`",
    "undo x": "多出了参数（x）；用法见 `attn undo --help`",
    "undo x y": "多出了参数（x y）；用法见 `attn undo --help`",
    "quiz --count x": "'--count' 的值不合要求：'x' 不是数；用法见 `attn quiz --help`",
    "quiz --count 0": "'--count' 的值不合要求：0 不在范围 x>=1 内；用法见 `attn quiz --help`",
    "grade a b --timeout x": "'--timeout' 的值不合要求：'x' 不是数；用法见 `attn grade --help`",
    "answer a --rating x": (
        "'--rating' 的值不合要求：'x' 不是其中之一：'again', 'hard', 'good', 'easy'；用法见 `attn answer --help`"
    ),
    "plan --interview soon": "'soon' 不是日期；请写成 2027-03-31、3月31日或 3周后 这样",
    "due --at noon": "noon 不是 2026-05-01T09:30:00+02:00 这样的时间",
    "due --at 2026-05-01": "2026-05-01 没有时区偏移；请在末尾加上 Z 或 +08:00 之类",
    "--home= due": "--home 需要指定目录",
    "experiment x -o /": "'-o' / '--output' 的值不合要求：'/' 是目录，不是文件；用法见 `attn experiment --help`",
}


def test_a_mistake_in_a_call_is_told_in_both_languages(attn: Attn, monkeypatch: Any) -> None:
    for call, chinese in MISTAKES.items():
        monkeypatch.setenv("LANG", "C.UTF-8")
        english = attn(*call.split())
        assert english.code == 2 and english.line.isascii(), call
        assert ("用法见" in chinese) == ("; see `attn " in english.line), call
        monkeypatch.setenv("LANG", "zh_CN.UTF-8")
        told = attn(*call.split())
        assert (told.line, told.code) == (f"attn: {chinese}", 2)


def test_the_option_counts_where_the_mistake_stands_before_it(attn: Attn, tmp_path: Path) -> None:
    assert attn("undo", "--nope", "--lang", "zh").line.startswith("attn: 没有选项 '--nope'")
    assert attn("undo", "--nope", "--lang=en").line.startswith("attn: No such option '--nope'")
    assert attn("--lang", "fr", "due").line.startswith("attn: Invalid value for '--lang'")
    file = tmp_path / "file"
    file.touch()
    said = attn("--lang", "zh", "--home", str(file), "due").line
    assert said == f"attn: '--home' 的值不合要求：'{file}' 是文件，不是目录；用法见 `attn --help`"
