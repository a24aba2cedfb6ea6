"""Read foreign packages, hostile or damaged: one clear line, and nothing left behind."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncli.anki import package as anki_package
from attncli.anki.package import fields_of, read_package
from attncli.errors import EnvironmentFailure, StoreError, UsageError

SCHEMA = """
CREATE TABLE col (id, crt, models, decks, conf);
CREATE TABLE notes (id integer primary key, guid, mid, mod, tags, flds);
CREATE TABLE cards (id integer primary key, nid, did, ord, mod, type, queue, odid);
CREATE TABLE revlog (id integer primary key, cid, usn, ease, ivl, lastIvl, factor, time, type);
"""
FIELDS = [{"name": "Back", "ord": 1}, {"name": "Front", "ord": 0}]
MODELS = {"7": {"type": 0, "flds": FIELDS, "tmpls": [{"ord": 0, "qfmt": "{{Front}}", "afmt": "{{Back}}"}]}}
ROWS = """
INSERT INTO notes VALUES (1, 'g', 7, 0, '', 'q' || char(31) || 'a');
INSERT INTO cards VALUES (5, 1, 3, 0, 1700000000, 2, 2, 0);
INSERT INTO revlog VALUES (1700000000123, 5, -1, 3, 4, 1, 2500, 900, 1);
"""


def database(tmp_path: Path, *changes: str, models: Any = MODELS, schema: str = SCHEMA) -> bytes:
    file = tmp_path / "made.db"
    file.unlink(missing_ok=True)
    rows = sqlite3.connect(file)
    rows.executescript(schema)
    told = models if isinstance(models, str) else json.dumps(models)
    rows.execute("INSERT INTO col VALUES (1, 0, ?, ?, '{}')", (told, json.dumps({"3": {"name": "Deck"}})))
    rows.executescript(ROWS)
    for change in changes:
        rows.execute(change)
    rows.commit()
    rows.close()
    return file.read_bytes()


def package(tmp_path: Path, content: bytes, name: str = "collection.anki2", **more: bytes) -> Path:
    path = tmp_path / "some.apkg"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
        for other, text in more.items():
            archive.writestr(other, text)
    return path


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "room"
    folder.mkdir()
    yield folder


def read(path: Path, room: Path) -> tuple[list[Any], int]:
    (room / "collection.db").unlink(missing_ok=True)
    return read_package(path, room)


def refused(path: Path, room: Path) -> str:
    with pytest.raises(UsageError) as caught:
        read(path, room)
    message = str(caught.value)
    assert str(path) in message and "\n" not in message and len(message) < 400 + len(str(path))
    return message.replace(str(path), "FILE")


def test_a_sound_package_is_read(tmp_path: Path, room: Path) -> None:
    twice = json.dumps(MODELS)[:-1] + ", " + json.dumps(MODELS)[1:]
    for models in (MODELS, twice):  # a key that stands twice counts as the last
        ((card, note),), lost_reviews = read(package(tmp_path, database(tmp_path, models=models)), room)
        assert (card.guid, card.deck, note.fields, card.suspended) == ("g", "Deck", {"Front": "q", "Back": "a"}, False)
        (answer,) = card.answers
        assert (answer.rating, answer.elapsed_ms, answer.at.microsecond) == (3, 900, 123000)
        assert lost_reviews == 0


DAMAGED, NO_COLLECTION = "FILE is not an Anki package, or is damaged", "FILE contains no Anki collection"
WRONG: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no file": (lambda tmp: tmp / "missing.apkg", "cannot read FILE (No such file or directory)"),
    "a folder": (lambda tmp: tmp, "cannot read FILE (Is a directory)"),
    "no archive": (lambda tmp: written(tmp, b"hello"), DAMAGED),
    "an empty file": (lambda tmp: written(tmp, b""), DAMAGED),
    "half an archive": (lambda tmp: written(tmp, package(tmp, database(tmp)).read_bytes()[:-80]), DAMAGED),
    "no collection": (lambda tmp: package(tmp, b"x", "notes.txt"), NO_COLLECTION),
    "a collection elsewhere": (lambda tmp: package(tmp, database(tmp), "../../collection.anki2"), NO_COLLECTION),
    "no database": (lambda tmp: package(tmp, b"x" * 5000), "the collection in FILE is damaged"),
    "an empty database": (lambda tmp: package(tmp, b""), "contains no readable Anki collection (table col)"),
    "half a database": (lambda tmp: package(tmp, database(tmp)[:9000]), "the collection in FILE is damaged"),
}
COMPUTED = "CREATE TABLE notes (id, guid, mid, flds AS (hex(zeroblob(100000000))))"
UNSOUND = {
    ("DROP TABLE revlog",): "contains no readable Anki collection (table revlog)",
    ("ALTER TABLE notes RENAME TO n", "CREATE VIEW notes AS SELECT * FROM n"): "(table notes)",
    ("DROP TABLE notes", "CREATE VIRTUAL TABLE notes USING fts5(id)"): "(table notes)",
    ("DROP TABLE notes", COMPUTED): "contains no readable Anki collection (table notes)",
    ("UPDATE notes SET guid = x'ff'",): "has an unexpected format",
    ("UPDATE cards SET mod = 'x'",): "has an unexpected format",
    **{(f"UPDATE col SET models = '{models}'",): "has an unexpected format" for models in ("{", "[1]", "[" * 100_000)},
}


def written(folder: Path, content: bytes) -> Path:
    path = folder / "some.apkg"
    path.write_bytes(content)
    return path


def test_what_is_no_sound_package_is_refused_in_a_line(tmp_path: Path, room: Path) -> None:
    made = [(lambda tmp, sql=sql: package(tmp, database(tmp, *sql)), said) for sql, said in UNSOUND.items()]
    for make, said in (*WRONG.values(), *made):
        message = refused(make(tmp_path), room)
        assert said in message and "export it from Anki again" in message, said
        assert {path.name for path in room.iterdir()} <= {"collection.db"}


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, pytest.param(zipfile.ZIP_LZMA, marks=pytest.mark.full)])
def test_an_archive_that_grows_beyond_measure_is_stopped(tmp_path: Path, room: Path, compression: int) -> None:
    path = tmp_path / "some.apkg"
    with zipfile.ZipFile(path, "w", compression) as archive, archive.open("collection.anki2", "w") as member:
        for _ in range(66):
            member.write(bytes(2**20))
    assert "unpacks to more than 64 MiB" in refused(path, room)
    assert (room / "collection.db").stat().st_size <= anki_package.GROWTH_FREE


def test_a_zstandard_bomb_and_a_damaged_member_are_refused(tmp_path: Path, room: Path) -> None:
    zstandard = pytest.importorskip("zstandard", reason="packages of newer Ankis need the extra anki")
    bomb = zstandard.compress(bytes(66 * 2**20))
    assert "unpacks to more than 64 MiB" in refused(package(tmp_path, bomb, "collection.anki21b"), room)
    for content in (b"", b"hello", b"\x28\xb5\x2f\xfd" + b"\xff" * 60):
        assert "FILE" in refused(package(tmp_path, content, "collection.anki21b"), room)


def test_without_zstandard_both_ways_out_are_named(tmp_path: Path, room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("zstandard", "compression", "compression.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    path = package(tmp_path, b"x", "collection.anki21b", **{"collection.anki2": database(tmp_path)})
    message = refused(path, room)
    assert "Support older Anki versions" in message and "pip install 'attncli[anki]'" in message


def test_too_many_rows_are_refused(tmp_path: Path, room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anki_package, "MOST_CARDS", 0)
    assert "1 rows in notes, more than 0" in refused(package(tmp_path, database(tmp_path)), room)
    monkeypatch.setattr(anki_package, "MOST_MEMBERS", 0)
    assert "contains 1 files" in refused(package(tmp_path, database(tmp_path)), room)


def test_an_answer_counts_where_it_is_one(tmp_path: Path, room: Path) -> None:
    lost = ("ease = 9", "id = 5", "id = 9223372036854775807", "time = 'long'", "cid = 99")
    no_answers = ("ease = 0, type = 4", "type = 3, factor = 0")
    expected = {**dict.fromkeys(lost, (0, 1)), **dict.fromkeys(no_answers, (0, 0)), "type = 3": (1, 0)}
    for change, counts in expected.items():
        cards, lost_reviews = read(package(tmp_path, database(tmp_path, f"UPDATE revlog SET {change}")), room)
        assert (sum(len(card.answers) for card, _note in cards), lost_reviews) == counts, change


@pytest.mark.slow
@settings(max_examples=25)
@given(st.data())
def test_flipped_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    tmp_path = tmp_path_factory.mktemp("flipped")
    content = bytearray(package(tmp_path, database(tmp_path)).read_bytes())
    if data.draw(st.booleans()):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            content = bytearray(archive.read("collection.anki2"))
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=8)):
        content[place] ^= data.draw(st.integers(1, 255))
    is_archive = content[:2] == b"PK"
    path = written(tmp_path, bytes(content)) if is_archive else package(tmp_path, bytes(content))
    try:
        read_package(path, tmp_path)
    except UsageError as error:
        assert str(path) in str(error)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_none(message: bytes) -> None:
    assert fields_of(b"\x08\x96\x01\x12\x02hi\x1d\x00\x00\x00\x00\x08\x01") == {1: 1, 2: b"hi"}
    try:
        fields_of(message)
    except ValueError as error:
        assert "a message" in str(error)


def test_a_full_disk_is_not_the_package_s_fault(tmp_path: Path, room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = package(tmp_path, database(tmp_path))
    with pytest.raises(StoreError, match="free some disk space"):
        read_package(path, room / "missing")

    class Full(io.BytesIO):
        def write(self, part: Any) -> int:
            raise OSError(28, "No space left on device")

    opened = Path.open
    monkeypatch.setattr(Path, "open", lambda path, mode: Full() if path.name == "collection.db" else opened(path, mode))
    with pytest.raises(EnvironmentFailure, match=r"cannot unpack the collection \(No space left on device\)"):
        read_package(path, room)
