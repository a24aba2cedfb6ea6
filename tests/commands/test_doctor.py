"""`attn doctor` on damage: what it names, what `--rebuild` says, and that everything else goes on meanwhile."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attncli.sandbox import zygote_client

Attn = Callable[..., Any]


@pytest.fixture(autouse=True)
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        zygote_client, "describe", lambda gpu=False: {"available": False, "layers": [], "missing": {}, "notes": []}
    )


def flip_a_bit_of_a_row(home: Path) -> None:
    """Turns "rating" into "sating", which is still JSON."""
    path = home / "progress.db"
    content = bytearray(path.read_bytes())
    content[content.index(b'"rating"') + 1] ^= 1
    path.write_bytes(content)


def test_one_damaged_row_stops_no_command_and_is_set_aside(attn: Attn, home: Path, tmp_path: Path) -> None:
    for card in ("att-01", "kv-01", "att-01"):
        attn("answer", card, "--rating", "good")
    flip_a_bit_of_a_row(home)
    named = attn("doctor")
    assert named.code == 3 and "of the log is damaged (id " in named.line and "about " in named.line
    assert attn("config", "desired_retention", "0.8").code == 0
    for command in (["due"], ["stats"], ["export", "reviews"], ["answer", "att-01", "--rating", "easy"], ["undo"]):
        assert attn(*command).code == 0, command
    exported = attn("export", "reviews")
    assert len(exported.out.splitlines()) == 4
    assert exported.err == "attn: left out 1 damaged row of the log; `attn doctor` names it\n"
    assert attn("backup", "-o", str(tmp_path / "copy.db")).code == 0
    for file in (home / "backups").iterdir():
        file.unlink()
    mended = attn("doctor", "--rebuild")
    assert mended.code == 0 and "set 1 damaged row aside; nothing reads them any more" in mended.err
    assert "ok, 4 rows (1 damaged row set aside), format 4" in mended.out
    assert attn("doctor", "--json").json["database"]["set_aside"] == 1


def test_a_damaged_row_comes_back_from_the_daily_copy(attn: Attn, home: Path) -> None:
    attn("answer", "att-01", "--rating", "good")
    flip_a_bit_of_a_row(home)
    assert "put 1 row back that another file had" in attn("doctor", "--rebuild").err
    assert len(attn("export", "reviews").out.splitlines()) == 1


@pytest.mark.parametrize("table", ["schedule", "hold", "queue", "card", "former", "card_text", "bank_file"])
def test_a_missing_derived_table_is_made_anew(attn: Attn, home: Path, table: str) -> None:
    attn("answer", "att-01", "--rating", "good")
    due = attn("due", "--json").json
    raw = sqlite3.connect(home / "progress.db")
    raw.execute(f"DROP TABLE {table}")
    raw.commit()
    raw.close()
    named = attn("doctor")
    assert named.code == 3 and "is missing; `attn doctor --rebuild` mends it" in named.line
    assert attn("doctor", "--rebuild").code == 0
    assert attn("due", "--json").json == due and attn("cards", "attention").code == 0


def test_a_file_that_was_cut_short_is_said_to_be(attn: Attn, home: Path) -> None:
    attn("answer", "att-01", "--rating", "good")
    path = home / "progress.db"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    mended = attn("doctor", "--rebuild")
    assert mended.code == 0 and "cut short, and what was beyond its end is lost" in mended.err
    assert "saved 1 row of the log" in mended.err, "it was in the daily copy"


def test_a_copy_of_a_damaged_database_is_written_and_called_so(attn: Attn, home: Path, tmp_path: Path) -> None:
    attn("answer", "att-01", "--rating", "good")
    raw = sqlite3.connect(home / "progress.db")
    root = raw.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'log_kind_day'").fetchone()[0]
    raw.close()
    with (home / "progress.db").open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 64)
    copied = attn("backup", "-o", str(tmp_path / "copy.db"))
    assert copied.code == 0 and "the copy is as damaged as the database" in copied.err
    assert (tmp_path / "copy.db").exists()


def test_doctor_says_when_the_newest_copy_was_kept(attn: Attn, home: Path) -> None:
    assert attn("doctor", "--json").json["database"]["newest_copy"] is None and "none yet" in attn("doctor").out
    attn("answer", "att-01", "--rating", "good")
    newest = attn("doctor", "--json").json["database"]["newest_copy"]
    assert [file.name for file in (home / "backups").iterdir()] == [f"{newest}-daily.db"]
