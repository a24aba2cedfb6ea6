"""A submitted file in a worker: requests go in, observations or failures come out.

A few requests are sent ahead while the judge looks at an answer. Learner code cannot raise here: every error becomes a
`Failure`, and a fatal one ends the grading. Callables of a case (a model, a step function) stay in the judge;
`Callables` answers the learner's calls of them.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from torch import Tensor

from attncli.i18n import Localised
from attncli.judge.case import Case
from attncli.judge.compare import Mismatch, gravest
from attncli.judge.guard import Guard, Unjudgeable
from attncli.judge.messages import say
from attncli.judge.protocol import (
    MOST_TOUCHED,
    RaisedError,
    Request,
    SourceReading,
    UnreadableReply,
    read_names,
    read_raised,
    read_reply,
    read_touched,
    reading_of,
)
from attncli.judge.reference import Observed, logged
from attncli.sandbox.devices import CPU
from attncli.sandbox.source_reading import Rules
from attncli.sandbox.values import (
    MAX_NODES,
    Environment,
    Packer,
    TreeError,
    bytes_of,
    describe_tensor,
    read_table,
    resolve,
)
from attncli.sandbox.zygote_client import Ending, Reply, Worker

# After one of these reasons no more questions are asked: the same would happen again.
ENDS_GRADING = frozenset({"memory", "refused", "exited"})

# The number of requests that wait in the worker while the judge looks at an answer.
AHEAD = 3
# All programs of a grading together may take this many times the limit of one.
PROGRAMS = 10
# The limit of one program is multiplied by this where the judge's own tracing slows it down.
TRACING = 4
# The limits are multiplied by this where kernels are compiled for a GPU while they run: up to 15 s each was measured.
COMPILING = 6
# The wait for an answer that is no longer needed.
PATIENCE_SECONDS = 0.5

# The references call their models 40 times in a case, with tensors no larger than its inputs. Code that decodes every
# sequence by itself, without a cache, calls a hundred times as often.
CALLS = 10_000
LARGER = 16
LEAST_ELEMENTS = 4096
LARGEST_INTEGER = 2**63


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a program gave no result. `fatal`: no more questions, since the worker is lost or useless."""

    reason: str
    message: Localised
    frames: tuple[dict[str, Any], ...] = ()
    fatal: bool = False


@dataclass(slots=True)
class Budget:
    """The seconds that the judge waits for the learner's code: for one program, and `PROGRAMS` times that for all.

    This ends an endless loop soon, while right but slow code may finish.
    """

    seconds: float
    clock: Callable[[], float] = time.monotonic
    left: float = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.total

    @property
    def total(self) -> float:
        return PROGRAMS * self.seconds

    def wait(self, seconds: float | None = None, times: int = 1) -> float:
        """Return the seconds to wait for the next answer: `times` the limit of one program, or `seconds` if given."""
        return max(0.05, min(self.left, times * self.seconds if seconds is None else seconds))

    def spend(self, since: float) -> None:
        self.left -= self.clock() - since


