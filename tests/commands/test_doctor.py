"""`attn doctor` on damaged data: it names the damage, and all other commands keep working."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli.sandbox import zygote_client
from attncli.store.history import History

from .conftest import Attn


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


def test_rows_that_are_gone_from_the_end_are_remarked_and_named(attn: Attn, home: Path) -> None:
    for _ in range(3):
        attn("answer", "att-01", "--rating", "good")
    (file,) = History(home).files()
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0])
    attn("due", "--lang", "en")
    named = attn("doctor", "--json")
    assert named.code == 3 and named.json["database"]["problems"] == [f"{file}:2: row 2 and all later rows are missing"]


def test_a_missing_chinese_catalogue_is_named(attn: Attn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "language" not in attn("doctor").out
    monkeypatch.setattr("attncli.commands.setup.CATALOGUE", tmp_path / "attn.mo")
    assert f"language     {tmp_path / 'attn.mo'} is missing" in attn("doctor").out
