"""Parse typed cases: a text becomes a program of calls, and all else is rejected in one line.

The texts run in this process; tests/practice/test_own_case.py runs hostile ones in a sandbox.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from attncli.judge.case import Case
from attncli.judge.challenge import Folder
from attncli.judge.guard import FAULTS
from attncli.judge.try_case import MOST_CALLS, MOST_ELEMENTS, Untypable, read_case, typed_case

from .conftest import submission_of

Typed = Callable[[str], Case]
ENTRIES: dict[str, list[str]] = {"turned": [], "noted": [], "Counter": ["add"]}


@pytest.mark.parametrize(
    "text",
    [
        "torch.randn(2, 4), scale=3.0",
        "turned(randn(2, 4), scale=3.0)",
        "x = randn(2, 4)\nturned(x, scale=3.0)",
        " randn(2, 4), scale=1.5 * 2  # a comment",
        "(x := randn(2, 4)), *[], **{'scale': math.sqrt(9)}",
    ],
)
def test_arguments_alone_a_call_and_a_program_are_the_same_case(typed: Typed, text: str) -> None:
    case = typed(text)
    assert [step["name"] for step in case.steps] == ["turned"]
    assert case.steps[0]["kwargs"] == {"scale": ["f", 3.0]}
    assert torch.equal(case.inputs[0].value, torch.randn(2, 4, generator=torch.Generator().manual_seed(0)))


def test_the_same_text_draws_the_same_numbers_and_two_draws_are_two(typed: Typed) -> None:
    text = "import random; turned(randn(2, 2)); turned(randn(2, 2), random.random())"
    first, second = typed(text), typed(text)
    values = [item.value for item in first.inputs]
    assert all(torch.equal(a, b.value) for a, b in zip(values, second.inputs, strict=True))
    assert not torch.equal(*values) and first.steps == second.steps


def test_results_objects_and_kept_dicts_travel_from_call_to_call(typed: Typed) -> None:
    case = typed("c = Counter(2); n = c.add(3); kept = {}; noted(turned(ones(2, 2)), kept); noted(n[0]['k'], kept)")
    assert [step["op"] for step in case.steps] == ["new", "method", "call", "call", "call"]
    assert case.steps[3]["args"] == [["r", 2, []], ["m", 0]] and case.steps[4]["args"] == [["r", 1, [0, "k"]], ["m", 0]]


def test_python_may_make_the_arguments(typed: Typed) -> None:
    case = typed("many = [turned(ones(1, n)) for n in range(1, 4)]; noted(many, {'n': len(many)})")
    assert [item.value.numel() for item in case.inputs] == [1, 2, 3] and not case.shared
    assert case.steps[3]["args"][0] == ["l", [["r", k, []] for k in range(3)]]


def test_each_call_gets_what_a_tensor_holds_at_that_time(typed: Typed) -> None:
    case = typed("x = zeros(2, 2); turned(x); turned(x); x += 1; turned(x)")
    assert [step["args"] for step in case.steps] == [[["t", 0]], [["t", 0]], [["t", 1]]]
    assert case.inputs[0].value.sum() == 0 and case.inputs[1].value.sum() == 4


def test_functions_of_torch_and_generators_can_be_passed(typed: Typed) -> None:
    case = typed("g = torch.Generator().manual_seed(7); noted(torch.relu, g); noted(relu, g)")
    assert case.generators == [7] and len(case.callables) == 1 and case.callables[0](torch.tensor(-1.0)) == 0
    assert case.steps[0]["args"] == case.steps[1]["args"] == [["c", 0], ["g", 0]]


@pytest.mark.parametrize(
    ("text", "profile"),
    [("zeros(2, 2)", "ordinary"), ("zeros(2, 2).double()", "float64"), ("zeros(2, 2, dtype=bfloat16)", "bf16")],
)
def test_the_dtype_that_is_typed_says_how_closely_answers_must_agree(typed: Typed, text: str, profile: str) -> None:
    assert typed(text).profile.name == profile


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("tensor([[1, 2], [3, -4]])", torch.tensor([[1, 2], [3, -4]])),
        ("torch.tensor([inf, -torch.inf, 1e3])", torch.tensor([torch.inf, -torch.inf, 1e3])),
        ("full((2, 2), 5.0) * 2 - 1", torch.full((2, 2), 9.0)),
        ("tril(ones(2, 2)).bool()", torch.tensor([[True, False], [True, True]])),
        ("eye(2).T.expand(1, 2, 2)[0, :, 1:]", torch.tensor([[0.0], [1.0]])),
        ("zeros((0, 3))", torch.zeros(0, 3)),
        ("ones(2, 1, requires_grad=True)", torch.ones(2, 1)),
    ],
)
def test_a_tensor_is_the_one_that_torch_makes(typed: Typed, text: str, due: torch.Tensor) -> None:
    found = typed(text).inputs[0].value
    assert found.dtype == due.dtype and torch.equal(found, due)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "",
            "turned does not take these arguments: missing a required argument: 'x'; its parameters are x, scale, how",
        ),
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


CALL = {"name": "turned", "owner": None, "args": [["i", 1]], "kwargs": {}}
REPLY = {"op": "case", "calls": [CALL], "shared": [], "functions": [], "generators": [], "tensors": []}


def test_the_reply_of_a_worker_is_a_case(folder: Folder) -> None:
    assert read_case(REPLY, memoryview(b""), folder, ENTRIES).steps[0]["args"] == [["i", 1]]


@pytest.mark.parametrize(
    "forged",
    [
        {"calls": None},
        {"calls": [7]},
        {"calls": [{**CALL, "name": "__builtins__"}]},
        {"calls": [{**CALL, "name": ["turned"]}]},
        {"calls": [{**CALL, "owner": 0, "name": "add"}]},
        {"calls": [CALL, {**CALL, "owner": 0, "name": "__globals__"}]},
        {"calls": [{**CALL, "name": "Counter"}, {**CALL, "owner": 0, "name": "__init__"}]},
        {"calls": [{**CALL, "args": [["r", 0, []]]}]},
        {"calls": [CALL, {**CALL, "args": [["r", 0, [["__class__"]]]]}]},
        {"calls": [{**CALL, "args": [["at", "cpu"]]}]},
        {"calls": [{**CALL, "args": [["dv", "cuda"]]}]},
        {"calls": [{**CALL, "args": [["t", 0]]}]},
        {"calls": [{**CALL, "args": [["w", []]]}]},
        {"calls": [{**CALL, "args": [["i", 2**64]]}]},
        {"calls": [{**CALL, "args": [["d", [[["o", "text"], ["i", 1]]]]]}]},
        {"calls": [{**CALL, "kwargs": [1]}]},
        {"shared": [["m", 0]]},
        {"shared": [["l", [["r", 0, []]]]]},
        {"functions": ["__import__('os')"]},
        {"generators": [2**64]},
        {"generators": [None]},
        {"tensors": [{"dtype": "float32", "shape": [1 << 39], "nbytes": 0}]},
    ],
)
def test_a_forged_reply_is_no_case(folder: Folder, forged: dict[str, Any]) -> None:
    with pytest.raises((Untypable, *FAULTS)):
        read_case({**REPLY, **forged}, memoryview(b""), folder, ENTRIES)


def test_a_module_with_weights_of_its_own_is_refused(folder: Folder) -> None:
    folder.reference["Counter"] = type("Counter", (torch.nn.Module,), {})
    with pytest.raises(Untypable, match="Counter is a module with random weights"):
        typed_case(folder, submission_of(folder), "Counter(1)")