@dataclass
class Submission:
    """A file in a worker; `renew` loads it again in a fresh one. Kernels are compiled on a GPU `device`."""

    source: bytes
    filename: str
    entry: Sequence[str]
    open_worker: Callable[[], Worker]
    budget: Budget
    kernel: bool = False
    device: str = CPU
    worker: Worker | None = None
    touched: list[str] = field(default_factory=list)
    printed: str = ""
    _asked: deque[tuple[Request, Callables]] = field(default_factory=deque)
    _ended: list[Worker] = field(default_factory=list)
    _broken: Failure | None = None
    _reading: SourceReading | None = None
    _unused: bool = False
    emulated: Budget = field(init=False)
    guard: Guard = field(default_factory=Guard)

    def __post_init__(self) -> None:
        """Give the emulated device a second budget of the same size: its slowness is not the learner's."""
        self.emulated = Budget(self.budget.seconds, self.budget.clock)

    def read(self, rules: Rules) -> SourceReading:
        """Return the problems of the source, read once in a fresh worker, which may execute the file afterwards."""
        if self._reading is not None:
            return self._reading
        self._put_away()
        self.worker = self.open_worker()
        start, limit = self.budget.clock(), self.budget.wait()
        outcome = self.worker.request({"op": "read", "rules": asdict(rules)}, [self.source], limit)
        self.budget.spend(start)
        failure = self._failure(outcome, say("while-read"), limit)
        if isinstance(outcome, Reply) and failure is None:
            self._reading = reading_of(outcome.header)
        else:
            assert failure is not None
            self._reading = SourceReading(syntax=say("not-parsed", error=failure.message))
        self._unused = self._reading.syntax is None
        if not self._unused:
            self._put_away()
        return self._reading

    def record_case(self, text: str, entries: Mapping[str, Sequence[str]], reply_limit: int) -> Reply | Failure:
        """Run a typed case in a separate worker and record its calls; see sandbox/typed_case.py."""
        limit = self.budget.wait()
        with self.open_worker() as worker:
            header = {"op": "case", "text": text, "entries": entries}
            outcome = worker.request(header, [], limit, reply_limit=reply_limit)
        failure = self._failure(outcome, say("while-typed"), limit)
        if failure is not None:
            return failure
        assert isinstance(outcome, Reply)
        return outcome

    def load(self) -> Failure | None:
        """Execute the file in a worker in which none of it has run. If that fails, every later request fails, too."""
        if not self._unused:
            self._put_away()
            self.worker = self.open_worker()
        self._unused = False
        assert self.worker is not None
        start, limit = self.budget.clock(), self.budget.wait()
        outcome = self.worker.load(self.source, self.filename, list(self.entry), limit, self.kernel, self.device)
        self.budget.spend(start)
        self._broken = self._failure(outcome, say("while-loaded"), limit) or self._missing(outcome)
        return self._broken

    def _missing(self, outcome: Reply | Ending) -> Failure | None:
        """Return a failure if the loaded file lacks entry points."""
        assert isinstance(outcome, Reply)
        try:
            names = read_names(outcome.header)
        except UnreadableReply as error:
            return _no_result(error)
        missing = [name for name in self.entry if name not in names]
        if not missing:
            return None
        return Failure("missing-entry-point", say("no-entry-point", names=" and ".join(missing)))

    @property
    def loaded(self) -> bool:
        """Return True if requests can be answered."""
        return self.worker is not None and self._broken is None

    def renew(self) -> Failure | None:
        return self.load()

    def _put_away(self) -> None:
        """End the worker without waiting for it: that takes some 20 ms, in which grading continues."""
        if self.worker is not None:
            self.collect()
            self.worker.end()
            self._ended.append(self.worker)
            self.worker = None
        self._asked.clear()

    def collect(self) -> None:
        """Keep the output of the file so far."""
        if self.worker is not None and self.worker.printed:
            self.printed = self.worker.printed

    def close(self) -> None:
        """End the workers and wait until they are gone."""
        self._put_away()
        while self._ended:
            self._ended.pop().kill()

    def run(self, request: Request, seconds: float | None = None) -> Observed | Failure:
        """Run one program in the worker, for at most `seconds` if given. Learner code cannot make it raise."""
        self._send(request)
        return self._receive(seconds)

    def answers(self, requests: Iterable[Request]) -> Generator[Observed | Failure]:
        """Yield the answers to many requests in order, sending a few requests ahead."""
        try:
            for request in requests:
                if request.alone:
                    while self._asked:
                        yield self._receive()
                self._send(request)
                if request.alone or len(self._asked) > AHEAD:
                    yield self._receive()
            while self._asked:
                yield self._receive()
        finally:
            while self._asked:  # these are no longer needed; a worker that delays them is replaced
                unwanted = self._receive(PATIENCE_SECONDS)
                if isinstance(unwanted, Failure) and unwanted.fatal:
                    self.renew()

    def _send(self, request: Request) -> None:
        callables = Callables(request.case, self.guard)
        self._asked.append((request, callables))
        if self._broken is None:
            assert self.worker is not None
            header = {**request.header, "filename": self.filename}
            self.worker.send(header, request.buffers, callables.answer, request.reply_limit)

    def _receive(self, seconds: float | None = None) -> Observed | Failure:
        request, callables = self._asked.popleft()
        if self._broken is not None:
            return self._broken
        assert self.worker is not None
        budget = self.emulated if request.emulated else self.budget
        start, limit = budget.clock(), budget.wait(seconds, TRACING if request.traced else 1)
        try:
            outcome = self.worker.receive(limit)
        except Unjudgeable as error:
            return Failure(error.reason, error.message, fatal=True)
        finally:
            budget.spend(start)
        failure = self._failure(outcome, _place(request.case), limit)
        if failure is not None:
            return self._unproved(failure) if request.emulated and failure.reason == "timeout" else failure
        assert isinstance(outcome, Reply)
        header, payload = outcome.header, outcome.payload
        try:
            observed = self.guard.look(lambda: read_reply(header, payload, request), "no-result")
        except Unjudgeable as error:
            return Failure(error.reason, error.message, fatal=True)
        observed.calls = callables.calls
        return observed

    def _unproved(self, failure: Failure) -> Failure:
        """Return a timeout on the emulated device as not fatal, since that device is slow.

        Requests that were sent behind it go to a fresh worker.
        """
        waiting = [request for request, _ in self._asked]
        self.renew()
        for request in waiting:
            self._send(request)
        return replace(failure, fatal=False)

    def _failure(self, outcome: Reply | Ending, place: Localised, seconds: float = 0.0) -> Failure | None:
        """Return the failure in an outcome, None where it is a result. `place` is the worker's activity."""
        if isinstance(outcome, Ending):
            self.collect()
            if outcome.reason == "timeout":
                too_slow = say("still-running", seconds=f"{seconds:g}", place=place)
                if self.budget.left <= 0:
                    too_slow = say("all-too-slow", seconds=f"{self.budget.total:g}", place=place)
                return Failure("timeout", too_slow, fatal=True)
            return Failure(outcome.reason, outcome.message, fatal=True)
        header = outcome.header
        try:
            touched = read_touched(header)
            raised = read_raised(header) if header.get("op") == "raised" else None
        except UnreadableReply as error:
            return _no_result(error)
        self.touched = list(dict.fromkeys([*self.touched, *touched]))[:MOST_TOUCHED]
        if raised is None:
            return None
        return Failure(raised.reason, _raised_message(raised, place), raised.frames, raised.reason in ENDS_GRADING)


