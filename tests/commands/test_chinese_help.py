"""`--help` in Chinese has all that the English help has, equally aligned."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, cast

import click
import pytest

from attncli.cli import cli
from attncli.domain.text import cells

Attn = Callable[..., Any]
CHINESE = re.compile("[\u4e00-\u9fff]")
# Names, codes and the spellings of options stay as they are, alone or two in a row; a sentence has more words.
SENTENCE = re.compile(r"(?:\b[A-Za-z]+[,;]? ){2}[a-z]+\b")
OPTION = re.compile(r"^  (-\S+(?:, --\S+)?)", re.MULTILINE)
CODE = re.compile(r"`[^`]*`")


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


def test_help_in_chinese_has_no_english_sentence_and_no_line_too_wide(attn: Attn) -> None:
    for path in COMMANDS:
        result = attn("--lang", "zh", *path, "--help")
        assert (result.code, result.err) == (0, ""), path
        assert result.out.startswith(f"用法：{' '.join(['attn', *path])}") and "选项：" in result.out
        assert SENTENCE.findall(CODE.sub("", result.out.partition("\n")[2])) == [], path
        assert max(cells(line) for line in result.out.splitlines()) <= 78, path
        listed = result.out.partition("选项：\n")[2].partition("\n\n")[0]
        assert len(columns_of(listed.splitlines())) == 1, path


def columns_of(lines: list[str]) -> set[int]:
    """Return the columns in which the descriptions of a list start."""
    found = [re.match(r"(  -.*?\S {2,}| {8,})(?=\S)", line) for line in lines]
    return {cells(match[0]) for match in found if match}


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


def test_options_of_both_languages_are_the_same(attn: Attn) -> None:
    for path in COMMANDS:
        english, chinese = (attn("--lang", lang, *path, "--help").out for lang in ("en", "zh"))
        assert OPTION.findall(chinese) == OPTION.findall(english) != []


def test_english_help_is_clicks_own_also_after_chinese(attn: Attn) -> None:
    before = attn("drill", "--help").out
    assert "用法：" in attn("drill", "--help", "--lang=zh").out
    assert attn("drill", "--help").out == before
    assert before.startswith("Usage: attn drill [OPTIONS]\n") and not CHINESE.search(before)


def test_a_range_and_a_default_are_told_behind_the_text(attn: Attn) -> None:
    help_text = attn("drill", "--help", "--lang", "zh").out
    assert re.search(r"--count 整数 +卡片数上限。［默认值：20；x>=1］", help_text)
    assert re.search(r"\[again\|hard\|good\|easy\]\n +［必填］", attn("answer", "-h", "--lang", "zh").out)


@pytest.mark.parametrize(
    "words", [["--lang", "zh", "due", "--help"], ["due", "--help", "--lang", "zh"], ["due", "-h", "--lang=zh"]]
)
def test_the_option_counts_wherever_it_stands(attn: Attn, words: list[str]) -> None:
    assert attn(*words).out.startswith("用法：attn due [选项]\n")


def test_the_setting_and_the_environment_choose_the_language_of_help(attn: Attn, monkeypatch: Any) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert attn("due", "--help").out.startswith("用法：")
    attn("config", "lang", "en")
    assert attn("due", "--help").out.startswith("Usage:")
    monkeypatch.setenv("LANG", "C.UTF-8")
    attn("config", "lang", "zh")
    assert attn("due", "--help").out.startswith("用法：")
    assert attn("due", "--help", "--lang", "en").out.startswith("Usage:")


def test_the_setting_of_another_folder_is_read_where_it_stands_behind(attn: Attn, tmp_path: Any) -> None:
    attn("--home", str(tmp_path / "other"), "config", "lang", "zh")
    assert attn("due", "--help", "--home", str(tmp_path / "other")).out.startswith("用法：")


def test_help_is_there_though_the_settings_cannot_be_read(attn: Attn, home: Any, monkeypatch: Any) -> None:
    home.mkdir()
    (home / "config.toml").write_text("lang = ", encoding="utf-8")
    assert attn("due", "--help").out.startswith("Usage:")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert attn("due", "--help").out.startswith("用法：")


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
