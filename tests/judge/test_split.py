"""The judge and its zygote are two halves of one process: the zygote's half must contain none of the judge's data."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from attncli.errors import JudgeFailed, SandboxUnavailable
from attncli.judge.client import GradeOptions, GradeRequest, Judge
from attncli.sandbox import namespaces, zygote_client
from in_process import REFERENCE, SPEC, write_challenge

pytestmark = pytest.mark.sandbox

SECRET = "of-the-user-alone"


@contextmanager
def started() -> Iterator[Judge]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ATTN_TEST_SECRET", SECRET)
        opened = Judge.start()
    with opened:
        assert "namespaces" in opened.layers()
        yield opened


@pytest.fixture(scope="module")
def judge():
    with started() as opened:
        yield opened


@pytest.fixture
def own_judge():
    """Start a judge that a test may end."""
    with started() as opened:
        yield opened


def zygote_of(judge: Judge) -> int:
    _watch, pid = namespaces.children_of(judge._process.pid)
    return pid


@pytest.mark.slow
def test_the_zygote_has_nothing_of_the_judges_environment_and_streams(judge):
    zygote = zygote_of(judge)
    assert SECRET.encode() not in Path(f"/proc/{zygote}/environ").read_bytes()
    assert SECRET.encode() not in _memory(zygote)
    assert SECRET.encode() in _memory(judge._process.pid), "the judge sees it: `inputs.py` and torch may rely on it"
    ours = [Path(f"/proc/self/fd/{stream.fileno()}") for stream in (judge._process.stdin, judge._process.stdout)]
    streams = {path.readlink() for path in ours}
    held = {path.readlink() for path in Path(f"/proc/{zygote}/fd").iterdir()}
    assert len(streams) == 2 and not streams & held


def _memory(pid: int) -> bytes:
    """Return the private writable memory of a process, its heap included."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    found = b""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:  # noqa: PTH123 - unbuffered
        for line in lines:
            if "[heap]" in line or (" rw-p " in line and len(line.split()) == 5):
                first, last = (int(word, 16) for word in line.split()[0].split("-"))
                memory.seek(first)
                with suppress(OSError):  # unmapped meanwhile
                    found += memory.read(min(last - first, 64 << 20))
    return found


def test_a_worker_finds_neither_the_judge_nor_hypothesis_nor_the_environment(judge, tmp_path):
    check = "import sys\nassert not [n for n in sys.modules if n.startswith(('attncli', 'hypothesis'))]\n"
    check += "import importlib.util\nassert importlib.util.find_spec('attncli') is None\n"
    check += "assert importlib.util.find_spec('hypothesis') is None\n"
    assert _loads(judge, tmp_path, check + REFERENCE)
    assert _loads(judge, tmp_path, "import os\nassert 'ATTN_TEST_SECRET' not in os.environ\n" + REFERENCE)
    assert not _loads(judge, tmp_path, "import sys\nassert 'torch' not in sys.modules\n" + REFERENCE)


def test_the_zygote_ends_with_the_judge(own_judge):
    judge, zygote = own_judge, zygote_of(own_judge)
    os.kill(judge._process.pid, signal.SIGKILL)
    judge._process.wait()
    assert _ends(zygote)


@pytest.mark.slow
def test_a_judge_whose_interpreter_is_held_by_c_code_ends_when_nobody_is_left_to_ask_it(own_judge, tmp_path):
    """As if attn was killed: the judge's threads cannot run while a regular expression is matched."""
    judge, zygote = own_judge, zygote_of(own_judge)
    folder, marker = write_challenge(tmp_path), tmp_path / "busy"
    busy = f'import pathlib, re\npathlib.Path({str(marker)!r}).touch()\nre.match("(a*)*b", "a" * 100)\n'
    (folder.path / "inputs.py").write_text(busy)
    request = GradeRequest(spec=SPEC, folder=folder.path, source=b"", filename="submission.py")
    judge._process.stdin.write(json.dumps({**request.document(), "id": 1}) + "\n")
    judge._process.stdin.flush()
    while not marker.exists():
        time.sleep(0.01)
    judge._process.stdin.close()
    assert judge._process.wait(timeout=60) == -signal.SIGKILL
    assert _ends(zygote)


def _ends(pid: int) -> bool:
    """Wait up to half a minute for a process to end; return True if it did."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                time.sleep(0.01)
                continue
        return True
    return False


def test_a_judge_whose_reader_has_gone_before_it_was_told_anything_ends(tmp_path):
    with (tmp_path / "log").open("w+b") as log:
        process = zygote_client.launch(sys.executable, ["judge"], log, stdin=-1, stdout=-1)
        process.communicate(b"", timeout=30)
    assert process.returncode == 0


def test_what_is_missing_is_said_in_words_and_leaves_no_process(monkeypatch, tmp_path):
    before = set(namespaces.children_of(os.getpid()))
    for kind, words, *patch in (
        (SandboxUnavailable, "needs Linux", sys, "platform", "darwin"),
        (JudgeFailed, "cannot be started", sys, "executable", str(tmp_path / "python")),
        (JudgeFailed, "install it with", importlib.util, "find_spec", lambda name: None),
    ):
        with monkeypatch.context() as patched, pytest.raises(kind, match=words):
            patched.setattr(*patch)
            Judge.start()
    assert set(namespaces.children_of(os.getpid())) <= before


def _loads(judge: Judge, root: Path, source: str) -> bool:
    asked = {"spec": SPEC, "folder": write_challenge(root).path, "source": source.encode(), "filename": "submission.py"}
    request = GradeRequest(**asked, options=GradeOptions(quick=True))
    return next(check.status for check in judge.grade(request).checks if check.name == "loads") == "pass"