def _no_result(error: UnreadableReply) -> Failure:
    return Failure("protocol", say("no-result", error=error), fatal=True)


def _place(case: Case) -> Localised:
    names = dict.fromkeys(step["name"] for step in case.steps if "name" in step)
    return say("in-a-call", names=", ".join(names)) if names else say("in-a-program")


def amount_of(count: float) -> str:
    """Return a number of bytes in GiB, or in MiB if it is less than one GiB."""
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:,.1f} MiB"


def _raised_message(error: RaisedError, place: Localised) -> Localised:
    if error.fault is not None:
        where = {"line": error.frames[-1]["line"], "code": error.frames[-1]["code"][:120]} if error.frames else {}
        return say(error.fault["kind"], **error.fault, **({"line": 0, "code": ""} | where))
    text: object = f"{error.type}: {error.text}" if error.text else error.type
    if allocated := re.search(r"you tried to allocate (\d{1,20}) bytes", error.text):
        text = say("allocated", size=amount_of(int(allocated[1])))
    if not error.frames:
        return say("raised-in", error=text, place=place)
    last = error.frames[-1]
    return say("raised-at", error=text, line=last["line"], code=last["code"][:120])


# The judge's callables

CallReply = tuple[dict[str, Any], list[bytes | bytearray | memoryview]]


