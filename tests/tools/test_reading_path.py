"""Generate the challenge order from the folders; it must equal `impl/README.md`."""

import shutil
import subprocess
import sys
from pathlib import Path

from attncli.domain.vocabulary import TRACKS
from attncli.paths import bundled_impl
from reading_path import WHY, reading_path

ROOT = Path(__file__).parents[2]


def test_the_readme_is_what_the_command_prints() -> None:
    kept = (bundled_impl() / "README.md").read_text(encoding="utf-8")
    command = [sys.executable, str(ROOT / "tools" / "bank" / "reading_path.py")]
    printed = subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout
    assert kept == printed, "run python tools/bank/reading_path.py > impl/README.md"


def test_each_track_says_why_it_comes_where_it_does() -> None:
    assert list(WHY) == list(TRACKS)


def test_every_challenge_stands_under_its_track_in_reading_order(small_impl: Path) -> None:
    for track, id in (("serving", "engine"), ("attention", "one")):
        shutil.copytree(small_impl / "basics" / "double", small_impl / track / id)
    text = reading_path(small_impl)
    assert text.startswith("# Reading path\n\n3 techniques")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## Attention · 注意力", "## Serving · 推理服务", "## basics"]
    assert "| 1 | [Doubling](attention/one/) 加倍 | `double` | Return twice the input. |" in text
