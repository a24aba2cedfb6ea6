"""Feed the judge ten thousand frames that no honest worker sends.

Random bytes, flipped bits, frames cut and doubled, headers with any part replaced: each ends as an observation that is
judged, as a frame error or as one of the errors that mean "protocol". Nothing else is raised, and no header makes the
judge allocate much.
"""

from __future__ import annotations

import json
import random
import resource
from collections.abc import Callable
from typing import Any

import pytest
import torch

from attncli.judge.case import Profile
from attncli.judge.drawing import fixed_draw
from attncli.judge.make import Recorder
from attncli.judge.protocol import Request, UnreadableReply, read_reply
from attncli.judge.questions import EdgeWithGradients, same, with_graph
from attncli.judge.reference import Expectation
from attncli.sandbox import interpreter, wire
from in_process import write_challenge

FRAMES = 10_000
SPEC = {"entry": ["f"], "required": ["loads", "matches-reference"]}
REFERENCE = "def f(x, w):\n    return {'y': (x @ w, [x.sum(), 3, 'word']), 'n': None}\n"
MEMORY_BYTES = 1 << 30

Frame = tuple[dict[str, Any], list[bytes]]


@pytest.fixture(scope="module")
def question(tmp_path_factory) -> EdgeWithGradients:
    folder = write_challenge(tmp_path_factory.mktemp("decoder"), SPEC, REFERENCE, "def case(make): pass\n", {})
    make = Recorder(fixed_draw, Profile("ordinary"))
    x, w = make.normal(2, 3), make.normal(3, 2)
    make.call("f", x, w)
    make.call("f", x, w)
    return EdgeWithGradients(folder, make.case)


@pytest.fixture(scope="module")
def asked(question) -> Request:
    """Return the request for everything that a reply can contain."""
    due = question.request
    return Request(question.case, [*due.want, "calls", "modules"], due.leaves, due.cotangents)


@pytest.fixture(scope="module")
def honest(asked) -> Frame:
    namespace: dict[str, Any] = {}
    exec(REFERENCE, namespace)
    header = json.loads(json.dumps(asked.header))
    reply, buffers = interpreter.serve(namespace, header, memoryview(b"".join(asked.buffers)), lambda *_: ({}, b""))
    reply["calls"] += [["torch.Tensor.add", line] for line in range(1, 60)]  # of a solution with some more lines
    return json.loads(json.dumps({**reply, "nonce": "0" * 16, "touched": []})), [bytes(chunk) for chunk in buffers]


def encoded(frame: Frame) -> bytes:
    return b"".join(bytes(chunk) for chunk in wire.chunks(*frame))