class Callables:
    """The callables of one case while one program runs: counted, bounded, and run under the guard.

    `calls` has the argument shapes of every call, by callable.
    """

    def __init__(self, case: Case, guard: Guard) -> None:
        self._functions, self.calls = logged(case.callables)
        self._guard = guard
        self._left = CALLS
        self._case = case

    def answer(self, header: Mapping[str, Any], payload: memoryview) -> CallReply:
        """Return the reply to a call; an unusable call gets an error, which is raised in the learner's code.

        Raises Unjudgeable after too many calls, or where one takes too long: the program is over then.
        """
        self._left -= 1
        if self._left < 0:
            raise Unjudgeable("timeout", say("too-many-calls", count=CALLS))
        try:
            return self._guard.look(lambda: self._called(header, payload), "unusable-call")
        except Unjudgeable as error:
            if error.reason == "timeout":
                raise
            return {"error": str(error)}, []

    def _called(self, header: Mapping[str, Any], payload: memoryview) -> CallReply:
        tensors = read_table(header["tensors"], payload)
        self._check_bounds(tensors)
        given = resolve(header["arguments"], Environment(tensors, most_parts=MAX_NODES))
        if not (isinstance(given, list) and len(given) == 2 and isinstance(given[0], list) and type(given[1]) is dict):
            raise TreeError("no arguments")
        _refuse_large_integers(given)
        index = header["callable"]
        if type(index) is not int or not 0 <= index < len(self._functions):
            raise TreeError("no callable")
        packer = Packer()
        tree = packer.pack(self._functions[index](*given[0], **given[1]))
        results = [t.detach() for t in packer.tensors]
        return {"value": tree, "tensors": [describe_tensor(t) for t in results]}, [bytes_of(t) for t in results]

    def _check_bounds(self, tensors: Sequence[Tensor]) -> None:
        elements = sum(tensor.numel() for tensor in tensors)
        most = LEAST_ELEMENTS + LARGER * sum(item.value.numel() for item in self._case.inputs)
        if elements > most:
            raise TreeError(f"arguments of {elements} elements; no sound call has more than {most}")
        device = self._case.profile.device
        for tensor in tensors:
            if tensor.device.type not in ("cpu", device):
                raise TreeError(f"an argument on {tensor.device}; the inputs are on {device}")


def _refuse_large_integers(value: Any) -> None:
    if isinstance(value, (list, tuple)):
        for item in value:
            _refuse_large_integers(item)
    elif isinstance(value, dict):
        for item in value.values():
            _refuse_large_integers(item)
    elif type(value) is int and not -LARGEST_INTEGER <= value < LARGEST_INTEGER:
        raise TreeError("a whole number of more than 64 bits")


# Failed cases


@dataclass(slots=True)
class FailedCase:
    """A case that the submission fails, with the observations of the reference and of the submission.

    `actual` is None when the program gave no result. `of_property`: found by a property that depends on the values, so
    they cannot be simplified. `digits_only`: a float64 result is right, but only to the digits of float32.
    """

    case: Case
    reason: str
    message: Localised
    expected: Observed | None = None
    actual: Observed | None = None
    mismatch: Mismatch | None = None
    frames: tuple[dict[str, Any], ...] = field(default=())
    fatal: bool = False
    of_property: bool = False
    digits_only: bool = False

    @property
    def of_production(self) -> bool:
        """Return True if it counts only on the second rung: shared memory, or float32's digits in float64."""
        return self.reason == "aliased" or self.digits_only

    @staticmethod
    def of_failure(case: Case, failure: Failure, expected: Observed | None = None) -> FailedCase:
        return FailedCase(case, failure.reason, failure.message, expected, None, None, failure.frames, failure.fatal)

    @staticmethod
    def of_unjudgeable(case: Case, fault: Unjudgeable) -> FailedCase:
        return FailedCase(case, fault.reason, fault.message, fatal=fault.final)

    @staticmethod
    def of_mismatch(case: Case, mismatch: Mismatch, expected: Observed, actual: Observed) -> FailedCase:
        digits_only = mismatch.digits_only
        return FailedCase(case, mismatch.reason, mismatch.message, expected, actual, mismatch, digits_only=digits_only)


def gravest_finding(findings: Iterable[FailedCase | None]) -> FailedCase | None:
    """Return the first failed case that counts on the first rung, else the first failed case."""
    return gravest(findings, lambda finding: finding.of_production)


Examine = Callable[[Case], FailedCase | None]
