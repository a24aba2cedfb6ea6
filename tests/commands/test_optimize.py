"""`attn optimize`: its output for a fit in both languages, and its requirements."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from attncli.domain.log_row import LogRow, RowKind, line_of
from known_memories import LONG_MEMORY, PUBLISHED, reviews_of_a_learner

from .conftest import Attn


@pytest.fixture
def remember(attn: Attn, tmp_path: Path) -> Callable[[tuple[float, ...]], None]:
    """Import the log of a simulated learner with this memory."""

    def bring(weights: tuple[float, ...]) -> None:
        learner = reviews_of_a_learner(weights, 0)
        rows = [(number, day, rating) for number, history in enumerate(learner) for day, rating in history]
        shift = (datetime.now(UTC) - timedelta(days=1)).toordinal() - max(day for _, day, _ in rows)
        lines = [
            line_of(
                LogRow(
                    f"{place:012x}-0000000a-00000000",
                    "0000000a",
                    RowKind.REVIEW,
                    f"gone-{number}",
                    datetime.fromordinal(day + shift).replace(hour=12, tzinfo=UTC),
                    day + shift,
                    {"rating": rating},
                )
            )
            for place, (number, day, rating) in enumerate(rows)
        ]
        file = tmp_path / "learner.jsonl"
        file.write_text("\n".join(lines), encoding="utf-8")
        assert attn("import", "log", str(file)).code == 0

    return bring


def test_what_changed_is_said_and_can_be_taken_back(attn: Attn, remember: Callable[..., None]) -> None:
    remember(LONG_MEMORY)
    english = attn("optimize").out
    assert "Fitted to " in english and "held-out reviews:" in english
    assert "log loss" in english and "RMSE" in english and "Good 2 → " in english
    assert english.endswith("`attn undo` reverts them.\n")
    assert "undone: the fit" in attn("undo").out
    chinese = attn("optimize", "--lang", "zh").out
    assert "留出的" in chinese and "对数损失" in chinese and "良好 2 → " in chinese
    assert "已撤销" in attn("undo", "--lang", "zh").out
    document = attn("optimize", "--json").json
    assert document["kept"] and document["before"]["parameters"] == [] and len(document["after"]["parameters"]) == 21
    assert document["before"]["log_loss"] - document["after"]["log_loss"] == pytest.approx(document["gain"])
    assert attn("stats", "--json").json["reviews"] > 500


def test_what_is_no_better_is_said_and_changes_nothing_and_without_the_extra_one_line_names_it(
    attn: Attn, remember: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(PUBLISHED)
    result = attn("optimize", "--lang", "zh")
    assert result.code == 0 and "继续使用当前参数" in result.out
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "fsrs_rs_python", None)
        missing = attn("optimize")
        assert missing.code == 3 and "pip install 'attncli[optimize]'" in missing.line
    result = attn("optimize")
    assert result.code == 0 and "your current parameters stay" in result.out and "undo" not in result.out


def test_too_few_reviews_exit_1_and_say_how_many_are_needed(attn: Attn, remember: Callable[..., None]) -> None:
    result = attn("optimize", "--json")
    assert (result.code, result.json) == (1, {"kept": False, "reviews": 0, "needed": 500})
    assert "0 reviews" in result.line and "needs 500" in result.line
    assert attn("optimize").out == ""
    remember(LONG_MEMORY)
    assert attn("optimize", "--json").json["kept"]
    again = attn("optimize", "--json")
    assert (again.code, again.json) == (1, {"kept": False, "reviews": 0, "needed": 100})
