from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.arithmetic import ComputeError, algebra_equal


@pytest.mark.parametrize(
    ("expected", "given_text", "variables"),
    [
        ("2*i/d", "2i/d", "i d"),
        ("2*i/d", "i/(d/2)", "i d"),
        ("2*i/d", " 2 · i ∕ d ", "i d"),
        ("2*i/d", r"\frac{2i}{d}", "i d"),
        ("2*i/d", r"$\dfrac{2 i}{d}$", "i d"),
        ("2*i/d", "2*id^-1", "i d"),
        ("10000**(2*i/d)", "10000^{2i/d}", "i d"),
        ("10000**(2*i/d)", "10⁴^(2i/d)", "i d"),
        ("1-b1", "1 − β_1", "b1"),
        ("1-b1", r"1-\beta_{1}", "b1"),
        ("1-b1", "1 - beta1", "b1"),
        ("1-beta1", "1-β₁", "beta1"),
        ("1-beta1", "1-b1", "beta1"),
        ("1-b1**t", "1-β₁ᵗ", "b1 t"),
        ("(1-b2)*g**2", "(1-β2) g²", "b2 g"),
        ("sqrt(d_k)", "√d_k", "d_k"),
        ("sqrt(d_k)", "√(dₖ)", "d_k"),
        ("sqrt(d_k)", r"\sqrt{d_k}", "d_k"),
        ("sqrt(d_k)", "sqrt d_k", "d_k"),
        ("sqrt(d_k)", "dk^(1/2)", "d_k"),
        ("sqrt(d_k)", "d_k**0.5", "d_k"),
        ("sqrt(1-b2)", "(1-b2)^.5", "b2"),
        ("12*d**2", "4d² + 8d^2", "d"),
        ("n*d**2", "nd^2", "n d"),
        ("d/2", "1/2d", "d"),
        ("exp(x)", "e^x", "x"),
        ("log(x)", "ln x", "x"),
        ("log(x**2)", "ln x^2", "x"),
        ("log(x**y)/d", r"\frac{\ln x^{y}}{d}", "x y d"),
        ("log(x)/log(2)", "log2(x)", "x"),
        ("2*pi*x", "2πx", "x"),
        ("-x**2", "-(x^2)", "x"),
        ("2**-x", "1/2^x", "x"),
        ("x**y**z", "x^(y^z)", "x y z"),
        ("lambda*x", "λ x", "lambda x"),
        ("(x+1)**2/y", "(x+1)²y⁻¹", "x y"),
        ("x**(2*y)", "x²^y", "x y"),
        ("sqrt(x)*y", "√x y", "x y"),
        ("sqrt(x/y)", r"\sqrt{\frac{x}{y}}", "x y"),
        ("x", "(" * 90 + "x" + ")" * 90, "x"),
        ("x*(y+1)", "[x]{y+1}", "x y"),
        ("x*(y+1)", "x（y+1）", "x y"),
        (r"\left(x+1\right)\cdot y", "y(x+1)", "x y"),
        ("3", "6/2", ""),
        ("e*x", "xe", "e x"),
        ("1.5e3*x", "1500 x", "x"),
    ],
)
def test_equal_forms_are_accepted(expected: str, given_text: str, variables: str) -> None:
    assert algebra_equal(expected, given_text, variables.split())


@pytest.mark.parametrize(
    ("expected", "given_text", "variables"),
    [
        ("2*i/d", "i/2d", "i d"),
        ("2*i/d", "2*d/i", "i d"),
        ("2*i/d", "2*i/(d+0.0001)", "i d"),
        ("1/(2*d)", "1/2d", "d"),
        ("x/2", "x^½", "x"),
        ("x", "abs(x-1) + 1", "x"),
        ("x*y", "frac(x, y)", "x y"),
        ("1-b1**t", "1-b1", "b1 t"),
        ("sqrt(d_k)", "d_k", "d_k"),
        ("sqrt(d)", "-sqrt(d)", "d"),
        ("x**2", "x*2", "x"),
        ("x", "x + sqrt(0-1)", "x"),
        ("x", "x / 0", "x"),
        ("x", "9^9^9^9^9", "x"),
    ],
)
def test_other_values_are_not(expected: str, given_text: str, variables: str) -> None:
    assert not algebra_equal(expected, given_text, variables.split())


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "2*", "(x", "x)", ")", "x y z", "hello", "x = 2", "x!", "__import__('os')", r"\frac12", "x,y"),
        *("x" * 301, "x" + " " * 500, "(" * 300 + "x", "^" * 50, "sqrt" * 70 + "x", "x^" * 60 + "x"),
        *("💥", "\0", "1..2", "--", "v0", "x.real", "x,", "x²²²↑", "9" * 400, "9**9**9", "9e999", "√√√x"),
    ],
    ids=lambda text: text[:12] or "nothing",
)
def test_what_cannot_be_read_is_not_equal(text: str) -> None:
    assert not algebra_equal("x", text, ["x"])


@pytest.mark.parametrize("text", ["2*", "x)", "(x", "x?", "x*/x", "", "(" * 300 + "x", "x" * 501])
def test_an_expected_answer_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(ComputeError) as caught:
        algebra_equal(text, "x", ["x"])
    assert caught.value.message.en == f'"{text[:60]}" is not a formula; write one such as 2*i/d'


@pytest.mark.parametrize(("variables", "listed"), [(["y", "x"], "x, y"), ([], "none")])
def test_an_unknown_name_in_the_expected_answer_is_an_error(variables: list[str], listed: str) -> None:
    with pytest.raises(ComputeError, match=f'"width" is not a name of this formula; its variables are {listed}'):
        algebra_equal("2*width", "x", variables)


def test_an_expected_answer_without_a_value_is_an_error() -> None:
    with pytest.raises(ComputeError, match="is undefined for positive variables; correct the answer"):
        algebra_equal("sqrt(0-x)", "x", ["x"])


@given(st.text(alphabet="xyd_k123+-*/^()[]{}\\frac sqrt.√²β ", max_size=60))
def test_any_text_is_judged(text: str) -> None:
    assert algebra_equal("x", text, ["x", "y", "d_k"]) in (True, False)


LEAVES = st.sampled_from(["x", "y", "2", "0.5", "7"])
FORMULAS = st.recursive(
    LEAVES,
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda part: f"({''.join(part)})"),
    max_leaves=8,
)


@given(FORMULAS)
def test_every_formula_equals_itself_written_otherwise(text: str) -> None:
    try:
        assert algebra_equal(text, text, ["x", "y"])
    except ComputeError:
        return  # divides by zero everywhere
    assert algebra_equal(text, f"1*{text} + 0", ["x", "y"])
    assert not algebra_equal(text, f"{text} + 1", ["x", "y"])
