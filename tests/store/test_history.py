"""Read the history despite damaged rows, torn writes and copies of the home."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import LogRow, RowKind
from attncli.errors import StoreUnwritable
from attncli.store.history import DAMAGED, MACHINE, Damage, Entry, History, read

AT = datetime(2026, 11, 26, 12, tzinfo=UTC)
TEXTS = ("", 'a note with {"n":3, and ,"crc":"00000000"} in it', "注意力\n第二行", "x" * 3000)


def written(home: Path, count: int) -> tuple[History, Path, list[LogRow]]:
    """Write a history of `count` notes, one by one and in pairs."""
    history = History(home)
    rows: list[LogRow] = []
    while len(rows) < count:
        with history.writing() as writer:
            for number in range(len(rows), min(count, len(rows) + 1 + len(rows) % 2)):
                payload = {"text": TEXTS[number % len(TEXTS)], "at": number}
                rows.append(writer.add(RowKind.NOTE, f"kv-{number:02d}", AT, AT.toordinal(), payload))
    (path,) = history.files()
    return history, path, rows


def found(path: Path) -> tuple[list[LogRow], list[Damage]]:
    everything = list(read(path))
    return [f.row for f in everything if isinstance(f, Entry)], [f for f in everything if isinstance(f, Damage)]


def test_what_was_written_is_read_with_its_place_and_an_exception_writes_nothing(tmp_path: Path) -> None:
    history, path, rows = written(tmp_path, 7)
    with pytest.raises(KeyError), history.writing() as writer:
        writer.add(RowKind.NOTE, "kv-09", AT, AT.toordinal(), {})
        raise KeyError
    assert found(path) == (rows, [])
    entries = [entry for entry in read(path) if isinstance(entry, Entry)]
    assert [(entry.number, entry.line) for entry in entries] == [(n, n) for n in range(1, 8)]
    assert entries[-1].end == path.stat().st_size
    third = entries[2]
    assert [e.row for e in read(path, third.end, third.line, third.number) if isinstance(e, Entry)] == rows[3:]
    assert len({row.id for row in rows}) == 7 and sorted(row.id for row in rows) == [row.id for row in rows]
    assert path.name == f"{history.machine}.jsonl" and path.stat().st_mode & 0o77 == 0


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_torn_last_line_is_set_aside_by_the_next_write(tmp_path_factory: pytest.TempPathFactory, data) -> None:
    home = tmp_path_factory.mktemp("home")
    history, path, rows = written(home, 5)
    whole = path.read_bytes()
    last = whole[:-1].rfind(b"\n") + 1
    cut = data.draw(st.integers(last + 1, len(whole) - 1))
    path.write_bytes(whole[:cut])
    is_whole = cut == len(whole) - 1
    assert found(path) == (rows if is_whole else rows[:-1], [])
    with history.writing() as writer:
        new = writer.add(RowKind.NOTE, "after", AT, AT.toordinal(), {})
    assert found(path) == ([*(rows if is_whole else rows[:-1]), new], [])
    aside = list((home / DAMAGED).glob("*")) if not is_whole else []
    assert [file.read_bytes() for file in aside] == ([] if is_whole else [whole[last:cut] + b"\n"])


def test_a_copied_home_goes_on_under_another_id(tmp_path: Path) -> None:
    history, _path, rows = written(tmp_path / "home", 3)
    shutil.copytree(tmp_path / "home", tmp_path / "copy")
    copy = History(tmp_path / "copy")
    assert copy.machine == "" and history.machine
    with copy.writing() as writer:
        new = writer.add(RowKind.NOTE, "there", AT, AT.toordinal(), {})
    assert new.machine == copy.machine != history.machine
    subjects = sorted(row.subject for file in copy.files() for row in found(file)[0])
    assert subjects == [*(row.subject for row in rows), "there"]
    assert json.loads((tmp_path / "copy" / MACHINE).read_text())["id"] == copy.machine


def test_an_import_is_a_file_of_its_own_and_the_same_one_twice(tmp_path: Path) -> None:
    _, _path, rows = written(tmp_path / "there", 4)
    history, _, own = written(tmp_path / "here", 2)
    imported = history.add_import(rows)
    assert history.add_import(rows) == imported and len(history.files()) == 2
    assert found(imported) == (rows, []) and found(history.folder / f"{history.machine}.jsonl") == (own, [])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_that_cannot_be_written_says_so_in_one_line(tmp_path: Path) -> None:
    history, path, rows = written(tmp_path, 2)
    path.chmod(0o400)
    with pytest.raises(StoreUnwritable, match=r"cannot write .*; make it writable"), history.writing() as writer:
        writer.add(RowKind.NOTE, "kv", AT, AT.toordinal(), {})
    assert found(path) == (rows, [])
