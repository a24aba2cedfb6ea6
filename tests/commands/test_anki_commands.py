"""Run `attn export anki` and `attn import anki`: their output, and one clear line on failure."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Attn = Callable[..., Any]


def test_an_export_says_what_is_in_it(attn: Attn, tmp_path: Path) -> None:
    attn("answer", "att-01", "--rating", "good")
    done = attn("export", "anki", "-o", str(tmp_path / "deck.apkg"))
    assert (done.code, done.out) == (0, "")
    assert done.err == f"Exported to {tmp_path / 'deck.apkg'}: 6 cards (1 with a schedule), 1 review\n"
    assert zipfile.is_zipfile(tmp_path / "deck.apkg")
    done = attn("export", "anki", "-o", str(tmp_path / "kv.apkg"), "--topic", "kv", "--lang", "zh")
    assert done.err.endswith("kv.apkg: 3 cards (0 with a schedule), 0 reviews\n")


def test_an_export_that_cannot_be_says_why(attn: Attn, tmp_path: Path) -> None:
    assert "Missing option '-o'" in attn("export", "anki").line
    done = attn("export", "anki", "-o", str(tmp_path / "no" / "deck.apkg"))
    assert done.code == 2 and "choose another file with -o" in done.line
    done = attn("export", "anki", "-o", str(tmp_path / "deck.apkg"), "--topic", "kvv")
    assert done.code == 2 and "did you mean kv?" in done.line
    assert not list(tmp_path.glob("*.apkg"))


@pytest.fixture
def deck(tmp_path: Path) -> Path:
    """Write a package as Anki 2.1 does, with two cards, a picture and an answer."""
    file = tmp_path / "made.db"
    models = {
        "7": {
            "type": 0,
            "flds": [{"name": "Front", "ord": 0}, {"name": "Back", "ord": 1}],
            "tmpls": [{"ord": 0, "qfmt": "{{Front}}", "afmt": "{{FrontSide}}<hr>{{Back}}"}],
        }
    }
    with sqlite3.connect(file) as rows:
        rows.executescript(
            "CREATE TABLE col (id, models, decks, conf); CREATE TABLE notes (id integer primary key, guid, mid, flds);"
            "CREATE TABLE cards (id integer primary key, nid, did, ord, mod, type, queue, odid);"
            "CREATE TABLE revlog (id integer primary key, cid, ease, ivl, lastIvl, factor, time, type);"
        )
        rows.execute(
            "INSERT INTO col VALUES (1, ?, ?, '{}')", (json.dumps(models), json.dumps({"3": {"name": "我的牌组"}}))
        )
        rows.execute(
            "INSERT INTO notes VALUES (1, 'g', 7, 'why?' || char(31) || 'so<img src=x>'), (2, 'h', 7, '<img>')"
        )
        rows.execute("INSERT INTO cards VALUES (5, 1, 3, 0, 1700000000, 2, -1, 0), (6, 2, 3, 0, 1700000000, 0, 0, 0)")
        rows.execute("INSERT INTO revlog VALUES (1700000000123, 5, 3, 4, 1, 2500, 900, 1)")
    rows.close()
    with zipfile.ZipFile(tmp_path / "their.apkg", "w") as package:
        package.write(file, "collection.anki2")
    return tmp_path / "their.apkg"


def test_an_import_says_what_came_and_what_did_not(attn: Attn, deck: Path, home: Path) -> None:
    seen = attn("import", "anki", str(deck), "--dry-run")
    assert seen.out.startswith(f"{deck}: 2 cards (new: 1, of attn: 0, known: 0), 1 review (new: 1)\n")
    assert seen.out.endswith("nothing written (--dry-run)\n") and not (home / "banks").exists()
    done = attn("import", "anki", str(deck))
    (file,) = (home / "banks").iterdir()
    assert done.code == 0 and done.err == ""
    assert done.out.splitlines()[1:] == [
        "suspended as in Anki: 1",
        "cards skipped, no text on one side (only pictures or sounds): 1",
        "pictures and sounds dropped from texts: 1",
        f"new cards: {file}",
    ]
    assert attn("bank", "check", str(file)).code == 0
    (card,) = attn("cards", "--topic", file.stem, "--json").json
    shown = attn("show", card["id"], "--json").json
    assert shown["short"]["en"] == "so"
    assert attn("import", "anki", str(deck), "--json").json["new_reviews"] == 0
    told = attn("--lang", "zh", "import", "anki", str(deck)).out
    assert told.startswith(f"{deck}：2 张卡片（新增 0，attn 自带 0，已有 1），复习 1 次（新增 0）\n")


def test_an_import_that_cannot_be_says_why(attn: Attn, tmp_path: Path, home: Path) -> None:
    (tmp_path / "bad.apkg").write_bytes(b"no package")
    for name in ("bad.apkg", "missing.apkg"):
        done = attn("import", "anki", str(tmp_path / name))
        assert done.code == 2 and name in done.line and "export it from Anki again" in done.line
    assert not (home / "banks").exists() and not list(home.glob(".attn-work-*"))
