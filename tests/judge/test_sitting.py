"""Run a long session with one judge: nothing leaks, a dead zygote is replaced, a dead judge gives one clear line.

ATTN_SITTING=1000 makes it last an evening.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from attncli.domain.grade_report import GradeReport
from attncli.errors import JudgeFailed
from attncli.judge.client import GradeOptions, GradeRequest, Judge
from attncli.sandbox.namespaces import children_of
from in_process import SPEC, write_challenge

pytestmark = pytest.mark.sandbox

GRADINGS = int(os.environ.get("ATTN_SITTING", "40"))
RIGHT = b"def scaled_sum(x, weight, scale=2.0):\n    return (x * weight).sum(-1) * scale\n"
SUBMISSIONS = [
    (RIGHT, "accepted"),
    (b"def scaled_sum(x, weight, scale=2.0):\n    return (x * weight).sum(-1)\n", "rejected"),
    (b"import os\nos._exit(3)\n", "rejected"),
    (b"import ctypes\nctypes.string_at(0)\n", "rejected"),
    (b"def scaled_sum(x, weight, scale=2.0):\n    while True: print('x' * 1000)\n", "rejected"),
    (b"raise KeyError\n", "rejected"),
]


@pytest.fixture
def judge():
    with Judge.start() as opened:
        opened.layers()
        yield opened


@pytest.fixture
def ask(tmp_path):
    folder = write_challenge(tmp_path)

    def request(source: bytes, **options) -> GradeRequest:
        return GradeRequest(
            spec=SPEC, folder=folder.path, source=source, filename="submission.py", options=GradeOptions(**options)
        )

    return request


def descendants(pid: int) -> list[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(encoding="latin-1").rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    found, level = [], {pid}
    while level := {child for child, parent in parents.items() if parent in level}:
        found += level
    return found


def footprint(pid: int) -> tuple[int, int, int]:
    """Return a process's open descriptors, descendants, and resident KiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return len(list(Path(f"/proc/{pid}/fd").iterdir())), len(descendants(pid)), resident


def footprint_at_rest(pid: int) -> tuple[int, int, int]:
    """Return the footprint once the next worker is forked ahead and nothing has changed for a second."""
    last, unchanged = footprint(pid), 0
    for _ in range(6000):
        time.sleep(0.01)
        now = footprint(pid)
        unchanged = unchanged + 1 if now[:2] == last[:2] and now[1] > 1 else 0
        last = now
        if unchanged == 100:
            return last
    pytest.fail(f"no rest after a minute: {last}")


def test_many_gradings_in_a_row_leak_nothing(judge, ask):
    pid = judge._process.pid
    for source, verdict in SUBMISSIONS * 2:
        assert judge.grade(ask(source, quick=True)).verdict == verdict
    before = footprint_at_rest(pid)
    for number in range(GRADINGS):
        source, verdict = SUBMISSIONS[number % len(SUBMISSIONS)]
        assert judge.grade(ask(source, quick=True)).verdict == verdict
    after = footprint_at_rest(pid)
    assert after[0] <= before[0]
    assert after[1] <= before[1]
    assert after[2] <= before[2] + 20_000 + 10 * GRADINGS


def grade_when_there_is_a_judge(judge, request) -> GradeReport:
    for _ in range(50):
        try:
            return judge.grade(request)
        except JudgeFailed:
            time.sleep(0.1)
    pytest.fail("no zygote came back")


def test_a_zygote_that_was_killed_is_replaced_and_no_file_is_blamed(judge, ask):
    assert judge.grade(ask(RIGHT)).verdict == "accepted"
    for moment_seconds in (0.0, 0.0, 0.005, 0.01, 0.02, 0.05):
        killer = threading.Timer(moment_seconds, os.kill, (descendants(judge._process.pid)[0], signal.SIGKILL))
        killer.start()
        assert grade_when_there_is_a_judge(judge, ask(RIGHT)).verdict == "accepted"
        killer.join()
        assert grade_when_there_is_a_judge(judge, ask(RIGHT)).verdict == "accepted"


def test_a_file_is_not_rejected_because_the_zygote_was_killed_meanwhile(judge, ask):
    assert judge.grade(ask(RIGHT)).verdict == "accepted"
    _watch, zygote = children_of(judge._process.pid)
    killer = threading.Timer(0.2, os.kill, (zygote, signal.SIGKILL))
    killer.start()
    report = judge.grade(ask(b"for _ in range(20_000_000):\n    pass\n" + RIGHT))
    killer.join()
    assert not Path(f"/proc/{zygote}").exists()
    assert report.verdict == "accepted"


def test_a_judge_that_was_killed_is_one_clear_line(judge, ask):
    pid = judge._process.pid
    children = descendants(pid)
    with pytest.raises(JudgeFailed, match="the judge died"):
        judge.grade(ask(RIGHT), lambda event: os.kill(pid, signal.SIGKILL))
    assert ended(children), "something outlived the judge"


def ended(children: list[int]) -> bool:
    """Wait up to half a minute for processes to end; return True if all did."""
    for _ in range(600):
        if not any(Path(f"/proc/{child}").exists() for child in children):
            return True
        time.sleep(0.05)
    return False


def test_closing_the_judge_leaves_no_process(ask):
    with Judge.start() as judge:
        judge.grade(ask(RIGHT))
        children = descendants(judge._process.pid)
        assert children
    assert ended(children)


def test_an_unknown_request_is_refused_by_name(judge):
    with pytest.raises(JudgeFailed, match="unknown judge request 'dance'"):
        judge._ask({"op": "dance"}, None)


def test_events_name_the_checks_in_order_the_first_rung_before_the_second(judge, ask):
    events = []
    judge.grade(ask(RIGHT), events.append)
    names = list(dict.fromkeys(event.name for event in events))
    second = ["low-precision", "layout", "device"]
    assert names == [*(name for name in SPEC["required"] if name not in second), *second]
    assert [event.status for event in events if event.name == "loads"] == ["running", "pass"]


def test_a_broken_challenge_folder_fails_the_judge_not_the_submission(judge, ask, tmp_path):
    (tmp_path / "inputs.py").write_text("def case(:\n", encoding="utf-8")
    with pytest.raises(JudgeFailed, match=r"inputs\.py: the challenge's own file cannot be loaded"):
        judge.grade(ask(RIGHT))
