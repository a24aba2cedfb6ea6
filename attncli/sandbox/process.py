"""Process 1 of a worker's pid namespace, as the judge holds it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading

from . import limits, namespaces

_GONE_MS = 5000
# More processes than any policy allows; a bomb's thousands would take longer to look at than the watch sleeps.
_COUNTED = 512


class Process:
    """To be killed by a descriptor that cannot mean another process, from any thread."""

    def __init__(self, pid: int, handle: int) -> None:
        self.pid = pid
        self._handle: int | None = handle
        self._lock = threading.Lock()

    def end(self) -> None:
        """Kill it, and with it all processes in its namespace, without waiting until they are gone."""
        with self._lock:
            if self._handle is not None:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def kill(self) -> None:
        """Kill it, wait until it and all processes in its namespace are gone, and let go of it."""
        if self._handle is None:
            return
        self.end()
        poller = select.poll()
        poller.register(self._handle, select.POLLIN)
        poller.poll(_GONE_MS)
        with self._lock:
            os.close(self._handle)
            self._handle = None

    def worker_usage(self) -> limits.Usage:
        """The most memory that one process below this one holds, and all their threads; nothing when it cannot be told.

        Below it is the worker. Where no filter forbids it to fork, so is whatever it has started.
        """
        below = namespaces.children_of(self.pid)
        for pid in below:
            if len(below) < _COUNTED:
                below += namespaces.children_of(pid)
        found = [limits.usage(pid) for pid in below[:_COUNTED]]
        memory_bytes = max((used.memory_bytes for used in found), default=0)
        return limits.Usage(memory_bytes, sum(used.threads for used in found))
