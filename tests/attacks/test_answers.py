"""Every one of ATTN_ANSWERS hostile answers to every kind of question gets a verdict, through the whole judge."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch

from attncli.domain.grade_report import GradeReport
from attncli.domain.grade_report_text import REASONS
from attncli.judge.case import profile_of
from attncli.judge.client import GradeOptions
from attncli.judge.counterexample import LARGEST, bounded
from attncli.judge.diagnose import Probe, diagnose
from attncli.judge.drawing import fixed_draw
from attncli.judge.exam import Exam
from attncli.judge.grade import Grading
from attncli.judge.growth import contracts, examine_growth
from attncli.judge.guard import Guard
from attncli.judge.make import Recorder
from attncli.judge.messages import say
from attncli.judge.protocol import Request
from attncli.judge.questions import Devices, Edge, EdgeDevice, EdgeWithGradients, Gradients, Purity, Values
from attncli.judge.reference import Expectation, Observed
from attncli.judge.submission import Budget, Callables, FailedCase, Failure, Submission
from attncli.sandbox.devices import tensors_in
from attncli.sandbox.zygote_client import Reply
from hostile_answers import Answer, Returns, anything, hostile, raised, served, with_other_outcomes
from in_process import write_challenge

ANSWERS = int(os.environ.get("ATTN_ANSWERS", "500"))
HONESTLY_PACKED = 0.04

REFERENCE = """
import torch
from torch import nn

def halves(x, w, scale=2.0):
    if scale < 0:
        raise ValueError("negative")
    return {"y": x @ w * scale, "more": (x.sum(), [x.argmax(-1), x > 0], 3, "word", 0.5, None)}

def turned(x):
    x = x if x.dtype == torch.float64 else x.float()
    return torch.complex(x, -x)

