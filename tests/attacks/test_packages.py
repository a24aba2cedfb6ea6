"""Import or reject hostile packages in one line, within limits: known ones, and ATTN_PACKAGES generated ones."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from attncli.anki import read_package
from attncli.anki.importer import import_package
from attncli.anki.read_package import read_in_child
from attncli.config import Settings
from attncli.errors import EnvironmentFailure, UsageError
from attncli.paths import Home
from attncli.practice.workspace import Workspace
from hostile_packages import KINDS, generated, written

PACKAGES = int(os.environ.get("ATTN_PACKAGES", "20"))
MOST_SECONDS = 20
MOST_MEBIBYTES = 400
"""More than the process from which the reading child is forked."""


@pytest.fixture
def workspace(tmp_path: Path, small_bank: Path, small_impl: Path, moving_clock: Any) -> Iterator[Workspace]:
    home = Home(tmp_path / "home")
    with Workspace.open(home, moving_clock, settings=Settings(), quizbank=small_bank, impl=small_impl) as opened:
        yield opened


def seconds() -> float:
    """Return the processor seconds of this process and its children."""
    used = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak_mebibytes() -> int:
    """Return the peak memory in MiB of the largest child so far, including earlier tests."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_package_that_did_harm_is_imported_or_refused(tmp_path: Path, workspace: Workspace, kind: str) -> None:
    package = written(tmp_path / "evil.apkg", **KINDS[kind]())
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])  # a forked child begins with these
    resident_mebibytes = pages * resource.getpagesize() // 2**20
    before, allowed = seconds(), max(peak_mebibytes() + 1, resident_mebibytes + MOST_MEBIBYTES)
    try:
        import_package(workspace, package)
        assert not workspace.store.files.problems()
    except UsageError as error:
        assert str(package) in str(error) and "\n" not in str(error)
    assert seconds() - before < MOST_SECONDS
    assert peak_mebibytes() < allowed
    assert not list((tmp_path / "home").glob(".attn-work-*"))


def test_generated_packages_are_read_or_refused(tmp_path: Path) -> None:
    """Import each in this process, as the child does, but without its limits."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    for seed in range(PACKAGES):
        package = written(tmp_path / "made.apkg", **generated(random.Random(seed)))
        room = tmp_path / "room"
        room.mkdir()
        start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        try:
            documents = list(read_package._documents(package, package, room, frozenset()))
            assert "done" in documents[-1], seed
        except UsageError as error:
            assert str(package) in str(error) and "\n" not in str(error), seed
        assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - start < MOST_SECONDS, seed
        for file in room.iterdir():
            file.unlink()
        room.rmdir()
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert (after.ru_maxrss - before.ru_maxrss) // 1024 < MOST_MEBIBYTES


@pytest.mark.parametrize(
    ("name", "value", "kind"), [("SECONDS", 0, "many cards"), ("MEMORY_BYTES", 2**20, "tags in a section")]
)
def test_a_child_at_its_limit_is_one_line(tmp_path: Path, name: str, value: int, kind: str) -> None:
    package = written(tmp_path / "big.apkg", **KINDS[kind]())
    script = tmp_path / "child.py"
    script.write_text(
        f"import sys; from pathlib import Path; from attncli.anki import read_package as r\n"
        f"r.{name} = {value}; r._main(Path(sys.argv[1]), Path(sys.argv[2]))\n",
        "utf-8",
    )
    (tmp_path / "room").mkdir()
    command = [sys.executable, "-P", str(script), str(package), str(tmp_path / "room")]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL) as child:
        request = json.dumps({"name": str(package), "known": []}).encode()
        with pytest.raises(UsageError, match=r"takes too much time or memory to read; export it"):
            read_package._received(child, request, package)


def test_more_text_than_any_collection_has_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_package, "MOST_TEXT", 3)
    package = written(tmp_path / "long.apkg", **KINDS["sound"]())
    with pytest.raises(UsageError, match="MiB of text; export one deck at a time"):
        list(read_package._documents(package, package, tmp_path, frozenset()))


def test_a_child_that_cannot_be_started_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(EnvironmentFailure, match=r"cannot start the reader of .*; close other programs and try again"):
        read_in_child(tmp_path / "some.apkg", tmp_path, [])
