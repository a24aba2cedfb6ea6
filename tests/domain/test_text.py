"""Wrap paragraphs, escape foreign text, and search text in English and Chinese."""

from __future__ import annotations

import json
import sqlite3
import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from attncli.domain import text as texts
from attncli.domain.text import all_but_one, cells, escaped, every_of, hidden_in, marked, printable, runs_of, searchable

PIECES = [*"注意力机制节省显存KVcache，。、（）“”：；［］a b 1", "KV cache", "attn grade"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=80).map("".join)
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
# Signs of Arabic and Syriac that Unicode counts as format characters and that are drawn.
DRAWN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
# Letters and marks without a shape: fillers, joiners, variation selectors.
SHAPELESS = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0}
hostile = st.text(
    st.characters() | st.sampled_from("\x1b\x9b[];m\x07\\\u202e\u200b\u2066\U000e0041\ufe0f\u3164\r\u200c\u200dم👩")
)
plain = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0x7E) | st.sampled_from("中文，。；“”　《》×√∑αβ₀²ℝ𝐱→≤\n\t")
)
STORED = ["自注意力是置换等变的", "KV cache 节省 FLOPs", "Self-attention is permutation-equivariant"]


@given(TEXTS, st.integers(12, 60))
def test_no_line_is_too_wide_and_only_white_space_at_its_end_is_lost(text: str, width: int) -> None:
    lines = texts.wrapped(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cells(line) <= width or len(line.split()) == 1 for line in lines)


def test_a_line_neither_ends_with_an_opening_mark_nor_begins_with_a_closing_one() -> None:
    sentence = "代码单次运行限时多少秒（总共限时十倍）。［默认值：10；0.1<=x<=3600］"
    for width in range(12, 60):
        lines = texts.wrapped(sentence, width)
        assert not any(line.endswith(("（", "［")) for line in lines)
        assert not any(line.startswith(("）", "。", "］", "；", "：")) for line in lines)
    assert texts.wrapped("\n  one two three\n", 9) == ["one two", "three"]
    assert texts.wrapped("- one two three", 9, "  ") == ["- one two", "  three"], "other lines hang"


SHAPELESS |= {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}


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


def test_what_spells_nothing_is_left_out_and_emoji_and_joiners_that_spell_something_stay() -> None:
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "ignore this")
    selectors = "".join(chr(0xE0100 + ord(letter)) for letter in "and this")
    joiners = {"a\u200db": "ab", "👩\u200d": "👩", "👩\u200c💻": "👩💻", "م\u200c\u200cم": "مم", "م\u061c\u200cم": "مم"}
    for text, shown in {
        **joiners,
        "1\u200d2": "12",
        "中\u200c文": "中文",
        "a\ufe0fb\ufe0e ⚠\ufe0f\ufe0f": "ab ⚠\ufe0f",
        "if \u202ea\u2066b\u200f:": "if ab:",
        f"plain{tags} {selectors}text": "plain text",
        "\x1b[31mred\x1b[0m \x1b]0;title\x07中文\tend\r\nnext\rline": "red 中文\tend\nnext\nline",
        "\x1b]0;title\nand the rest": "0;title\nand the rest",  # a sequence without an end swallows nothing
    }.items():
        assert printable(text) == shown and hidden_in(text)
    assert hidden_in("a\u202eb\u200bc\u202e") == ["\u202e", "\u200b"], "each is named once"
    assert marked("a\x1b[2Jb", "\ufffd") == "a\ufffd[2Jb"
    for text in ("⚠\ufe0f", "1\ufe0f\u20e3", "❤\ufe0f🔥", "✓ 🎉 😀", "x\u0302", "a\u00a0b"):
        assert printable(text) == text
    for text in ("👩\u200d💻", "❤\ufe0f\u200d🔥", "می\u200cخواهم", "क्\u200dष", "ක්\u200dය"):
        assert printable(text) == text and not hidden_in(text)


@given(st.dictionaries(hostile, hostile))
def test_json_says_the_same_and_acts_on_nothing(document: dict[str, str]) -> None:
    text = escaped(json.dumps(document, ensure_ascii=False))
    assert json.loads(text) == document
    assert not hidden_in(text)


STORED += ["除以 √d_k 的原因", "日本語のカナ"]


def match_expression(query: str) -> str:
    return every_of(texts.starting_with(run) for run in runs_of(query))


def found(query: str) -> list[int]:
    raw = sqlite3.connect(":memory:")
    raw.execute("CREATE VIRTUAL TABLE t USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')")
    raw.executemany("INSERT INTO t (rowid, text) VALUES (?, ?)", [(n, searchable([t])) for n, t in enumerate(STORED)])
    match = match_expression(query)
    return [n for (n,) in raw.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rowid", (match,))]


def test_words_prefixes_and_chinese_of_any_length_are_found() -> None:
    expected = ["置换|换等|置|置换等变|注意力 等变", "kv|KV节省|flops 节省", "perm|PERMUTATION-equi", "d_k", "カナ"]
    for number, queries in enumerate(expected):
        for query in queries.split("|"):
            assert found(query) == [number], query
    assert found("等置") == found("mutation") == []


@given(st.text(max_size=40))
def test_no_query_is_a_syntax_error(query: str) -> None:
    if match_expression(query):
        found(query)


@given(st.text(alphabet="自注意力是置换等变的", min_size=1, max_size=10))
def test_exactly_substrings_of_a_chinese_run_are_found(query: str) -> None:
    assert (0 in found(query)) == (query in STORED[0])


@given(st.lists(st.sampled_from("abcdef"), min_size=3, max_size=6, unique=True), st.sets(st.sampled_from("abcdef")))
def test_all_but_one_of_the_conditions_hold(asked: list[str], there: set[str]) -> None:
    raw = sqlite3.connect(":memory:")
    raw.execute("CREATE VIRTUAL TABLE t USING fts5 (text)")
    raw.execute("INSERT INTO t VALUES (?)", (" ".join(sorted(there)),))
    (count,) = raw.execute("SELECT count(*) FROM t WHERE t MATCH ?", (all_but_one(asked),)).fetchone()
    assert count == (len(set(asked) - there) <= 1)


def test_signs_alone_are_no_words_and_all_but_one_grows_little_faster_than_its_parts() -> None:
    assert match_expression("√ → ≤") == ""
    assert all_but_one(["a"]) == ""
    assert len(all_but_one(["word"] * 200)) < 200 * 200
