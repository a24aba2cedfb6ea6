"""Escape foreign text: it cannot control a terminal, change its direction or hide characters."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.text import escaped, hidden_in, marked, printable

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
# Signs of Arabic and Syriac that Unicode counts as format characters and that are drawn.
DRAWN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
# Letters and marks without a shape: fillers, joiners, variation selectors.
SHAPELESS = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0}
SHAPELESS |= {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}

hostile = st.text(
    st.characters() | st.sampled_from("\x1b\x9b[];m\x07\\\u202e\u200b\u2066\U000e0041\ufe0f\u3164\r\u200c\u200dم👩")
)
plain = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0x7E) | st.sampled_from("中文，。；“”　《》×√∑αβ₀²ℝ𝐱→≤\n\t")
)


def is_hidden(char: str) -> bool:
    point = ord(char)
    listed = unicodedata.category(char) in HIDDEN and point not in DRAWN
    return char not in "\n\t" and (listed or point in SHAPELESS)


def test_every_character_of_unicode_is_hidden_or_shown_as_its_category_says() -> None:
    assigned = [char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char) != "Cn"]
    wrong = [f"U+{ord(char):04X}" for char in assigned if bool(hidden_in(f"a{char}b")) != is_hidden(char)]
    assert wrong == []


@given(hostile)
def test_nothing_hidden_is_left(text: str) -> None:
    shown = printable(text)
    assert not [char for char in shown if is_hidden(char) and char not in "\ufe0e\ufe0f\u200c\u200d"]
    assert printable(shown) == shown
    assert not hidden_in(shown)


@given(plain)
def test_english_chinese_and_mathematics_are_as_they_were(text: str) -> None:
    assert printable(text) == escaped(text) == marked(text, "?") == text


@pytest.mark.parametrize("text", ["⚠\ufe0f", "1\ufe0f\u20e3", "❤\ufe0f🔥", "✓ 🎉 😀", "x\u0302", "a\u00a0b"])
def test_emoji_accents_and_wide_blanks_are_as_they_were(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize("text", ["👩\u200d💻", "❤\ufe0f\u200d🔥", "می\u200cخواهم", "क्\u200dष", "ක්\u200dය"])
def test_joiners_stay_where_they_spell_something(text: str) -> None:
    assert printable(text) == text and not hidden_in(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200db", "ab"),
        ("👩\u200d", "👩"),
        ("👩\u200c💻", "👩💻"),
        ("م\u200c\u200cم", "مم"),
        ("م\u061c\u200cم", "مم"),
        ("1\u200d2", "12"),
        ("中\u200c文", "中文"),
    ],
)
def test_joiners_that_spell_nothing_are_hidden(text: str, shown: str) -> None:
    assert printable(text) == shown and hidden_in(text)


def test_a_selector_says_nothing_behind_a_letter() -> None:
    assert printable("a\ufe0fb\ufe0e ⚠\ufe0f\ufe0f") == "ab ⚠\ufe0f"


def test_sequences_go_whole_and_words_stay() -> None:
    assert printable("\x1b[31mred\x1b[0m \x1b]0;title\x07中文\tend\r\nnext\rline") == "red 中文\tend\nnext\nline"


def test_a_sequence_without_an_end_swallows_nothing() -> None:
    assert printable("\x1b]0;title\nand the rest") == "0;title\nand the rest"


def test_direction_overrides_cannot_turn_code_around() -> None:
    assert printable("if \u202ea\u2066b\u200f:") == "if ab:"


def test_a_text_can_be_smuggled_in_neither_tags_nor_selectors() -> None:
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "ignore this")
    selectors = "".join(chr(0xE0100 + ord(letter)) for letter in "and this")
    assert printable(f"plain{tags} {selectors}text") == "plain text"


@given(st.dictionaries(hostile, hostile))
def test_json_says_the_same_and_acts_on_nothing(document: dict[str, str]) -> None:
    text = escaped(json.dumps(document, ensure_ascii=False))
    assert json.loads(text) == document
    assert not hidden_in(text)


def test_hidden_characters_are_named_once_and_in_order() -> None:
    assert hidden_in("a\u202eb\u200bc\u202e") == ["\u202e", "\u200b"]
    assert marked("a\x1b[2Jb", "\ufffd") == "a\ufffd[2Jb"
