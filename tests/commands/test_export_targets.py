"""Targets of exports: all accept `-` for standard output, and reject a name with another format's suffix."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Attn = Callable[..., Any]
Program = Callable[..., subprocess.Popen[str]]


@pytest.mark.parametrize(
    ("export", "name", "right"),
    [
        ("anki", "d.txt", ".apkg"),
        ("anki", "d.zip", ".apkg"),
        ("log", "log.json", ".jsonl"),
        ("log", "log.pdf", ".jsonl"),
        ("summary", "s.apkg", ".pdf"),
    ],
)
def test_a_name_that_asks_for_another_format_is_refused(
    attn: Attn, tmp_path: Path, export: str, name: str, right: str
) -> None:
    file = tmp_path / name
    refused = attn("export", export, "-o", str(file))
    assert refused.code == 2 and str(file) in refused.line and right in refused.line
    assert not file.exists()


@pytest.mark.parametrize(
    ("export", "name"), [("anki", "d.APKG"), ("anki", "deck"), ("log", "log"), ("log", "l.ndjson")]
)
def test_a_name_that_asks_for_it_or_for_nothing_is_written(attn: Attn, tmp_path: Path, export: str, name: str) -> None:
    attn("answer", "att-01", "--rating", "good")
    assert attn("export", export, "-o", str(tmp_path / name)).code == 0
    assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize("export", ["summary", "log"])
def test_a_dash_is_standard_output(attn: Attn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, export: str) -> None:
    monkeypatch.chdir(tmp_path)
    attn("answer", "att-01", "--rating", "good")
    told = attn("export", export, "-o", "-")
    assert (told.code, told.err) == (0, "") and told.out == attn("export", export).out != ""
    assert not (tmp_path / "-").exists()


def test_a_deck_goes_into_a_pipe_and_not_onto_a_terminal(
    attn: Attn, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with program("export", "anki", "-o", "-") as run:
        assert run.stdout is not None
        deck = run.stdout.buffer.read()
    assert run.returncode == 0 and "collection.anki2" in zipfile.ZipFile(io.BytesIO(deck)).namelist()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    refused = attn("export", "anki", "-o", "-")
    assert refused.code == 2 and "to a terminal; give a file" in refused.line
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("words", [["anki", "-o", "d.apkg"], ["log"], ["summary"], ["summary", "-o", "s.html"]])
def test_no_export_needs_a_scratch_file(
    attn: Attn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    attn("answer", "att-01", "--rating", "good")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    assert attn("export", *words).code == 0


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["backup", "-o", "-"], "give a file with -o"),
        (["cohort", ".", "-o", "-"], "choose another file with -o"),
        (["experiment", "qk-variance", "-o", "-"], "e.g. plot.svg"),
    ],
)
def test_what_is_no_export_refuses_a_dash(
    attn: Attn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], remedy: str
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = attn(*words)
    assert refused.code == 2 and remedy in refused.line
    assert not (tmp_path / "-").exists()
