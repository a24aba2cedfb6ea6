"""Run the command line over the small bank, in this process or as its own process."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from shutil import copytree
from typing import Any, NamedTuple

import pytest

from attncli import paths
from attncli.__main__ import main
from attncli.judge.client import Judge

PROGRAM = """
import sys
from pathlib import Path
from attncli import paths
paths.bundled_quizbank, paths.bundled_impl = (lambda: Path(sys.argv[1])), (lambda: Path(sys.argv[2]))
from attncli.__main__ import main
sys.exit(main(sys.argv[3:]))
"""


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """Return the one line that a failed command prints."""
        lines = self.err.splitlines()
        assert len(lines) == 1 and lines[0].startswith("attn: "), self.err
        assert self.code != 0 and "Traceback" not in self.err
        return lines[0]


Attn = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "attn-home"
    monkeypatch.setenv("ATTN_HOME", str(folder))
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(variable, raising=False)
    return folder


@pytest.fixture
def attn(
    home: Path, small_bank: Path, small_impl: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Attn:
    """`attn("due", "--json", stdin="…")` runs a command in this process."""
    monkeypatch.setattr(paths, "bundled_quizbank", lambda: small_bank)
    monkeypatch.setattr(paths, "bundled_impl", lambda: small_impl)

    return calling(monkeypatch, capsys)


@pytest.fixture
def bundled_attn(
    home: Path, indexed_home: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Attn:
    """`attn("grade", …)` runs a command over the bundled cards and challenges in this process."""
    copytree(indexed_home, home)
    monkeypatch.setattr(Judge, "start", lambda: nullcontext(judge))
    return calling(monkeypatch, capsys)


def calling(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Attn:
    def call(*words: object, stdin: str = "") -> Result:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = main(list(map(str, words)))
        printed = capsys.readouterr()
        return Result(code, printed.out, printed.err)

    return call


Program = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def program(home: Path, small_bank: Path, small_impl: Path) -> Program:
    """`program("due")` starts a process with open pipes; `file_limit` bounds the size of files that it may write."""

    def start(
        *words: str, file_limit: int | None = None, spy: str = "", prefix: tuple[str, ...] = (), **environ: str
    ) -> subprocess.Popen[str]:
        def limit() -> None:
            import resource

            if file_limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))

        return subprocess.Popen(
            [*prefix, sys.executable, "-c", spy + PROGRAM, str(small_bank), str(small_impl), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environ},
            preexec_fn=limit if file_limit is not None else None,
        )

    return start
