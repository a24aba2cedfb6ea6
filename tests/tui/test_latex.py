"""Render formulas in the terminal, drawn or in one line; no failure is silent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from attncli.tui.formulas import UnreadableLatex, draw, draw_within, one_line

ONE_LINE = {
    r"\mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V": "softmax(QKᵀ/√dₖ)V",
    r"\partial p_i/\partial s_j = p_i(\delta_{ij}-p_j)": "∂pᵢ/∂sⱼ = pᵢ(δᵢⱼ − pⱼ)",
    r"R_m^\top R_n = R_{n-m}": "RₘᵀRₙ = Rₙ₋ₘ",
    r"-\frac1N\sum_{i=1}^N \log p_\theta(x_i\mid x_{<i})": "−(1/N)∑ᵢ₌₁ᴺ log p_θ(xᵢ ∣ x_(<i))",
    r"10000^{-2i/d}": "10000⁻²ⁱᐟᵈ",
    r"\mathbb R^{n\times d_{\text{model}}}": "ℝ^(n×d_model)",
    r"W_{\text{new}}=W+\frac\alpha r BA": "W_new = W + (α/r)BA",
    r"\frac{1}{2\pi}": "1/(2π)",
    r"\frac{n(n-1)}{2}": "n(n − 1)/2",
    r"e^{-\lambda t}": "e^(−λt)",
    r"\sqrt{2/\pi}": "√(2/π)",
    r"\operatorname{rank}(BA)\le r": "rank(BA) ≤ r",
    r"\lVert x\rVert_2": "∥x∥₂",
    r"W_V": "W_V",
    r"\hat m_t": "m\u0302ₜ",
    r"f(a,b)": "f(a, b)",
    r"2\log n": "2 log n",
}


@pytest.mark.parametrize(("tex", "expected"), ONE_LINE.items())
def test_one_line_keeps_the_grouping(tex: str, expected: str) -> None:
    assert one_line(tex).replace("\u00a0", " ") == expected


def test_a_line_never_breaks_inside_a_formula() -> None:
    assert " " not in one_line("a = b + c")


def test_display_formulas_are_drawn_in_two_dimensions() -> None:
    assert draw(r"\mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V") == (
        "       ⎛  QKᵀ  ⎞",
        "softmax⎜╶─────╴⎟V",
        "       ⎜  ┌──╴ ⎟",
        "       ⎝ ╰┘dₖ  ⎠",
    )


def test_a_base_with_two_short_scripts_takes_one_row() -> None:
    assert draw("x_j^2 + y") == ("xⱼ² + y",)


def test_a_capital_without_a_small_form_is_not_drawn_as_another_letter() -> None:
    assert "ᵥ" not in "".join(draw("W_V")) and "V" in "".join(draw("W_{VV}^{2}")) + one_line("W_V")


NO_DRAWING = [r"\boxed{x}", r"\underbrace{x}_{y}", r"\frac{a}{", r"\nosuchcommand", r"x^2^3", "", "   "]
PIECES = [
    *r"\{}[]()^_&$%#,.+-=<>|abxyQK12 ?'~é中，",
    r"\frac",
    r"\sqrt",
    r"\left",
    r"\right",
    r"\sum",
    r"\begin{cases}",
]
ANYTHING = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


@pytest.mark.parametrize("tex", NO_DRAWING)
def test_what_cannot_be_drawn_is_reported(tex: str) -> None:
    with pytest.raises(UnreadableLatex):
        draw(tex)


@pytest.mark.parametrize("tex", [r"\boxed{x}", r"\nosuchcommand", r"x^2^3"])
def test_what_has_no_line_is_reported(tex: str) -> None:
    with pytest.raises(UnreadableLatex):
        one_line(tex)


def test_a_question_mark_in_the_source_is_no_failure() -> None:
    assert draw("a = ?") == ("a = ?",)


@given(ANYTHING)
def test_any_text_is_drawn_or_reported(tex: str) -> None:
    try:
        rows = draw(tex)
    except UnreadableLatex:
        return
    assert rows and all(cell_len(row) >= 0 for row in rows) and any(row.strip() for row in rows)


@given(ANYTHING)
def test_any_text_is_written_in_one_line_or_reported(tex: str) -> None:
    try:
        line = one_line(tex)
    except UnreadableLatex:
        return
    assert "\n" not in line


LONG = (
    r"\mathrm{Var}(q\cdot k)=\sum_{i=1}^{d_k}\mathrm{Var}(q_i k_i)"
    r"=\sum_{i=1}^{d_k}\mathrm{E}[q_i^2]\,\mathrm{E}[k_i^2]=d_k"
)


def test_a_formula_that_fits_is_not_broken() -> None:
    assert draw_within(LONG, 80) == draw(LONG)


@pytest.mark.parametrize("width", [30, 40, 46])
def test_a_wide_formula_is_broken_at_its_relations(width: int) -> None:
    rows = draw_within(LONG, width)
    assert max(map(cell_len, rows)) <= width and len(rows) > len(draw(LONG))
    assert "".join(rows).count("=") == draw(LONG)[2].count("=")


def test_a_part_may_end_with_a_control_space() -> None:
    rows = draw_within(r"aaaaaaaaaaaa+\log Z\ \Rightarrow\ b=c", 20)
    assert max(map(cell_len, rows)) <= 20


def test_a_wide_side_is_broken_at_its_signs() -> None:
    rows = draw_within("L=" + "+".join(f"a_{i}b_{i}c_{i}" for i in range(9)), 40)
    assert max(map(cell_len, rows)) <= 40 and "".join(rows).count("+") == 8
