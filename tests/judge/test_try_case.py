"""Parse typed cases: a text becomes a program of calls, and all else is one line; both answers are shown."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from attncli.domain.grade_report import ABSENT, BothAnswers, ShownTensor, document, read
from attncli.judge import try_case as module
from attncli.judge.case import Case, profile_of
from attncli.judge.challenge import Folder, edge_functions
from attncli.judge.drawing import fixed_draw
from attncli.judge.exam import drawn
from attncli.judge.guard import FAULTS
from attncli.judge.make import Recorder
from attncli.judge.submission import Budget, Submission
from attncli.judge.try_case import MOST_CALLS, MOST_ELEMENTS, Untypable, both_answers, forbidden, read_case, typed_case
from attncli.paths import bundled_impl
from in_process import InProcessWorker, write_challenge

Typed = Callable[[str], Case]
Answered = Callable[..., BothAnswers]
REFERENCE = """
from typing import Literal
from torch import Tensor

def turned(x: Tensor, scale: float = 2.0, how: Literal['up', 'down'] = "up"):
    if x.dim() != 2:
        raise ValueError("the secret of the reference")
    return x * scale if how == "up" else x / scale

def noted(x, kept):
    kept["sum"] = kept.get("sum", 0.0) + float(x.sum())

class Counter:
    def __init__(self, start):
        self.n = start

    def add(self, by):
        self.n += by
        return self.n

    def _secret(self):
        return 7
"""
INPUTS = """
AXES = {"x": "T d"}
SIZES = {"T": (1, 4), "half": (1, 3)}
DERIVED = {"d": "2 * half"}

def case(make):
    make.call("turned", make.argument("x"))