class Gate(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.proj = nn.Linear(d, 2 * d, bias=False)

    def forward(self, x, cache):
        cache["seen"] = cache.get("seen", 0) + 1
        cache["last"] = x + 0
        return self.proj(x)

def follow(model, ids, n):
    for _ in range(n):
        logits, state = model(ids, {"seen": ids.shape[1]})
        ids = torch.cat([ids, logits.argmax(-1)], dim=1)
    return ids

def dropped(x, p, generator):
    keep = torch.rand(x.shape, generator=generator) >= p
    return x * keep / (1 - p)

def drawn(weights, generator):
    return int(torch.multinomial(weights, 1, generator=generator))

def tiled(x):
    return x @ x.mT
"""

INPUTS = """
AXES = {"x": "... T D", "return['y']": "... T E"}

def _share(outcomes):
    kept = (outcomes[0] != 0).double().mean()
    return None if abs(float(kept) - 0.5) < 0.5 else (f"keeps {kept}", f"保留 {kept}")

def _counts(outcomes):
    (counts,) = outcomes[-1:]
    total = sum(counts.values())
    return None if total == 1 and sorted(counts) else (f"{counts}", f"{counts}")

def _slope(outcomes, gradients):
    kept = gradients[0] != 0
    return None if torch.equal(kept, outcomes[0] != 0) else ("other entries", "其他元素")

def _once(calls, outcomes):
    return None if [len(c) for c in calls] == [2, 2] and outcomes[0].shape[1] == 5 else (f"{calls}", f"{calls}")

import torch

def case(make):
    make.call("halves", make.normal(2, 3), make.normal(3, 2), scale=0.5)

def values(make):
    case(make)
    make.raises(ValueError, "halves", make.normal(2, 3), make.normal(3, 2), -1.0)
    make.exact(make.call("turned", make.normal(2)))
    make.call("turned", make.normal(3))

def module(make):
    gate, cache = make.new("Gate", 3), make.shared({})
    make.set(gate, {"proj.weight": make.normal(6, 3)})
    make.method(gate, "forward", make.normal(2, 3), cache)
    make.method(gate, "forward", make.normal(1, 3), cache)
    make.read(gate, "proj.weight")

def callables(make):
    def model(ids, cache):
        out = torch.zeros(*ids.shape[:1], 1, 5)
        for column in ids.unbind(1):
            out[torch.arange(len(column)), 0, column % 5] += 1
        return out, {"seen": cache["seen"] + 1}

    callback = make.callable(model)
    make.call("follow", callback, make.integers(0, 5, 2, 3), 2)
    make.count(callback)
    make.count(callback, _once)

def random(make):
    make.compare(make.call("dropped", make.normal(4, 5), 0.5, make.generator()), False)
    make.property(_share)
    make.tally(20, "drawn", make.uniform(4), make.generator())
    make.property(_counts)
    make.gradient_property(_slope)

def square(make, n):
    make.call("tiled", make.normal(n, 3))

CONTRACTS = [
    dict(check="work", measure="flops", case=square, sizes=(4, 8, 12), growth_at_most=1.2, says={"en": "x", "zh": "x"}),
    dict(check="memory", measure="handed", case=square, sizes=(4, 8, 12), growth_at_most=1.2, beside=square,
         says={"en": "x", "zh": "x"}),
]
"""
WRONG = {"no-scale": REFERENCE.replace(" * scale", "")}
ENTRY = ["halves", "turned", "Gate", "follow", "dropped", "drawn", "tiled"]
SPEC = {"entry": ENTRY, "required": ["loads", "matches-reference"], "forbidden": []}


@dataclass
class FedWorker:
    """A worker that answers every request with the result of `make`."""

    make: Callable[[Request], Answer]
    printed: str = ""
    request: Request | None = None

    def send(self, header: dict, buffers: list, on_invoke: Any, reply_limit: int) -> None:
        pass

    def receive(self, seconds: float) -> Reply:
        assert self.request is not None
        header, payload = self.make(self.request)
        return Reply(header, memoryview(bytearray(payload)))

    def end(self) -> None:
        pass

    kill = end


class Fed(Submission):
    """A submission that shows its worker the current request."""

    def _receive(self, seconds: float | None = None) -> Observed | Failure:
        self.worker.request = self._asked[0][0]  # type: ignore[union-attr]
        return super()._receive(seconds)


@dataclass
class Kind:
    """One kind of question, asked of a submission with random answers."""

    grading: Grading
    chance: random.Random
    questions: list[Any]
    honest: dict[int, tuple[Answer, list[list[int]]]] = field(default_factory=dict)

    def answer(self, request: Request) -> Answer:
        if self.chance.random() < HONESTLY_PACKED:
            return served(Returns(self.chance), request, lambda *_: ({"error": "not here"}, memoryview(b"")))
        found = self.honest.get(id(request))
        if found is None:
            namespace = dict(self.grading.exam.folder.reference)
            sound = served(namespace, request, answered_by(Callables(request.case, Guard())))
            shapes = [list(item.value.shape) for item in request.case.inputs]
            shapes += [entry["shape"] for entry in sound[0].get("tensors", ())]
            # The request is kept, so that its id is not another's.
            self.honest[id(request)] = found = (sound, shapes)
            self.questions.append(request)
        return hostile(self.chance, found[0], request, found[1])


def answered_by(callables: Callables) -> Any:
    def invoke(header: dict[str, Any], buffers: Any) -> tuple[dict[str, Any], memoryview]:
        answer, chunks = callables.answer(header, memoryview(bytearray(b"".join(buffers))))
        return answer, memoryview(bytearray(b"".join(chunks)))

    return invoke


@pytest.fixture(scope="module")
def exam(tmp_path_factory) -> Exam:
    torch.set_num_threads(1)
    return Exam(write_challenge(tmp_path_factory.mktemp("answers"), SPEC, REFERENCE, INPUTS, WRONG), 0)


def kind(exam: Exam, seed: str) -> Kind:
    made: Kind
    chance = random.Random(seed)
    submission = Fed(b"pass", "s.py", ENTRY, lambda: None, Budget(1e9), worker=FedWorker(lambda r: made.answer(r)))
    made = Kind(Grading(exam, submission, GradeOptions()), chance, [])
    return made


def case_of(exam: Exam, name: str, profile: str = "ordinary"):
    make = Recorder(fixed_draw, profile_of(profile, exam.folder.inputs), label="edge")
    getattr(exam.folder.inputs, name)(make)
    return make.case


def judged(kind: Kind, finding: FailedCase | None) -> bool:
    """Return True for a failure; the report with one check that failed with it uses public reasons and is short."""
    if finding is None:
        return False
    assert finding.reason in REASONS
    assert "cannot be judged" not in finding.message.en, finding.message.en
    check = kind.grading.reported("matches-reference", finding, 1)
    names = {"challenge": "c", "file": "s.py", "verdict": "rejected", "diagnosis": (), "seconds": 0.1, "seed": 0}
    text = json.dumps(bounded(GradeReport(checks=(check,), **names)), allow_nan=False)
    assert len(text) < LARGEST // 4
    return True


def asked_of(kind: Kind, ask: Callable[[], FailedCase | None]) -> int:
    found = 0
    for number in range(ANSWERS):
        if number % 1000 == 0:
            kind.grading.submission.guard = Guard()
            kind.grading.seen.clear()
        found += judged(kind, ask())
    return found


ORDINARY = [(Values, "ordinary"), (Edge, "ordinary")]
QUESTIONS: dict[str, tuple[str, list[tuple[type, str]]]] = {
    "function": ("values", [*ORDINARY, (Values, "bf16"), (Values, "float64")]),
    "module": ("module", [*ORDINARY, (Values, "float64")]),
    "callables": ("callables", ORDINARY),
    "random": ("random", [*ORDINARY, (Gradients, "float64")]),
    "gradients": ("case", [(Gradients, "ordinary"), (EdgeWithGradients, "float64"), (Gradients, "bf16")]),
    "devices": ("case", [(Devices, "meta"), (EdgeDevice, "meta")]),
    "purity": ("case", [(Purity, "ordinary"), (Purity, "float64")]),
}


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_there_is_a_verdict_on_every_answer(exam, name):
    asked = kind(exam, name)
    record, kinds = QUESTIONS[name]
    questions = [made(exam.folder, case_of(exam, record, profile)) for made, profile in kinds]

    assert asked_of(asked, lambda: asked.grading.ask(asked.chance.choice(questions))) > ANSWERS // 3


def test_there_is_a_verdict_on_all_costs(exam):
    asked = kind(exam, "costs")
    promises = [*contracts(exam.folder, "work"), *contracts(exam.folder, "memory")]

    def ask() -> FailedCase | None:
        found = examine_growth(exam, asked.grading.submission, asked.chance.choice(promises), {}, "ordinary")
        if isinstance(found, FailedCase):
            return found
        json.dumps(found.document(), allow_nan=False)
        return None

    assert ANSWERS // 3 < asked_of(asked, ask) < ANSWERS


def test_there_is_a_verdict_on_what_is_said_of_loading(exam):
    asked = kind(exam, "loading")
    found = 0
    for _ in range(ANSWERS):
        header, _payload = raised(asked.chance)
        if asked.chance.random() < 0.5:
            names = anything(asked.chance) if asked.chance.random() < 0.7 else dict.fromkeys(ENTRY, "function")
            header = {**header, "op": "loaded", "names": names, "touched": []}
        submission = asked.grading.submission
        failure = submission._failure(Reply(header, memoryview(b"")), say("while-loaded"))
        failure = failure or submission._missing(Reply(header, memoryview(b"")))
        if failure is not None:
            found += judged(asked, FailedCase.of_failure(case_of(exam, "case"), failure))
    assert ANSWERS // 2 < found < ANSWERS


def test_every_call_of_a_callable_is_answered(exam):
    """Each call gets a result or an error, and the reply can be sent."""
    chance = random.Random("calls")
    case = case_of(exam, "callables")
    values = [[2, 3], [1, 1], [2, 9]]
    answered = 0
    for number in range(ANSWERS):
        if number % 1000 == 0:
            calls = Callables(case, Guard())
        honest = {"op": "result", "outcomes": [{"tree": ["n"], "first": 0}], "shared": {"tree": ["l", []], "first": 0}}
        header, payload = with_other_outcomes(chance, ({**honest, "tensors": [], "costs": []}, b""), values)
        tree = header["outcomes"][0]["tree"] if chance.random() < 0.5 else anything(chance)
        if chance.random() < 0.3:
            header["tensors"], payload = [{"dtype": "int64", "shape": [1, 2], "nbytes": 16}], bytes(16)
            tree = ["l", [["l", [["t", 0], ["d", [[["s", "seen"], tree]]]]], ["d", []]]]
        asked = {"arguments": tree, "tensors": header.get("tensors"), "callable": chance.choice([0, 0, 0, 1, -1, None])}
        reply, buffers = calls.answer(asked, memoryview(bytearray(payload)))
        json.dumps(reply)
        answered += "value" in reply
        assert sum(map(len, buffers)) < 1 << 20 and len(reply.get("error", "")) < 1000
    assert answered > ANSWERS // 100


def test_naming_a_mistake_survives_every_answer(exam):
    asked = kind(exam, "diagnosis")
    questions = [made(exam.folder, case_of(exam, "case", "float64")) for made in (Values, Gradients)]
    looked = 0
    for _ in range(ANSWERS // 10):
        request = asked.chance.choice(questions).request
        observed = asked.grading.submission.run(request)
        if isinstance(observed, Observed):
            looked += 1
            due = Expectation(exam.folder.reference, request.case)
            rung = asked.chance.choice(("solved", "hardened"))
            assert isinstance(diagnose(exam.folder, [Probe(request, observed, due)], rung, "x = 1"), list)
    assert looked > ANSWERS // 100


def test_the_answers_are_of_every_kind(exam):
    """Hostile values reach the judge, and not only malformed ones."""
    asked = kind(exam, "kinds")
    request = Request(case_of(exam, "case"))
    observed = [asked.grading.submission.run(request) for _ in range(2000)]
    read = [answer for answer in observed if isinstance(answer, Observed)]
    failed = [answer for answer in observed if isinstance(answer, Failure)]
    tensors = [tensor for answer in read for tensor in tensors_in(answer.outcomes)]
    assert {tensor.dtype for tensor in tensors} >= {torch.bool, torch.complex128, torch.bfloat16, torch.int8}
    assert {tensor.device.type for tensor in tensors} == {"cpu", "meta"}
    assert {type(answer.outcomes[0]) for answer in read} >= {dict, list, tuple, int, float, str, type(None)}
    assert {answer.reason for answer in failed} >= {"protocol", "exception", "memory", "too-large"}
    assert len(read) > 500 and len(failed) > 500
