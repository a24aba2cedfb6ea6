"""Describe exit statuses and signals in the report's words."""

from __future__ import annotations

import signal

import pytest

from attncli.sandbox.wire import CHANNEL_LOST, OUT_OF_MEMORY
from attncli.sandbox.worker_process import classify


@pytest.mark.parametrize(
    ("status", "printed", "reason", "words"),
    [
        ({"exit": 0}, "", "exited", "exit status 0 (os._exit or sys.exit)"),
        ({"exit": CHANNEL_LOST}, "", "protocol", "closed its channel"),
        ({"exit": OUT_OF_MEMORY}, "", "memory", "needed more than 512 MiB"),
        ({"signal": signal.SIGSEGV}, "", "crashed", "killed by SIGSEGV during a call"),
        ({"signal": signal.SIGKILL}, "", "crashed", "killed by SIGKILL"),
        ({"signal": signal.SIGXCPU}, "", "timeout", "processor time"),
        ({"signal": signal.SIGSYS}, "", "refused", "system call of another architecture"),
        ({"signal": signal.SIGABRT}, "", "crashed", "killed by SIGABRT"),
        ({"signal": signal.SIGABRT}, "terminate called ... 'std::bad_alloc'", "memory", "needed more than 512 MiB"),
        ({"signal": 40}, "", "crashed", "signal 40"),
    ],
)
def test_endings(status: dict[str, int], printed: str, reason: str, words: str) -> None:
    stop = classify(status, "called", 512, printed)
    assert (stop.reason, words in stop.message.en) == (reason, True), stop.message
