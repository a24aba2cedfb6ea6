"""The one guarded place where answers are looked at: what goes wrong there is a fault of the answer.

Reading, comparing and showing values that learner code has chosen raises, takes time and takes memory in more ways than
can be checked beforehand; each way that is known is checked for where it arises, and this is what holds for the others.
A look has a limit of processor time (a wall clock would blame an answer for what else the machine does) and of memory,
and what it raises of FAULTS becomes an `Unjudgeable`. What the judge computes from the reference alone is `alone`: no
answer is to blame there, so its time is not counted, its memory not limited, and what it raises is the judge's failure.
"""

from __future__ import annotations

import functools
import resource
import signal
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from attncli.domain.text import Localised
from attncli.judge.messages import say
from attncli.sandbox.namespaces import data_bytes
from attncli.sandbox.policy import MIB
from attncli.sandbox.values import TreeError
from attncli.sandbox.worker import reason_of

# One look may take this much processor time, and all looks of one submission so many times as much.
SECONDS = 10.0
LOOKS = 6
# How much the judge may grow while it looks at the answers of one submission.
MEMORY_MIB = 512
LEAST_MEMORY_MIB = 256
# What Python and torch raise at values of an unexpected kind. RecursionError and NotImplementedError are RuntimeErrors,
# UnicodeError is a ValueError. Errors of the program itself (AttnError) and of its surroundings (OSError) are no
# answer's doing and pass.
FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
# The alarm rings again after so long, for code that swallowed it the first time.
_AGAIN_SECONDS = 0.1

P = ParamSpec("P")
T = TypeVar("T")


class Unjudgeable(Exception):
    """An answer that cannot be looked at to the end; `reason` is a word of the contract.

    `final`: it cost so much that nothing further is asked of the file.
    """

    def __init__(self, reason: str, message: Localised) -> None:
        super().__init__(message.en)
        self.reason = reason
        self.message = message

    @property
    def final(self) -> bool:
        return self.reason in ("timeout", "too-large")


class _Overdue(BaseException):
    """The time for this look is over. No Exception, so that nothing on the way takes it for one of its own."""


class Guard:
    """The looks at the answers of one submission, one after the other in one thread.

    Only the main thread gets a time limit: no other one can be interrupted. The judge's process has no other.
    """

    def __init__(self, memory_mib: int = MEMORY_MIB, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._left = LOOKS * seconds
        self._soft, self._hard = resource.getrlimit(resource.RLIMIT_DATA)
        self._memory_mib = memory_mib
        self._granted = 0.0
        self._timed = self.armed = self.rang = False
        self._nested = 0
        self._own_failure: Exception | None = None

    def look(self, at: Callable[[], T], said: str = "cannot-be-judged") -> T:
        """What `at` returns. Raises Unjudgeable, in whose sentence `said` the error stands, where it does not return.

        A look inside a look is part of that.
        """
        if _present.guard is not None:
            return at()
        try:
            try:
                self._begin()
                return at()
            finally:
                self._end()
        except _Overdue:
            fault = Unjudgeable("timeout", say("judged-too-long", seconds=f"{self._seconds:g}"))
        except FAULTS as error:
            if error is self._own_failure:
                raise
            fault = self._fault(error, said)
        self._end()  # the alarm may have rung on the way out
        raise fault

    def _fault(self, error: Exception, said: str) -> Unjudgeable:
        text = str(error)[:300]
        if reason_of(error, text) == "memory":
            return Unjudgeable("too-large", say("judged-too-large", mib=self._memory_mib))
        message = text if isinstance(error, TreeError) else f"{type(error).__name__}: {text}"
        return Unjudgeable("protocol", say(said, error=message))

    def _begin(self) -> None:
        self._timed, self.rang = threading.current_thread() is threading.main_thread(), False
        self._own_failure, self._nested = None, 0
        self._granted = max(0.01, min(self._seconds, self._left))
        _present.guard = self
        if self._timed:
            _watch_the_clock()
        self._resume(self._granted)

    def _end(self) -> None:
        self.armed = False
        if _present.guard is self:
            _present.guard = None
            remaining = self._pause()
            self._left -= max(0.0, self._granted - remaining)

    def _resume(self, seconds: float) -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (self._most(), self._hard))
        self._granted = seconds
        if self._timed:
            signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN_SECONDS)
            self.armed = True

    def _most(self) -> int:
        """The limit while a look goes on: above what there is by now, as exams and references grow meanwhile."""
        taken = data_bytes()
        most = taken + self._memory_mib * MIB if taken else self._soft
        return most if self._soft == resource.RLIM_INFINITY else min(most, self._soft)

    def _pause(self) -> float:
        """Lifts both limits. Returns how many seconds were left."""
        self.armed = False
        remaining = signal.setitimer(signal.ITIMER_PROF, 0.0)[0] if self._timed else self._granted
        resource.setrlimit(resource.RLIMIT_DATA, (self._soft, self._hard))
        return 0.0 if self.rang else remaining

    def leave(self) -> None:
        """What comes now is about the reference alone, until `come_back`."""
        self._nested += 1
        if self._nested == 1:
            remaining = self._pause()
            self._left -= max(0.0, self._granted - remaining)
            self._granted = max(remaining, 0.001)

    def come_back(self, failure: Exception | None) -> None:
        self._nested -= 1
        self._own_failure = failure or self._own_failure
        if self._nested == 0:
            self._resume(self._granted)


class _Present(threading.local):
    """The look that this thread is at."""

    guard: Guard | None = None


_present = _Present()


def _watch_the_clock() -> None:
    """The handler stays for good: an alarm that comes late would end a process that has none."""
    if signal.getsignal(signal.SIGPROF) is not _ring:
        signal.signal(signal.SIGPROF, _ring)


def _ring(number: int, frame: object) -> None:
    guard = _present.guard
    if guard is not None and guard.armed:
        guard.rang = True
        raise _Overdue


def alone(compute: Callable[P, T]) -> Callable[P, T]:
    """For what is computed from the reference alone, also in the middle of a look at an answer."""

    @functools.wraps(compute)
    def computed(*args: P.args, **kwargs: P.kwargs) -> T:
        guard = _present.guard
        if guard is None:
            return compute(*args, **kwargs)
        failure: Exception | None = None
        guard.leave()
        try:
            return compute(*args, **kwargs)
        except Exception as error:
            failure = error
            raise
        finally:
            guard.come_back(failure)

    return computed
