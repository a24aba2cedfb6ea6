from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.arithmetic import DIMENSIONS, ComputeError, algebra_equal, convert, evaluate, names_in
from attncli.errors import BankInvalid

VALUES = {"layers": 24, "heads": 8, "half": 0.5}
NO_EXPRESSIONS = ("", "__import__('os').system('x')", "'a' * 9", "[1, 2]", "x = 1", "1\0", "lambda: 1")
NOT_ALLOWED = ("1, 2", "1 if layers else 2", "layers and heads", "not layers", "min(*layers)", "(1)(1)")
LEAVES = st.sampled_from(["x", "y", "2", "0.5", "7"])
FORMULAS = st.recursive(
    LEAVES,
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda part: f"({''.join(part)})"),
    max_leaves=8,
)
PAIRS = [(first, second) for table in DIMENSIONS.values() for first in table for second in table]


def test_arithmetic() -> None:
    for expression, value in {
        "2 * layers * heads": 384,
        "(1 + 2) * -3 + +4": -5,
        "7 // 2 + 7 % 4 - 2 ** 3": -2,
        "2 ** -1 + half ** 2 - 1 / 4": 0.5,
        "min(layers, heads, 3) + max(1, 2)": 5,
        "sqrt(16) + log2(8) + exp(0) + log(1)": 8.0,
        "ceil(1.2) + floor(1.8) + round(2.6) + abs(-1)": 7,
        "round(2.345, 1)": 2.3,
        "comb(8, 2)": 28,
        "cos(0) + sin(0)": 1.0,
        "pi": math.pi,
        "1e-3 * 1000": 1.0,
        "4 * 12288**2 * 96": 57_982_058_496,
        "3 ** 200 - 3 ** 200 + 1": 1,
    }.items():
        assert evaluate(expression, VALUES) == value, expression
    assert isinstance(evaluate("2 * layers", VALUES), int), "whole numbers stay whole"
    assert evaluate("pi", {"pi": 3}) == 3, "a parameter hides a constant"
    assert names_in("2 * layers * sqrt(heads) + pi") == {"layers", "heads"}


def test_what_cannot_be_computed_says_why() -> None:
    for expression, message in (
        *((text, "is not an arithmetic expression; use numbers, names") for text in NO_EXPRESSIONS),
        *((text, "is not allowed in a formula") for text in NOT_ALLOWED),
        ("1 +", '"1 +" is not an arithmetic expression; use numbers, names, + - * / // % ** ( )'),
        ("(" * 300 + "1" + ")" * 150, "is not an arithmetic expression"),
        *((text, f'"{text}" is not allowed in a formula') for text in ("layers.real", "True", "None", "1j")),
        ("(layers)(1)", 'unknown function "layers"; use one of min, max'),
        ("tan(1)", 'unknown function "tan"; use one of min, max'),
        ("max(1)", 'function "max" takes 2 arguments, not 1'),
        ("sqrt(1, 2)", 'function "sqrt" takes 1 argument, not 2'),
        ("width", 'the formula uses "width", which is not a parameter (layers, heads, half); add it there'),
        ("1 / (layers - 24)", '"1 / (layers - 24)" divides by zero; change the formula or its values'),
        ("sqrt(-1)", '"sqrt(-1)" has no value (math domain error); change the formula or its values'),
        ("exp(1000)", "has no value (math range error)"),
        *((text, "has no value") for text in ("2.0 ** 10 ** 9", "comb(2, -1)")),
        *((text, "the formula has no finite real value") for text in ("(-8) ** 0.5", "1e308 * 10", "1e999")),
        *((text, "a power needs more than 4096 bits; use") for text in ("2 ** 10 ** 9", "9 ** 9 ** 9")),
        ("(2 ** 4000) * (2 ** 4000)", "a number needs more than 4096 bits"),
        ("comb(1001, 2)", "comb of more than 1000 is too large"),
        ("comb(half, 2)", "comb needs whole numbers; wrap them in round(...)"),
        *((text, "round takes at most 30 digits") for text in ("round(1.5, 31)", "round(1.5, half)")),
        ("1" * 501, "the formula is longer than 500 characters; shorten it"),
        *((text, "the formula has more than 200 parts; shorten it") for text in ("+".join("1" * 200), "-" * 400 + "1")),
    ):
        with pytest.raises(ComputeError) as caught:
            evaluate(expression, VALUES)
        assert message in caught.value.message.en and isinstance(caught.value, BankInvalid), expression


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


