"""Check the small pure functions for cells, bars, intervals and keys."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App
from textual.content import Content

from attncli.domain.card import FollowUp
from attncli.i18n import Localised
from attncli.practice.record import interval_text
from attncli.practice.start import editor_command
from attncli.tui.textual_fixes import ascii_twin
from attncli.tui.theme import THEMES, theme_named
from attncli.tui.widgets.basics import LEAST_BESIDE, bar, beside, cut, left, right
from attncli.tui.widgets.card import FollowUps

from .conftest import shown

TEXTS = st.text(alphabet="ab 中文，…é", max_size=30)


@given(TEXTS, st.integers(1, 30))
def test_aligned_text_takes_exactly_its_cells_and_text_that_fits_is_not_cut(text: str, width: int) -> None:
    assert cell_len(left(text, width)) == cell_len(right(text, width)) == width
    assert cell_len(cut(text, width)) <= width and cut(text, cell_len(text)) == text


@given(st.text(alphabet="ab 中", min_size=1, max_size=60), st.integers(20, 40))
def test_text_beside_a_head_is_whole_and_never_below_it(text: str, width: int) -> None:
    lines = [line.plain for line in beside(Content("a head "), Content(text), width)]
    assert all(line.startswith(" " * 7) for line in lines[1:]) and lines[0].startswith("a head ")
    assert "".join(line[7:] for line in lines).replace(" ", "") == text.replace(" ", "")
    assert max(cell_len(line.rstrip()) for line in lines) <= max(width, 7 + LEAST_BESIDE)


@given(st.floats(-1, 2), st.integers(2, 40))
def test_a_bar_is_empty_only_at_zero_and_full_only_at_one(share: float, width: int) -> None:
    filled = bar(share, width, "bold").plain.count("━")
    assert bar(share, width, "bold").cell_length == width
    assert (filled == 0) == (share <= 0) and (filled == width) == (share >= 1)


def test_intervals_in_both_languages() -> None:
    for interval, en, zh in (
        (timedelta(0), "0 s", "0 秒"),
        (timedelta(seconds=59), "59 s", "59 秒"),
        (timedelta(minutes=10), "10 min", "10 分钟"),
        (timedelta(hours=1.5), "1.5 h", "1.5 小时"),
        (timedelta(days=4), "4 d", "4 天"),
        (timedelta(days=64), "2.1 mo", "2.1 个月"),
        (timedelta(days=365 * 12), "12 y", "12 年"),
        (timedelta(days=-1), "0 s", "0 秒"),
    ):
        assert (interval_text(interval, "en"), interval_text(interval, "zh")) == (en, zh)


def test_full_width_characters_alone_have_twins() -> None:
    twins = {"１": "1", "？": "question_mark", "！": "exclamation_mark", "ａ": "a", "，": "comma", "、": "slash"}
    others = ["1", "中", "", None, "é", "ab", "。", "…"]
    assert {typed: ascii_twin(typed) for typed in [*twins, *others]} == {**twins, **dict.fromkeys(others, "")}


def test_the_editor_is_the_setting_then_visual_then_editor_then_what_is_there() -> None:
    environ = {"VISUAL": "code --wait", "EDITOR": "vim"}
    nothing = {"which": lambda name: None}
    assert editor_command("emacs -nw", environ, **nothing) == ["emacs", "-nw"]
    assert editor_command("", environ, **nothing) == ["code", "--wait"]
    assert editor_command("", {"EDITOR": "vim"}, **nothing) == ["vim"]
    assert editor_command("", {}, which=lambda name: name if name == "vi" else None) == ["vi"]
    assert editor_command("", {}, **nothing) == []
    assert editor_command('odd "quote', {}, **nothing) == ['odd "quote']


def test_the_themes_can_be_set_by_their_short_names() -> None:
    assert [theme_named(name) for name in ("dark", "light", "contrast")] == [theme.name for theme in THEMES]
    assert theme_named("nord") == "nord"


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_text_has_enough_contrast_in_every_theme() -> None:
    for theme in THEMES:
        for ground in (theme.background, theme.surface, theme.panel):
            assert contrast(theme.foreground, ground) >= 7
            assert contrast(theme.variables["text-muted"], ground) >= 4.5
        for name in ("primary", "success", "warning", "error"):
            assert contrast(getattr(theme, name), theme.background) >= 4.5, (theme.name, name)


async def test_a_follow_up_that_is_a_card_wraps_beside_its_id() -> None:
    asked = FollowUps([FollowUp(None, None, "att-02")], set(), "zh", lambda card: Localised("word " * 30, "字" * 60))
    app: App[None] = App()
    async with app.run_test(size=(40, 12)) as pilot:
        await app.mount(asked)
        await pilot.pause()
        first, *more = [line for line in shown(app).split("\n") if "字" in line]  # type: ignore[arg-type]
        assert first.startswith("att-02  字") and more and all(line.startswith(" " * 8 + "字") for line in more)
