"""Read a worker's words: each field must have its kind and length, or the whole reply is rejected."""

from __future__ import annotations

import contextlib
import math
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.judge import protocol
from attncli.judge.case import Profile
from attncli.judge.drawing import fixed_draw
from attncli.judge.make import Recorder
from attncli.judge.protocol import NAME_LENGTH, REASONS, Request, UnreadableReply, read_raised, read_reply, read_touched
from attncli.sandbox.zygote_client import Reply
from in_process import INPUTS, REFERENCE, InProcessWorker, check, grade, write_challenge

FRAME = {"line": 3, "function": "f", "code": "return x"}
RAISED: dict[str, Any] = {"type": "ValueError", "text": "no", "reason": "exception", "frames": [FRAME]}
NOTHING = {"op": "result", "outcomes": [], "shared": {"tree": ["l", []], "first": 0}, "tensors": [], "costs": []}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


def request(*want: str, count: int = 1) -> Request:
    make = Recorder(fixed_draw, Profile("ordinary"))
    for _ in range(count):
        make.call("f", make.normal(2, 3))
    return Request(make.case, want, [0] if "gradients" in want else [])


def test_an_honest_exception_is_told_whole_and_texts_and_lists_are_cut():
    told = read_raised(RAISED)
    assert (told.type, told.text, told.reason, told.frames) == ("ValueError", "no", "exception", (FRAME,))
    for reason in REASONS:
        assert read_raised({**RAISED, "reason": reason}).reason == reason
    told = read_raised({**RAISED, "type": "T" * 10**6, "text": "t " * 10**6, "frames": [FRAME] * 500})
    assert len(told.type) == NAME_LENGTH and len(told.text) <= protocol.TEXT_LENGTH
    assert len(told.frames) == protocol.MOST_FRAMES
    assert len(read_raised({**RAISED, "frames": [{**FRAME, "code": "c" * 10**6}]}).frames[0]["code"]) == NAME_LENGTH
    assert len(read_touched({"touched": ["x" * 999] * 999})) == protocol.MOST_TOUCHED


def test_reasons_and_frames_of_another_form_are_none():
    odd_reasons = ("timeout", "bogus", "R" * 4_000_000, None, 5, [], ["exception"])
    odd_frames = (
        *(5, None, [5], [{}], [FRAME] * 20_000),
        *([{**FRAME, "line": line}] for line in (math.nan, -1, 2**70)),
        *([{**FRAME, "code": ["x"]}], [{**FRAME, "function": {"key": 1}}]),
    )
    for field, value in (*(("reason", odd) for odd in odd_reasons), *(("frames", odd) for odd in odd_frames)):
        with pytest.raises(UnreadableReply):
            read_raised({**RAISED, field: value})


@given(st.sampled_from(["type", "text", "reason", "frames"]), json_values)
def test_any_exception_is_told_in_words_or_unreadable(field, value):
    try:
        told = read_raised({**RAISED, field: value})
    except UnreadableReply:
        return
    assert told.reason in REASONS and isinstance(told.text, str)
    assert all(set(frame) == set(FRAME) for frame in told.frames)


@given(json_values)
def test_what_was_touched_and_what_was_loaded_are_names_or_unreadable(value):
    for read, header in ((read_touched, {"touched": value}), (protocol.read_names, {"names": value})):
        try:
            assert all(isinstance(name, str) for name in read(header))
        except UnreadableReply:
            continue


def test_a_tensor_without_elements_has_possible_sizes_all_the_same():
    entry = {"dtype": "float32", "shape": [0, 2**39, 2**39, 2**39], "nbytes": 0}
    reply = {**NOTHING, "outcomes": [{"tree": ["t", 0], "first": 0}], "tensors": [entry]}
    with pytest.raises(UnreadableReply, match="impossible sizes"):
        read_reply(reply, memoryview(b""), request())
    entry["shape"] = [0, 2**20]
    assert read_reply(reply, memoryview(b""), request()).outcomes[0].shape == (0, 2**20)


def test_a_gradient_has_the_shape_of_its_input():
    entry = {"dtype": "float32", "shape": [0], "nbytes": 0}
    reply = {**NOTHING, "outcomes": [{"tree": ["n"], "first": 0}], "tensors": [entry], "gradients": 0}
    with pytest.raises(UnreadableReply, match="gradient of another shape"):
        read_reply(reply, memoryview(b""), request("gradients"))


def test_large_numbers_are_no_keys_of_dicts_and_an_outcome_has_only_so_many_parts():
    keys = [["d", [[["i", key], ["n"]]]] for key in (2**31, -(2**31), 2**61 - 1)]
    for tree in (*keys, ["l", [["n"]] * 20_000]):
        with pytest.raises(UnreadableReply):
            read_reply({**NOTHING, "outcomes": [{"tree": tree, "first": 0}]}, memoryview(b""), request())


