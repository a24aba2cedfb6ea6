"""Judge a learner's tests: run them on every right and wrong solution of a challenge, each in a fresh worker.

The reference comes first, so that a fault of the tests ends the run at once; then the others in random order. Nothing
that a test can see depends on the order, or on whether a solution is right.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from attncli.domain.challenge import IMPORTS, TORCH_MODULES
from attncli.domain.tests_report import (
    EXTRA,
    KIND_OF_CHECK,
    KINDS,
    REFERENCE,
    Caught,
    FalseAlarm,
    OwnTestsReport,
    Survivor,
    TimedTest,
    rung_of,
)
from attncli.domain.vocabulary import CaseRung
from attncli.i18n import Localised, _, quoted
from attncli.judge.challenge import Folder
from attncli.judge.protocol import UnreadableReply, read_raised, read_touched, reading_of
from attncli.sandbox.own_tests import LIBRARIES
from attncli.sandbox.source_reading import Rules
from attncli.sandbox.zygote_client import Ending, Reply, Worker

RULES = Rules(
    imports=(*IMPORTS, "__future__", *LIBRARIES),
    modules=(*TORCH_MODULES, "torch.optim"),
    forbidden=("torch._*",),
    tests=True,
)
# These reasons are faults of the tests on whatever solution they run.
_FAULTS = frozenset({"memory", "refused", "exited"})
_MOST_TESTS, _LONGEST_TEXT = 200, 400
_AT_ONCE = min(4, len(os.sched_getaffinity(0)))


class Fault(Exception):
    """A fault of the file of tests itself."""

    def __init__(self, reason: str, message: Localised) -> None:
        super().__init__(message)
        self.reason, self.message = reason, message


@dataclass(frozen=True, slots=True)
class Solution:
    """A solution of the challenge; a wrong one has the kind of its mistake, and the rung that it misses."""

    name: str
    source: bytes
    kind: str = ""
    rung: CaseRung = "solved"

    @property
    def right(self) -> bool:
        return not self.kind


@dataclass
class TestRun:
    """One judging of a file of tests.

    `notify` is told of each wrong solution whether it was caught, from one of several threads. `rejected_by` maps wrong
    solutions to the check that rejects them; those that are missing count as wrong values.
    """

    folder: Folder
    source: bytes
    filename: str
    open_worker: Callable[[], Worker]
    seconds: float
    rejected_by: Mapping[str, Sequence[Any]]
    notify: Callable[[bool], None] = lambda caught: None
    clock: Callable[[], float] = time.monotonic
    _spent: dict[str, float] = field(default_factory=dict)

    def run(self) -> OwnTestsReport:
        """Return the report, without the sandbox's layers."""
        start = self.clock()
        report = OwnTestsReport(challenge=self.folder.id, file=self.filename, verdict="rejected")
        try:
            self._read()
            alarms, catches = self._run_all()
        except Fault as fault:
            seconds = round(self.clock() - start, 3)
            return replace(report, reason=fault.reason, fault=fault.message, seconds=seconds)
        return self._report(report, alarms, catches, start)

    def _read(self) -> None:
        """Read the tests without running them. Raises Fault if they do not parse or use what they may not."""
        with self.open_worker() as worker:
            outcome = worker.request({"op": "read", "rules": asdict(RULES)}, [self.source], self.seconds)
        reading = reading_of(self._reply(outcome).header)
        if reading.syntax is not None:
            raise Fault("exception", reading.syntax)
        if reading.forbidden is not None:
            raise Fault("refused", reading.forbidden)

    def _run_all(self) -> tuple[list[FalseAlarm], dict[Solution, str]]:
        """Return the false alarms, and for each wrong solution the test that caught it, empty if it survived."""
        first, *others = self._solutions()
        alarms, catches = self._failures(first), dict[Solution, str]()
        if alarms:  # once more, for the smallest example
            alarms = self._failures(first, shrinks=True) or alarms
        random.shuffle(others)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            results = list(pool.map(self._failures, others))
        for solution, found in zip(others, results, strict=True):
            if solution.right:
                alarms += found
            else:
                catches[solution] = found[0].test if found else ""
        return alarms, catches

    def _solutions(self) -> list[Solution]:
        """Return all solutions, the reference first."""
        path = self.folder.path
        first = path / ("kernel.py" if self.folder.kernel else "reference.py")
        found = [Solution(REFERENCE, first.read_bytes())]
        found += [Solution(file.stem, file.read_bytes()) for file in sorted(path.glob("right/*.py"))]
        for file in sorted(path.glob("wrong/*.py")):
            check = str(self.rejected_by.get(file.stem, ("", ""))[0])
            kind = KIND_OF_CHECK.get(check, "values")
            found.append(Solution(file.stem, file.read_bytes(), kind, self.folder.mistake(file.stem).rung))
        return found

    def _failures(self, solution: Solution, shrinks: bool = False) -> list[FalseAlarm]:
        """Return the tests that a solution fails; of a wrong one only the first."""
        failed: list[FalseAlarm] = []
        with self.open_worker() as worker:
            try:
                for name in self._load(worker, solution, shrinks):
                    start = self.clock()
                    failure = self._failure(
                        solution, name, worker.request({"op": "test", "name": name}, [], self.seconds)
                    )
                    if solution.name == REFERENCE and solution.right:
                        self._spent[name] = self.clock() - start
                    failed += [failure] if failure else []
                    if failed and not solution.right:
                        break
            except Fault as fault:
                if solution.right:
                    raise
                # The reference has passed these tests, so the solution makes them crash or hang.
                failed.append(FalseAlarm(solution.name, fault.reason, message=fault.message))
        if not solution.right:
            self.notify(bool(failed))
        return failed

    def _load(self, worker: Worker, solution: Solution, shrinks: bool) -> list[str]:
        """Load solution and tests. Return the tests that can fail by an assertion. Raises Fault."""
        header = {
            "op": "tests",
            "filename": self.filename,
            "entry": self.folder.entry,
            "kernel": self.folder.kernel,
            "size": len(solution.source),
            "shrinks": shrinks,
        }
        reply = self._reply(worker.request(header, [solution.source, self.source], self.seconds))
        try:
            if reply.header["op"] == "raised":
                raise Fault("exception", _said(reply))
            listed = [(str(test["name"]), list(test["needs"]), bool(test["asserts"])) for test in reply.header["tests"]]
        except (KeyError, TypeError) as error:
            raise Fault("protocol", _("the reply of the tests is unusable")) from error
        if not listed:
            raise Fault(
                "missing-entry-point", _("no test found; write functions named test_…({names})", names=self._names)
            )
        for name, needs, _asserts in listed:
            if unknown := [need for need in needs if need not in self.folder.entry]:
                text = _(
                    "{test} asks for {unknown}; tests may take {names}",
                    test=name,
                    unknown=unknown[0],
                    names=self._names,
                )
                raise Fault("missing-entry-point", text)
        usable = [name for name, _needs, asserts in listed if asserts][:_MOST_TESTS]
        if not usable:
            raise Fault("missing-entry-point", _("no test asserts anything; without an assert nothing is caught"))
        return usable

    @property
    def _names(self) -> Localised:
        return quoted(", ".join(self.folder.entry))

    def _failure(self, solution: Solution, name: str, outcome: Reply | Ending) -> FalseAlarm | None:
        """Return the failure of one test, None if it passed. Raises Fault for what no solution can be blamed for."""
        reply = self._reply(outcome)
        if reply.header["op"] != "raised":
            return None
        raised = read_raised(reply.header)
        if raised.reason in _FAULTS:
            raise Fault(raised.reason, _said(reply))
        line, code = (raised.frames[-1]["line"], raised.frames[-1]["code"]) if raised.frames else (0, "")
        text = f"{raised.type}: {raised.text}" if raised.text else raised.type
        more = {key: str(reply.header.get(key, ""))[:_LONGEST_TEXT] for key in ("returned", "example")}
        return FalseAlarm(solution.name, name, line, code, quoted(text[:_LONGEST_TEXT]), **more)

    def _reply(self, outcome: Reply | Ending) -> Reply:
        """Return the outcome if it is a reply. Raises Fault for an ending, or if something forbidden was touched."""
        if isinstance(outcome, Ending):
            raise Fault(outcome.reason, outcome.message)
        try:
            if touched := read_touched(outcome.header):
                raise Fault("refused", _("the tests tried to use {names}", names=", ".join(touched)))
        except UnreadableReply as error:
            raise Fault("protocol", _("the reply of the tests is unusable")) from error
        return outcome

    def _report(
        self, report: OwnTestsReport, alarms: list[FalseAlarm], catches: Mapping[Solution, str], start: float
    ) -> OwnTestsReport:
        catchable = {solution: test for solution, test in catches.items() if solution.kind != EXTRA}
        first = _count(catchable, lambda solution: solution.rung == "solved")
        whole = _count(catchable, lambda solution: True)
        rung = rung_of(first, whole, bool(alarms))
        survivors = [solution for solution, test in catches.items() if not test]
        survivors.sort(key=lambda solution: (solution.kind == EXTRA, solution.rung == "hardened", solution.name))
        counts = Counter(catches.values())
        return replace(
            report,
            verdict="rejected" if rung == "none" else "accepted",
            rung=rung,
            first=first,
            all=whole,
            caught={
                kind: found
                for kind in KINDS
                if (found := _count(catches, lambda solution, kind=kind: solution.kind == kind)).total  # type: ignore[misc]
            },
            right=len(self._solutions()) - len(catches),
            false_alarms=tuple(alarms),
            survivors=tuple(Survivor(n, each.kind, each.rung) for n, each in enumerate(survivors, 1)),
            survived=tuple(solution.name for solution in survivors),
            tests=tuple(TimedTest(name, round(seconds, 3), counts[name]) for name, seconds in self._spent.items()),
            seconds=round(self.clock() - start, 3),
        )


def _count(catches: Mapping[Solution, str], counts: Callable[[Solution], bool]) -> Caught:
    found = [test for solution, test in catches.items() if counts(solution)]
    return Caught(sum(test != "" for test in found), len(found))


def _said(reply: Reply) -> Localised:
    raised = read_raised(reply.header)
    text = f"{raised.type}: {raised.text}" if raised.text else raised.type
    if not raised.frames:
        return quoted(text)
    return _("line {line}: {text}", line=raised.frames[-1]["line"], text=text)
