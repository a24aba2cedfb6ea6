"""Formulas: drawn, in one line, or inside Markdown; none of the bundled ones fails, and no failure is silent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from attncli.domain.text import part_pattern
from attncli.paths import bundled_impl, bundled_quizbank
from attncli.tui.formulas import UnreadableLatex, draw, draw_within, for_markdown, inline, one_line, unfolded
from attncli.tui.widgets.markdown import _parser

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


def test_one_line_keeps_the_grouping_and_never_breaks() -> None:
    assert {tex: one_line(tex).replace("\u00a0", " ") for tex in ONE_LINE} == ONE_LINE
    assert " " not in one_line("a = b + c")


def test_display_formulas_are_drawn_in_two_dimensions_where_they_need_them() -> None:
    assert draw(r"\mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V") == (
        "       ⎛  QKᵀ  ⎞",
        "softmax⎜╶─────╴⎟V",
        "       ⎜  ┌──╴ ⎟",
        "       ⎝ ╰┘dₖ  ⎠",
    )
    assert draw("x_j^2 + y") == ("xⱼ² + y",), "a base with two short scripts takes one row"
    assert draw("a = ?") == ("a = ?",), "a question mark in the source is no failure"
    assert "ᵥ" not in "".join(draw("W_V")) and "V" in "".join(draw("W_{VV}^{2}")) + one_line("W_V"), "no small V exists"


PIECES = [*r"\{}[]()^_&$%#,.+-=<>|abxyQK12 ?'~é中，", *r"\frac \sqrt \left \right \sum \begin{cases}".split()]
ANYTHING = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


def test_what_cannot_be_drawn_or_written_is_reported() -> None:
    for tex in (r"\boxed{x}", r"\underbrace{x}_{y}", r"\frac{a}{", r"\nosuchcommand", r"x^2^3", "", "   "):
        with pytest.raises(UnreadableLatex):
            draw(tex)
    for tex in (r"\boxed{x}", r"\nosuchcommand", r"x^2^3"):
        with pytest.raises(UnreadableLatex):
            one_line(tex)


@given(ANYTHING)
def test_any_text_is_drawn_and_written_in_one_line_or_reported(tex: str) -> None:
    with suppress(UnreadableLatex):
        assert "\n" not in one_line(tex)
    with suppress(UnreadableLatex):
        rows = draw(tex)
        assert rows and all(cell_len(row) >= 0 for row in rows) and any(row.strip() for row in rows)


def test_a_wide_formula_is_broken_at_its_relations_or_at_the_signs_of_a_side() -> None:
    long = r"\mathrm{Var}(q\cdot k)=\sum_{i=1}^{d_k}\mathrm{Var}(q_i k_i)"
    long += r"=\sum_{i=1}^{d_k}\mathrm{E}[q_i^2]\,\mathrm{E}[k_i^2]=d_k"
    assert draw_within(long, 80) == draw(long), "it fits"
    for width in (30, 40, 46):
        rows = draw_within(long, width)
        assert max(map(cell_len, rows)) <= width and len(rows) > len(draw(long))
        assert "".join(rows).count("=") == draw(long)[2].count("=")
    rows = draw_within(r"aaaaaaaaaaaa+\log Z\ \Rightarrow\ b=c", 20)
    assert max(map(cell_len, rows)) <= 20, "a part may end with a control space"
    rows = draw_within("L=" + "+".join(f"a_{i}b_{i}c_{i}" for i in range(9)), 40)
    assert max(map(cell_len, rows)) <= 40 and "".join(rows).count("+") == 8


def test_in_markdown_a_formula_is_one_escaped_line_or_a_fenced_block_and_code_and_money_are_none() -> None:
    for text, shown in (
        ("The scale $1/\\sqrt{d_k}$ keeps it.", "The scale 1/√dₖ keeps it."),
        ("$W_Q x^{*}$", "W\\_Q\u00a0x^∗"),
        ("a\n\n$$x\n = y$$\n\nb", "a\n\n\n\n```formula\nx = y\n```\n\n\n\nb"),
        ("| a | $$x_i$$ |", "| a | xᵢ |"),
        (r"see $\boxed{x}$", r"see `\boxed{x}`"),
    ):
        assert for_markdown(text) == shown
    assert "\n  ```formula\n  x\n  ```" in for_markdown("- first $$x$$"), "it stays inside its list item"
    for text in ("`$x$`", "```\n$x$ and $$y$$\n```", "it costs $5 and $10", r"\$5 to \$6", "a $ b $ c"):
        assert for_markdown(text) == text


def test_folded_chinese_has_no_gap_between_characters() -> None:
    assert unfolded("收不到\n梯度。 所以 W_K 很小") == "收不到梯度。所以 W_K 很小"
    assert unfolded("- 收不到\n  梯度") == "- 收不到梯度"
    assert unfolded("收不到\n\n梯度。\n- 所以") == "收不到\n\n梯度。\n- 所以"


def test_one_line_texts_keep_signs_and_mark_code() -> None:
    assert inline(r"see $\boxed{x}$").plain == r"see \boxed{x}"
    content = inline("**Only** `x*y` and 2*i*d_k, W_Q ____ \\*")
    assert content.plain == "Only x*y and 2*i*d_k, W_Q ____ *"
    assert {str(span.style) for span in content.spans} >= {"bold"}


@given(st.text(alphabet="ab中，。 $`*_\\{}[]()|\n-#1", max_size=60))
def test_any_text_can_be_shown(text: str) -> None:
    inline(text)
    for_markdown(text)


def test_a_sketch_is_coloured_as_the_code_it_is() -> None:
    for info in ("python", "python sketch", " python  sketch "):
        (fence,) = _parser().parse(f"```{info}\nx = 1\n```")
        assert fence.info == "python"


def strings_of(document: object) -> Iterator[str]:
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for value in document.values():
            yield from strings_of(value)
    elif isinstance(document, list):
        for value in document:
            yield from strings_of(value)


def formulas_in(text: str) -> Iterator[tuple[str, bool]]:
    """Return every formula of a Markdown text, and whether it is a display formula."""
    for match in part_pattern().finditer(unfolded(text)):
        if match["display"] is not None:
            yield " ".join(match["display"].split()), True
        elif match["inline"] is not None:
            yield match["inline"], False


@pytest.mark.slow
def test_every_formula_is_shown_as_one() -> None:
    files = [*bundled_quizbank().glob("*.yaml"), *bundled_impl().glob("*/*/challenge.yaml")]
    documents = [yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader) for path in files]
    formulas = {formula for text in strings_of(documents) for formula in formulas_in(text)}
    assert len(formulas) > 500
    for tex, display in formulas:
        if display:
            assert max(map(cell_len, draw_within(tex, 70))) <= 70, tex
        else:
            assert one_line(tex), tex