@pytest.mark.slow
def test_an_honest_dict_of_large_numbers_crosses_and_tensors_and_dtypes_that_cannot_are_told_by_name(tmp_path):
    folder = write_challenge(tmp_path)
    for value, named in (
        ("{k * (2**61 - 1): None for k in range(1, 9_900)}", "a dict with keys <int>"),
        ("x.to(torch.float8_e5m2fnuz)", "float8_e5m2fnuz"),
        ("x.to_sparse()", "sparse"),
        ("torch.uint16", "torch.uint16"),
    ):
        source = f"import torch\ndef scaled_sum(x, weight, scale=2.0):\n    return {value}\n"
        found = check(grade(folder, source, quick=True), "matches-reference")
        assert found["reason"] == "shape" and named in found["message"]


class Fed(InProcessWorker):
    """A worker with a fixed reply to every request."""

    header: ClassVar[dict[str, Any]] = {}

    def receive(self, seconds: float) -> Reply:
        super().receive(seconds)
        return Reply({**self.header, "touched": []}, memoryview(b""))


def test_a_reply_of_another_form_ends_the_grading_as_protocol(tmp_path, monkeypatch):
    monkeypatch.setattr("in_process.InProcessWorker", Fed)
    folder = write_challenge(tmp_path, {"required": ["loads", "matches-reference"]})
    raised = {**RAISED, "op": "raised"}
    for header, message in (
        ({"op": "result"}, "('tensors')"),
        ({**raised, "reason": "bogus"}, "(an exception without"),
        ({**raised, "type": 7}, "(something else where a text is"),
    ):
        monkeypatch.setattr(Fed, "header", header)
        found = check(grade(folder, REFERENCE), "matches-reference")
        assert found["reason"] == "protocol"
        assert found["message"].startswith(f"sent an invalid result {message}")


def test_a_whole_number_beyond_all_floats_is_another_value(tmp_path):
    reference = "def scaled_sum(x, weight, scale=2.0):\n    return 0.5\n"
    folder = write_challenge(tmp_path, {"required": ["loads", "matches-reference"]}, reference, INPUTS, {})
    found = check(grade(folder, reference.replace("0.5", "2**4000"), quick=True), "matches-reference")
    assert found["reason"] == "shape"


def test_complex_results_are_compared(tmp_path):
    source = "import torch\ndef scaled_sum(x, weight, scale=2.0):\n    return torch.complex((x * weight), x)"
    exact = 'def case(make):\n    make.exact(make.call("scaled_sum", make.normal(2, 3), make.normal(3)))\n'
    due = {"": "", " + 1j": "values", " * float('nan')": "not-finite", ".real": "dtype", ".conj()": "values"}
    for name, inputs in (("close", INPUTS), ("exact", exact)):
        spec = {"required": ["loads", "matches-reference"]}
        folder = write_challenge(tmp_path / name, spec, source, inputs, {})
        for change, reason in due.items():
            found = check(grade(folder, f"{source}{change}\n", quick=True), "matches-reference")
            assert found.get("reason", "") == reason, (name, change)


def test_what_a_kernel_accessed_is_told_with_the_program():
    accessed = {"kind": "load-outside", "tensor": "x", "index": 5, "count": 5, "programs": [1]}
    told = read_raised({**RAISED, "fault": accessed}).fault
    assert told == {"kind": "load-outside", "tensor": "x", "index": 5, "count": 5, "program": 1, "other": 1}
    assert read_raised({**RAISED, "fault": {**accessed, "programs": [3, 2]}}).fault["other"] == 2
    long = read_raised({**RAISED, "fault": {**accessed, "tensor": "x" * 999}}).fault
    assert len(long["tensor"]) == 60
    for part in ({"kind": "bogus"}, {"index": "5"}, {"index": True}, {"count": -1}, {"programs": [-1]}):
        with pytest.raises(UnreadableReply):
            read_raised({**RAISED, "fault": {**accessed, **part}})


@given(json_values)
def test_nothing_in_place_of_a_fault_does_any_harm(value: Any):
    with contextlib.suppress(UnreadableReply):
        assert read_raised({**RAISED, "fault": value}).fault["kind"] in protocol.KERNEL_FAULTS


def test_costs_and_times_that_nobody_measured_are_refused():
    make = Recorder(fixed_draw, Profile("ordinary"))
    make.call("f", make.normal(2))
    outcomes = [{"tree": ["i", 1], "first": 0}]
    reply = {"op": "result", "outcomes": outcomes, "shared": {"tree": ["l", []], "first": 0}, "tensors": []}
    figures = {"flops": 1, "calls": 1, "largest": 1, "peak": 1, "moved": 1, "returned": 1}
    missing = {name: 1 for name in figures if name != "returned"}
    odd = [{**figures, "flops": value} for value in (-1, 10**400, 1.5)]
    no_costs = ([], [{}], [missing], *([one] for one in odd), [figures] * 2, "none")
    no_times = (None, [], [-1], [1.5], [True], [10**400], [1, 1], "fast")
    for name, want, sound, refused in (("costs", "cost", figures, no_costs), ("device_us", "clock", 7, no_times)):
        asked = Request(make.case, [want])
        assert getattr(read_reply({**reply, name: [sound]}, memoryview(b""), asked), name) == [sound]
        for value in refused:
            with pytest.raises(UnreadableReply):
                read_reply(reply if value is None else {**reply, name: value}, memoryview(b""), asked)
