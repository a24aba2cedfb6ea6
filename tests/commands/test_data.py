"""Exports and imports: their formats, targets and output, and one clear line on failure."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from .conftest import Attn, Program


def test_a_name_that_asks_for_its_format_or_none_is_written_and_another_one_refused(attn: Attn, tmp_path: Path) -> None:
    attn("answer", "att-01", "--rating", "good")
    for export, name in (("anki", "d.APKG"), ("anki", "deck"), ("log", "log"), ("log", "l.ndjson")):
        assert attn("export", export, "-o", tmp_path / name).code == 0
        assert (tmp_path / name).stat().st_size > 0
    others = (("anki", "d.txt", ".apkg"), ("log", "log.json", ".jsonl"), ("summary", "s.apkg", ".pdf"))
    for export, name, right in others:
        refused = attn("export", export, "-o", tmp_path / name)
        assert refused.code == 2 and str(tmp_path / name) in refused.line and right in refused.line
        assert not (tmp_path / name).exists()


def test_a_dash_is_standard_output(attn: Attn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    attn("answer", "att-01", "--rating", "good")
    for export in ("summary", "log"):
        told = attn("export", export, "-o", "-")
        assert (told.code, told.err) == (0, "") and told.out == attn("export", export).out != ""
    for words, remedy in (
        (["backup", "-o", "-"], "give a file with -o"),
        (["cohort", ".", "-o", "-"], "choose another file with -o"),
        (["experiment", "qk-variance", "-o", "-"], "e.g. plot.svg"),
    ):
        refused = attn(*words)
        assert refused.code == 2 and remedy in refused.line
    assert not (tmp_path / "-").exists()


def test_a_deck_goes_into_a_pipe_alone(attn: Attn, program: Program, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with program("export", "anki", "-o", "-") as run:
        assert run.stdout is not None
        deck = run.stdout.buffer.read()
    assert run.returncode == 0 and "collection.anki2" in zipfile.ZipFile(io.BytesIO(deck)).namelist()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    refused = attn("export", "anki", "-o", "-")
    assert refused.code == 2 and "to a terminal; give a file" in refused.line
    assert not (tmp_path / "-").exists()


def test_no_export_needs_a_scratch_file(attn: Attn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.chdir(tmp_path)
    attn("answer", "att-01", "--rating", "good")
    monkeypatch.setattr("tempfile.mkdtemp", full)
    for words in (["anki", "-o", "d.apkg"], ["log"], ["summary"], ["summary", "-o", "s.html"]):
        assert attn("export", *words).code == 0


def test_a_files_ending_says_the_format(attn, tmp_path):
    begins = {"md": "# Cheat sheet", "MARKDOWN": "# Cheat sheet", "html": "<!doctype", "htm": "<!doctype", "json": "{"}
    for ending, first in begins.items():
        file = tmp_path / f"s.{ending}"
        assert attn("export", "summary", "-o", str(file)).code == 0
        assert file.read_text(encoding="utf-8").startswith(first)
    for form, name in (("md", "s.pdf"), ("html", "t.json"), ("pdf", "t.html"), ("json", "t.md")):
        refused = attn("export", "summary", "--format", form, "-o", str(tmp_path / name))
        assert refused.code == 2 and f"--format {form}" in refused.err and name in refused.err
        assert not (tmp_path / name).exists()
    refused = attn("export", "summary", "-o", str(tmp_path / "s.docx"))
    assert refused.code == 2 and ".pdf" in refused.err and "--format" in refused.err
    assert attn("export", "summary", "-o", str(tmp_path / "s.docx"), "--format", "md").code == 0


def test_both_languages_stand_in_one_file_the_learners_own_first(attn):
    page = attn("export", "summary", "--lang", "both", "--format", "html").out
    assert page.index("Cheat sheet") < page.index("速查表")
    assert page.count("<main lang=") == 2
    document = json.loads(attn("export", "summary", "--lang", "both", "--format", "json").out)
    assert set(document) == {"en", "zh"}
    attn("config", "lang", "zh")
    text = attn("export", "summary", "--lang", "both").out
    assert text.index("速查表") < text.index("Cheat sheet")


def test_a_pdf_without_the_extra_is_one_line_and_no_file(attn, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    refused = attn("export", "summary", "-o", str(tmp_path / "s.pdf"))
    assert refused.code == 3
    assert "attncli[pdf]" in refused.err and refused.err.count("\n") == 1
    assert not (tmp_path / "s.pdf").exists()


def test_a_pdf_is_written_whole(attn, tmp_path):
    pytest.importorskip("pypdf")
    file = tmp_path / "s.pdf"
    said = attn("export", "summary", "-o", str(file))
    if "Pango" in said.err or "no font" in said.err:
        pytest.skip(said.err)
    assert said.code == 0, said.err
    assert file.read_bytes().startswith(b"%PDF-") and file.read_bytes().rstrip().endswith(b"%%EOF")
    assert said.out == "" and said.err == f"wrote {file}\n"


def test_an_export_says_what_is_in_it_or_why_it_cannot_be(attn: Attn, tmp_path: Path) -> None:
    assert "Missing option '-o'" in attn("export", "anki").line
    done = attn("export", "anki", "-o", str(tmp_path / "no" / "deck.apkg"))
    assert done.code == 2 and "choose another file with -o" in done.line
    done = attn("export", "anki", "-o", str(tmp_path / "deck.apkg"), "--topic", "kvv")
    assert done.code == 2 and "did you mean kv?" in done.line
    assert not list(tmp_path.glob("*.apkg"))
    attn("answer", "att-01", "--rating", "good")
    done = attn("export", "anki", "-o", str(tmp_path / "deck.apkg"))
    assert (done.code, done.out) == (0, "")
    assert done.err == f"Exported to {tmp_path / 'deck.apkg'}: 6 cards (1 with a schedule), 1 review\n"
    assert zipfile.is_zipfile(tmp_path / "deck.apkg")
    done = attn("export", "anki", "-o", str(tmp_path / "kv.apkg"), "--topic", "kv", "--lang", "zh")
    assert done.err.endswith("kv.apkg: 3 cards (0 with a schedule), 0 reviews\n")


@pytest.fixture
def deck(tmp_path: Path) -> Path:
    """Write a package as Anki 2.1 does, with two cards, a picture and an answer."""
    file = tmp_path / "made.db"
    fields = [{"name": "Front", "ord": 0}, {"name": "Back", "ord": 1}]
    template = {"ord": 0, "qfmt": "{{Front}}", "afmt": "{{FrontSide}}<hr>{{Back}}"}
    models, decks = {"7": {"type": 0, "flds": fields, "tmpls": [template]}}, {"3": {"name": "我的牌组"}}
    with sqlite3.connect(file) as rows:
        rows.executescript(
            "CREATE TABLE col (id, models, decks, conf); CREATE TABLE notes (id integer primary key, guid, mid, flds);"
            "CREATE TABLE cards (id integer primary key, nid, did, ord, mod, type, queue, odid);"
            "CREATE TABLE revlog (id integer primary key, cid, ease, ivl, lastIvl, factor, time, type);"
        )
        rows.execute("INSERT INTO col VALUES (1, ?, ?, '{}')", (json.dumps(models), json.dumps(decks)))
        notes = "(1, 'g', 7, 'why?' || char(31) || 'so<img src=x>'), (2, 'h', 7, '<img>')"
        rows.execute(f"INSERT INTO notes VALUES {notes}")
        rows.execute("INSERT INTO cards VALUES (5, 1, 3, 0, 1700000000, 2, -1, 0), (6, 2, 3, 0, 1700000000, 0, 0, 0)")
        rows.execute("INSERT INTO revlog VALUES (1700000000123, 5, 3, 4, 1, 2500, 900, 1)")
    rows.close()
    with zipfile.ZipFile(tmp_path / "their.apkg", "w") as package:
        package.write(file, "collection.anki2")
    return tmp_path / "their.apkg"


def test_an_import_says_what_came_and_what_did_not_or_why_it_cannot_be(
    attn: Attn, deck: Path, home: Path, tmp_path: Path
) -> None:
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
    (tmp_path / "bad.apkg").write_bytes(b"no package")
    for name in ("bad.apkg", "missing.apkg"):
        done = attn("import", "anki", str(tmp_path / name))
        assert done.code == 2 and name in done.line and "export it from Anki again" in done.line
    assert [*(home / "banks").iterdir()] == [file] and not list(home.glob(".attn-work-*"))