def anything(chance: random.Random) -> Any:
    """Return a JSON value, of a kind that occurs in headers or of any other."""
    return chance.choice(
        [
            None,
            True,
            -1,
            0,
            chance.randrange(10),
            2 ** chance.randrange(70),
            -(2**63),
            0.5,
            1e308,
            "",
            "float32",
            "t",
            "raised",
            "\x1b[2J\u202e" * 3,
            "x" * 5000,
            [],
            {},
            ["t", chance.randrange(9)],
            ["r", 0, []],
            ["l", [["t", 0]]],
            ["f", "nan"],
            ["o", "Name"],
            ["raised", ["ValueError"], "text"],
            [[]] * 3,
            {"dtype": "float32", "shape": [2**40, 2**40]},
        ]
    )


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every container in a header with each of its keys."""
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        found += [(value, key) for key in value]
    elif isinstance(value, list):
        found += [(value, key) for key in range(len(value))]
    for container, key in list(found):
        found += places(container[key])
    return found


def replaced(chance: random.Random, honest: Frame) -> bytes:
    header = json.loads(json.dumps(honest[0]))
    for _ in range(chance.randint(1, 3)):
        container, key = chance.choice(places(header))
        if isinstance(container, dict) and chance.random() < 0.2:
            del container[key]
        else:
            container[key] = anything(chance)
    return encoded((header, honest[1]))


def flipped(chance: random.Random, honest: Frame) -> bytes:
    data = bytearray(encoded(honest))
    for _ in range(chance.randint(1, 6)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def cut(chance: random.Random, honest: Frame) -> bytes:
    data = encoded(honest)
    start, end = sorted(chance.randrange(len(data)) for _ in range(2))
    return chance.choice([data[:end], data[start:], data[:start] + data[end:], data + data, data[:end] + data])


def at_random(chance: random.Random, honest: Frame) -> bytes:
    return chance.randbytes(chance.randrange(600))


KINDS: list[Callable[[random.Random, Frame], bytes]] = [replaced, replaced, replaced, flipped, cut, at_random]


def judged(question: EdgeWithGradients, asked: Request, data: bytes, chance: random.Random) -> int:
    """Read the frames in `data` piece by piece and judge them; return the number of observations."""
    reader = wire.FrameReader(wire.HEADER_LIMIT, wire.PAYLOAD_LIMIT)
    frames: list[wire.Frame] = []
    piece = chance.choice([1 << 18, 64, 7])
    try:
        for start in range(0, len(data), piece):
            frames += reader.feed(memoryview(data)[start : start + piece])
    except wire.FrameError:
        pass
    seen = 0
    for frame in frames:
        try:
            got = read_reply(frame.header, frame.payload, asked)
        except UnreadableReply:
            continue
        seen += 1
        question.finding(got)
        with_graph(question.case, got)
        same(question.case, Expectation(question._folder.reference, question.case), got, got)
    return seen


def test_honest_frames_pass(question, asked, honest):
    assert judged(question, asked, encoded(honest), random.Random(0)) == 1
    got = read_reply(honest[0], memoryview(bytearray(b"".join(honest[1]))), asked)
    assert question.finding(got) is None
    assert got.seen


def test_ten_thousand_frames_neither_raise_nor_allocate(question, asked, honest):
    torch.set_num_threads(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    chance, seen = random.Random(20_26), 0
    for number in range(FRAMES):
        seen += judged(question, asked, KINDS[number % len(KINDS)](chance, honest), chance)
    assert 1000 < seen < FRAMES, "some are refused, some are judged"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY_BYTES >> 10


@pytest.mark.parametrize(
    "costs",
    [
        [],
        [{}],
        [{"flops": 1, "calls": 1, "largest": 1, "peak": 1, "moved": 1}],
        [{"flops": -1, "calls": 1, "largest": 1, "peak": 1, "moved": 1, "returned": 1}],
        [{"flops": 10**400, "calls": 1, "largest": 1, "peak": 1, "moved": 1, "returned": 1}],
        [{"flops": 1.5, "calls": 1, "largest": 1, "peak": 1, "moved": 1, "returned": 1}],
        [{"flops": 1, "calls": 1, "largest": 1, "peak": 1, "moved": 1, "returned": 1}] * 2,
        "none",
    ],
)
def test_costs_that_nobody_measured_are_refused(costs):
    make = Recorder(fixed_draw, Profile("ordinary"))
    make.call("f", make.normal(2))
    asked = Request(make.case, ["cost"])
    reply = {
        "op": "result",
        "outcomes": [{"tree": ["i", 1], "first": 0}],
        "shared": {"tree": ["l", []], "first": 0},
        "tensors": [],
    }
    figures = {"flops": 1, "calls": 1, "largest": 1, "peak": 1, "moved": 1, "returned": 1}
    assert read_reply({**reply, "costs": [figures]}, memoryview(b""), asked).costs == [figures]
    with pytest.raises(UnreadableReply):
        read_reply({**reply, "costs": costs}, memoryview(b""), asked)


@pytest.mark.parametrize("times", [None, [], [-1], [1.5], [True], [10**400], [1, 1], "fast"], ids=str)
def test_times_that_no_clock_took_are_refused(times):
    make = Recorder(fixed_draw, Profile("ordinary"))
    make.call("f", make.normal(2))
    asked = Request(make.case, ["clock"])
    outcomes = [{"tree": ["i", 1], "first": 0}]
    reply = {"op": "result", "outcomes": outcomes, "shared": {"tree": ["l", []], "first": 0}, "tensors": []}
    assert read_reply({**reply, "device_us": [7]}, memoryview(b""), asked).device_us == [7]
    with pytest.raises(UnreadableReply):
        read_reply(reply if times is None else {**reply, "device_us": times}, memoryview(b""), asked)
