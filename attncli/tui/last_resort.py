"""A watcher process that kills the app if it does not react to a signal or to the loss of its terminal.

Python runs a signal handler only between two bytecodes, and a regular expression may take minutes. The interpreter
writes the number of each signal into a pipe at once; the watcher reads the other end.
"""

from __future__ import annotations

import ast
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

GRACE_SECONDS = 2.0
LEAVING_SECONDS = 15.0
_LEAVING = 0
"""No signal has this number: the app writes it when it has begun to leave."""
_SANE = "\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?1004l\x1b[<u"


@contextmanager
def last_resort(terminal: int) -> Iterator[Callable[[], None]]:
    """Inside, SIGTERM, SIGHUP or the end of the terminal leaves this process `GRACE_SECONDS`, then kills it.

    Call what is yielded once the process has begun to leave: then it has `LEAVING_SECONDS` for that.
    """
    import subprocess
    import termios

    with suppress(termios.error):
        attributes = repr(termios.tcgetattr(terminal))
        terminal = os.dup(terminal)  # the watcher has another standard input
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        watcher = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(terminal), attributes],
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(terminal,),
            start_new_session=True,
        )
        os.close(reading)
        os.close(terminal)
        before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        try:
            yield lambda: _write(writing)
        finally:
            signal.set_wakeup_fd(before)
            os.close(writing)
            watcher.wait()
        return
    yield lambda: None


def _write(pipe: int) -> None:
    with suppress(OSError):
        os.write(pipe, bytes([_LEAVING]))


def watch(app: int, terminal: int, attributes: Any) -> None:
    """Return when the app has closed the pipe on standard input, or when it had to be killed."""
    poller = select.poll()
    poller.register(0, select.POLLIN)
    poller.register(terminal, 0)  # poll reports a hang-up in any case
    end = float("inf")
    while (left := end - time.monotonic()) > 0:
        ready = dict(poller.poll(None if left == float("inf") else left * 1000))
        must_end = terminal in ready
        if must_end:
            poller.unregister(terminal)
        if 0 in ready:
            numbers = os.read(0, 64)
            if not numbers:
                return
            must_end = must_end or bool({signal.SIGTERM, signal.SIGHUP}.intersection(numbers))
            if _LEAVING in numbers:
                must_end, end = False, time.monotonic() + LEAVING_SECONDS
        if must_end:
            end = min(end, time.monotonic() + GRACE_SECONDS)
    if os.getppid() == app:
        os.kill(app, signal.SIGKILL)
        _restore(terminal, attributes)


def _restore(terminal: int, attributes: Any) -> None:
    import termios

    with suppress(OSError, termios.error):
        termios.tcsetattr(terminal, termios.TCSANOW, attributes)
        os.write(terminal, _SANE.encode())


if __name__ == "__main__":
    watch(int(sys.argv[1]), int(sys.argv[2]), ast.literal_eval(sys.argv[3]))
