"""`attn export summary`: the format is the requested one, never silently another."""

from __future__ import annotations

import json
import sys

import pytest


@pytest.mark.parametrize(
    ("ending", "begins"),
    [
        ("md", "# Cheat sheet"),
        ("MARKDOWN", "# Cheat sheet"),
        ("html", "\n<!doctype"),
        ("htm", "\n<!doctype"),
        ("json", "{"),
    ],
)
def test_a_files_ending_says_the_format(attn, tmp_path, ending, begins):
    file = tmp_path / f"s.{ending}"
    assert attn("export", "summary", "-o", str(file)).code == 0
    assert file.read_text(encoding="utf-8").startswith(begins.lstrip())


@pytest.mark.parametrize(("form", "name"), [("md", "s.pdf"), ("html", "s.json"), ("pdf", "s.html"), ("json", "s.md")])
def test_an_ending_that_the_option_contradicts_is_refused_and_both_are_named(attn, tmp_path, form, name):
    refused = attn("export", "summary", "--format", form, "-o", str(tmp_path / name))
    assert refused.code == 2
    assert f"--format {form}" in refused.err and name in refused.err
    assert not (tmp_path / name).exists()


def test_an_ending_of_no_format_is_refused_unless_the_format_is_said(attn, tmp_path):
    file = tmp_path / "s.docx"
    refused = attn("export", "summary", "-o", str(file))
    assert refused.code == 2 and ".pdf" in refused.err and "--format" in refused.err
    assert attn("export", "summary", "-o", str(file), "--format", "md").code == 0


def test_both_languages_stand_in_one_file(attn):
    page = attn("export", "summary", "--lang", "both", "--format", "html").out
    assert page.index("Cheat sheet") < page.index("速查表")
    assert page.count("<main lang=") == 2
    document = json.loads(attn("export", "summary", "--lang", "both", "--format", "json").out)
    assert set(document) == {"en", "zh"}


def test_the_learners_own_language_comes_first(attn):
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