EQUAL = {
    ("2*i/d", "i d"): ["2i/d", "i/(d/2)", " 2 · i ∕ d ", r"\frac{2i}{d}", r"$\dfrac{2 i}{d}$", "2*id^-1"],
    ("10000**(2*i/d)", "i d"): ["10000^{2i/d}", "10⁴^(2i/d)"],
    ("1-b1", "b1"): ["1 − β_1", r"1-\beta_{1}", "1 - beta1"],
    ("1-beta1", "beta1"): ["1-β₁", "1-b1"],
    ("1-b1**t", "b1 t"): ["1-β₁ᵗ"],
    ("(1-b2)*g**2", "b2 g"): ["(1-β2) g²"],
    ("sqrt(d_k)", "d_k"): ["√d_k", "√(dₖ)", r"\sqrt{d_k}", "sqrt d_k", "dk^(1/2)", "d_k**0.5"],
    ("sqrt(1-b2)", "b2"): ["(1-b2)^.5"],
    ("12*d**2", "d"): ["4d² + 8d^2"],
    ("n*d**2", "n d"): ["nd^2"],
    ("d/2", "d"): ["1/2d"],
    ("exp(x)", "x"): ["e^x"],
    ("log(x)", "x"): ["ln x"],
    ("log(x**2)", "x"): ["ln x^2"],
    ("log(x**y)/d", "x y d"): [r"\frac{\ln x^{y}}{d}"],
    ("log(x)/log(2)", "x"): ["log2(x)"],
    ("2*pi*x", "x"): ["2πx"],
    ("-x**2", "x"): ["-(x^2)"],
    ("2**-x", "x"): ["1/2^x"],
    ("x**y**z", "x y z"): ["x^(y^z)"],
    ("lambda*x", "lambda x"): ["λ x"],
    ("(x+1)**2/y", "x y"): ["(x+1)²y⁻¹"],
    ("x**(2*y)", "x y"): ["x²^y"],
    ("sqrt(x)*y", "x y"): ["√x y"],
    ("sqrt(x/y)", "x y"): [r"\sqrt{\frac{x}{y}}"],
    ("x", "x"): ["(" * 90 + "x" + ")" * 90],
    ("x*(y+1)", "x y"): ["[x]{y+1}", "x（y+1）"],
    (r"\left(x+1\right)\cdot y", "x y"): ["y(x+1)"],
    ("3", ""): ["6/2"],
    ("e*x", "e x"): ["xe"],
    ("1.5e3*x", "x"): ["1500 x"],
}
DIFFERENT = {
    ("2*i/d", "i d"): ["i/2d", "2*d/i", "2*i/(d+0.0001)"],
    ("1/(2*d)", "d"): ["1/2d"],
    ("x/2", "x"): ["x^½"],
    ("x", "x"): ["abs(x-1) + 1", "x + sqrt(0-1)", "x / 0", "9^9^9^9^9"],
    ("x*y", "x y"): ["frac(x, y)"],
    ("1-b1**t", "b1 t"): ["1-b1"],
    ("sqrt(d_k)", "d_k"): ["d_k", "-sqrt(d_k)"],
    ("x**2", "x"): ["x*2"],
}


