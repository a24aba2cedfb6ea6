"""Wrap paragraphs to a width in cells without losing text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.text import cells, wrapped

PIECES = [*"注意力机制节省显存KVcache，。、（）“”：；［］a b 1", "KV cache", "attn grade"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=80).map("".join)


@given(TEXTS, st.integers(12, 60))
def test_no_line_is_too_wide_and_only_white_space_at_its_end_is_lost(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cells(line) <= width or len(line.split()) == 1 for line in lines)


def test_a_line_neither_ends_with_an_opening_mark_nor_begins_with_a_closing_one() -> None:
    sentence = "代码单次运行限时多少秒（总共限时十倍）。［默认值：10；0.1<=x<=3600］"
    for width in range(12, 60):
        lines = wrapped(sentence, width)
        assert not any(line.endswith(("（", "［")) for line in lines)
        assert not any(line.startswith(("）", "。", "］", "；", "：")) for line in lines)


def test_a_paragraph_begins_at_the_margin_and_its_other_lines_hang() -> None:
    assert wrapped("\n  one two three\n", 9) == ["one two", "three"]
    assert wrapped("- one two three", 9, "  ") == ["- one two", "  three"]
