from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.text import all_but_one, every_of, runs_of, searchable, starting_with

TEXTS = [
    "自注意力是置换等变的",
    "KV cache 节省 FLOPs",
    "Self-attention is permutation-equivariant",
    "除以 √d_k 的原因",
    "日本語のカナ",
]


def match_expression(query: str) -> str:
    return every_of(starting_with(run) for run in runs_of(query))


def found(query: str) -> list[int]:
    raw = sqlite3.connect(":memory:")
    raw.execute("CREATE VIRTUAL TABLE t USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')")
    raw.executemany("INSERT INTO t (rowid, text) VALUES (?, ?)", [(n, searchable([t])) for n, t in enumerate(TEXTS)])
    match = match_expression(query)
    return [n for (n,) in raw.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rowid", (match,))]


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("置换", [0]),
        ("换等", [0]),
        ("置", [0]),
        ("置换等变", [0]),
        ("等置", []),
        ("注意力 等变", [0]),
        ("kv", [1]),
        ("KV节省", [1]),
        ("perm", [2]),
        ("PERMUTATION-equi", [2]),
        ("mutation", []),
        ("d_k", [3]),
        ("カナ", [4]),
        ("flops 节省", [1]),
    ],
)
def test_words_prefixes_and_chinese_of_any_length_are_found(query: str, numbers: list[int]) -> None:
    assert found(query) == numbers


@given(st.text(max_size=40))
def test_no_query_is_a_syntax_error(query: str) -> None:
    if match_expression(query):
        found(query)


@given(st.text(alphabet="自注意力是置换等变的", min_size=1, max_size=10))
def test_exactly_substrings_of_a_chinese_run_are_found(query: str) -> None:
    assert (0 in found(query)) == (query in TEXTS[0])


def test_signs_alone_are_no_words() -> None:
    assert match_expression("√ → ≤") == ""


@given(st.lists(st.sampled_from("abcdef"), min_size=3, max_size=6, unique=True), st.sets(st.sampled_from("abcdef")))
def test_all_but_one_of_the_conditions_hold(asked: list[str], there: set[str]) -> None:
    raw = sqlite3.connect(":memory:")
    raw.execute("CREATE VIRTUAL TABLE t USING fts5 (text)")
    raw.execute("INSERT INTO t VALUES (?)", (" ".join(sorted(there)),))
    (count,) = raw.execute("SELECT count(*) FROM t WHERE t MATCH ?", (all_but_one(asked),)).fetchone()
    assert count == (len(set(asked) - there) <= 1)


def test_all_but_one_grows_little_faster_than_what_it_is_made_of() -> None:
    assert all_but_one(["a"]) == ""
    assert len(all_but_one(["word"] * 200)) < 200 * 200
