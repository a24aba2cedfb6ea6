"""Send questions ahead: settle those no longer needed, and replace a worker that takes too long."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.i18n import quoted
from attncli.judge import submission as module
from attncli.judge.case import Profile
from attncli.judge.drawing import fixed_draw
from attncli.judge.make import Recorder
from attncli.judge.protocol import RaisedError, Request
from attncli.judge.reference import Observed
from attncli.judge.submission import Budget, Failure, Submission
from attncli.sandbox.source_reading import Rules
from attncli.sandbox.worker_process import Ending
from attncli.sandbox.zygote_client import Reply, ZygoteClient
from in_process import InProcessWorker

SOURCE = "n = 0\ndef f(x):\n    global n\n    n += 1\n    return n\n"


def request(*want: str) -> Request:
    recorder = Recorder(fixed_draw, Profile("ordinary"))
    recorder.call("f", recorder.normal(2))
    return Request(recorder.case, want)


def submission(source: str = SOURCE, seconds: float = 20.0, open_worker=InProcessWorker) -> Submission:
    made = Submission(source.encode(), "submission.py", ["f"], open_worker, Budget(seconds))
    assert made.load() is None
    return made


def numbers(answers) -> list[int]:
    return [answer.outcomes[0] for answer in answers if isinstance(answer, Observed)]


@pytest.fixture(scope="module")
def zygote():
    with ZygoteClient.start() as started:
        yield started


def test_answers_come_in_order_and_a_question_after_an_early_end_gets_its_own():
    assert numbers(submission().answers(request() for _ in range(20))) == list(range(1, 21))
    asked = submission()
    answers = asked.answers(request() for _ in range(20))
    first = next(answers)
    answers.close()
    assert isinstance(first, Observed)
    sent = first.outcomes[0] + module.AHEAD
    assert numbers([asked.run(request())]) == [sent + 1]


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_worker_that_makes_it_wait_is_given_up_for_a_fresh_one(monkeypatch, zygote):
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.2)
    source = SOURCE + "g = f\ndef f(x):\n    while n > 1: pass\n    return g(x)\n"
    asked = submission(source, open_worker=lambda: zygote.worker(384))
    answers = asked.answers(request() for _ in range(20))
    assert numbers([next(answers)]) == [1]
    answers.close()
    assert numbers([asked.run(request())]) == [1], "a fresh process counts from the beginning"
    asked.close()


@pytest.mark.sandbox
def test_a_program_that_is_not_over_on_the_played_device_says_nothing_and_a_fresh_worker_follows(monkeypatch, zygote):
    spent: list[Budget] = []
    monkeypatch.setattr(Budget, "spend", lambda self, since: spent.append(self))
    source = SOURCE + "g = f\ndef f(x):\n    while x.device.type == 'meta': pass\n    return g(x)\n"
    asked = submission(source, seconds=2.0, open_worker=lambda: zygote.worker(384))
    answers = list(asked.answers([request(), request("elsewhere"), request(), request()]))
    asked.close()
    assert numbers(answers) == [1, 1, 2]
    assert isinstance(answers[1], Failure) and answers[1].reason == "timeout" and not answers[1].fatal
    ours = [budget is asked.emulated for budget in spent]
    assert (ours.count(False), ours.count(True)) == (2 + 3, 1), "two loads, three programs; the fourth is not theirs"


@pytest.mark.sandbox
def test_a_loop_without_end_on_the_played_device_is_not_waited_for_again_and_again(monkeypatch, zygote):
    monkeypatch.setattr(module, "PROGRAMS", 2)
    waited: list[float] = []
    wait = Budget.wait
    monkeypatch.setattr(Budget, "wait", lambda self, *a: waited.append(wait(self, *a)) or waited[-1])
    source = "def f(x):\n    while x.device.type == 'meta': pass\n    return 1\n"
    asked = submission(source, seconds=0.5, open_worker=lambda: zygote.worker(384))
    answers = list(asked.answers([request("elsewhere") for _ in range(6)]))
    assert len(answers) == 6 and not any(isinstance(answer, Failure) and answer.fatal for answer in answers)
    assert asked.emulated.wait() == 0.05, "both halves of a second are gone"
    asked.close()


def test_what_is_traced_is_waited_for_longer():
    waited: list[float] = []

    class Patient(InProcessWorker):
        def receive(self, seconds: float):
            waited.append(seconds)
            return super().receive(seconds)

    asked = submission(seconds=20.0, open_worker=Patient)
    for want in ((), ("pure",), ("calls",), ("elsewhere",)):
        asked.run(request(*want))
    asked.run(request("calls"), 3.0)
    assert waited == [20.0, 20.0, module.TRACING * 20.0, 20.0, 3.0]


def test_a_file_that_does_not_load_answers_everything_with_its_failure():
    made = Submission(b"1 / 0", "submission.py", ["f"], InProcessWorker, Budget(20))
    failure = made.load()
    assert isinstance(failure, Failure)
    assert list(made.answers([request(), request()])) == [failure, failure]
    assert made.run(request()) == failure


@given(st.floats(0.1, 100.0), st.lists(st.floats(0.0, 50.0), max_size=20), st.none() | st.floats(0.1, 200.0))
def test_no_answer_is_waited_for_longer_than_its_limit_or_than_what_is_left(seconds, spent, asked):
    now = 0.0
    budget = Budget(seconds, lambda: now)
    assert budget.wait() == seconds
    for duration in spent:
        since, now = now, now + duration
        budget.spend(since)
    assert budget.left == pytest.approx(module.PROGRAMS * seconds - sum(spent))
    limit = seconds if asked is None else asked
    assert budget.wait(asked) == max(0.05, min(limit, budget.left))


@pytest.mark.sandbox
def test_many_slow_calls_end_when_all_together_have_taken_too_long(monkeypatch, zygote):
    monkeypatch.setattr(module, "PROGRAMS", 0.02)
    source = "import torch\ndef f(x):\n    while True: x = x + 1\n"
    asked = submission(source, seconds=30.0, open_worker=lambda: zygote.worker(384))
    failure = asked.run(request())
    asked.close()
    assert isinstance(failure, Failure) and failure.reason == "timeout"
    assert failure.message.en == "all calls together have taken 0.6 s (the last one in a call to f)"


def test_a_file_that_ends_its_reader_cannot_be_parsed_and_nothing_of_it_is_run():
    class Reader(InProcessWorker):
        answer: Any = None

        def request(self, header, *rest):
            assert header["op"] == "read"
            return self.answer

    raised = {"op": "raised", "reason": "memory", "type": "MemoryError", "text": "", "frames": []}
    for answer, said in (
        (Ending("timeout", quoted("still running after 9 s"), ""), "while reading the file"),
        (Ending("memory", quoted("needed more than 64 MiB"), ""), "64 MiB"),
        (Ending("crashed", quoted("killed by SIGSEGV"), ""), "SIGSEGV"),
        (Reply(raised, memoryview(b"")), "MemoryError"),
    ):
        Reader.answer, asked = answer, submission(open_worker=Reader)
        reading = asked.read(Rules(imports=["torch"]))
        assert "cannot be parsed" in reading.syntax.en and said in reading.syntax.en
        assert asked.worker is None and asked.read(Rules(imports=[])) is reading


def test_an_allocation_that_fails_is_told_in_plain_words_with_its_size():
    text = "[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: you tried to allocate 19600000000 bytes."
    frames = ({"line": 2, "function": "f", "code": "torch.ones(S, S)"},)
    said = module._raised_message(RaisedError("RuntimeError", text, "memory", frames), quoted(""))
    assert said.en == "out of memory: tried to allocate 18.3 GiB (line 2: torch.ones(S, S))"


def test_a_file_is_run_in_the_worker_that_has_read_it_and_in_no_other_that_has_run_it():
    opened = []
    asked = submission(open_worker=lambda: opened.append(InProcessWorker()) or opened[-1])
    asked.read(Rules(imports=["math"]))
    assert asked.load() is None and asked.worker is opened[-1]
    count = len(opened)
    assert asked.load() is None and len(opened) == count + 1
