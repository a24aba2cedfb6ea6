"""`attn mock --plain`: the whole interview line by line, from standard input."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from attncli.commands import plain
from attncli.domain.tests_report import Caught, OwnTestsReport
from attncli.errors import JudgeFailed
from attncli.i18n import quoted
from attncli.practice.grade import Judge

from ..support.interviews import offer_rounds, write_bank, write_impl
from .conftest import Attn

MOCK = ("mock", "--plain", "--minutes", "30", "--seed", "3")
# Warm-up: two spoken cards with points, two choices; then a card with points and three follow-ups, and a linked card.
SPOKEN, MARKED = "\nall\n", "1\n"


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
    for part in (
        "# Warm-up · 4 min · 4 questions",
        "# Deep dive · 8 min · 5 questions",
        "# Whiteboard · 12 min",
        "# Repair",
    ):
        assert part in result.out
    assert "Cannot grade it here (there is no torch here; install it)" in result.out
    assert "Return twice the input." in result.out and "Write it as you would at the whiteboard:" in result.out
    assert "The interview is over." in result.out and re.search(r"Repair: 0 of 1, \d:\d\d of 6 min", result.out)
    report = result.out.partition("The interview is over.")[2]
    assert (
        "Missed questions" in report and "What breaks" in report and "not solved: " in report and "    - two" in report
    )
    assert report.endswith("Same interview again: attn mock --minutes 30 --level onsite --seed 3\n")
    assert ask("stats", "--json").json["reviews"] == 0


def test_it_goes_on_where_it_stopped(ask: Attn) -> None:
    first = ask(*MOCK, stdin=SPOKEN + "q\n")
    assert first.code == 0 and first.out.endswith("Paused and saved. Resume: `attn mock`\n") and "2/4" in first.out
    second = ask("mock", "--plain", stdin="x\n\nq\n")
    assert "(Warm-up). Enter resume · n start a new one" in second.out
    assert "Not a valid choice." in second.out
    assert "2/4" in second.out and "1/4" not in second.out
    assert ask("mock", "--plain", stdin="q\n").out.count("\n") == 1
    third = ask(*MOCK, stdin="n\n")
    assert "1/4" in third.out


def test_commands_skip_leave_and_take_back(ask: Attn) -> None:
    said = ask(*MOCK, stdin="u\ns\nu\ns\nn\nlots\nq\n").out
    assert "there is no answer in this interview to undo" in said
    assert said.count("1/4") == 3 and "Last step undone" in said and "# Deep dive" in said
    undone = ask("undo").out
    assert undone.startswith("undone: the last step of the mock interview at 20")
    assert "2/4" in ask("mock", "--plain", stdin="\nq\n").out


def test_what_is_no_choice_is_asked_again(ask: Attn) -> None:
    said = ask(*MOCK, stdin="\n9\nsome\n2\nq\n").out
    assert said.count("Which points were made?") == 3 and said.count("Not a valid choice.") == 2
    ask("undo")
    again = ask("mock", "--plain", "--lang", "zh", stdin="\n\nｎｏｎｅ\nn\n\n全部\n\n9\nq\n").out
    assert "这一场" not in again and "没有这个选项。" in again and "追问" not in again.partition("深入追问")[0]


def test_an_interviewer_has_the_points_before_them(ask: Attn) -> None:
    said = ask(*MOCK, "--interviewer", stdin="1\nq\n").out
    assert "Press Enter when done" not in said and said.index("## Points") < said.index("Which points were made?")


def test_the_same_seed_asks_the_same(ask: Attn) -> None:
    first, second, other = (
        re.findall(r"^\d/\d  \S+", ask(*MOCK[:-1], seed, stdin="n\n" * 9).out.partition("#")[2], re.M)
        for seed in ("3", "3", "4")
    )
    assert first and first == second != other


def test_the_end_of_input_keeps_everything(ask: Attn) -> None:
    assert ask(*MOCK, stdin=SPOKEN).out.endswith("Paused and saved. Resume: `attn mock`\n")
    assert "2/4" in ask("mock", "--plain", stdin="\n").out
    assert ask("mock", "--plain", stdin="").code == 0


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


def test_without_an_editor_it_is_said(ask: Attn, monkeypatch: pytest.MonkeyPatch) -> None:
    ask("config", "editor", "no-such-editor")
    result = ask(*MOCK, stdin="n\nn\ne\nq\n")
    assert "Cannot start the editor “no-such-editor”" in result.err and result.code == 0


@pytest.mark.parametrize(
    "words", [("--minutes", "9"), ("--minutes", "121"), ("--level", "junior"), ("--seed", "-1"), ("--seed", "x")]
)
def test_what_cannot_be_meant_is_refused(ask: Attn, words: tuple[str, str]) -> None:
    assert ask("mock", "--plain", *words).code == 2


def test_no_card_at_all_is_no(attn: Attn) -> None:
    for card in ("att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"):
        attn("suspend", card)
    result = attn(*MOCK)
    assert result.code == 1 and result.line.startswith("attn: there are no cards")


def test_without_a_terminal_the_plain_form_is_named(attn: Attn) -> None:
    result = attn("mock")
    assert result.code == 2 and result.line == "attn: the app needs a terminal; run `attn mock --plain`"


def test_the_interview_has_the_level_that_is_set_unless_another_is_named(
    ask: Attn, monkeypatch: pytest.MonkeyPatch
) -> None:
    wished: list[str] = []
    monkeypatch.setattr(plain, "hold_interview", lambda workspace, options, read: wished.append(options.level))
    for level, words in (("any", ()), ("research", ()), ("research", ("--level", "screen"))):
        ask("config", "level", level)
        assert ask(*MOCK, *words).code == 0
    assert wished == ["onsite", "research", "screen"]
