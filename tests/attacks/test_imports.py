"""Reject files that broke later commands or made the judge draw gigabytes; stored rows of that kind do no harm."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from attncli import paths
from attncli.__main__ import main
from attncli.config import Settings
from attncli.domain.log_row import LogRow, Rating, RowKind, is_machine
from attncli.errors import UsageError
from attncli.export.render import to_html
from attncli.export.summary import summarise
from attncli.paths import Home
from attncli.practice import grade, record
from attncli.practice import sync as merge_logs
from attncli.practice.challenges import next_hint, standings
from attncli.practice.record import take_back
from attncli.practice.start import start_challenge
from attncli.practice.stats import progress
from attncli.practice.sync import restore, sync
from attncli.practice.workspace import Workspace
from moved_clock import Clock

FILES = Path(__file__).with_name("imports")
VERDICTS = {
    "sha_list": "payload.sha256: no SHA-256",
    "source_esc": "payload.source: a source with control characters",
    "source_int": "payload.source: not a text",
    "stored_draws": "payload.stored: a counterexample with impossible draws",
    "stored_int": "payload.stored: not a list",
}


@pytest.fixture
def workspace(tmp_path: Path, small_bank: Path, small_impl: Path, moving_clock: Clock) -> Iterator[Workspace]:
    home, folders = Home(tmp_path / "home"), {"quizbank": small_bank, "impl": small_impl}
    with Workspace.open(home, moving_clock, settings=Settings(), **folders) as opened:
        yield opened


def test_a_file_is_refused_with_its_line_and_nothing_is_merged(workspace: Workspace, tmp_path: Path) -> None:
    good = {"id": "g", "machine": "m", "kind": "hint", "subject": "double", "at": "2026-06-01T10:00:00Z", "day": 739768}
    for file in FILES.iterdir():
        with pytest.raises(UsageError) as refusal:
            merge_logs.import_file(workspace, file)
        assert str(refusal.value).startswith(f"{file}:1: ") and VERDICTS[file.stem] in str(refusal.value)
        rows = json.dumps({**good, "payload": {}}) + "\n" + file.read_text("utf-8")
        (tmp_path / "both.jsonl").write_text(rows, "utf-8")
        with pytest.raises(UsageError, match=r"both\.jsonl:2: "):
            merge_logs.import_file(workspace, tmp_path / "both.jsonl")
        assert workspace.store.log.length() == 0


def test_such_rows_imported_earlier_do_no_harm(workspace: Workspace, moving_clock: Clock, tmp_path: Path) -> None:
    moving_clock.now = datetime(2026, 11, 1, tzinfo=UTC)  # the rows are of October
    rows = [json.loads((FILES / f"{name}.jsonl").read_text(encoding="utf-8")) for name in VERDICTS]
    at = datetime.fromisoformat(rows[0]["at"])
    others = [(RowKind.REVIEW, {}), (RowKind.UNDO, {"row": [1]}), (RowKind.FIT, {"parameters": [99]})]
    others.append((RowKind.START, []))  # type: ignore[arg-type]
    there = [
        LogRow(f"p-{n}", "m1", RowKind(row["kind"]), "double", datetime.fromisoformat(row["at"]), 1, row["payload"])
        for n, row in enumerate(rows)
    ]
    for number, (kind, payload) in enumerate(others):
        there.append(LogRow(f"q-{number}", "m1", kind, "att-01", at, 739768, payload))  # type: ignore[arg-type]
    workspace.store.history.add_import(there)
    workspace.store.catch_up()
    workspace.derive_all()
    assert grade.kept_counterexamples(workspace, "double") == []
    assert "<script>alert" not in to_html(summarise(workspace, "en", None))
    assert standings(workspace)[0].standing == "hardened" and progress(workspace).reviews == 0
    assert workspace.policy.parameters == ()
    record.answer(workspace, "att-01", Rating.GOOD)
    take_back(workspace)
    start_challenge(workspace, "double", bug=True)
    assert next_hint(workspace, "double").number == 1
    (tmp_path / "shared").mkdir()
    done = sync(workspace, tmp_path / "shared")
    assert done.written == 4 and done.faults == ()
    folders = {"quizbank": workspace.source_files.quizbank, "impl": workspace.source_files.impl}
    with Workspace.open(Home(tmp_path / "other"), workspace.clock, settings=Settings(), **folders) as other:
        received = sync(other, tmp_path / "shared")
        assert received.received == 4 and f"skipped {len(there)} of {len(there)} rows" in received.faults[0].en


@pytest.fixture
def hostile_database(tmp_path: Path) -> Path:
    """Write a `progress.db` with triggers, an id with escape codes, and a machine name that leaves the folder."""
    path, away = tmp_path / "progress.db", "../../../../../../tmp/pwned"
    rows = [
        ("good", away, "review", "att-01", '{"rating": 3}'),
        ("evil\x1b[31m", "m", "attempt", "double", '{"verdict": "accepted", "source": 5}'),
    ]
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
        raw.execute("INSERT INTO meta VALUES ('machine', ?)", (away,))
        raw.execute("CREATE TABLE log (seq INTEGER PRIMARY KEY, id, machine, kind, subject, at_us, day, payload)")
        for id, machine, kind, subject, payload in rows:
            values = (id, machine, kind, subject, 1_780_000_000_000_000, 739_764, payload)
            raw.execute("INSERT INTO log VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", values)
        for when in ("INSERT", "UPDATE", "DELETE"):
            raw.execute(f"CREATE TRIGGER evil_{when} AFTER {when} ON log BEGIN DELETE FROM log; END")
    return path


def test_a_hostile_database_brings_its_rows_alone(hostile_database: Path, workspace: Workspace, tmp_path: Path) -> None:
    before = hostile_database.read_bytes()
    assert restore(workspace, hostile_database).rows == 1 and hostile_database.read_bytes() == before
    record.answer(workspace, "att-01", Rating.GOOD)
    assert is_machine(workspace.store.history.machine) and workspace.store.log.length() == 2
    shared = tmp_path / "one" / "two" / "shared"
    shared.mkdir(parents=True)
    files = {path for path in tmp_path.rglob("*") if not path.is_relative_to(workspace.home.root)}
    sync(workspace, shared)
    written = {path for path in tmp_path.rglob("*") if not path.is_relative_to(workspace.home.root)} - files
    assert written == {shared / path.name for path in workspace.store.history.files()} and len(written) == 2


def test_the_command_says_what_it_left_out_of_a_hostile_database(
    hostile_database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "bundled_quizbank", lambda: tmp_path / "small-bank")
    monkeypatch.setattr(paths, "bundled_impl", lambda: tmp_path / "small-impl")
    assert main(["--home", str(tmp_path / "new"), "restore", str(hostile_database)]) == 0
    said = capsys.readouterr()
    assert "Skipped 1 unusable row (" in said.err and "row evil: payload.source" in said.err
    assert "\x1b" not in said.err + said.out and said.out.startswith("Restored 1 row from ")


def test_a_log_that_is_computed_is_no_log(workspace: Workspace, tmp_path: Path) -> None:
    """A view may never end."""
    with closing(sqlite3.connect(tmp_path / "view.db")) as raw, raw:
        row = "1 seq, 'a' id, 'm' machine, 'review' kind, 'att-01' subject, 1780000000000000 at_us, 739764 day"
        raw.execute(f"CREATE VIEW log AS SELECT {row}, '{{\"rating\": 3}}' payload")
    with pytest.raises(UsageError, match="give another file"):
        merge_logs.import_file(workspace, tmp_path / "view.db")
