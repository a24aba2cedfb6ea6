"""Inspect answers under a guard: errors are blamed on the answer, unless no answer was involved."""

from __future__ import annotations

import resource
import signal
import threading
import time
from functools import cached_property

import pytest
import torch

from attncli.judge import guard as module
from attncli.judge.guard import FAULTS, Guard, Unjudgeable, alone
from in_process import INPUTS, REFERENCE, check, grade, write_challenge

MEMORY_MIB = 64


def raising(error: BaseException):
    def look() -> None:
        raise error

    return look


def fault_of(guard: Guard, look) -> Unjudgeable:
    with pytest.raises(Unjudgeable) as caught:
        guard.look(look)
    return caught.value


def limits() -> tuple[tuple[int, int], float]:
    return resource.getrlimit(resource.RLIMIT_DATA), signal.getitimer(signal.ITIMER_PROF)[0]


def without_end() -> None:
    while True:
        pass


def swallowing() -> None:
    while True:
        try:
            without_end()
        except Exception:  # noqa: BLE001 - code that takes everything for an error of its own
            continue


def test_a_look_returns_what_is_seen_and_what_is_raised_is_a_fault_of_the_answer_unless_none_can_cause_it():
    before = limits()
    assert Guard().look(lambda: 3) == 3
    assert limits() == before, "no limit stays behind"
    further = (RecursionError, NotImplementedError, ZeroDivisionError, torch.linalg.LinAlgError)
    errors = [kind("said") for kind in (*FAULTS, *further) if kind is not MemoryError]
    for error in (*errors, UnicodeDecodeError("utf-8", b"x", 0, 1, "said")):
        fault = fault_of(Guard(), raising(error))
        assert fault.reason == "protocol" and not fault.final
        assert fault.message.en.startswith(f"returned something that cannot be graded ({type(error).__name__}: ")
        assert "said" in fault.message.en and "said" in fault.message.zh
        assert limits() == before
    for error in (OSError("gone"), KeyboardInterrupt(), SystemExit(3)):
        with pytest.raises(type(error)):
            Guard().look(raising(error))


def test_memory_beyond_the_limit_is_too_much_for_a_look():
    before = limits()
    for look in (
        raising(MemoryError()),
        lambda: bytearray(4 * MEMORY_MIB << 20),
        lambda: torch.zeros(MEMORY_MIB << 20, dtype=torch.float32) + 1,
        lambda: [bytes(4000) for _ in range(10**8)],
    ):
        fault = fault_of(Guard(MEMORY_MIB), look)
        assert fault.reason == "too-large" and fault.final
        assert fault.message.en == f"returned something that takes more than {MEMORY_MIB} MiB to grade"
        assert limits() == before
        assert len(bytearray(4 * MEMORY_MIB << 20)), "the limit is lifted"


def test_a_look_without_end_ends_and_waiting_costs_nothing():
    before = limits()
    for look in (without_end, swallowing):
        fault = fault_of(Guard(seconds=0.2), look)
        assert fault.reason == "timeout" and fault.final
        assert fault.message.en == "returned something that takes more than 0.2 s to grade"
        assert limits() == before
    assert Guard(seconds=0.02).look(lambda: time.sleep(0.2)) is None


def test_all_looks_together_have_a_limit():
    guard = Guard(seconds=0.1)
    for _ in range(module.LOOKS):
        assert fault_of(guard, without_end).reason == "timeout"
    assert guard._left <= 0.1 * module.LOOKS / 2
    assert fault_of(guard, without_end).reason == "timeout"


def test_a_look_is_guarded_off_the_main_thread_and_inside_a_look():
    found: list[Unjudgeable] = []
    thread = threading.Thread(target=lambda: found.append(fault_of(Guard(), raising(KeyError("x")))))
    thread.start()
    thread.join()
    assert found[0].reason == "protocol"
    guard = Guard()
    assert fault_of(guard, lambda: guard.look(raising(KeyError("inner")))).reason == "protocol"


def spin(seconds: float) -> str:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return "done"


class Expected:
    """A lazy value of the reference, which may be wrong, slow or large."""

    def __init__(self, compute) -> None:
        self._compute = compute

    @cached_property
    @alone
    def truth(self):
        return self._compute()


def test_what_the_reference_alone_raises_is_the_judges_own_failure():
    due, before = Expected(raising(ValueError("a bug of the reference"))), limits()
    with pytest.raises(ValueError, match="a bug of the reference"):
        Guard().look(lambda: due.truth)
    with pytest.raises(ValueError, match="a bug of the reference"):
        due.truth  # noqa: B018 - outside a look as well
    assert limits() == before


def test_an_answer_is_blamed_for_its_own_error_behind_one_of_the_reference():
    due = Expected(raising(ValueError("caught by the judge")))

    def look() -> None:
        try:
            due.truth  # noqa: B018
        except ValueError:
            raise KeyError("of the answer") from None

    assert "of the answer" in fault_of(Guard(), look).message.en


def test_the_reference_alone_has_neither_deadline_nor_memory_limit():
    slow, large = Expected(lambda: spin(0.4)), Expected(lambda: len(bytearray(4 * MEMORY_MIB << 20)))
    guard = Guard(MEMORY_MIB, seconds=0.2)
    assert guard.look(lambda: (slow.truth, large.truth)) == ("done", 4 * MEMORY_MIB << 20)
    again = Expected(lambda: spin(0.4))
    assert fault_of(guard, lambda: (again.truth, without_end())).reason == "timeout", "the clock goes on behind it"


@pytest.mark.parametrize("checks", [["matches-reference"], ["gradients"], ["pure"], ["low-precision"], ["edge-cases"]])
def test_a_reference_that_fails_ends_a_grading_and_blames_nobody(tmp_path, checks):
    broken = REFERENCE.replace("return", "if True: raise LookupError('a bug of the reference')\n    return")
    folder = write_challenge(tmp_path, {"required": ["loads", *checks]}, broken, INPUTS)
    with pytest.raises(LookupError, match="a bug of the reference"):
        grade(folder, REFERENCE)


PROPERTY = """
def case(make):
    make.compare(make.call("scaled_sum", make.normal(2, 3), make.normal(3)), False)
    make.property({holds})

def _without_end(outcomes):
    while True:
        pass

def _large(outcomes):
    return None if outcomes[0].double().repeat(1 << 28).sum() else ("zero", "零")
"""


@pytest.mark.parametrize(("holds", "reason"), [("_without_end", "timeout"), ("_large", "values")])
def test_a_property_that_takes_too_much_of_an_answer_is_a_verdict(tmp_path, monkeypatch, holds, reason):
    monkeypatch.setattr(module, "SECONDS", 0.3)
    monkeypatch.setattr(Guard.__init__, "__defaults__", (MEMORY_MIB, 0.3))
    spec = {"required": ["loads", "matches-reference"]}
    folder = write_challenge(tmp_path, spec, REFERENCE, PROPERTY.format(holds=holds))
    report = grade(folder, REFERENCE, quick=True)
    assert report["verdict"] == "rejected"
    assert check(report, "matches-reference")["reason"] == reason
