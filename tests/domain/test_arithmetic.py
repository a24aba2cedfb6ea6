from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.arithmetic import ComputeError, compile_expression, evaluate, names_in
from attncli.errors import BankInvalid

VALUES = {"layers": 24, "heads": 8, "half": 0.5}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 * layers * heads", 384),
        ("(1 + 2) * -3 + +4", -5),
        ("7 // 2 + 7 % 4 - 2 ** 3", -2),
        ("2 ** -1", 0.5),
        ("half ** 2", 0.25),
        ("1 / 4", 0.25),
        ("min(layers, heads, 3) + max(1, 2)", 5),
        ("sqrt(16) + log2(8) + exp(0) + log(1)", 8.0),
        ("ceil(1.2) + floor(1.8) + round(2.6) + abs(-1)", 7),
        ("round(2.345, 1)", 2.3),
        ("comb(8, 2)", 28),
        ("cos(0) + sin(0)", 1.0),
        ("pi", math.pi),
        ("1e-3 * 1000", 1.0),
        ("4 * 12288**2 * 96", 57_982_058_496),
        ("\n  1 +\n 2\n".replace("\n", " "), 3),
    ],
)
def test_arithmetic(expression: str, value: float) -> None:
    assert evaluate(expression, VALUES) == value


def test_whole_numbers_stay_whole_and_exact() -> None:
    assert evaluate("3 ** 200 - 3 ** 200 + 1", {}) == 1
    assert isinstance(evaluate("2 * layers", VALUES), int)


def test_a_parameter_hides_a_constant() -> None:
    assert evaluate("pi", {"pi": 3}) == 3


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "is not an arithmetic expression; use numbers, names"),
        ("1 +", '"1 +" is not an arithmetic expression; use numbers, names, + - * / // % ** ( )'),
        ("__import__('os').system('x')", "is not an arithmetic expression"),
        ("'a' * 9", "is not an arithmetic expression"),
        ("[1, 2]", "is not an arithmetic expression"),
        ("x = 1", "is not an arithmetic expression"),
        ("1\0", "is not an arithmetic expression"),
        ("(" * 300 + "1" + ")" * 150, "is not an arithmetic expression"),
        ("1, 2", "is not allowed in a formula"),
        ("layers.real", '"layers.real" is not allowed in a formula; use numbers, names'),
        ("1 if layers else 2", "is not allowed in a formula"),
        ("layers and heads", "is not allowed in a formula"),
        ("not layers", "is not allowed in a formula"),
        ("True", '"True" is not allowed in a formula'),
        ("None", '"None" is not allowed in a formula'),
        ("1j", '"1j" is not allowed in a formula'),
        ("lambda: 1", "is not an arithmetic expression"),
        ("min(*layers)", "is not allowed in a formula"),
        ("(layers)(1)", 'unknown function "layers"; use one of min, max'),
        ("(1)(1)", "is not allowed in a formula"),
        ("tan(1)", 'unknown function "tan"; use one of min, max'),
        ("max(1)", 'function "max" takes 2 arguments, not 1'),
        ("sqrt(1, 2)", 'function "sqrt" takes 1 argument, not 2'),
        ("width", 'the formula uses "width", which is not a parameter (layers, heads, half); add it there'),
        ("1 / (layers - 24)", '"1 / (layers - 24)" divides by zero; change the formula or its values'),
        ("sqrt(-1)", '"sqrt(-1)" has no value (math domain error); change the formula or its values'),
        ("exp(1000)", "has no value (math range error)"),
        ("(-8) ** 0.5", "the formula has no finite real value; change it or its values"),
        ("1e308 * 10", "the formula has no finite real value"),
        ("1e999", "the formula has no finite real value"),
        ("2 ** 10 ** 9", "a power needs more than 4096 bits; use smaller numbers"),
        ("9 ** 9 ** 9", "a power needs more than 4096 bits"),
        ("(2 ** 4000) * (2 ** 4000)", "a number needs more than 4096 bits"),
        ("2.0 ** 10 ** 9", "has no value"),
        ("comb(1001, 2)", "comb of more than 1000 is too large"),
        ("comb(half, 2)", "comb needs whole numbers; wrap them in round(...)"),
        ("comb(2, -1)", "has no value"),
        ("round(1.5, 31)", "round takes at most 30 digits"),
        ("round(1.5, half)", "round takes at most 30 digits"),
        ("1" * 501, "the formula is longer than 500 characters; shorten it"),
        ("+".join("1" * 200), "the formula has more than 200 parts; shorten it"),
        ("-" * 400 + "1", "the formula has more than 200 parts; shorten it"),
    ],
    ids=str,
)
def test_what_cannot_be_computed_says_why(expression: str, message: str) -> None:
    with pytest.raises(ComputeError) as caught:
        evaluate(expression, VALUES)
    assert message in caught.value.message.en
    assert isinstance(caught.value, BankInvalid)


@given(st.text(alphabet="0123456789+-*/%().,elxys qrtminog_", max_size=60))
def test_any_text_computes_or_says_why(expression: str) -> None:
    try:
        value = evaluate(expression, {"x": 3, "y": 0.5})
    except ComputeError:
        return
    assert isinstance(value, int) or math.isfinite(value)


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6), st.integers(1, 10**6))
def test_values_agree_with_python(a: int, b: int, c: int) -> None:
    assert evaluate("a * b - b // c + a % c", {"a": a, "b": b, "c": c}) == a * b - b // c + a % c


def test_a_formula_is_read_once_for_many_values() -> None:
    compute = compile_expression("2 * x")
    assert [compute({"x": value}) for value in (1, 2.5)] == [2, 5.0]


def test_names_of_a_formula() -> None:
    assert names_in("2 * layers * sqrt(heads) + pi") == {"layers", "heads"}
