"""`attn export anki` and `attn import anki` as commands: what they print, and one clear line where they cannot."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Attn = Callable[..., Any]


def test_an_export_says_what_is_in_it(attn: Attn, tmp_path: Path) -> None:
    attn("answer", "att-01", "--rating", "good")
    done = attn("export", "anki", "-o", str(tmp_path / "deck.apkg"))
    assert (done.code, done.out) == (0, "")
    assert done.err == f"6 cards in {tmp_path / 'deck.apkg'}; 1 of them with a schedule, 1 review in their history\n"
    assert zipfile.is_zipfile(tmp_path / "deck.apkg")
    done = attn("export", "anki", "-o", str(tmp_path / "kv.apkg"), "--topic", "kv", "--lang", "zh")
    assert done.err.startswith("3 cards in ")


def test_an_export_that_cannot_be_says_why(attn: Attn, tmp_path: Path) -> None:
    assert "Missing option '-o'" in attn("export", "anki").line
    done = attn("export", "anki", "-o", str(tmp_path / "no" / "deck.apkg"))
    assert done.code == 2 and "name another file with -o" in done.line
    done = attn("export", "anki", "-o", str(tmp_path / "deck.apkg"), "--topic", "kvv")
    assert done.code == 2 and "did you mean kv?" in done.line
    assert not list(tmp_path.glob("*.apkg"))