def test_forms_are_equal_where_values_are() -> None:
    for forms in (EQUAL, DIFFERENT):
        for (expected, variables), given_texts in forms.items():
            for text in given_texts:
                assert algebra_equal(expected, text, variables.split()) is (forms is EQUAL), (expected, text)


def test_what_cannot_be_read_is_not_equal() -> None:
    for text in (
        *("", " ", "2*", "(x", "x)", ")", "x y z", "hello", "x = 2", "x!", "__import__('os')", r"\frac12", "x,y"),
        *("x" * 301, "x" + " " * 500, "(" * 300 + "x", "^" * 50, "sqrt" * 70 + "x", "x^" * 60 + "x"),
        *("💥", "\0", "1..2", "--", "v0", "x.real", "x,", "x²²²↑", "9" * 400, "9**9**9", "9e999", "√√√x"),
    ):
        assert not algebra_equal("x", text, ["x"]), text


def test_an_expected_answer_that_cannot_be_read_is_an_error() -> None:
    for text in ("2*", "x)", "(x", "x?", "x*/x", "", "(" * 300 + "x", "x" * 501):
        with pytest.raises(ComputeError) as caught:
            algebra_equal(text, "x", ["x"])
        assert caught.value.message.en == f'"{text[:60]}" is not a formula; write one such as 2*i/d'
    for variables, listed in ((["y", "x"], "x, y"), ([], "none")):
        with pytest.raises(ComputeError, match=f'"width" is not a name of this formula; its variables are {listed}'):
            algebra_equal("2*width", "x", variables)
    with pytest.raises(ComputeError, match="is undefined for positive variables; correct the answer"):
        algebra_equal("sqrt(0-x)", "x", ["x"])


@given(st.text(alphabet="xyd_k123+-*/^()[]{}\\frac sqrt.√²β ", max_size=60))
def test_any_text_is_judged(text: str) -> None:
    assert algebra_equal("x", text, ["x", "y", "d_k"]) in (True, False)


@given(FORMULAS)
def test_every_formula_equals_itself_written_otherwise(text: str) -> None:
    try:
        assert algebra_equal(text, text, ["x", "y"])
    except ComputeError:
        return  # divides by zero everywhere
    assert algebra_equal(text, f"1*{text} + 0", ["x", "y"])
    assert not algebra_equal(text, f"{text} + 1", ["x", "y"])


def test_units_convert() -> None:
    for value, source, target, result in (
        *((2**31, "B", "GiB", 2.0), (1, "TB", "GB", 1000.0), (1, "GiB", "B", 2**30), (8, "bit", "B", 1.0)),
        *((0.25, "", "%", 25.0), (175_000_000_000, "", "亿", 1750.0), (1.5, "billion", "M", 1500.0)),
        *((2, "days", "h", 48.0), (1500, "us", "ms", 1.5), (3e15, "FLOP", "PFLOP", 3.0), (5, "", "", 5)),
        *((4.8e12, "B/s", "TB/s", 4.8), (3.6e6, "B/h", "KB/s", 1.0), (5, "tokens", "tokens", 5)),
    ):
        assert convert(value, source, target) == pytest.approx(result, rel=1e-12), (source, target)
    for source, target, message in (
        ("B", "GiBs", 'unknown unit "GiBs"; use one of bit, B, KB'),
        ("token", "B", 'unknown unit "token"; use one of'),
        ("B", "s", '"B" and "s" measure different things; use units of the same kind'),
        ("B/s", "B", 'unknown unit "B/s"'),
        ("B/s", "B/token", 'unknown unit "token"'),
    ):
        with pytest.raises(ComputeError) as caught:
            convert(1, source, target)
        assert caught.value.message.en.startswith(message)


@given(st.floats(1e-6, 1e6), st.sampled_from(PAIRS))
def test_there_and_back_is_the_same(value: float, units: tuple[str, str]) -> None:
    first, second = units
    assert convert(convert(value, first, second), second, first) == pytest.approx(value, rel=1e-9)
