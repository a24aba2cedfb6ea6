"""Review, drill, quiz and mock interview with `--plain`: whole sessions line by line, from standard input."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from attncli import config
from attncli.commands import plain
from attncli.commands.plain import PlainReview
from attncli.config import Settings
from attncli.domain.log_row import Rating, RowKind
from attncli.domain.tests_report import Caught, OwnTestsReport
from attncli.errors import JudgeFailed
from attncli.i18n import Lang, quoted
from attncli.paths import Home
from attncli.practice import record
from attncli.practice.grade import Judge
from attncli.practice.review import ReviewSession
from attncli.practice.workspace import Workspace

from ..support.interviews import offer_rounds, write_bank, write_impl
from .conftest import Attn

CARDS = ("att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03")
DRILL = ("drill", "--plain")
QUIZ = ("quiz", "--plain", "--seed", "7")
MOCK = ("mock", "--plain", "--minutes", "30", "--seed", "3")
# Warm-up: two spoken cards with points, two choices; then a card with points and three follow-ups, and a linked card.
SPOKEN, MARKED = "\nall\n", "1\n"
CHANGES: dict[tuple[str, Lang], str] = {
    ("answered", "en"): "the intervals have changed",
    ("day", "en"): "the intervals have changed",
    ("settings", "zh"): "间隔已更新",
    ("gone", "en"): "att-01 is no longer in its bank",
    ("gone", "zh"): "att-01 已不在题库中",
}


def test_a_qa_card_is_asked_revealed_ticked_and_rated_in_both_languages(attn: Attn) -> None:
    said = attn("review", "--plain", "--topic", "att", "--limit", "1", stdin="\n1 2\n\n").out
    for part in ("by the root of d?", "the variance at one.", "1. variance is d", "press Enter for hard"):
        assert part in said
    assert "att-01: hard, next in 6 min" in said and "1 answered and saved" in said
    attn("undo")
    said = attn("--lang", "zh", "review", "--plain", stdin="\nall\n\n" + "0\n\n" * 30).out
    for part in ("为什么除以 √d？", "回车 看答案", "评分：1 重来", "让方差保持为一。"):
        assert part in said


def only(attn: Attn, card: str) -> None:
    for other in CARDS:
        attn("suspend" if other != card else "unsuspend", other)


def test_every_kind_is_asked_and_marked_and_an_empty_answer_gives_up(attn: Attn, tmp_path: Path) -> None:
    for card, stdin, said in [
        ("att-02", "1 2 3\n\n", "a convolution"),
        ("att-03", "QK^T\nsqrt(d)\n\n", "✓ Right\n"),
        ("kv-01", "many\n1,5\n3 TB\n\n", "Expected "),
        ("kv-02", "1 1 1\n\n\n", "prefill → decode → detokenise"),
        ("kv-03", "9\nx\n1\n\n", "Line 1: Shapes differ."),
    ]:
        only(attn, card)
        result = attn("review", "--plain", stdin=stdin)
        assert result.code == 0 and said in result.out, result.out
    assert attn("stats", "--json").json["reviews"] == 5
    home = ("--home", tmp_path / "another")
    for card in ("att-01", "att-03", "kv-02", "kv-03"):
        attn(*home, "suspend", card)
    said = attn(*home, "review", "--plain", stdin="\n" * 4).out
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


def test_a_slip_is_asked_again_and_the_end_of_input_keeps_what_was_answered(attn: Attn) -> None:
    result = attn("review", "--plain", "--topic", "att", stdin="\n9\nsome\n１ ２ ３\nfive\n３\n")
    assert result.out.count("Not a valid choice.") == 3 and "att-01: good" in result.out
    assert result.code == 0 and "1 answered and saved" in result.out
    assert attn("stats", "--json").json["reviews"] == 1


@pytest.mark.parametrize("change", CHANGES)
def test_what_holds_no_longer_is_asked_again(
    tmp_path: Path, small_bank: Path, small_impl: Path, moving_clock: Any, capsys: Any, change: tuple[str, Lang]
) -> None:
    meanwhile, lang = change

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
        yield from ("\n", "all\n")
        disturb()
        yield from ("3\n", "3\n" if meanwhile != "gone" else "")

    with opened() as workspace:
        record.answer(workspace, "att-01", Rating.EASY, workspace.clock() - timedelta(days=20))
        for other in ("att-02", "att-03"):
            record.hold(workspace, RowKind.SUSPEND, other)
        typed = lines()
        drill = ReviewSession(workspace, topic="att", limit=1)
        PlainReview(workspace, lambda: next(typed, ""), drill, Random(1)).run()
    assert CHANGES[change] in capsys.readouterr().out and len(drill.answers) == (meanwhile != "gone")


def test_a_cram_shows_no_interval_and_records_nothing_and_a_drill_does(attn: Attn) -> None:
    for lang, keys, end in (
        ("en", "3 good, 4 easy, r ask again today; press Enter for good", "1 answered, 0 left; nothing was recorded"),
        ("zh", "3 良好, 4 简单，r 今天再问一次；直接回车为良好", "已答 1 张，还剩 0 张；均未记录"),
    ):
        result = attn("--lang", lang, *DRILL, "--kind", "debug", "--cram", stdin="1\n\n")
        assert result.code == 0 and keys in result.out and end in result.out
        assert "kv-03: good\n" in result.out or "kv-03：良好\n" in result.out
    assert attn("stats", "--json").json["reviews"] == 0
    result = attn(*DRILL, "--topic", "att", "--kind", "qa", stdin="\nall\n3\n")
    assert result.code == 0 and "att-01: good, next in" in result.out and "1 answered and saved, 0 left" in result.out
    assert attn("stats", "--json").json["reviews"] == 1


UNUSABLE = {
    "drill --plain --kind essay": "'essay' is not one of",
    "drill --plain --level junior": "'junior' is not one of",
    "drill --plain --count 0": "0 is not in the range",
    "drill --plain --topic kvv": "did you mean kv?",
    "quiz --plain --count 0": "0 is not in the range",
    "quiz --plain --seed -1": "-1 is not in the range",
    "quiz --plain --seed x": "'x' is not a valid",
    "quiz --plain --topic nope": "unknown topic nope",
    "mock --plain --minutes 9": "9 is not in the range",
    "mock --plain --minutes 121": "121 is not in the range",
    "mock --plain --level junior": "'junior' is not one of",
    "mock --plain --seed -1": "-1 is not in the range",
    "mock --plain --seed x": "'x' is not a valid",
    **{name: f"attn: the app needs a terminal; run `attn {name} --plain`" for name in ("drill", "quiz", "mock")},
}


def test_what_cannot_be_meant_is_refused_and_what_finds_nothing_says_what_to_drop(attn: Attn) -> None:
    for call, said in UNUSABLE.items():
        result = attn(*call.split())
        assert result.code == 2 and said in result.line, call
    result = attn(*DRILL, "--topic", "kv", "--kind", "qa")
    said = "attn: no card matches --topic kv --kind qa; there are 3 without --kind, 1 without --topic"
    assert result.code == 1 and result.line == said
    for card in ("att-02", "att-03"):
        attn("suspend", card)
    result = attn(*QUIZ, "--topic", "att")
    assert (result.code, result.line) == (1, "attn: no card matches --topic att; there are 3 without --topic")
    for card in CARDS:
        attn("suspend", card)
    result = attn(*MOCK)
    assert result.code == 1 and result.line.startswith("attn: there are no cards")


def test_the_level_that_is_set_is_asked_unless_another_is_named(attn: Attn) -> None:
    attn("config", "level", "screen")
    refused = attn(*DRILL, "--kind", "cloze")
    assert refused.code == 1 and "no card matches --kind cloze --level screen" in refused.line
    assert "with --level any" in refused.line and "without --level" not in refused.line
    for level in ("onsite", "research", "any"):
        assert attn(*DRILL, "--kind", "cloze", "--level", level, stdin="").code == 0


def test_a_quiz_is_scored_at_the_end_by_topic_with_what_was_missed(attn: Attn) -> None:
    result = attn(*QUIZ, "--topic", "kv", stdin="\n" * 3)
    assert result.code == 0
    asked, _, scored = result.out.partition("0 of 3 right\n")
    assert "3/3. kv-0" in asked and "Why" not in asked and "Not right" not in asked
    last = "Schedules are unchanged.\n\nSame quiz again: attn quiz --topic kv --count 10 --seed 7\n"
    assert scored.startswith("KV cache 0/3\n\nMissed\n") and scored.endswith(last)
    assert "kv-03  Which line is wrong?\n    Line 1: Shapes differ." in scored and "The answer is " in scored
    stats = attn("stats", "--json").json
    assert stats["reviews"] == 0 and len(stats["topics"]["kv"]["weak"]) == 3 and attn("undo").code == 2


def test_the_command_that_draws_it_again_is_told(attn: Attn) -> None:
    said = attn("quiz", "--plain", "--count", "2", stdin="\n" * 5).out
    command = said.splitlines()[-1].removeprefix("Same quiz again: attn ").split()
    assert attn(*command, "--plain", stdin="\n" * 5).out == said


def test_whoever_stops_gets_the_score_so_far(attn: Attn) -> None:
    for card in CARDS[:4]:
        attn("suspend", card)
    first = "1\n" if "kv-03" in attn(*QUIZ, "--count", "1").out else "1 2 3\n"
    for stdin in (f"{first}q\n", first):
        assert "of 1 right\n1 not asked" in attn(*QUIZ, stdin=stdin).out


def test_what_is_no_number_is_asked_again_and_everything_right_is_said(attn: Attn) -> None:
    only(attn, "kv-01")
    said = attn(*QUIZ, stdin="lots\n７\n").out
    assert "“lots” is not a number" in said and "0 of 1 right" in said and "GiB (±2%); you entered 7 GiB." in said
    only(attn, "kv-03")
    said = attn("--lang", "zh", *QUIZ, stdin="1\n").out
    assert "第 1/1 题：kv-03，KV 缓存" in said and "1 题答对 1 题" in said and "全部答对。" in said


@pytest.fixture
def ask(attn: Attn, small_bank: Path, small_impl: Path) -> Attn:
    """Return the command line over a bank that is large enough for an interview."""
    for folder, write in ((small_bank, write_bank), (small_impl, write_impl)):
        shutil.rmtree(folder)
        write(folder)
    return attn


@pytest.fixture
def no_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise JudgeFailed(quoted("there is no torch here; install it"))

    monkeypatch.setattr(Judge, "grade", fail)


def test_a_whole_interview_by_hand(ask: Attn, no_judge: None) -> None:
    words = SPOKEN + MARKED + SPOKEN + MARKED + SPOKEN + "\n2\n" + "\n1\n" + "\n0\n" + "\n1 3\n" + "\n1\n" + "\n0\ns\n"
    result = ask(*MOCK, stdin=words)
    assert result.code == 0 and result.err == ""
    for part in ("Warm-up · 4 min · 4 questions", "Deep dive · 8 min · 5 questions", "Whiteboard · 12 min", "Repair"):
        assert f"# {part}" in result.out
    assert "Cannot grade it here (there is no torch here; install it)" in result.out
    assert "Return twice the input." in result.out and "Write it as you would at the whiteboard:" in result.out
    assert "The interview is over." in result.out and re.search(r"Repair: 0 of 1, \d:\d\d of 6 min", result.out)
    report = result.out.partition("The interview is over.")[2]
    assert all(part in report for part in ("Missed questions", "What breaks", "not solved: ", "    - two"))
    assert report.endswith("Same interview again: attn mock --minutes 30 --level onsite --seed 3\n")
    assert ask("stats", "--json").json["reviews"] == 0


def test_it_goes_on_where_it_stopped(ask: Attn) -> None:
    first = ask(*MOCK, stdin=SPOKEN)
    assert first.code == 0 and first.out.endswith("Paused and saved. Resume: `attn mock`\n") and "2/4" in first.out
    second = ask("mock", "--plain", stdin="x\n\nq\n")
    assert second.out.endswith("Paused and saved. Resume: `attn mock`\n") and "Not a valid choice." in second.out
    assert "(Warm-up). Enter resume · n start a new one" in second.out
    assert "2/4" in second.out and "1/4" not in second.out
    assert ask("mock", "--plain", stdin="q\n").out.count("\n") == 1
    assert ask("mock", "--plain", stdin="").code == 0
    third = ask(*MOCK, stdin="n\n")
    assert "1/4" in third.out


def test_commands_skip_leave_and_take_back_and_what_is_no_choice_is_asked_again(ask: Attn) -> None:
    said = ask(*MOCK, stdin="u\ns\nu\ns\nn\nlots\nq\n").out
    assert "there is no answer in this interview to undo" in said
    assert said.count("1/4") == 3 and "Last step undone" in said and "# Deep dive" in said
    undone = ask("undo").out
    assert undone.startswith("undone: the last step of the mock interview at 20")
    assert "2/4" in ask("mock", "--plain", stdin="\nq\n").out
    said = ask(*MOCK, stdin="n\n\n9\nsome\n2\nq\n").out
    assert said.count("Which points were made?") == 3 and said.count("Not a valid choice.") == 2
    ask("undo")
    again = ask("mock", "--plain", "--lang", "zh", stdin="\n\nｎｏｎｅ\nn\n\n全部\n\n9\nq\n").out
    assert "这一场" not in again and "没有这个选项。" in again and "追问" not in again.partition("深入追问")[0]


def test_an_interviewer_has_the_points_before_them_and_a_missing_editor_is_said(ask: Attn) -> None:
    ask("config", "editor", "no-such-editor")
    said = ask(*MOCK, "--interviewer", stdin="1\nq\n").out
    assert "Press Enter when done" not in said and said.index("## Points") < said.index("Which points were made?")
    result = ask(*MOCK, stdin="n\nn\nn\ne\nq\n")
    assert "Cannot start the editor “no-such-editor”" in result.err and result.code == 0


def test_code_is_graded_and_recorded_as_an_attempt(ask: Attn, tmp_path: Path) -> None:
    to_code = SPOKEN + MARKED + SPOKEN + MARKED + SPOKEN + "\n2\n" * 3 + SPOKEN
    said = ask(*MOCK, stdin=to_code + "what\nq\n").out
    path = Path(re.findall(r"^(/.*\.py) · ", said, re.M)[0])
    assert path.exists() and said.count("Enter grade") == 2
    path.unlink()
    path.mkdir()
    result = ask("mock", "--plain", stdin="\n\nq\n")
    assert result.code == 0 and "is not a file; give the Python file to grade" in result.err


def test_a_draft_is_tested_and_then_repaired(ask: Attn, small_impl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer_rounds(small_impl)
    report = OwnTestsReport(challenge="", file="t.py", verdict="accepted", all=Caught(1, 1))
    monkeypatch.setattr(Judge, "run_tests", lambda *_: report)
    result = ask(*MOCK, "--assistant", stdin="n\nn\n\ns\n")
    assert result.code == 0 and result.err == ""
    said = re.findall(r"# Tests · 11 min|It has 1 bug|Draft: \S+repair.py|1 of 1 bugs exposed|# Repair · 7", result.out)
    assert len(said) == 5 and "Tests: 1 of 1" in result.out and "Repair: 0 of 1" in result.out
    assert result.out.endswith("--seed 3 --assistant\n")


def test_the_interview_has_the_level_that_is_set_or_named(ask: Attn, monkeypatch: pytest.MonkeyPatch) -> None:
    wished: list[str] = []
    monkeypatch.setattr(plain, "hold_interview", lambda workspace, options, read: wished.append(options.level))
    for level, words in (("any", ()), ("research", ()), ("research", ("--level", "screen"))):
        ask("config", "level", level)
        assert ask(*MOCK, *words).code == 0
    assert wished == ["onsite", "research", "screen"]
