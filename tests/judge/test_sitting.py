"""Keep one judge for ATTN_SITTING gradings: nothing leaks, a dead zygote is replaced, a dead judge gives one line."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from attncli.domain.grade_report import GradeReport
from attncli.errors import JudgeFailed
from attncli.judge.client import GradeOptions, GradeRequest, Judge
from attncli.sandbox.namespaces import children_of
from in_process import SPEC, write_challenge

pytestmark = pytest.mark.sandbox

GRADINGS = int(os.environ.get("ATTN_SITTING", "18"))
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
def own_judge():
    """Start a judge that a test may harm."""
    with Judge.start() as opened:
        opened.layers()
        yield opened


@pytest.fixture
def ask(tmp_path):
    folder = write_challenge(tmp_path)

    return lambda source, **options: GradeRequest(
        spec=SPEC, folder=folder.path, source=source, filename="submission.py", options=GradeOptions(**options)
    )


def descendants(pid: int) -> list[int]:
    return [found for child in children_of(pid) for found in (child, *descendants(child))]


def footprint(pid: int) -> tuple[int, int, int]:
    """Return a process's open descriptors, descendants, and resident KiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
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


@pytest.mark.full
def test_many_gradings_in_a_row_leak_nothing(own_judge, ask):
    pid = own_judge._process.pid
    for source, verdict in SUBMISSIONS * 2:
        assert own_judge.grade(ask(source, quick=True)).verdict == verdict
    before = footprint_at_rest(pid)
    for number in range(GRADINGS):
        source, verdict = SUBMISSIONS[number % len(SUBMISSIONS)]
        assert own_judge.grade(ask(source, quick=True)).verdict == verdict
    after = footprint_at_rest(pid)
    assert after[0] <= before[0] and after[1] <= before[1] and after[2] <= before[2] + 20_000 + 10 * GRADINGS


def grade_when_there_is_a_judge(judge, request) -> GradeReport:
    for _ in range(50):
        try:
            return judge.grade(request)
        except JudgeFailed:
            time.sleep(0.1)
    pytest.fail("no zygote came back")


@pytest.mark.full
@pytest.mark.slow
def test_a_zygote_that_was_killed_is_replaced_and_no_file_is_blamed(own_judge, ask):
    assert own_judge.grade(ask(RIGHT)).verdict == "accepted"
    for moment_seconds in (0.0, 0.005, 0.02):
        killer = threading.Timer(moment_seconds, os.kill, (descendants(own_judge._process.pid)[0], signal.SIGKILL))
        killer.start()
        assert grade_when_there_is_a_judge(own_judge, ask(RIGHT)).verdict == "accepted"
        killer.join()
    _watch, zygote = children_of(own_judge._process.pid)
    killer = threading.Timer(0.2, os.kill, (zygote, signal.SIGKILL))
    killer.start()
    report = own_judge.grade(ask(b"for _ in range(20_000_000):\n    pass\n" + RIGHT))
    killer.join()
    assert not Path(f"/proc/{zygote}").exists()
    assert report.verdict == "accepted", "it is run again, and not rejected"


@pytest.mark.slow
def test_a_judge_that_was_killed_is_one_clear_line_and_one_that_is_closed_leaves_no_process(own_judge, ask):
    pid = own_judge._process.pid
    children = descendants(pid)
    with pytest.raises(JudgeFailed, match="the judge died"):
        own_judge.grade(ask(RIGHT), lambda event: os.kill(pid, signal.SIGKILL))
    assert ended(children), "something outlived the judge"
    with Judge.start() as judge:
        judge.grade(ask(RIGHT))
        children = descendants(judge._process.pid)
        assert children
    assert ended(children)


def ended(children: list[int]) -> bool:
    """Wait up to half a minute for processes to end; return True if all did."""
    for _ in range(600):
        if not any(Path(f"/proc/{child}").exists() for child in children):
            return True
        time.sleep(0.05)
    return False


def test_events_name_the_checks_in_order_and_what_cannot_be_asked_fails_the_judge_alone(judge, ask, tmp_path):
    events = []
    judge.grade(ask(RIGHT), events.append)
    names = list(dict.fromkeys(event.name for event in events))
    second = ["low-precision", "layout", "device"]
    assert names == [*(name for name in SPEC["required"] if name not in second), *second]
    assert [event.status for event in events if event.name == "loads"] == ["running", "pass"]
    with pytest.raises(JudgeFailed, match="unknown judge request 'dance'"):
        judge._ask({"op": "dance"}, None)
    broken = write_challenge(tmp_path / "broken", inputs="def case(:\n")
    with pytest.raises(JudgeFailed, match=r"inputs\.py: the challenge's own file cannot be loaded"):
        judge.grade(replace(ask(RIGHT), folder=broken.path))
