"""The write-ahead log is read as SQLite reads it: whole transactions up to the first frame that does not fit."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random

import pytest

from attncli.store.wal import CommittedPages, committed_pages


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """A database and its write-ahead log with forty transactions, as a killed process leaves them."""
    path = tmp_path_factory.mktemp("wal") / "p.db"
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("PRAGMA journal_mode = WAL")
    raw.execute("PRAGMA wal_autocheckpoint = 0")
    raw.execute("CREATE TABLE t (x TEXT)")
    for number in range(40):
        raw.execute("INSERT INTO t VALUES (?)", (f"{number}" * 300,))
    found = path.read_bytes(), path.with_name("p.db-wal").read_bytes()
    raw.close()
    return found


def by_sqlite(folder: Path, content: bytes, log: bytes) -> int:
    path = folder / "p.db"
    path.write_bytes(content)
    path.with_name("p.db-wal").write_bytes(log)
    raw = sqlite3.connect(path)
    try:
        return int(raw.execute("SELECT count(*) FROM t").fetchone()[0])
    except sqlite3.OperationalError:
        return -1
    finally:
        raw.close()


def by_us(content: bytes, log: bytes) -> int:
    whole, pages = bytearray(content), committed_pages(log)
    for number, page in sorted(pages.pages.items()):
        start = (number - 1) * pages.page_bytes
        whole.extend(bytes(max(0, start + pages.page_bytes - len(whole))))
        whole[start : start + pages.page_bytes] = page
    whole[18:20] = b"\x01\x01"
    raw = sqlite3.connect(":memory:")
    raw.deserialize(bytes(whole))
    try:
        return int(raw.execute("SELECT count(*) FROM t").fetchone()[0])
    except sqlite3.OperationalError:
        return -1
    finally:
        raw.close()


@pytest.mark.parametrize("seed", range(40))
def test_cut_or_flipped_anywhere_it_says_what_sqlite_says(
    left_behind: tuple[bytes, bytes], tmp_path: Path, seed: int
) -> None:
    content, log, rng = left_behind[0], bytearray(left_behind[1]), Random(seed)
    if seed % 2:
        del log[rng.randrange(len(log)) :]
    elif seed:
        log[rng.randrange(len(log))] ^= 1 << rng.randrange(8)
    assert by_us(content, bytes(log)) == by_sqlite(tmp_path, content, bytes(log))


@pytest.mark.parametrize("log", [b"", b"garbage", bytes(4096), b"\x37\x7f\x06\x82" + bytes(100)])
def test_what_is_no_log_holds_nothing(log: bytes) -> None:
    assert committed_pages(log) == CommittedPages()


def test_pages_that_the_database_no_longer_has_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("PRAGMA auto_vacuum = FULL")
    raw.execute("PRAGMA journal_mode = WAL")
    raw.execute("CREATE TABLE t (x TEXT)")
    raw.executemany("INSERT INTO t VALUES (?)", (("gone" * 500,) for _ in range(50)))
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.execute("DELETE FROM t")
    content, log = path.read_bytes(), committed_pages(path.with_name("p.db-wal").read_bytes())
    raw.close()
    assert b"gonegone" in content
    assert len(log.what_counts_of(content)) == log.page_count * log.page_bytes < len(content) / 2
