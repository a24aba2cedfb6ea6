"""Watch a worker's usage while the judge is busy."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from attncli.sandbox import namespaces
from attncli.sandbox.namespaces import Usage, usage
from attncli.sandbox.policy import CPU
from attncli.sandbox.worker_process import _INVOKES_OVERTIME, classify
from attncli.sandbox.zygote import _excess, used_below
from attncli.sandbox.zygote_client import Worker

from .conftest import Grade, verdict

LATEST_SECONDS = 20.0


def test_what_is_too_much_and_its_words_are_those_of_a_limit_of_the_kernel() -> None:
    for used, excess in ((Usage(101, 1), "memory"), (Usage(100, CPU.processes), ""), (Usage(0, 0), "")):
        assert _excess(used, 100, CPU.processes) == excess
    assert _excess(Usage(0, CPU.processes + 1), 100, CPU.processes) == "threads"
    for excess, reason in (("memory", "memory"), ("threads", "refused")):
        assert classify({"excess": excess}, "called", 64, "").reason == reason


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
        found = used_below(first.pid)
        (below,) = namespaces.children_of(first.pid)
        alone, none = usage(below), used_below(namespaces.children_of(below)[0])
        os.killpg(first.pid, signal.SIGKILL)
    assert found.threads - alone.threads == 2
    assert 0 < found.memory_bytes < 2 * alone.memory_bytes
    assert none == Usage(0, 0)


FILL = """
import ctypes, mmap, threading, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
def fill():
    for _ in range(100):
        place = libc.mmap(None, 16 << 20, 3, 0x22, -1, 0)
        ctypes.memset(place, 1, 16 << 20)
        libc.mprotect(place, 16 << 20, 1)
    time.sleep(100)
def f(): pass
threading.Timer(0.1, fill).start()
"""


@pytest.mark.sandbox
def test_memory_that_no_limit_counts_is_found_while_the_judge_does_nothing(worker: Worker, load: Grade) -> None:
    # RLIMIT_DATA does not count memory that was written and then made read-only.
    assert verdict(load(FILL))[0] == "loaded"
    assert select.select([worker._status], [], [], LATEST_SECONDS)[0]
    header = {"op": "run", "steps": [{"op": "call", "name": "f", "args": []}]}
    assert verdict(worker.request(header, [], LATEST_SECONDS)) == ("memory", "needed more than 384 MiB of memory")


@pytest.mark.sandbox
def test_memory_is_found_while_the_judge_holds_its_interpreter(worker: Worker, load: Grade) -> None:
    """A regular expression holds the GIL of the judge for seconds, so no thread can run there."""
    assert verdict(load(FILL))[0] == "loaded"
    handle, started = os.dup(worker._status), time.process_time()
    while time.process_time() - started < 5 and not select.select([handle], [], [], 0)[0]:
        re.match("(a*)*b", "a" * 22)
    told = json.loads(os.read(handle, 4096))
    os.close(handle)
    assert told == {"excess": "memory"}


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
