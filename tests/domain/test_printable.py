"""No text from elsewhere can drive a terminal."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.printable import printable


@given(st.text(alphabet=st.characters(categories=["Cc", "Cf", "Cs", "Lu", "Lo"]) | st.sampled_from("\x1b[];m\x9b\x07")))
def test_no_control_character_is_left_but_newlines_and_tabs(text: str) -> None:
    assert not [char for char in printable(text) if unicodedata.category(char) == "Cc" and char not in "\n\t"]


def test_sequences_go_whole_and_words_stay() -> None:
    assert printable("\x1b[31mred\x1b[0m \x1b]0;title\x07中文\tend\r\nnext\rline") == "red 中文\tend\nnext\nline"


def test_direction_overrides_cannot_turn_code_around() -> None:
    assert printable("if \u202ea\u2066b\u200f:") == "if ab:"
