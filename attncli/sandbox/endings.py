"""How a worker ended, in the report's words."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CHANNEL_LOST, OUT_OF_MEMORY = 74, 75  # exit statuses of the worker itself
_OUT_OF_MEMORY_WORDS = ("std::bad_alloc", "can't allocate memory", "Cannot allocate memory", "MemoryError")


@dataclass(frozen=True, slots=True)
class Ending:
    """The worker is gone. `reason`: exited, crashed, timeout, memory, output, refused or protocol.

    `message` goes on from "the submission ..."; `facts` are what it names, for other languages.
    """

    reason: str
    message: str
    printed: str
    facts: Mapping[str, object] = field(default_factory=dict)


class Stopped(Exception):
    """The worker ended or has to be ended."""

    def __init__(self, reason: str, message: str, **facts: object) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.facts = facts


def out_of_memory(memory_mib: int) -> Stopped:
    return Stopped("memory", f"needed more than {memory_mib} MiB", mib=memory_mib)


def classify(status: Mapping[str, Any], doing: str, memory_mib: int, printed: str) -> Stopped:
    """The meaning of an exit status, a signal or an excess, while the submission was `doing` ("loaded" or "called")."""
    if "excess" in status:
        return _used_too_much(status["excess"], memory_mib)
    if "exit" in status:
        return _exited(status["exit"], doing, memory_mib)
    number = status["signal"]
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    if number == signal.SIGXCPU:
        return Stopped("timeout", "used more processor time than a whole sitting may")
    if number == signal.SIGSYS:
        return Stopped("refused", f"made a system call of another architecture while it was {doing} (SIGSYS)")
    if number == signal.SIGABRT and any(words in printed for words in _OUT_OF_MEMORY_WORDS):
        return out_of_memory(memory_mib)
    return Stopped("crashed", f"killed by {name} while it was {doing}", signal=name, doing=doing)


def _used_too_much(what: str, memory_mib: int) -> Stopped:
    if what == "memory":
        return out_of_memory(memory_mib)
    return Stopped("refused", "started more threads or processes than a submission may")


def _exited(code: int, doing: str, memory_mib: int) -> Stopped:
    if code == OUT_OF_MEMORY:
        return out_of_memory(memory_mib)
    if code == CHANNEL_LOST:
        return Stopped("protocol", f"closed its channel to the judge while it was {doing}")
    return Stopped("exited", f"ended the process with exit status {code} (os._exit or sys.exit) while it was {doing}")
