"""Call the judge's callables from learner code: limited calls, limited data, on the right device."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
import torch

from attncli.judge import submission as module
from attncli.judge.case import Case, Input, Profile
from attncli.judge.drawing import fixed_draw
from attncli.judge.guard import Guard, Unjudgeable
from attncli.judge.make import Recorder
from attncli.judge.protocol import Request
from attncli.judge.submission import LARGER, LEAST_ELEMENTS, Budget, Callables, Failure, Submission
from attncli.sandbox.values import Packer, bytes_of, describe_tensor
from attncli.sandbox.zygote_client import ZygoteClient


def callables(function: Any, elements: int = 0, device: str = "cpu", guard: Guard | None = None) -> Callables:
    inputs = [Input(torch.zeros(elements), False, False)] if elements else []
    case = Case(Profile("ordinary", device=device), callables=[function], inputs=inputs)
    return Callables(case, guard or Guard())


def called(asked: Callables, *args: Any, index: Any = 0, **kwargs: Any) -> dict[str, Any]:
    packer = Packer()
    tree = packer.pack([list(args), kwargs])
    tensors = [describe_tensor(t) for t in packer.tensors]
    header = json.loads(json.dumps({"callable": index, "arguments": tree, "tensors": tensors}))
    answer, _ = asked.answer(header, memoryview(bytearray(b"".join(bytes_of(t) for t in packer.tensors))))
    return answer


def test_a_call_is_answered_and_noted():
    asked = callables(lambda x, cache: (x + 1, {"seen": cache["seen"] + 1}))
    assert called(asked, torch.zeros(2, 3), cache={"seen": 4})["value"][1][1] == ["d", [[["s", "seen"], ["i", 5]]]]
    assert asked.calls == [[[[2, 3], "dict"]]]


def test_what_no_sound_call_holds_is_refused_and_not_called_and_larger_inputs_allow_larger_arguments():
    got: list[Any] = []
    for args, said in (
        ([torch.zeros(LEAST_ELEMENTS + 1)], "arguments of 4097 elements; no sound call has more than 4096"),
        ([torch.zeros(1, device="meta")], "an argument on meta; the inputs are on cpu"),
        ([{"seen": [(2**63,)]}], "a whole number of more than 64 bits"),
        ([1, 2, 3], "TypeError"),
    ):
        assert said in called(callables(got.append), *args)["error"]
    assert got == []
    allowed = LEAST_ELEMENTS + LARGER * 1000
    assert "value" in called(callables(lambda x: None, 1000), torch.zeros(allowed))
    assert "error" in called(callables(lambda x: None, 1000), torch.zeros(allowed + 1))


def test_only_the_cases_own_callables_can_be_called_and_with_a_list_of_arguments():
    for index in (1, -1, True, None, "0", 10**30):
        assert "no callable" in called(callables(lambda: 1), index=index)["error"]
    for tree in (["t", 0], ["l", [["t", 0], ["d", []]]], ["l", [["l", []]]], ["n"]):
        asked = {"callable": 0, "arguments": tree, "tensors": [{"dtype": "int8", "shape": [64], "nbytes": 64}]}
        answer, _ = callables(lambda *args: len(args)).answer(asked, memoryview(bytearray(64)))
        assert "no arguments" in answer["error"]


def test_a_case_without_values_is_called_with_tensors_without_values():
    asked = callables(lambda x: x.device.type, device="meta")
    assert called(asked, torch.zeros(2, device="meta"))["value"] == ["s", "meta"]
    assert called(asked, torch.zeros(2))["value"] == ["s", "cpu"]


def test_a_result_that_cannot_be_sent_or_whatever_is_raised_is_an_error_there():
    assert "4096 bits" in called(callables(lambda: 1 << 5000))["error"]

    def fails(error) -> None:
        raise error("why")

    for error in (ZeroDivisionError, AssertionError, RecursionError, MemoryError, KeyError):
        assert called(callables(partial(fails, error)))["error"]


def test_a_call_without_end_ends_the_program():
    def without_end() -> None:
        while True:
            pass

    with pytest.raises(Unjudgeable) as caught:
        called(callables(without_end, guard=Guard(seconds=0.1)))
    assert caught.value.reason == "timeout"


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_program_that_calls_too_often_is_over(monkeypatch):
    monkeypatch.setattr(module, "CALLS", 5)
    make = Recorder(fixed_draw, Profile("ordinary"))
    make.call("f", make.callable(lambda: None))
    with ZygoteClient.start() as zygote:
        for times in (5, 6):
            source = f"def f(model):\n    for _ in range({times}):\n        model()\n    return 1\n".encode()
            asked = Submission(source, "s.py", ["f"], lambda: zygote.worker(384), Budget(20.0))
            assert asked.load() is None
            answer = asked.run(Request(make.case))
            assert isinstance(answer, Failure) == (times == 6)
            asked.close()
    assert isinstance(answer, Failure) and answer.reason == "timeout" and answer.fatal
    assert answer.message.en == "called the functions passed to it more than 5 times"
