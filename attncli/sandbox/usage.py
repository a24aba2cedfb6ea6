"""Wait for a worker and watch what it uses: the work of process 1 of its pid namespace, which does nothing else.

It shares no interpreter with the worker, nor with the judge, which may be busy with an answer meanwhile. The kernel's
limits come first (see `limits`); this is for what they do not count, and where they do not bind.
"""

from __future__ import annotations

import os
import select
import signal

from . import limits, namespaces
from .policy import MIB

POLL_MS = 50
# Pages that the worker shared with the zygote or had not read yet, and what the kernel's limits do not count of them.
_SLACK_BYTES = 128 * MIB
# More processes than any policy allows; a bomb's thousands would take longer to look at than the watch sleeps.
_COUNTED = 512


def most_bytes(memory_mib: int) -> int:
    """How much a worker may hold that this process forks and that has `memory_mib` for itself."""
    return limits.usage("self").memory_bytes + memory_mib * MIB + _SLACK_BYTES


def wait_for(worker: int, memory_bytes: int, threads: int) -> dict[str, str | int]:
    """Reap children until the child `worker` has ended, and return its `exit` status or the `signal` that ended it.

    Kills it if one process below this one holds more than `memory_bytes`, or if they have more than `threads` threads
    in all, and returns `excess`: "memory" or "threads". Looking costs some 0.1 ms twenty times a second.
    """
    handle = os.pidfd_open(worker)
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    while True:
        poller.poll(POLL_MS)
        if (ended := _reaped(worker)) is not None:
            return ended
        if excess := _excess(used_below(), memory_bytes, threads):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            return {"excess": excess}


def used_below(pid: int | str = "self") -> limits.Usage:
    """The most memory that one process below this one holds, and all their threads.

    Below process 1 is the worker. Where no filter forbids it to fork, so is whatever it has started.
    """
    below = namespaces.children_of(pid)
    for child in below:
        if len(below) < _COUNTED:
            below += namespaces.children_of(child)
    found = [limits.usage(child) for child in below[:_COUNTED]]
    memory_bytes = max((used.memory_bytes for used in found), default=0)
    return limits.Usage(memory_bytes, sum(used.threads for used in found))


def _excess(used: limits.Usage, memory_bytes: int, threads: int) -> str:
    if used.memory_bytes > memory_bytes:
        return "memory"
    return "threads" if used.threads > threads else ""


def _reaped(worker: int) -> dict[str, str | int] | None:
    """Reap what has ended; how the worker did, if it is among that."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return None
        if pid == worker:
            code = os.waitstatus_to_exitcode(status)
            return {"signal": -code} if code < 0 else {"exit": code}
