"""What a worker uses, watched from a thread: the judge may be busy with an answer while the worker fills memory.

The kernel's limits come first (see `limits`); this is for what they do not count, and where they do not bind.
"""

from __future__ import annotations

import threading

from .process import Process
from .worker_policy import CPU

POLL_SECONDS = 0.05


class UsageWatch:
    """Ends a worker of which a process holds more than `memory_bytes`, or that has more than `threads` threads in all.

    `excess` is then "memory" or "threads"; those of processes that it has started count as well. Costs some 0.1 ms
    twenty times a second.
    """

    def __init__(self, process: Process, memory_bytes: int, threads: int = CPU.processes) -> None:
        self._process = process
        self._memory_bytes = memory_bytes
        self._threads = threads
        self._done = threading.Event()
        self.excess = ""
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()

    def _watch(self) -> None:
        while not self._done.wait(POLL_SECONDS):
            used = self._process.worker_usage()
            if used.memory_bytes > self._memory_bytes:
                self.excess = "memory"
            elif used.threads > self._threads:
                self.excess = "threads"
            if self.excess:
                self._process.end()
                return
