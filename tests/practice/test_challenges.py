"""Hints, solutions and attempts at challenges: what is recorded, and what comes after solving one."""

from __future__ import annotations

import ast
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.domain.card import FollowUp
from attncli.domain.grade_report import GradeReport, read
from attncli.domain.log_row import Rating, RowKind, checked_line
from attncli.errors import EnvironmentFailure, NotFound, UsageError
from attncli.i18n import Localised
from attncli.memory.replay import solved_reviews
from attncli.practice import challenges, record
from attncli.practice.challenges import after_solving, asked_next, next_hint, show_solution, solving_source, standings
from attncli.practice.grade import record_attempt
from attncli.practice.record import take_back
from attncli.practice.start import start_challenge
from attncli.practice.stats import progress
from attncli.practice.today import due_counts
from attncli.practice.workspace import Workspace
from moved_clock import Clock

from ..domain.test_statement import challenge
from .conftest import MakeCard, Open

QUESTIONS = (
    FollowUp(Localised("And 0?", "0 呢？"), Localised("It is 0.", "还是 0。"), "att-01"),
    FollowUp(Localised("And 1?", "1 呢？"), Localised("It is 2.", "是 2。")),
)
cases = st.lists(st.dictionaries(st.sampled_from(["check", "draws"]), st.integers() | st.text()), max_size=3)


def report(verdict: str = "accepted", **more: Any) -> GradeReport:
    rung = "hardened" if verdict == "accepted" else "none"
    checks = [
        {"name": "loads", "status": "pass", "examples": 1},
        {"name": "matches-reference", "status": "fail", "reason": "values", "examples": 9},
    ]
    return read(GradeReport, {"challenge": "double", "verdict": verdict, "rung": rung, "checks": checks, **more})


def ratings(workspace: Workspace) -> list[Rating]:
    return [rating for _, rating in solved_reviews(workspace.store.log.of_subjects(["double"]))]


def test_a_starter_has_the_signature_the_statement_and_no_body(open_workspace: Open) -> None:
    workspace = open_workspace()
    started = start_challenge(workspace, "double")
    assert started.path == workspace.home.solutions / "double.py"
    text = started.path.read_text(encoding="utf-8")
    ast.parse(text)
    assert "def double(x: Tensor, times: float = math.pi) -> Tensor:\n    raise NotImplementedError" in text
    assert "import math" in text and "from torch import Tensor" in text and "import torch\n" in text
    assert "Return twice the input." in text and "x + x" not in text and "Doubles." not in text
    chinese = open_workspace("chinese", lang="zh")
    assert "返回输入的两倍。" in start_challenge(chinese, "double").path.read_text(encoding="utf-8")


