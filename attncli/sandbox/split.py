"""One process imports torch and then splits in two: the child becomes the zygote, the parent the judge.

Importing torch takes longer than a grading, and two processes that do it at once hinder each other. The child has seen
nothing but torch and this package when it is made: no challenge, no reference, nothing of the user's environment. The
parent reads what it needs to be the judge only afterwards.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from typing import Any, NoReturn

from . import grants, zygote
from .wire import LENGTH_DIGITS

# How long the judge may take to end in order once nobody is left to ask it.
GRACE_MS = 2000


def main() -> NoReturn:
    """Reads two messages from standard input, each behind its length: for the zygote, then for the judge."""
    _end_with_standard_input()
    setup = _message()
    zygote.import_packages(setup["packages"])
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    judge = os.getpid()
    child = os.fork()
    if child == 0:
        ours.close()
        _leave_the_judge()
        zygote.prepare_and_serve(theirs, setup, judge)
    theirs.close()
    _become_judge(_message(), ours, child)


def _end_with_standard_input() -> None:
    """Fork a process that kills this one if it goes on after its standard input has ended.

    The judge has a thread that waits for that end, but the thread gets no turn while C code holds the interpreter.
    """
    judge = os.pidfd_open(os.getpid())
    if os.fork():
        os.close(judge)
        return
    os.closerange(1, judge)
    poller = select.poll()
    poller.register(judge, select.POLLIN)
    poller.register(0, 0)  # a hang-up is told in any case
    poller.poll()
    poller.unregister(0)
    if not poller.poll(GRACE_MS):
        signal.pidfd_send_signal(judge, signal.SIGKILL)
    os._exit(0)


def _message() -> dict[str, Any]:
    length = int(_exactly(LENGTH_DIGITS))
    message: dict[str, Any] = json.loads(_exactly(length))
    return message


def _exactly(count: int) -> bytes:
    """So many bytes and no more: what follows is the judge's."""
    data = b""
    while len(data) < count:
        chunk = os.read(0, count - len(data))
        if not chunk:
            os._exit(0)
        data += chunk
    return data


def _leave_the_judge() -> None:
    """Let go of the judge's streams: they must end when the judge does."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)


def _become_judge(setup: dict[str, Any], control: socket.socket, child: int) -> NoReturn:
    gc.freeze()
    zygote.Filtered.without -= grants.BLOCKED_PACKAGES
    sys.path.insert(0, setup["root"])
    sys.dont_write_bytecode = bool(setup["dont_write_bytecode"])
    os.environ.update(setup["environment"])
    server = importlib.import_module("attncli.judge.server")
    sys.exit(server.main(control, child))
