"""Render formulas, tables and Markdown inside widgets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.widget import Widget

from attncli.domain.grade_report import Counterexample, read
from attncli.tui import textual_fixes
from attncli.tui.theme import DARK
from attncli.tui.widgets.grading import CounterexampleView
from attncli.tui.widgets.markdown import CardMarkdown, Formula, column_widths

textual_fixes.install_wrapping()


class Shown(App[None]):
    def __init__(self, *widgets: Widget) -> None:
        super().__init__()
        self.widgets = widgets
        self.register_theme(DARK)
        self.theme = DARK.name

    def compose(self) -> ComposeResult:
        yield from self.widgets


async def text_of(*widgets: Widget, size: tuple[int, int] = (60, 24)) -> str:
    app = Shown(*widgets)
    async with app.run_test(size=size) as pilot:
        await pilot.pause(0.2)
        strips = app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


async def test_an_unreadable_formula_shows_its_source_whole() -> None:
    formula = Formula(r"\underbrace{a + b + c + d + e + f + g + h}_{\text{a long sum of letters}}")
    text = await text_of(formula, size=(40, 10))
    assert "\\underbrace" in text and "letters}}" in text


async def test_markdown_draws_formulas_between_its_paragraphs_and_beside_emphasis_and_code() -> None:
    text = await text_of(CardMarkdown("Before $x_i$.\n\n$$y=\\frac{a}{b}$$\n\n- item $$z_j$$\n\nAfter."))
    assert "Before xᵢ." in text and "╶─╴" in text and "zⱼ" in text and "After." in text
    assert "$" not in text and "frac" not in text
    text = await text_of(CardMarkdown("**Note** $W_Q x^{*}$ and `$raw$` and $a*b*c$."))
    assert "W_Q" in text and "x^∗" in text and "$raw$" in text and "a∗b∗c" in text


async def test_long_code_lines_wrap_tables_show_every_word_and_chinese_fills_the_line() -> None:
    code = "def f(" + ", ".join(f"argument_{n}: Tensor" for n in range(8)) + ") -> Tensor: ..."
    text = await text_of(CardMarkdown(f"```python\n{code}\n```"), size=(50, 24))
    assert "argument_7" in text and "-> Tensor" in " ".join(text.split())
    table = "| encoder-only | bidirectional attention | BERT, ModernBERT |\n| 解码器 | 因果 | Llama |"
    text = await text_of(CardMarkdown(f"| family | mask | example |\n| - | - | - |\n{table}"), size=(44, 20))
    for word in ("encoder-only", "bidirectional", "ModernBERT", "解码器", "Llama"):
        assert word in text
    text = await text_of(CardMarkdown("KV cache：节省的是重复计算，不是显存；" * 6), size=(40, 24))
    lines = [line for line in text.splitlines() if line]
    assert len(lines) > 3 and not any(line.lstrip().startswith(("，", "；")) for line in lines)


@given(st.lists(st.tuples(*[st.text("ab 中", max_size=30)] * 3), min_size=1, max_size=5), st.integers(20, 100))
def test_columns_share_the_width(rows: list[tuple[str, ...]], width: int) -> None:
    widths = column_widths(rows, width)
    assert len(widths) == 3 and min(widths) >= 1 and sum(widths) + 4 <= width


async def test_a_counterexample_shows_what_there_is_and_what_the_calls_before_were_given() -> None:
    assert "最小反例" in await text_of(CounterexampleView(Counterexample(args={}, expected={}, got={}), "zh"))
    calls = [{"call": "Norm", "args": {"D": 3}}, {"call": "forward", "args": {"x": 1}}]
    found = read(Counterexample, {"args": {"x": 1}, "calls": calls, "call": 2})
    assert "call 2 of: 1. Norm(D=3), 2. forward(x=1)" in await text_of(CounterexampleView(found, "en"))
