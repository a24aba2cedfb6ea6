"""`attn doctor` on damaged data, and `attn optimize`: output in both languages, and what they need."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from attncli.domain.log_row import LogRow, RowKind, line_of
from attncli.sandbox import zygote_client
from attncli.store.history import History
from known_memories import LONG_MEMORY, PUBLISHED, reviews_of_a_learner

from .conftest import Attn

Bring = Callable[[tuple[float, ...]], None]


@pytest.fixture(autouse=True)
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        zygote_client, "describe", lambda gpu=False: {"available": False, "layers": [], "missing": {}, "notes": []}
    )


def damage_the_first_line(home: Path) -> Path:
    """Change "rating" to "sating", which is valid JSON, and delete the cache, which has the row; return the file."""
    (file,) = History(home).files()
    content = bytearray(file.read_bytes())
    content[content.index(b'"rating"') + 1] ^= 1
    file.write_bytes(content)
    (home / "cache.db").unlink()
    return file


def test_one_damaged_line_is_named_and_stops_no_command(attn: Attn, home: Path) -> None:
    for card in ("att-01", "kv-01", "att-01"):
        attn("answer", card, "--rating", "good")
    file = damage_the_first_line(home)
    for command in (["due"], ["stats"], ["answer", "att-01", "--rating", "easy"], ["undo"]):
        done = attn(*command)
        assert (done.code, done.err) == (0, ""), command
    assert len(attn("export", "log").out.splitlines()) == 4
    english = "the checksum does not match; all other rows count; restore a backup with `attn restore FILE`"
    chinese = "校验和不符；其余记录照常有效，也可用 `attn restore FILE` 恢复备份"
    for lang, said in (("en", f"{file}:1: {english}"), ("zh", f"{file}:1：{chinese}")):
        named = attn("doctor", "--json", "--lang", lang)
        assert named.code == 3 and named.line == f"attn: {said}"
        found = named.json["database"]
        assert (found["rows"], found["integrity"]) == (4, "damaged")
        assert found["problems"] == [f"{file}:1: the checksum does not match"]


def test_a_damaged_history_is_whole_again_after_the_daily_copy_is_restored(attn: Attn, home: Path) -> None:
    assert attn("doctor", "--json").json["database"]["newest_copy"] is None and "none yet" in attn("doctor").out
    attn("answer", "att-01", "--rating", "good")
    exported = attn("export", "log").out
    newest = attn("doctor", "--json").json["database"]["newest_copy"]
    damage_the_first_line(home)
    assert attn("doctor").code == 3 and attn("export", "log").out == ""
    (copy,) = (home / "backups").iterdir()
    assert copy.name == f"{newest}-daily.jsonl" and attn("restore", str(copy)).code == 0
    assert attn("doctor").code == 0 and attn("export", "log").out == exported


def test_a_broken_cache_is_made_anew_without_a_word(attn: Attn, home: Path) -> None:
    attn("answer", "att-01", "--rating", "good")
    due = attn("due", "--json").out
    (home / "cache.db").write_bytes(b"garbage")
    assert [(done.code, done.out, done.err) for done in [attn("due", "--json")]] == [(0, due, "")]
    assert attn("doctor").code == 0


def test_rows_that_are_gone_or_from_the_future_are_named(attn: Attn, home: Path) -> None:
    assert attn("doctor", "--json").json["clock"] == []
    for _ in range(2):
        attn("answer", "att-01", "--rating", "good")
    attn("answer", "att-01", "--rating", "good", "--at", "2190-01-01T10:00:00Z")
    first, advice = attn("doctor", "--json").json["clock"]
    assert first.startswith("the review of att-01 is dated 2190-01-01 10:00Z")
    assert advice.startswith("it counts from that time on")
    said = attn("doctor")
    assert "clock        the review of att-01 is dated 2190" in said.out and said.code == 0
    (file,) = History(home).files()
    file.write_bytes(file.read_bytes().splitlines(keepends=True)[0])
    attn("due", "--lang", "en")
    named = attn("doctor", "--json")
    assert named.code == 3 and named.json["database"]["problems"] == [f"{file}:2: row 2 and all later rows are missing"]


def test_a_missing_chinese_catalogue_is_named(attn: Attn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "language" not in attn("doctor").out
    monkeypatch.setattr("attncli.commands.setup.CATALOGUE", tmp_path / "attn.mo")
    assert f"language     {tmp_path / 'attn.mo'} is missing" in attn("doctor").out


@pytest.fixture
def remember(attn: Attn, tmp_path: Path) -> Bring:
    """Import the log of a simulated learner with this memory."""

    def bring(weights: tuple[float, ...]) -> None:
        learner = reviews_of_a_learner(weights, 0)
        rows = [(number, day, rating) for number, history in enumerate(learner) for day, rating in history]
        shift = (datetime.now(UTC) - timedelta(days=1)).toordinal() - max(day for _, day, _ in rows)
        file, lines = tmp_path / "learner.jsonl", list[str]()
        for place, (number, day, rating) in enumerate(rows):
            at, id = datetime.fromordinal(day + shift).replace(hour=12, tzinfo=UTC), f"{place:012x}-0000000a-00000000"
            fields = ("0000000a", RowKind.REVIEW, f"gone-{number}", at, day + shift, {"rating": rating})
            lines.append(line_of(LogRow(id, *fields)))
        file.write_text("\n".join(lines), encoding="utf-8")
        assert attn("import", "log", str(file)).code == 0

    return bring


@pytest.mark.slow
def test_what_changed_is_said_and_can_be_taken_back(attn: Attn, remember: Bring) -> None:
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


def test_what_is_no_better_is_said_and_so_is_a_missing_extra(attn: Attn, remember: Bring, monkeypatch: Any) -> None:
    remember(PUBLISHED)
    result = attn("optimize", "--lang", "zh")
    assert result.code == 0 and "继续使用当前参数" in result.out
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "fsrs_rs_python", None)
        missing = attn("optimize")
        assert missing.code == 3 and "pip install 'attncli[optimize]'" in missing.line
    result = attn("optimize")
    assert result.code == 0 and "your current parameters stay" in result.out and "undo" not in result.out


def test_too_few_reviews_exit_1_and_say_how_many_are_needed(attn: Attn, remember: Bring) -> None:
    result = attn("optimize", "--json")
    assert (result.code, result.json) == (1, {"kept": False, "reviews": 0, "needed": 500})
    assert "0 reviews" in result.line and "needs 500" in result.line
    assert attn("optimize").out == ""
    remember(LONG_MEMORY)
    assert attn("optimize", "--json").json["kept"]
    again = attn("optimize", "--json")
    assert (again.code, again.json) == (1, {"kept": False, "reviews": 0, "needed": 100})