def test_without_room_no_part_of_a_file_is_written(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    path = start_challenge(workspace, "double").path
    path.write_text("my work", encoding="utf-8")

    def without_room(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", without_room)
        with pytest.raises(EnvironmentFailure, match=r"No space left on device.*free some disk space"):
            start_challenge(workspace, "double", force=True)
        assert path.read_text(encoding="utf-8") == "my work" and list(path.parent.iterdir()) == [path]
        path.unlink()
        with pytest.raises(EnvironmentFailure, match="No space left"):
            start_challenge(workspace, "double")
    assert not path.exists() and start_challenge(workspace, "double").path == path


def test_a_file_is_never_overwritten_and_lies_in_any_folder_that_can_be(workspace: Workspace, tmp_path: Path) -> None:
    path = start_challenge(workspace, "double").path
    path.write_text("my work", encoding="utf-8")
    with pytest.raises(UsageError, match=f"{path} already exists") as refusal:
        start_challenge(workspace, "double")
    assert "--force" in str(refusal.value) and path.read_text(encoding="utf-8") == "my work"
    kept = [start_challenge(workspace, "double", force=True).kept for _ in range(2)]
    assert kept == [path.with_name("double.1.py"), path.with_name("double.2.py")]
    assert kept[0] is not None and kept[0].read_text(encoding="utf-8") == "my work"
    assert start_challenge(workspace, "double", tmp_path / "a" / "b").path == tmp_path / "a" / "b" / "double.py"
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="move that file out of the way"):
        start_challenge(workspace, "double", tmp_path / "file")
    with pytest.raises(NotFound):
        start_challenge(workspace, "nope")


def test_a_planted_bug_has_an_innocent_name_and_gives_nothing_away(workspace: Workspace, small_impl: Path) -> None:
    started = start_challenge(workspace, "double", bug=True)
    text = started.path.read_text(encoding="utf-8")
    ast.parse(text)
    assert started.path.name == "double.repair.py" and started.symptom is not None
    assert "Right for 0 and 2 only." in text and "x * x" in text
    assert "quares" not in text and "#" not in text
    (small_impl / "basics" / "double" / "wrong" / "squares.py").unlink()
    with pytest.raises(UsageError, match="no wrong solution to debug"):
        start_challenge(workspace, "double", bug=True)


def test_a_damaged_reference_is_said(workspace: Workspace, small_impl: Path) -> None:
    reference = small_impl / "basics" / "double" / "reference.py"
    reference.write_text("def double(:", encoding="utf-8")
    with pytest.raises(EnvironmentFailure, match="is not valid Python"):
        start_challenge(workspace, "double")
    assert not (workspace.home.solutions / "double.py").exists()
    reference.unlink()
    for use in (start_challenge, show_solution):
        with pytest.raises((EnvironmentFailure, UsageError), match="cannot read"):
            use(workspace, "double")


def test_hints_come_one_by_one_and_start_over_once_solved_and_a_solution_read_is_forgotten(
    open_workspace: Open,
) -> None:
    workspace, reader = open_workspace(), open_workspace("reader")
    hints = [next_hint(workspace, "double") for _ in range(4)]
    assert [(hint.number, hint.again) for hint in hints] == [(1, False), (2, False), (3, False), (3, True)]
    assert hints[1].text.zh == "与自身相加。" and hints[0].total == 3
    record_attempt(workspace, report(), "x + x")
    assert next_hint(workspace, "double").number == 1
    assert "return x + x" in show_solution(reader, "double")
    record_attempt(reader, report(), "x + x")
    assert ratings(reader) == [Rating.AGAIN]


def test_an_attempt_keeps_verdict_checks_and_code(workspace: Workspace) -> None:
    kept = {"check": "stable", "record": "case", "profile": "large", "draws": [2], "values": [["bool", [1], "AQ=="]]}
    stored = [kept, {**kept, "draws": [10**9]}]
    payload = record_attempt(workspace, report("rejected", stored=stored), "def double(x): ...").payload
    assert payload["verdict"] == "rejected" and payload["examples"] == 10 and payload["source"] == "def double(x): ..."
    assert payload["checks"][1] == {"name": "matches-reference", "status": "fail", "reason": "values"}
    assert payload["stored"] == [kept] and len(payload["sha256"]) == 64
    assert standings(workspace)[0].standing == "tried" and workspace.store.schedules.get("double") is None
    with pytest.raises(UsageError, match="cannot record the verdict"):
        record_attempt(workspace, report("error"), "x")
    assert workspace.store.log.length() == 1, "a failed judge is no attempt"


@given(st.text(), st.text(max_size=300), st.integers(-(10**30), 10**30), cases)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_graded_makes_a_row_that_any_machine_takes(
    workspace: Workspace, source: str, reason: str, seed: int, stored: list[dict[str, object]]
) -> None:
    graded = report("rejected", seed=seed, stored=stored, file=f"{reason}.py")
    graded = replace(graded, checks=(replace(graded.checks[0], reason=reason), *graded.checks[1:]))
    checked_line(record_attempt(workspace, graded, source + "\x1b[31m\udc80"))


def test_solving_schedules_by_evidence_and_brings_the_challenge_back(workspace: Workspace, moving_clock: Clock) -> None:
    start_challenge(workspace, "double")
    next_hint(workspace, "double")
    record_attempt(workspace, report(rung="solved"), "x + x")
    schedule = workspace.store.schedules.get("double")
    assert standings(workspace)[0].standing == "solved" and schedule is not None and schedule.interval_days >= 1
    assert ratings(workspace) == [Rating.HARD]
    assert due_counts(workspace).challenges == 0
    moving_clock.move(days=schedule.interval_days)
    assert due_counts(workspace).challenges == 1 and standings(workspace)[0].is_due
    workspace.derive_all()
    assert workspace.store.schedules.get("double") == schedule


def test_the_last_accepted_code_is_kept_for_the_summary(workspace: Workspace) -> None:
    assert challenges.written(workspace).solved == () and solving_source(workspace, "double") is None
    for verdict, source in (("accepted", "first"), ("accepted", "second"), ("rejected", "third")):
        record_attempt(workspace, report(verdict), source)
    (found,) = challenges.written(workspace).solved
    assert (found.challenge.id, found.source, found.attempts) == ("double", "second", 3)
    assert solving_source(workspace, "double") == "second"


def test_a_card_with_a_challenge_s_id_has_a_history_apart(open_workspace: Open, qa_card: MakeCard) -> None:
    first = open_workspace()
    record_attempt(first, report(checks=[]), "x")
    solved = first.store.schedules.get("double")
    first.home.banks.mkdir()
    for cards, twice in ((qa_card("double"), False), (qa_card("twice") + "    formerly: [double]\n", True)):
        (first.home.banks / "mine.yaml").write_text("topic: mine\ncards:\n" + cards, encoding="utf-8")
        workspace = open_workspace()
        assert twice or "card double is skipped: " in str(workspace.store.files.problems()[0])
        assert workspace.store.schedules.get("twice") is None, "attempts at a challenge are no reviews of a card"
        assert workspace.store.schedules.get("double") == solved
    record.answer(workspace, "twice", Rating.EASY)
    workspace.derive_all()
    assert workspace.store.schedules.get("double") == solved
    assert workspace.store.schedules.get("twice") is not None


def test_an_attempt_can_be_taken_back_and_a_hint_cannot(workspace: Workspace) -> None:
    record_attempt(workspace, report(checks=[]), "x")
    next_hint(workspace, "double")
    assert take_back(workspace).kind is RowKind.ATTEMPT
    [standing] = standings(workspace)
    assert standing.standing == "new" and standing.schedule is None and standing.attempts == 0
    assert progress(workspace).challenges == {"solved": 0, "hardened": 0, "tried": 0, "total": 1}
    with pytest.raises(UsageError, match="there is nothing to undo"):
        take_back(workspace)


def test_after_solving_come_questions_with_answers_and_cards_and_the_next_challenge() -> None:
    asked = replace(challenge(), follow_ups=QUESTIONS)
    assert list(asked_next(asked, "en")) == [
        "What interviewers ask next:",
        *("  1. And 0?", "     It is 0.  → att-01", "  2. And 1?", "     It is 2."),
    ]
    assert list(asked_next(asked, "zh"))[:3] == ["面试官接着会问：", "  1. 0 呢？", "     还是 0。  → att-01"]
    following = replace(challenge(), id="triple", title=Localised("Tripling", "三倍"))
    assert list(asked_next(challenge(), "en")) == []
    reference, after = after_solving(challenge(), following, "en")
    assert "`attn solution double`" in reference and after == "  Next: Tripling: `attn start triple`"
    assert list(after_solving(challenge(), following, "zh"))[1] == "  下一题：三倍，用 `attn start triple` 开始"
    assert len(list(after_solving(challenge(), None, "en"))) == 1
