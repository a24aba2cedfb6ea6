"""Wrap Chinese at the edge: closing punctuation never starts a line, and nothing is lost."""

from __future__ import annotations

from itertools import pairwise
from types import ModuleType

import rich._wrap
import textual._wrap
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual._wrap import compute_wrap_offsets

from attncli.domain import text as line_breaks
from attncli.tui import textual_fixes

textual_fixes.install_wrapping()

PIECES = [*"注意力机制节省显存层头KVcache W_Q ，。、（）“”《》：；a b 1 2 %,.()", "KV cache", "\u00a0"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=80).map("".join)
PARTS = ["注", "意", "力", "KV", "的 ", "，", "。", "头"]
SENTENCE = "KV cache：节省的是重复计算，不是显存；序列越长，缓存越大，所以（长上下文时）显存先成为瓶颈。"


def lines_of(text: str, width: int) -> list[str]:
    cuts = [0, *rich._wrap.divide_line(text, width), len(text)]
    return [text[a:b] for a, b in pairwise(cuts)]


def test_the_private_names_that_are_patched_still_exist_and_a_library_without_them_is_left_alone() -> None:
    assert rich._wrap.re_word is line_breaks.word_pattern()
    assert textual._wrap.re_chunk is line_breaks.chunk_pattern()
    module = ModuleType("other")
    textual_fixes._replace(module, "re_word", line_breaks.word_pattern())
    assert not hasattr(module, "re_word")


def test_chinese_fills_the_line_tears_no_latin_word_apart_and_keeps_an_opening_bracket_with_what_follows() -> None:
    assert all(cell_len(line.rstrip()) >= 26 for line in lines_of(SENTENCE, 30)[:-1])
    assert "attention" in "|".join(lines_of("多头注意力把注意力拆成若干个attention heads来算，结果拼接起来", 24))
    for width in range(6, 40):
        assert not any(line.rstrip().endswith(("（", "《")) for line in lines_of(SENTENCE, width)[:-1])


@given(TEXTS, st.integers(8, 60))
def test_nothing_is_lost_and_no_line_is_too_long_in_editing_widgets_either(text: str, width: int) -> None:
    cuts = [0, *compute_wrap_offsets(text, width, tab_size=4), len(text)]
    for lines in (lines_of(text, width), [text[a:b] for a, b in pairwise(cuts)]):
        assert "".join(lines) == text
        assert all(cell_len(line.rstrip()) <= width for line in lines)


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=60), st.integers(10, 60))
def test_no_line_starts_with_closing_punctuation(parts: list[str], width: int) -> None:
    text = parts[0] + "".join(b for a, b in pairwise(parts) if not (a in "，。" and b in "，。"))
    text = text.lstrip("，。").replace(" ，", "，").replace(" 。", "。")
    assert not any(line.startswith(("，", "。")) for line in lines_of(text, width)[1:])