"""
RIGHT = "def turned(x, scale=2.0, how='up'):\n    return x * scale if how == 'up' else x / scale\n" + (
    "def noted(x, kept):\n    kept['sum'] = kept.get('sum', 0.0) + float(x.sum())\n"
    "class Counter:\n    def __init__(self, start): self.n = start\n"
    "    def add(self, by):\n        self.n += by\n        return self.n\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    spec = {"entry": ["turned", "noted", "Counter"], "required": ["loads", "matches-reference"]}
    return write_challenge(tmp_path, spec, REFERENCE, INPUTS, {})


@pytest.fixture
def answered(folder: Folder) -> Answered:
    """`answered(text, source)` returns both answers to a typed case."""

    def ask(text: str, source: str = RIGHT) -> BothAnswers:
        return both_answers(folder, submission_of(folder, source), text)

    return ask


@pytest.fixture
def typed(folder: Folder) -> Typed:
    """`typed(text)` returns the case that a text describes."""
    return lambda text: typed_case(folder, submission_of(folder), text)


def submission_of(folder: Folder, source: str = RIGHT) -> Submission:
    return Submission(source.encode(), "mine.py", folder.entry, InProcessWorker, Budget(60))


def test_arguments_alone_a_call_and_a_program_are_the_same_case(typed: Typed) -> None:
    for text in (
        "torch.randn(2, 4), scale=3.0",
        "turned(randn(2, 4), scale=3.0)",
        "x = randn(2, 4)\nturned(x, scale=3.0)",
        " randn(2, 4), scale=1.5 * 2  # a comment",
        "(x := randn(2, 4)), *[], **{'scale': math.sqrt(9)}",
    ):
        case = typed(text)
        assert [(step["name"], step["kwargs"]) for step in case.steps] == [("turned", {"scale": ["f", 3.0]})], text
        assert torch.equal(case.inputs[0].value, torch.randn(2, 4, generator=torch.Generator().manual_seed(0)))


def test_the_same_text_draws_the_same_numbers_and_two_draws_are_two(typed: Typed) -> None:
    text = "import random; turned(randn(2, 2)); turned(randn(2, 2), random.random())"
    first, second = typed(text), typed(text)
    values = [item.value for item in first.inputs]
    assert all(torch.equal(a, b.value) for a, b in zip(values, second.inputs, strict=True))
    assert not torch.equal(*values) and first.steps == second.steps


def test_results_objects_and_arguments_made_by_python_travel_from_call_to_call(typed: Typed) -> None:
    case = typed("c = Counter(2); n = c.add(3); kept = {}; noted(turned(ones(2, 2)), kept); noted(n[0]['k'], kept)")
    assert [step["op"] for step in case.steps] == ["new", "method", "call", "call", "call"]
    assert case.steps[3]["args"] == [["r", 2, []], ["m", 0]] and case.steps[4]["args"] == [["r", 1, [0, "k"]], ["m", 0]]
    case = typed("many = [turned(ones(1, n)) for n in range(1, 4)]; noted(many, {'n': len(many)})")
    assert [item.value.numel() for item in case.inputs] == [1, 2, 3] and not case.shared
    assert case.steps[3]["args"][0] == ["l", [["r", k, []] for k in range(3)]]
    case = typed("x = zeros(2, 2); turned(x); turned(x); x += 1; turned(x)")
    assert [step["args"] for step in case.steps] == [[["t", 0]], [["t", 0]], [["t", 1]]]
    assert case.inputs[0].value.sum() == 0 and case.inputs[1].value.sum() == 4, "each call gets what it holds then"
    case = typed("g = torch.Generator().manual_seed(7); noted(torch.relu, g); noted(relu, g)")
    assert case.generators == [7] and len(case.callables) == 1 and case.callables[0](torch.tensor(-1.0)) == 0
    assert case.steps[0]["args"] == case.steps[1]["args"] == [["c", 0], ["g", 0]]


def test_a_tensor_is_the_one_that_torch_makes_and_its_dtype_says_how_closely_answers_must_agree(typed: Typed) -> None:
    for text, due in (
        ("tensor([[1, 2], [3, -4]])", torch.tensor([[1, 2], [3, -4]])),
        ("torch.tensor([inf, -torch.inf, 1e3])", torch.tensor([torch.inf, -torch.inf, 1e3])),
        ("full((2, 2), 5.0) * 2 - 1", torch.full((2, 2), 9.0)),
        ("tril(ones(2, 2)).bool()", torch.tensor([[True, False], [True, True]])),
        ("eye(2).T.expand(1, 2, 2)[0, :, 1:]", torch.tensor([[0.0], [1.0]])),
        ("zeros((0, 3))", torch.zeros(0, 3)),
        ("ones(2, 1, requires_grad=True)", torch.ones(2, 1)),
    ):
        found = typed(text).inputs[0].value
        assert found.dtype == due.dtype and torch.equal(found, due), text
    for more, profile in (("", "ordinary"), (", dtype=torch.float64", "float64"), (", dtype=bfloat16", "bf16")):
        assert typed(f"zeros(2, 2{more})").profile.name == profile


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "turned does not take these arguments: missing a required argument: 'x'; its parameters are x, scale"),
        ("randn(2", "SyntaxError: '(' was never closed, column 6 (in the case that you typed)"),
        ("1), 2", "SyntaxError: unmatched ')', column 2"),
        ("ones(1, 2), scale=2 how=3", "SyntaxError: invalid syntax. Perhaps you forgot a comma?, column 19"),
        ("turned(ones(1, 2));" * (MOST_CALLS + 1), f"up to {MOST_CALLS} calls"),
        (f"zeros({MOST_ELEMENTS + 1}, 1)", "65536 numbers"),
        ("ones(300, 1) * ones(1, 300)", "65536 numbers"),
        ("ones(1, 1).expand(10**6, 10**6)", "65536 numbers"),
        ("zeros(-1, 2)", "(line 1: zeros(-1, 2))"),
        ("1.0, tensor([[1, 2], [3]])", "(line 1: tensor([[1, 2], [3]]))"),
        ("zeros(2, 2), x", "NameError: name 'x' is not defined (line 1: x)"),
        ("'ü', torch.lode", "module 'torch' has no attribute 'lode' (line 1: torch.lode)"),
        ("randn(2, 2, device='meta')", "cannot pass tensor(..., device='meta', size=(2, 2));"),
        ("99999999999999999999, 1", "cannot pass 99999999999999999999;"),
        ("ones(1, 2), {2: [torch.nn]}", "cannot pass <module>;"),
        ("ones(1, 2), {1, 2}", "cannot pass <set>;"),
        ("torch.device('cuda')", "cannot pass device(type='cuda');"),
        ("lambda x: x", "cannot pass <function>;"),
        ("type('Sub', (torch.Tensor,), {})([1.0])", "cannot pass <Sub>;"),
        (r"type('a\nb', (), {})()", "cannot pass <a b>;"),
        ("(n for n in range(3))", "cannot pass <generator>;"),
        ("x = []; x.append(x); turned(x)", "nested too deeply"),
        ("turned(ones(1, 2)).numpy()", "a result has no numpy before the call is made; it has no methods (line 1:"),
        ("turned(ones(1, 2)) + 1", "unsupported operand"),
        ("a, b = turned(ones(1, 2))", "is not iterable (line 1: a, b)"),
        ("turned(ones(1, 2))[ones(1)]", "a part of a result has a number or a name"),
        ("c = Counter(1); c._secret()", "a result has no _secret"),
        ("c = Counter(1); c.n", "a result has no n before the call is made; it has add (line 1: c.n)"),
        ("k = {}; noted(1, k); k['a'] = 1; noted(1, k)", "was changed between them"),
        ("import math", "no call; type the arguments of turned, noted, Counter"),
        ("raise SystemExit", "SystemExit"),
        ("ones(1, 2), 1.0, 'up', 4", "too many positional arguments"),
        ("ones(1, 2), factor=1.0", "got an unexpected keyword argument 'factor'; its parameters are x, scale, how"),
        ("ones(1, 2), x=1.0", "multiple values for argument 'x'"),
        ("-" * 3000 + "1, ones(2, 2)", ""),
        ("\0", ""),
        ("'\ud800'\ud800", ""),
    ],
)
def test_what_cannot_be_used_is_one_clear_line_in_both_languages(typed: Typed, text: str, says: str) -> None:
    with pytest.raises(Untypable) as caught:
        typed(text)
    said = caught.value.message
    assert says in said.en and said.zh and "\n" not in said.en + said.zh


ENTRIES: dict[str, list[str]] = {"turned": [], "noted": [], "Counter": ["add"]}
CALL = {"name": "turned", "owner": None, "args": [["i", 1]], "kwargs": {}}
REPLY = {"op": "case", "calls": [CALL], "shared": [], "functions": [], "generators": [], "tensors": []}


def test_the_reply_of_a_worker_is_a_case_and_a_forged_one_is_none(folder: Folder) -> None:
    assert read_case(REPLY, memoryview(b""), folder, ENTRIES).steps[0]["args"] == [["i", 1]]
    forgeries: list[dict[str, Any]] = [
        *({"calls": calls} for calls in (None, [7])),
        *({"calls": [{**CALL, "name": name}]} for name in ("__builtins__", ["turned"])),
        {"calls": [{**CALL, "owner": 0, "name": "add"}]},
        {"calls": [CALL, {**CALL, "owner": 0, "name": "__globals__"}]},
        {"calls": [{**CALL, "name": "Counter"}, {**CALL, "owner": 0, "name": "__init__"}]},
        {"calls": [CALL, {**CALL, "args": [["r", 0, [["__class__"]]]]}]},
        *({"calls": [{**CALL, "args": [odd]}]} for odd in (["at", "cpu"], ["dv", "cuda"], ["t", 0], ["w", []])),
        *(
            {"calls": [{**CALL, "args": [odd]}]}
            for odd in (["r", 0, []], ["i", 2**64], ["d", [[["o", "text"], ["i", 1]]]])
        ),
        {"calls": [{**CALL, "kwargs": [1]}]},
        {"shared": [["m", 0]]},
        {"shared": [["l", [["r", 0, []]]]]},
        {"functions": ["__import__('os')"]},
        *({"generators": [seed]} for seed in (2**64, None)),
        {"tensors": [{"dtype": "float32", "shape": [1 << 39], "nbytes": 0}]},
    ]
    for forged in forgeries:
        with pytest.raises((Untypable, *FAULTS)):
            read_case({**REPLY, **forged}, memoryview(b""), folder, ENTRIES)


def test_a_module_with_weights_of_its_own_is_refused(folder: Folder) -> None:
    folder.reference["Counter"] = type("Counter", (torch.nn.Module,), {})
    with pytest.raises(Untypable, match="Counter is a module with random weights"):
        typed_case(folder, submission_of(folder), "Counter(1)")


def test_equal_answers_are_both_shown_and_a_difference_with_its_place(answered: Answered) -> None:
    found = answered("tensor([[1.0, 2.0]]), scale=3.0")
    assert found.same and found.said.en == "both answers are the same" and not found.forbidden
    assert found.shown is not None and isinstance(found.shown.expected, ShownTensor)
    assert found.shown.expected.values == (3.0, 6.0) and found.shown.got == found.shown.expected
    assert found.shown.first_wrong_index is None
    found = answered("tensor([[1.0, 2.0]]), how='down'", RIGHT.replace("x / scale", "x"))
    assert found.same is False and "largest error 1 at" in found.said.en
    assert found.shown is not None and found.shown.first_wrong_index == (0, 0)
    assert isinstance(found.shown.expected, ShownTensor) and found.shown.expected.dtype == "float32"
    found = answered("turned(ones(1, 2), how='down'); turned(ones(1, 2))", RIGHT.replace("x / scale", "x"))
    assert found.same is False and found.shown is not None and found.shown.call == 1, "of several the one that differs"


def test_an_object_that_is_changed_in_place_is_the_answer(answered: Answered) -> None:
    found = answered("kept = {}; noted(ones(1, 2), kept)", RIGHT.replace("x.sum()", "x.max()"))
    assert found.same is False and found.shown is not None
    assert found.shown.expected == {"sum": 2.0} and found.shown.got == {"sum": 1.0}
    assert answered("kept = {}; noted(ones(1, 2), kept)").same


def test_what_the_file_raises_is_told_with_its_line_beside_the_references_answer(answered: Answered) -> None:
    found = answered("ones(1, 2)", "def turned(x, scale=2.0, how='up'):\n    return nobody\nnoted = Counter = turned\n")
    assert found.same is False and "NameError" in found.said.en and "line 2" in found.said.en
    assert found.shown is not None and isinstance(found.shown.expected, ShownTensor) and found.shown.got is ABSENT
    found = answered("ones(1, 2)", "def turned(x")
    assert found.same is False and "SyntaxError" in found.said.en
    found = answered("ones(2)")
    assert found.same is None and found.said.en == "the reference raises ValueError for these arguments"
    assert "secret" not in str(document(found)), "of what the reference raises the name alone is told"


def test_a_reference_that_takes_too_long_is_given_up(answered: Answered, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REFERENCE_SECONDS", 0.05)
    monkeypatch.setattr(module, "run_reference", lambda *given: [None for _ in iter(int, 1)])
    assert "too slow" in answered("ones(1, 2)").refused.en


def test_answers_cross_the_processes_and_say_where_they_are_random(answered: Answered, folder: Folder) -> None:
    for text in ("ones(1, 3), how='sideways'", "ones(2)", "open('x')"):
        found = answered(text)
        assert read(BothAnswers, document(found)) == found
    assert "FileNotFoundError" in found.refused.en and found.shown is None, "what cannot be typed"
    folder.spec["required"] = [*folder.spec["required"], "random"]
    assert "is random" in answered("ones(1, 2)").said.en


CHALLENGES = sorted(bundled_impl().glob("*/*/challenge.yaml"))
DRAWN = min(12, int(os.environ.get("ATTN_EXAMPLES", "4")))


def test_what_the_facts_forbid_is_told(answered: Answered) -> None:
    for text, says in (
        ("ones(1, 3)", "d is 3 in x; in the challenge d = 2 * half"),
        ("ones(2, 1, 2)", "x has 3 dimensions; expected (T, d)"),
        ("ones(1, 2), how='sideways'", "how is 'sideways'; use one of 'up', 'down'"),
        ("[[1.0, 2.0]]", "x must be a tensor"),
    ):
        assert [line.en for line in answered(text).forbidden] == [says]


def test_sizes_that_must_agree_are_told() -> None:
    folder = Folder({"id": "mqa", "entry": ["mqa"]}, bundled_impl() / "cache" / "gqa")
    make = Recorder(fixed_draw, profile_of("ordinary", folder.facts), declared=folder.declared)
    make.call("gqa", make.normal(2, 4, 3, 8), make.normal(3, 2, 3, 8), make.normal(3, 2, 3, 8))
    said = [line.en for line in forbidden(make.case, folder)]
    assert said == ["B is 3 in k and 2 in q; they must be equal", said[1]] and "in v" in said[1]


@pytest.mark.full
def test_nothing_that_a_challenge_asks_for_is_forbidden() -> None:
    for path in CHALLENGES:
        spec = yaml.safe_load(path.read_text(encoding="utf-8")) | {"id": path.parent.name}
        folder = Folder(spec, path.parent)
        if folder.kernel and not importlib.util.find_spec("triton"):
            continue
        folder.prepare()
        profile = profile_of("ordinary", folder.facts)
        cases = drawn(folder.inputs.case, profile, DRAWN, 1, 0, folder.declared)
        for label, _, record in edge_functions(folder):
            make = Recorder(fixed_draw, profile, label=label, declared=folder.declared)
            record(make)
            cases.append(make.case)
        for case in cases:
            case.steps = [step for step in case.steps if "raises" not in step]  # calls that must raise
            assert not forbidden(case, folder), (folder.id, case.label)
