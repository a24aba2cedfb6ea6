"""A shared folder brings machines together, whoever copied, restored, broke off or broke files in it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from attncli.domain.log_row import Rating, Schedule, is_machine
from attncli.errors import EnvironmentFailure, UsageError
from attncli.practice import record
from attncli.practice import sync as merge_logs
from attncli.practice import sync as sync_module
from attncli.practice.sync import read_log, sync
from attncli.practice.workspace import Workspace
from attncli.store.restore_backup import restore_database

Open = Callable[..., Workspace]


def schedules(workspace: Workspace) -> dict[str, Schedule]:
    return dict(workspace.store.schedules.all())


def rows_in(workspace: Workspace) -> list[str]:
    return [row.id for row in workspace.store.log.everything()]


def ids_in(file: Path) -> set[str]:
    log = read_log(file, file.parent)
    assert not log.faults
    return {placed.row.id for placed in log.rows}


def copied(workspace: Workspace, open_workspace: Open, name: str) -> Workspace:
    """The home of `workspace` on another computer, as a copy of its folder."""
    target = workspace.home.root.with_name(name)
    target.mkdir()
    workspace.store.copy_to(target / "progress.db")
    return open_workspace(name)


def test_a_shared_folder_brings_three_machines_together(open_workspace: Open, shared: Path) -> None:
    machines = [open_workspace(name) for name in "abc"]
    for number, machine in enumerate(machines):
        for _ in range(number + 1):
            record.answer(machine, "att-01", Rating.GOOD)
    for machine in [*machines, *machines]:
        sync(machine, shared)
    assert {machine.store.log.length() for machine in machines} == {6}
    assert len({str(schedules(machine)) for machine in machines}) == 1
    assert sorted(path.name for path in shared.iterdir()) == sorted(f"{m.store.log.machine}.jsonl" for m in machines)
    again = sync(machines[0], shared)
    assert again.received == 0 and not again.renewed and again.faults == ()


def test_nothing_is_written_where_nothing_is_new(open_workspace: Open, shared: Path) -> None:
    workspace = open_workspace()
    record.answer(workspace, "att-01", Rating.GOOD)
    file = sync(workspace, shared).file
    before = file.stat()
    assert sync(workspace, shared).written == 1
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_folder_that_is_not_there_is_named(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no folder .*create it"):
        sync(workspace, tmp_path / "nowhere")


def test_what_an_older_backup_lacks_comes_back_from_the_own_file(
    open_workspace: Open, shared: Path, tmp_path: Path
) -> None:
    workspace = open_workspace()
    record.answer(workspace, "att-01", Rating.GOOD)
    workspace.store.copy_to(tmp_path / "monday.db")
    for card in ("att-02", "kv-01", "kv-02"):
        record.answer(workspace, card, Rating.GOOD)
    before, file = rows_in(workspace), sync(workspace, shared).file
    restore_database(workspace.home.database, tmp_path / "monday.db", workspace.home.backups, workspace.clock())
    restored = open_workspace()
    assert restored.store.log.length() == 1
    done = sync(restored, shared)
    assert done.received == 3 and done.file != file and ids_in(file) == set(before)
    assert rows_in(restored) == before


def test_a_database_that_was_put_back_by_hand_takes_a_new_id(open_workspace: Open, shared: Path) -> None:
    workspace = open_workspace()
    record.answer(workspace, "att-01", Rating.GOOD)
    old = copied(workspace, open_workspace, "old")
    record.answer(workspace, "att-02", Rating.GOOD)
    first = sync(workspace, shared)
    done = sync(old, shared)
    assert done.renewed and done.received == 1 and done.file != first.file and len(ids_in(first.file)) == 2
    assert is_machine(old.store.log.machine) and old.store.log.machine != workspace.store.log.machine


def test_a_copied_home_and_its_original_get_to_know_everything(open_workspace: Open, shared: Path) -> None:
    one = open_workspace("one")
    record.answer(one, "att-01", Rating.GOOD)
    other = copied(one, open_workspace, "other")
    record.answer(one, "att-02", Rating.GOOD)
    record.answer(other, "kv-01", Rating.GOOD)
    for machine in (one, other, one, other):
        sync(machine, shared)
    assert sorted(rows_in(one)) == sorted(rows_in(other)) and len(rows_in(one)) == 3
    assert schedules(one) == schedules(other)
    assert one.store.log.machine != other.store.log.machine


def test_rows_stay_unique_when_the_id_changes(open_workspace: Open) -> None:
    workspace = open_workspace()
    for _ in range(3):
        record.answer(workspace, "att-01", Rating.GOOD)
        machine = workspace.store.renew_machine()
        record.answer(workspace, "att-01", Rating.GOOD)
        assert rows_in(workspace)[-1].split("-")[1] == machine
    assert len(set(rows_in(workspace))) == 6


def test_a_machine_id_that_is_none_becomes_no_file_name(open_workspace: Open, shared: Path) -> None:
    with closing(sqlite3.connect(open_workspace().home.database)) as raw, raw:
        raw.execute("UPDATE meta SET value = '../../pwned' WHERE key = 'machine'")
    workspace = open_workspace()
    record.answer(workspace, "att-01", Rating.GOOD)
    done = sync(workspace, shared)
    assert done.renewed and done.file.parent == shared and is_machine(done.file.stem)
    assert [path.name for path in shared.iterdir()] == [done.file.name]


@pytest.mark.parametrize(
    "name", ["{} (conflicted copy 2026-06-01).jsonl", "{}.sync-conflict-20260601-120000-ABCDEFG.jsonl", "{} 2.jsonl"]
)
def test_conflict_copies_of_file_sync_tools_are_read(open_workspace: Open, shared: Path, name: str) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    record.answer(one, "att-01", Rating.GOOD)
    file = sync(one, shared).file
    before = file.read_bytes()
    record.answer(one, "att-02", Rating.GOOD)
    sync(one, shared)
    conflicted = file.rename(shared / name.format(file.stem))
    file.write_bytes(before)
    assert sync(other, shared).received == 2
    assert sync(other, shared).written == 1, "a conflict copy may be deleted: what only it holds is kept elsewhere too"
    sync(one, shared)
    conflicted.unlink()
    assert ids_in(file) == set(rows_in(one)) == set(rows_in(other))


def test_what_cannot_be_read_is_named_and_the_rest_is_merged(open_workspace: Open, shared: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    for card in ("att-01", "att-02"):
        record.answer(one, card, Rating.GOOD)
    file = sync(one, shared).file
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    (shared / "garbage.jsonl").write_bytes(b"\x00\xff" * 100)
    (shared / "folder.jsonl").mkdir()
    (shared / ".hidden.jsonl").write_text("nonsense")
    done = sync(other, shared)
    assert done.received == 1 and len(done.faults) == 3
    assert f"{file}:2: no line of a review log" in "".join(done.faults)
    assert "1 of 2 rows cannot be used, the others are" in "".join(done.faults)
    assert "folder.jsonl is no file" in "".join(done.faults)
    assert file.read_bytes() == whole[:-20], "the file of another machine is left as it is"
    file.write_bytes(whole)
    assert sync(other, shared).received == 1


def test_the_own_file_is_mended_and_what_was_unreadable_in_it_kept(open_workspace: Open, shared: Path) -> None:
    workspace = open_workspace()
    for card in ("att-01", "att-02"):
        record.answer(workspace, card, Rating.GOOD)
    file = sync(workspace, shared).file
    file.write_bytes(broken := file.read_bytes()[:-20])
    assert len(sync(workspace, shared).faults) == 1
    assert ids_in(file) == set(rows_in(workspace))
    assert (shared / f"{file.name}.unreadable-1").read_bytes() == broken
    assert sync(workspace, shared).faults == ()


def test_a_row_of_a_newer_program_does_not_stop_the_others(open_workspace: Open, shared: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    record.answer(one, "att-01", Rating.GOOD)
    file = sync(one, shared).file
    newer = {**json.loads(file.read_text()), "id": "newer-1", "kind": "dream"}
    with file.open("a") as more:
        more.write(json.dumps(newer) + "\n")
    done = sync(other, shared)
    assert done.received == 1 and len(done.faults) == 1 and "a newer attn may have written it" in done.faults[0]


def test_a_row_that_differs_is_named_and_ours_stays(open_workspace: Open, shared: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    record.answer(one, "att-01", Rating.GOOD)
    file = sync(one, shared).file
    sync(other, shared)
    file.write_text(file.read_text().replace('"rating": 3', '"rating": 1'))
    done = sync(other, shared)
    assert len(done.faults) == 1 and f"{file}:1: row {rows_in(one)[0]} is here with another content" in done.faults[0]
    assert [row.payload["rating"] for row in other.store.log.everything()] == [3]
    done = sync(one, shared)
    assert done.renewed and done.file != file, "somebody else writes to the file that bears our id"


def test_an_own_row_that_others_would_refuse_is_named_and_not_written(open_workspace: Open, shared: Path) -> None:
    workspace = open_workspace()
    record.answer(workspace, "att-01", Rating.GOOD, details={"note": "x" * 100_000})
    record.answer(workspace, "att-02", Rating.GOOD)
    done = sync(workspace, shared)
    assert done.written == 1 and len(done.left_out) == 1 and "payload.note: it is too large" in done.left_out[0]


def test_parts_of_dead_runs_are_ignored_and_removed(open_workspace: Open, shared: Path) -> None:
    workspace = open_workspace()
    record.answer(workspace, "att-01", Rating.GOOD)
    own = f"{workspace.store.log.machine}.jsonl"
    dead, alive = shared / f".{own}.0badc0de.part", shared / f".{own}.cafebabe.part"
    for part in (dead, alive):
        part.write_text("half a li")
    os.utime(dead, (1_000_000, 1_000_000))
    assert sync(workspace, shared).faults == ()
    assert not dead.exists() and alive.exists(), "another run may be writing the younger one"


def test_a_link_in_the_folder_leads_nowhere(open_workspace: Open, shared: Path, tmp_path: Path) -> None:
    workspace = open_workspace()
    record.answer(workspace, "att-01", Rating.GOOD)
    (tmp_path / "elsewhere").write_text("")
    own = shared / f"{workspace.store.log.machine}.jsonl"
    own.symlink_to(tmp_path / "elsewhere")
    sync(workspace, shared)
    assert (tmp_path / "elsewhere").read_text() == "" and not own.is_symlink()
    assert ids_in(own) == set(rows_in(workspace))


def interleaved(monkeypatch: pytest.MonkeyPatch, other: Callable[[], object]) -> None:
    """Has `other` happen once, after the folder was read and before the own file gets its name."""
    leave, calls = sync_module._leave, [other]

    def meanwhile(*arguments: object) -> object:
        if calls:
            calls.pop()()
        return leave(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(sync_module, "_leave", meanwhile)


def test_two_clones_that_sync_at_once_lose_nothing(
    open_workspace: Open, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = open_workspace("one")
    record.answer(one, "att-01", Rating.GOOD)
    other = copied(one, open_workspace, "other")
    record.answer(one, "att-02", Rating.GOOD)
    record.answer(other, "kv-01", Rating.GOOD)
    interleaved(monkeypatch, lambda: sync(other, shared))
    sync(one, shared)
    for machine in (one, other, one, other):
        sync(machine, shared)
    assert sorted(rows_in(one)) == sorted(rows_in(other)) and len(rows_in(one)) == 3


def test_two_runs_on_one_home_lose_nothing(open_workspace: Open, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = open_workspace("one"), open_workspace("one")
    record.answer(first, "att-01", Rating.GOOD)

    def meanwhile() -> None:
        record.answer(second, "att-02", Rating.GOOD)
        sync(second, shared)

    interleaved(monkeypatch, meanwhile)
    assert sync(first, shared).written == 2
    assert [ids_in(path) for path in shared.iterdir()] == [set(rows_in(first))]


def test_a_folder_that_never_rests_is_given_up(
    open_workspace: Open, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = open_workspace()
    record.answer(workspace, "att-01", Rating.GOOD)
    stamps = iter(range(10**6))
    monkeypatch.setattr(sync_module, "stamp_of", lambda path: (next(stamps), 0, 0))
    with pytest.raises(EnvironmentFailure, match="keep writing"):
        sync(workspace, shared)
    assert list(shared.iterdir()) == []


def test_no_room_in_the_folder_leaves_the_own_file_as_it_was(
    open_workspace: Open, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = open_workspace()
    record.answer(workspace, "att-01", Rating.GOOD)
    file = sync(workspace, shared).file
    before = file.read_bytes()
    record.answer(workspace, "att-02", Rating.GOOD)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EnvironmentFailure, match="free some disk space"):
        sync(workspace, shared)
    assert file.read_bytes() == before and [path.name for path in shared.iterdir()] == [file.name]


def test_a_folder_inside_that_bears_our_name_is_left_alone(open_workspace: Open, shared: Path) -> None:
    workspace = open_workspace()
    record.answer(workspace, "att-01", Rating.GOOD)
    (shared / f"{workspace.store.log.machine}.jsonl").mkdir()
    done = sync(workspace, shared)
    assert done.renewed and done.written == 1 and len(done.faults) == 1
    shutil.rmtree(shared)


def test_the_export_of_one_is_the_import_of_the_other(open_workspace: Open, shared: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    record.answer(one, "att-01", Rating.GOOD)
    file = sync(one, shared).file
    assert merge_logs.import_file(other, file).new == 1
    assert sync(other, shared).written == 0, "what another machine keeps here is not kept twice"
