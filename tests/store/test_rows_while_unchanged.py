"""Rows that are kept are always those that would be read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncli.errors import StoreError
from attncli.store.connection import Connection

ALL, SOME = "SELECT id, word FROM entry ORDER BY id", "SELECT count(*) FROM entry WHERE word = :word"


class Undone(Exception):
    """Ends a transaction that is not to count."""


def opened(path: Path) -> Connection:
    connection = Connection(path)
    connection.use_write_ahead_log()
    connection.execute("CREATE TABLE IF NOT EXISTS entry (id INTEGER PRIMARY KEY, word TEXT)")
    return connection


def add(connection: Connection, word: str, fails: bool = False, reads: bool = False) -> None:
    try:
        with connection.transaction():
            connection.execute("INSERT INTO entry (word) VALUES (?)", (word,))
            if reads:
                assert_as_read(connection, word)
            if fails:
                raise Undone
    except Undone:
        pass


def assert_as_read(connection: Connection, word: str) -> None:
    assert list(connection.rows_while_unchanged(ALL)) == connection.rows(ALL)
    assert list(connection.rows_while_unchanged(SOME, {"word": word})) == connection.rows(SOME, {"word": word})


ACTS = st.lists(
    st.tuples(st.sampled_from("here there clear".split()), st.sampled_from("abc"), st.booleans(), st.booleans())
)


@settings(max_examples=60, deadline=None)
@given(acts=ACTS)
def test_whoever_changes_what_and_takes_it_back(tmp_path_factory: pytest.TempPathFactory, acts: Sequence[Any]) -> None:
    path = tmp_path_factory.mktemp("kept") / "kept.db"
    here, there = opened(path), opened(path)
    try:
        for act, word, fails, reads in acts:
            if act == "clear":
                here.execute("DELETE FROM entry WHERE word = ?", (word,))
            else:
                add(here if act == "here" else there, word, fails, reads)
            for connection in (here, there):
                assert_as_read(connection, word)
    finally:
        here.close()
        there.close()


def test_what_was_kept_ends_where_the_content_is_replaced(tmp_path: Path) -> None:
    here, there = opened(tmp_path / "here.db"), opened(tmp_path / "there.db")
    for word in ("a", "b"):
        add(there, word)
        assert_as_read(here, "a")
        there.backup_to(here)
        assert_as_read(here, "a")
        assert len(here.rows_while_unchanged(ALL)) == "ab".index(word) + 1
    here.close()
    there.close()


def test_a_connection_that_is_closed_says_so_in_words(tmp_path: Path) -> None:
    connection = opened(tmp_path / "kept.db")
    connection.close()
    with pytest.raises(StoreError):
        connection.rows_while_unchanged(ALL)


def test_nothing_is_read_again_while_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = opened(tmp_path / "kept.db")
    add(connection, "a")
    read: list[str] = []
    rows = connection.rows
    monkeypatch.setattr(connection, "rows", lambda sql, values=(): read.append(sql) or rows(sql, values))
    for _ in range(3):
        connection.rows_while_unchanged(SOME, {"word": "a"})
        connection.rows_while_unchanged(SOME, {"word": "b"})
    assert read == [SOME, SOME]
    add(connection, "b")
    connection.rows_while_unchanged(SOME, {"word": "b"})
    assert read == [SOME, SOME, SOME]
    connection.close()
