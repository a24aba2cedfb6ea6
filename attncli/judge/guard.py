"""The guard under which the judge looks at answers: it blames an error, timeout or excess memory on the answer.

Learner code chooses the values, and reading, comparing and showing them can fail in more ways than can be checked
beforehand. A look is limited in processor time (a wall clock would blame the answer for the load of the machine) and in
memory; an exception of FAULTS becomes an `Unjudgeable`. Functions decorated with `alone` compute from the reference
alone: their time does not count, their memory is not limited, and their exceptions are the judge's failure.
"""

from __future__ import annotations

import functools
import resource
import signal
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from attncli.i18n import Localised
from attncli.judge.messages import say
from attncli.sandbox.namespaces import data_bytes
from attncli.sandbox.policy import MIB
from attncli.sandbox.values import TreeError
from attncli.sandbox.worker import reason_of

# The processor time of one look; all looks of one submission may take LOOKS times as much.
SECONDS = 10.0
LOOKS = 6
# The limit on the judge's memory growth during a look.
MEMORY_MIB = 512
LEAST_MEMORY_MIB = 256
# Exceptions that Python and torch raise at values of an unexpected kind. RecursionError and NotImplementedError are
# RuntimeErrors, UnicodeError is a ValueError. Errors of the program (AttnError) and of the system (OSError) pass: no
# answer causes them.
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
# The interval after which the alarm repeats, for code that swallowed the first one.
_AGAIN_SECONDS = 0.1

P = ParamSpec("P")
T = TypeVar("T")


class Unjudgeable(Exception):
    """An answer that the judge cannot read to the end; `reason` is a word of the contract."""

    def __init__(self, reason: str, message: Localised) -> None:
        super().__init__(message.en)
        self.reason = reason
        self.message = message

    @property
    def final(self) -> bool:
        """True if the look cost so much that the grading ends."""
        return self.reason in ("timeout", "too-large")


class _Overdue(BaseException):
    """The time limit of a look. It is not an Exception, so that no handler on the way catches it."""


class Guard:
    """Limits the looks at the answers of one submission, one after the other in one thread.

    Only the main thread gets a time limit: no other can be interrupted. The judge looks in its main thread.
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

    def look(self, at: Callable[[], T], sentence: str = "cannot-be-judged") -> T:
        """Call `at` and return its result. Raises Unjudgeable if it fails, with `sentence` and the error as message.

        A nested look is part of the outer one.
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
            text = str(error)[:300]
            message = text if isinstance(error, TreeError) else f"{type(error).__name__}: {text}"
            fault = Unjudgeable("protocol", say(sentence, error=message))
            if reason_of(error, text) == "memory":
                fault = Unjudgeable("too-large", say("judged-too-large", mib=self._memory_mib))
        self._end()  # the alarm may have rung on the way out
        raise fault

    def _begin(self) -> None:
        self._timed, self.rang = threading.current_thread() is threading.main_thread(), False
        self._own_failure, self._nested = None, 0
        self._granted = max(0.01, min(self._seconds, self._left))
        _present.guard = self
        if self._timed and signal.getsignal(signal.SIGPROF) is not _ring:
            signal.signal(signal.SIGPROF, _ring)  # permanent: a late alarm without a handler would end the process
        self._resume(self._granted)

    def _end(self) -> None:
        self.armed = False
        if _present.guard is self:
            _present.guard = None
            remaining = self._pause()
            self._left -= max(0.0, self._granted - remaining)

    def _resume(self, seconds: float) -> None:
        present = data_bytes()  # exams and references grow between looks
        limit = present + self._memory_mib * MIB if present else self._soft
        soft = limit if self._soft == resource.RLIM_INFINITY else min(limit, self._soft)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, self._hard))
        self._granted = seconds
        if self._timed:
            signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN_SECONDS)
            self.armed = True

    def _pause(self) -> float:
        """Lift both limits. Return the seconds that were left."""
        self.armed = False
        remaining = signal.setitimer(signal.ITIMER_PROF, 0.0)[0] if self._timed else self._granted
        resource.setrlimit(resource.RLIMIT_DATA, (self._soft, self._hard))
        return 0.0 if self.rang else remaining

    def leave(self) -> None:
        """Suspend the look until `come_back`, for a computation that needs only the reference."""
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
    """The guard that is active in this thread."""

    guard: Guard | None = None


_present = _Present()


def _ring(number: int, frame: object) -> None:
    guard = _present.guard
    if guard is not None and guard.armed:
        guard.rang = True
        raise _Overdue


def alone(compute: Callable[P, T]) -> Callable[P, T]:
    """Exempt a computation that needs only the reference from the limits of the surrounding look."""

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
