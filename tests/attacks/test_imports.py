"""Files that once broke later commands, or made the judge draw gigabytes, are refused; a row that is there is harmless.

Each file of `imports/` has its verdict here: the part of the row that is at fault.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
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
from attncli.practice.sync import sync
from attncli.practice.workspace import Workspace
from attncli.store.log import checksum
from attncli.store.restore_backup import restore_database

FILES = Path(__file__).with_name("imports")
VERDICTS = {
    "sha_list": "payload.sha256: no SHA-256",
    "source_esc": "payload.source: a source with control characters",
    "source_int": "payload.source: not a text",
    "stored_draws": "payload.stored: a counterexample with impossible draws",
    "stored_int": "payload.stored: not a list",
}


@pytest.fixture
def open_workspace(
    tmp_path: Path, small_bank: Path, small_impl: Path, moving_clock: Callable[[], datetime]
) -> Iterator[Callable[[], Workspace]]:
    opened: list[Workspace] = []

    def make() -> Workspace:
        home = Home(tmp_path / "home")
        opened.append(Workspace.open(home, moving_clock, settings=Settings(), quizbank=small_bank, impl=small_impl))
        return opened[-1]

    yield make
    for workspace in opened:
        workspace.close()


def row_in(file: Path) -> LogRow:
    document = json.loads(file.read_text(encoding="utf-8"))
    at = datetime.fromisoformat(document["at"])
    return LogRow(document["id"], document["machine"], RowKind(document["kind"]), "double", at, 1, document["payload"])


def test_every_file_has_a_verdict() -> None:
    assert {file.stem for file in FILES.iterdir()} == set(VERDICTS)


@pytest.mark.parametrize("name", VERDICTS)
def test_the_file_is_refused_with_its_line_and_nothing_is_merged(
    open_workspace: Callable[[], Workspace], name: str, tmp_path: Path
) -> None:
    workspace, file = open_workspace(), FILES / f"{name}.jsonl"
    with pytest.raises(UsageError) as refusal:
        merge_logs.import_file(workspace, file)
    assert refusal.value.message.startswith(f"{file}:1: ") and VERDICTS[name] in refusal.value.message
    good = {"id": "g", "machine": "m", "kind": "hint", "subject": "double", "at": "2026-06-01T10:00:00Z", "day": 739768}
    (tmp_path / "both.jsonl").write_text(json.dumps({**good, "payload": {}}) + "\n" + file.read_text("utf-8"), "utf-8")
    with pytest.raises(UsageError, match=r"both\.jsonl:2: "):
        merge_logs.import_file(workspace, tmp_path / "both.jsonl")
    assert workspace.store.log.length() == 0


def test_such_rows_do_no_harm_where_an_earlier_version_has_imported_them(
    open_workspace: Callable[[], Workspace], tmp_path: Path
) -> None:
    workspace = open_workspace()
    rows = [row_in(FILES / f"{name}.jsonl") for name in VERDICTS]
    others = [
        (RowKind.REVIEW, {}),
        (RowKind.UNDO, {"row": [1]}),
        (RowKind.FIT, {"parameters": [99]}),
        (RowKind.START, []),
    ]
    with workspace.store.transaction():
        workspace.store.log.merge(
            [LogRow(f"p-{n}", "m1", row.kind, "double", row.at, row.day, row.payload) for n, row in enumerate(rows)]
        )
        for number, (kind, payload) in enumerate(others):
            row = LogRow(f"q-{number}", "m1", kind, "att-01", rows[0].at, 739768, payload)  # type: ignore[arg-type]
            workspace.store.log.merge([row])
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
    assert done.written == 4 and len(done.left_out) == len(rows) + len(others)


@pytest.fixture
def hostile_backup(tmp_path: Path, open_workspace: Callable[[], Workspace]) -> Path:
    """A backup whose triggers put another folder into the index whenever a challenge is read, and that bears a name
    that leads out of any folder."""
    workspace, backup = open_workspace(), tmp_path / "evil.db"
    record.answer(workspace, "att-01", Rating.GOOD)
    workspace.store.copy_to(backup)
    with closing(sqlite3.connect(backup)) as raw, raw:
        raw.execute("UPDATE meta SET value = '../../../../../../tmp/pwned' WHERE key = 'machine'")
        for when in ("INSERT", "UPDATE"):
            raw.execute(f"""CREATE TRIGGER evil_{when} AFTER {when} ON challenge
            WHEN json_extract(new.document, '$.folder') <> '/evil'
            BEGIN UPDATE challenge SET document = json_set(document, '$.folder', '/evil'); END""")
        raw.execute("""CREATE TRIGGER evil_log AFTER INSERT ON log BEGIN DELETE FROM schedule; END""")
        raw.execute("DELETE FROM card_text")
        raw.execute("DELETE FROM bank_file")
    return backup


def test_a_hostile_backup_brings_its_rows_and_nothing_else(
    hostile_backup: Path, open_workspace: Callable[[], Workspace], small_impl: Path, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    restore_database(home.database, hostile_backup, home.backups, datetime.fromisoformat("2026-06-12T10:00:00Z"))
    workspace = open_workspace()
    with closing(sqlite3.connect(home.database)) as raw:
        triggers = {name for (name,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")}
    assert triggers == {"log_is_never_changed", "log_is_never_shortened"}
    assert is_machine(workspace.store.log.machine) and workspace.store.log.length() == 1
    submission = tmp_path / "x.py"
    submission.write_text("def double(x): return x + x\n")
    request = grade.request_for(workspace, "double", submission, grade.GradeOptions())
    assert request.folder == small_impl / "basics" / "double"
    shared = tmp_path / "one" / "two" / "shared"
    shared.mkdir(parents=True)
    before = {path for path in tmp_path.rglob("*") if not path.is_relative_to(home.root)}
    sync(workspace, shared)
    after = {path for path in tmp_path.rglob("*") if not path.is_relative_to(home.root)}
    assert after - before == {shared / f"{workspace.store.log.machine}.jsonl"}


def test_the_command_says_what_it_left_out_of_a_hostile_backup(
    hostile_backup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "bundled_quizbank", lambda: tmp_path / "small-bank")
    monkeypatch.setattr(paths, "bundled_impl", lambda: tmp_path / "small-impl")
    with closing(sqlite3.connect(hostile_backup)) as raw, raw:
        raw.create_function("sum_of", 7, checksum)
        raw.execute("DROP TRIGGER evil_log")
        row = "'evil\x1b[31m', 'm', 'attempt', 'double', 1, 1, '{\"verdict\": \"accepted\", \"source\": 5}'"
        raw.execute(f"INSERT INTO log (id, machine, kind, subject, at_us, day, payload, checksum) VALUES ({row}, 0)")
        raw.execute("DROP TRIGGER log_is_never_changed")
        text = ", ".join(f"CAST({name} AS BLOB)" for name in ("id", "machine", "kind", "subject"))
        raw.execute(f"UPDATE log SET checksum = sum_of({text}, at_us, day, CAST(payload AS BLOB))")
    assert main(["--home", str(tmp_path / "new"), "restore", str(hostile_backup)]) == 0
    said = capsys.readouterr()
    assert "left out 1 row that cannot be used, first row evil: payload.source" in said.err
    assert "\x1b" not in said.err + said.out and said.out.startswith("restored 1 row from ")
