"""Process 1 of a worker's pid namespace, as the judge holds it."""

from __future__ import annotations

import contextlib
import os
import select
import signal

_GONE_MS = 5000


class Process:
    """To be killed by a descriptor that cannot mean another process."""

    def __init__(self, pid: int, handle: int) -> None:
        self.pid = pid
        self._handle: int | None = handle

    def end(self) -> None:
        """Kill it, and with it all processes in its namespace, without waiting until they are gone."""
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
        os.close(self._handle)
        self._handle = None
