"""A typed case: what can be typed becomes a program of calls, and all else is refused in one line, never run."""

from __future__ import annotations

import ast
import contextlib

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attncli.judge.case import Case
from attncli.judge.challenge import Folder
from attncli.judge.try_case import MOST_CALLS, MOST_CHARACTERS, MOST_ELEMENTS, TypedValues, Untypable, typed_case


def names(case: Case) -> list[str]:
    return [step["name"] for step in case.steps]


@pytest.mark.parametrize(
    "text", ["torch.randn(2, 4), scale=3.0", "turned(randn(2, 4), scale=3.0)", "x = randn(2, 4)\nturned(x, scale=3.0)"]
)
def test_arguments_alone_a_call_and_a_program_are_the_same_case(folder: Folder, text: str) -> None:
    case = typed_case(text, folder)
    assert names(case) == ["turned"] and case.steps[0]["kwargs"] == {"scale": ["f", 3.0]}
    assert case.inputs[0].value.shape == (2, 4)


def test_the_same_text_draws_the_same_numbers_and_two_draws_are_two(folder: Folder) -> None:
    first, second = (typed_case("turned(randn(2, 2)); turned(randn(2, 2))", folder) for _ in range(2))
    values = [item.value for item in first.inputs]
    assert all(torch.equal(a, b.value) for a, b in zip(values, second.inputs, strict=True))
    assert not torch.equal(*values)


def test_results_objects_and_kept_dicts_travel_from_call_to_call(folder: Folder) -> None:
    case = typed_case(
        "c = Counter(2); n = c.add(3); kept = {}; noted(turned(ones(2, 2)), kept); noted(n, kept)", folder
    )
    assert [step["op"] for step in case.steps] == ["new", "method", "call", "call", "call"]
    assert case.steps[3]["args"] == [["r", 2, []], ["m", 0]] and case.steps[4]["args"] == [["r", 1, []], ["m", 0]]


@pytest.mark.parametrize(
    ("typed", "profile"),
    [("zeros(2, 2)", "ordinary"), ("zeros(2, 2).double()", "float64"), ("zeros(2, 2, dtype=torch.bfloat16)", "bf16")],
)
def test_the_dtype_that_is_typed_says_how_closely_answers_must_agree(folder: Folder, typed: str, profile: str) -> None:
    assert typed_case(typed, folder).profile.name == profile


@pytest.mark.parametrize(
    ("typed", "due"),
    [
        ("tensor([[1, 2], [3, -4]])", torch.tensor([[1, 2], [3, -4]])),
        ("torch.tensor([inf, -torch.inf, 1e3])", torch.tensor([torch.inf, -torch.inf, 1e3])),
        ("arange(1, 7, 2)", torch.arange(1, 7, 2)),
        ("full((2, 2), 5.0) * 2 - 1", torch.full((2, 2), 9.0)),
        ("tril(ones(2, 2)).bool()", torch.tensor([[True, False], [True, True]])),
        ("eye(2).reshape(1, 4)", torch.tensor([[1.0, 0.0, 0.0, 1.0]])),
        ("zeros((0, 3))", torch.zeros(0, 3)),
    ],
)
def test_a_tensor_is_the_one_that_torch_makes(folder: Folder, typed: str, due: torch.Tensor) -> None:
    found = typed_case(typed, folder).inputs[0].value
    assert found.dtype == due.dtype and torch.equal(found, due)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "turned still needs x"),
        ("randn(2", "this is no Python: '(' was never closed"),
        ("x" * (MOST_CHARACTERS + 1), f"up to {MOST_CHARACTERS} characters"),
        ("\0", "this is no Python"),
        ("turned(ones(1, 2));" * (MOST_CALLS + 1), f"up to {MOST_CALLS} calls"),
        (f"zeros({MOST_ELEMENTS + 1}, 1)", "up to 65536 numbers"),
        ("zeros(200, 200) + zeros(200, 200)", "up to 65536 numbers"),
        ("ones(300, 1) * ones(1, 300)", "up to 65536 numbers"),
        ("arange(10**9)", "cannot stand in a case"),
        ("arange(1000000000)", "up to 65536 numbers"),
        ("zeros(-1, 2)", "whole numbers from 0 on"),
        ("tensor([[1, 2], [3]])", "tensor([[1, 2], [3]]): "),
        ("randn(2, 2, device='meta')", "dtype=torch.float32 and the like is the only option"),
        ("zeros(2, 2).expand(2, 100000000)", "zeros(2, 2).expand cannot be called here"),
        ("99999999999999999999, 1", "more than 64 bits"),
        ("__import__('os').system('true')", "cannot be called here"),
        ("open('/etc/passwd')", "open cannot be called here; turned, noted, Counter can"),
        ("[n for n in range(3)]", "cannot stand in a case"),
        ("lambda x: x", "cannot stand in a case"),
        ("*[1, 2]", "cannot stand in a case"),
        ("x", "x is not known here; tensors come from tensor"),
        ("torch.load", "torch.load is not known here"),
        ("turned(ones(1, 2)).numpy()", "turned(ones(1, 2)).numpy cannot be called here"),
        ("c = Counter(1); c._secret()", "c._secret cannot be called here"),
        ("c = Counter(1); c.__init__(2)", "c.__init__ cannot be called here"),
        ("c = Counter(1); c.n", "c.n is not known here"),
        ("import os; turned(ones(1, 2))", "import os cannot stand in a case"),
        ("ones(1, 2), 1.0, 'up', 4", "turned takes 3 arguments, here are 4"),
        ("ones(1, 2), factor=1.0", "turned has no argument factor; it has x, scale, how"),
        ("ones(1, 2), x=1.0", "turned is given x twice"),
        ("turned(y=1)", "turned has no argument y"),
        ("-" * 3000 + "1, ones(2, 2)", ""),
    ],
)
def test_what_cannot_be_used_is_one_clear_line_in_both_languages(folder: Folder, text: str, says: str) -> None:
    with pytest.raises(Untypable) as caught:
        typed_case(text, folder)
    said = caught.value.message
    assert says in said.en and said.zh and "\n" not in said.en + said.zh


@given(st.text(alphabet="xn1,.()[]{}'\"= -+*/:;@turnedorchzersp\n", max_size=60))
def test_whatever_is_typed_is_a_case_or_refused(text: str) -> None:
    def refuse(node: ast.Call) -> object:
        raise Untypable(None)  # type: ignore[arg-type]

    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return
    with contextlib.suppress(Untypable):
        TypedValues(refuse).of(tree)


def test_a_module_with_weights_of_its_own_is_refused(folder: Folder) -> None:
    folder.reference.Counter = type("Counter", (torch.nn.Module,), {})
    with pytest.raises(Untypable, match="Counter is a module with weights of its own"):
        typed_case("Counter(1)", folder)
