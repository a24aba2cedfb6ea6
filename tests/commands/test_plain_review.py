"""Review a whole session line by line, from standard input."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from attncli import config
from attncli.commands.plain import PlainReview
from attncli.config import Settings
from attncli.domain.log_row import Rating, RowKind
from attncli.i18n import Lang
from attncli.paths import Home
from attncli.practice import record
from attncli.practice.review import ReviewSession
from attncli.practice.workspace import Workspace

Attn = Callable[..., Any]


def test_a_qa_card_is_asked_revealed_ticked_and_rated(attn: Attn) -> None:
    said = attn("review", "--plain", "--topic", "att", "--limit", "1", stdin="\n1 2\n\n").out
    for part in (
        "Why divide by the root of d?",
        "It keeps the variance at one.",
        "1. variance is d",
        "press Enter for hard",
    ):
        assert part in said
    assert "att-01: hard, next in 6 min" in said and "1 answered and saved" in said
    assert attn("stats", "--json").json["reviews"] == 1


def test_the_whole_queue_in_chinese(attn: Attn) -> None:
    said = attn("--lang", "zh", "review", "--plain", stdin="\nall\n\n" + "0\n\n" * 30).out
    for part in ("为什么除以 √d？", "回车 看答案", "评分：1 重来", "让方差保持为一。"):
        assert part in said


def test_every_kind_is_asked_and_marked(attn: Attn) -> None:
    for card, stdin, said in [
        ("att-02", "1 2 3\n\n", "a convolution"),
        ("att-03", "QK^T\nsqrt(d)\n\n", "✓ Right\n"),
        ("kv-01", "many\n1,5\n3 TB\n\n", "Expected "),
        ("kv-02", "1 1 1\n\n\n", "prefill → decode → detokenise"),
        ("kv-03", "9\nx\n1\n\n", "Line 1: Shapes differ."),
    ]:
        for other in ("att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"):
            attn("suspend" if other != card else "unsuspend", other)
        result = attn("review", "--plain", stdin=stdin)
        assert result.code == 0 and said in result.out, result.out
    assert attn("stats", "--json").json["reviews"] == 5


def test_an_empty_answer_gives_up_and_suggests_again(attn: Attn) -> None:
    for card in ("att-01", "att-03", "kv-02", "kv-03"):
        attn("suspend", card)
    said = attn("review", "--plain", stdin="\n" * 4).out
    assert said.count("press Enter for again") == 2 and "The answer is " in said


def test_undo_suspend_put_off_and_quit(attn: Attn) -> None:
    said = attn("review", "--plain", "--topic", "att", stdin="u\n\nnone\n4\nu\nq\n").out
    assert "there is no answer in this session" in said
    said = attn("review", "--plain", "--topic", "att", stdin="s\n").out
    assert "0 answered and saved, 2 left" in said
    assert attn("due", "--json").json["topics"]["att"] == 2
    said = attn("review", "--plain", "--topic", "kv", stdin="1\n4\n1\nu\n7\n2\nb\n").out
    assert "Undone: kv-01" in said
    said = attn("review", "--plain", "--topic", "att", stdin="\nnone\nr\n4\ns\n\nnone\n1\n").out
    assert "comes again at the end; rate it now" in said and said.count("next in") == 1
    assert said.endswith("1 answered and saved, 0 left\n")


def test_a_slip_is_asked_again(attn: Attn) -> None:
    said = attn("review", "--plain", "--topic", "att", "--limit", "1", stdin="\n9\nsome\nnone\nfive\ngood\n").out
    assert said.count("Not a valid choice.") == 3 and "att-01: good" in said


def test_full_width_input_counts(attn: Attn) -> None:
    said = attn("review", "--plain", "--topic", "att", "--limit", "1", stdin="\n１ ２ ３\n３\n").out
    assert "att-01: good" in said


def test_the_end_of_input_ends_the_sitting_and_keeps_what_was_answered(attn: Attn) -> None:
    result = attn("review", "--plain", stdin="\nall\n3\n")
    assert result.code == 0 and "1 answered and saved" in result.out
    assert attn("stats", "--json").json["reviews"] == 1


@pytest.mark.parametrize(
    ("meanwhile", "lang", "said"),
    [
        ("answered", "en", "the intervals have changed"),
        ("day", "en", "the intervals have changed"),
        ("settings", "zh", "间隔已更新"),
        ("gone", "en", "att-01 is no longer in its bank"),
        ("gone", "zh", "att-01 已不在题库中"),
    ],
)
def test_what_holds_no_longer_is_asked_again(
    tmp_path: Path,
    small_bank: Path,
    small_impl: Path,
    moving_clock: Any,
    capsys: pytest.CaptureFixture[str],
    meanwhile: str,
    lang: Lang,
    said: str,
) -> None:
    def opened(**settings: Any) -> Workspace:
        chosen = Settings(fuzz=False, **settings)
        return Workspace.open(Home(tmp_path / "home"), moving_clock, lang, chosen, small_bank, small_impl)

    def disturb() -> None:
        if meanwhile == "day":
            moving_clock.move(days=10)
        elif meanwhile == "gone":
            workspace.store.connection.execute("DELETE FROM card WHERE id = 'att-01'")
        elif meanwhile == "settings":
            config.save(workspace.home.config, "fuzz", "false")
            config.save(workspace.home.config, "desired_retention", "0.8")
            opened(desired_retention=0.8).close()
        else:
            with opened() as other:
                record.answer(other, "att-01", Rating.EASY)

    def lines() -> Iterator[str]:
        yield "\n"
        yield "all\n"
        disturb()
        yield "3\n"
        yield "3\n" if meanwhile != "gone" else ""

    with opened() as workspace:
        record.answer(workspace, "att-01", Rating.EASY, workspace.clock() - timedelta(days=20))
        for other in ("att-02", "att-03"):
            record.hold(workspace, RowKind.SUSPEND, other)
        typed = lines()
        drill = ReviewSession(workspace, topic="att", limit=1)
        PlainReview(workspace, lambda: next(typed, ""), drill, Random(1)).run()
        out = capsys.readouterr().out
        assert said in out
        assert len(drill.answers) == (meanwhile != "gone")
