"""Find and rewrite formulas inside Markdown, never in code; one-line texts keep every character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.tui.formulas import for_markdown, inline, unfolded
from attncli.tui.widgets.markdown import _parser


def test_an_inline_formula_becomes_one_escaped_line() -> None:
    assert for_markdown("The scale $1/\\sqrt{d_k}$ keeps it.") == "The scale 1/√dₖ keeps it."
    assert for_markdown("$W_Q x^{*}$") == "W\\_Q\u00a0x^∗"


def test_a_display_formula_becomes_a_fenced_block_of_one_line() -> None:
    assert for_markdown("a\n\n$$x\n = y$$\n\nb") == "a\n\n\n\n```formula\nx = y\n```\n\n\n\nb"


def test_a_display_formula_stays_inside_its_list_item() -> None:
    assert "\n  ```formula\n  x\n  ```" in for_markdown("- first $$x$$")


def test_a_display_formula_in_a_table_stays_in_its_cell() -> None:
    assert for_markdown("| a | $$x_i$$ |") == "| a | xᵢ |"


@pytest.mark.parametrize(
    "text", ["`$x$`", "```\n$x$ and $$y$$\n```", "it costs $5 and $10", r"\$5 to \$6", "a $ b $ c"]
)
def test_code_and_money_are_no_formulas(text: str) -> None:
    assert for_markdown(text) == text


def test_an_unreadable_formula_is_shown_as_code() -> None:
    assert for_markdown(r"see $\boxed{x}$") == r"see `\boxed{x}`"
    assert inline(r"see $\boxed{x}$").plain == r"see \boxed{x}"


def test_folded_chinese_has_no_gap_between_characters() -> None:
    assert unfolded("收不到\n梯度。 所以 W_K 很小") == "收不到梯度。所以 W_K 很小"
    assert unfolded("- 收不到\n  梯度") == "- 收不到梯度"
    assert unfolded("收不到\n\n梯度。\n- 所以") == "收不到\n\n梯度。\n- 所以"


def test_one_line_texts_keep_signs_and_mark_code() -> None:
    content = inline("**Only** `x*y` and 2*i*d_k, W_Q ____ \\*")
    assert content.plain == "Only x*y and 2*i*d_k, W_Q ____ *"
    assert {str(span.style) for span in content.spans} >= {"bold"}


@given(st.text(alphabet="ab中，。 $`*_\\{}[]()|\n-#1", max_size=60))
def test_any_text_can_be_shown(text: str) -> None:
    inline(text)
    for_markdown(text)


@pytest.mark.parametrize("info", ["python", "python sketch", " python  sketch "])
def test_a_sketch_is_coloured_as_the_code_it_is(info: str) -> None:
    (fence,) = _parser().parse(f"```{info}\nx = 1\n```")
    assert fence.info == "python"
