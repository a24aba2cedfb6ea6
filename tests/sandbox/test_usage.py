"""What a worker uses is watched while the judge is busy with something else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from attncli.sandbox import namespaces
from attncli.sandbox.endings import used_too_much
from attncli.sandbox.limits import Usage, usage
from attncli.sandbox.process import Process
from attncli.sandbox.supervisor import _INVOKES_OVERTIME
from attncli.sandbox.usage import UsageWatch
from attncli.sandbox.worker_policy import CPU, MIB
from attncli.sandbox.zygote_client import Worker

from .conftest import Grade, verdict

LATEST_SECONDS = 20.0


class Counted:
    """A process that says what it uses, and notes that it was ended."""

    def __init__(self, used: Usage) -> None:
        self.used = used
        self.ended = False

    def worker_usage(self) -> Usage:
        return self.used

    def end(self) -> None:
        self.ended = True


def watched(used: Usage, too_much: bool) -> tuple[str, bool]:
    process = Counted(used)
    watch = UsageWatch(process, 100)  # type: ignore[arg-type]
    watch._thread.join(LATEST_SECONDS if too_much else 0.5)
    watch.stop()
    watch._thread.join(LATEST_SECONDS)
    return watch.excess, process.ended


@pytest.mark.parametrize(
    ("used", "excess"),
    [
        (Usage(101, 1), "memory"),
        (Usage(100, CPU.processes), ""),
        (Usage(0, CPU.processes + 1), "threads"),
        (Usage(0, 0), ""),
    ],
)
def test_who_uses_too_much_is_ended(used: Usage, excess: str) -> None:
    assert watched(used, bool(excess)) == (excess, bool(excess))


def test_the_words_for_it_are_those_of_a_limit_of_the_kernel() -> None:
    assert used_too_much("memory", 64).reason == "memory"
    assert used_too_much("threads", 64).reason == "refused"


TREE = """
import os, threading, time
def fork():
    for _ in range(2):
        if os.fork() == 0:
            time.sleep(1000)
    print("ready", flush=True)
    time.sleep(1000)
if os.fork() == 0:
    threading.Thread(target=fork).start()
    time.sleep(1000)
time.sleep(1000)
"""


@pytest.mark.sandbox
def test_what_a_worker_starts_counts_whichever_of_its_threads_did() -> None:
    command = [sys.executable, "-c", TREE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as first:
        assert first.stdout is not None and first.stdout.readline() == "ready\n"
        found = Process(first.pid, os.pidfd_open(first.pid)).worker_usage()
        alone = usage(namespaces.children_of(first.pid)[0])
        os.killpg(first.pid, signal.SIGKILL)
    assert found.threads - alone.threads == 2
    assert 0 < found.memory_bytes < 2 * alone.memory_bytes


@pytest.mark.sandbox
def test_memory_is_found_while_the_judge_waits_for_nothing(worker: Worker, load: Grade) -> None:
    source = (
        "import threading, time\nHELD = []\n"
        "def fill():\n    time.sleep(0.1)\n    for _ in range(200): HELD.append(b'x' * (1 << 20))\n"
        "    time.sleep(100)\n"
        "threading.Thread(target=fill, daemon=True).start()\ndef f(): pass\n"
    )
    worker.load(b"", "s.py", [], LATEST_SECONDS)  # it is there, with all that it holds at first
    worker._usage.stop()
    worker._usage = UsageWatch(worker._process, worker._process.worker_usage().memory_bytes + 100 * MIB)
    assert verdict(load(source))[0] == "loaded"
    worker._usage._thread.join(LATEST_SECONDS)
    assert worker._usage.excess == "memory"
    header = {"op": "run", "steps": [{"op": "call", "name": "f", "args": []}]}
    assert verdict(worker.request(header, [], LATEST_SECONDS)) == ("memory", "needed more than 384 MiB")


@pytest.mark.sandbox
def test_calls_of_the_judges_own_functions_take_so_long_and_no_longer(worker: Worker) -> None:
    calls = []

    def slow(header: dict, payload: memoryview) -> tuple[dict, list]:
        calls.append(time.sleep(0.05))
        return {"value": ["i", 1], "tensors": []}, []

    worker.load(b"def f(g):\n    while True: g()", "s.py", ["f"], LATEST_SECONDS)
    header = {"op": "run", "steps": [{"op": "call", "name": "f", "args": [["c", 0]]}], "callables": [None]}
    assert verdict(worker.request(header, [], 0.3, on_invoke=slow))[0] == "timeout"
    assert len(calls) <= (1 + _INVOKES_OVERTIME) * 0.3 / 0.05 + 1, "each takes a twentieth of a second at least"
