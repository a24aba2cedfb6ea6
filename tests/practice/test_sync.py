"""Sync machines through a shared folder, even after copies, restores, interruptions and damaged files."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from attncli.domain.log_row import LogRow, Rating, Schedule
from attncli.errors import EnvironmentFailure, UsageError
from attncli.paths import write_bytes
from attncli.practice import record
from attncli.practice import sync as sync_module
from attncli.practice.backups import write_copy
from attncli.practice.doctor import database_health
from attncli.practice.sync import read_log, restore, sync
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]
Act = Callable[[Workspace], object]


def schedules(workspace: Workspace) -> dict[str, Schedule]:
    return dict(workspace.store.schedules.all())


def rows_in(workspace: Workspace) -> list[str]:
    return [row.id for row in workspace.store.log.everything()]


def ratings(workspace: Workspace) -> list[int]:
    return [row.rating for row in workspace.store.log.everything()]


def ids_in(file: Path) -> set[str]:
    log = read_log(file)
    assert not log.faults
    return {row.id for row in log.rows}


def ids_in_folder(folder: Path) -> set[str]:
    return set().union(*map(ids_in, folder.glob("*.jsonl")))


def copied(workspace: Workspace, open_workspace: Open, name: str) -> Workspace:
    """Copy the home of `workspace` to another folder, and open it."""
    shutil.copytree(workspace.home.root / "history", workspace.home.root.with_name(name) / "history")
    shutil.copy(workspace.home.root / "machine.json", workspace.home.root.with_name(name))
    return open_workspace(name)


def diverged(open_workspace: Open, then: Act = lambda workspace: None) -> Workspace:
    """Roll a home back before its second answer (and `then`), and answer another card under the same machine id."""
    with open_workspace("one") as one:
        record.answer(one, "att-01", Rating.GOOD)
        home = one.home.root
    image = shutil.copytree(home, home.with_name("image"))
    with open_workspace("one") as one:
        record.answer(one, "att-02", Rating.EASY)
        then(one)
    shutil.rmtree(home)
    image.rename(home)
    one = open_workspace("one")
    record.answer(one, "att-03", Rating.GOOD)
    return one


def test_a_shared_folder_brings_three_machines_together(open_workspace: Open, shared: Path) -> None:
    machines = [open_workspace(name) for name in "abc"]
    for number, machine in enumerate(machines):
        for _ in range(number + 1):
            record.answer(machine, "att-01", Rating.GOOD)
    for machine in [*machines, *machines]:
        sync(machine, shared)
    assert {machine.store.log.length() for machine in machines} == {6}
    assert len({str(schedules(machine)) for machine in machines}) == 1
    assert sorted(path.name for path in shared.iterdir()) == sorted(
        f"{m.store.history.machine}.jsonl" for m in machines
    )
    assert sync(machines[0], shared).received == 0


def test_nothing_is_written_where_nothing_is_new(open_workspace: Open, shared: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    record.answer(one, "att-01", Rating.GOOD)
    file = sync(one, shared).file
    before = file.stat()
    assert sync(one, shared).written == 1
    sync(other, shared)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [path.name for path in shared.iterdir()] == [file.name]


def test_a_folder_that_is_not_there_is_named(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no folder .*create it"):
        sync(workspace, tmp_path / "nowhere")


def test_what_an_older_backup_lacks_comes_back_from_the_folder(
    workspace: Workspace, shared: Path, tmp_path: Path
) -> None:
    record.answer(workspace, "att-01", Rating.GOOD)
    write_copy(workspace.store.log.everything(), tmp_path / "monday.jsonl")
    for card in ("att-02", "kv-01", "kv-02"):
        record.answer(workspace, card, Rating.GOOD)
    before, machine, file = rows_in(workspace), workspace.store.history.machine, sync(workspace, shared).file
    assert restore(workspace, tmp_path / "monday.jsonl").missing == 3
    assert rows_in(workspace) == before[:1]
    assert sync(workspace, shared).received == 3
    assert rows_in(workspace) == before and ids_in(file) == set(before)
    record.answer(workspace, "att-01", Rating.GOOD)
    assert workspace.store.history.machine != machine and sync(workspace, shared).file != file


def test_a_second_restore_keeps_what_the_first_one_kept(workspace: Workspace, tmp_path: Path) -> None:
    record.answer(workspace, "att-01", Rating.GOOD)
    write_copy(workspace.store.log.everything(), tmp_path / "monday.jsonl")
    record.answer(workspace, "att-02", Rating.GOOD)
    before = set(rows_in(workspace))
    kept = restore(workspace, tmp_path / "monday.jsonl").kept
    restore(workspace, tmp_path / "monday.jsonl")  # within the same second
    assert kept and ids_in(kept) == before


def test_a_row_that_is_written_during_a_restore_is_kept(
    open_workspace: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, app = open_workspace("one"), open_workspace("one")
    record.answer(one, "att-01", Rating.GOOD)
    write_copy(one.store.log.everything(), tmp_path / "monday.jsonl")
    replace, answered = one.store.replace_history, list[str]()

    def meanwhile(rows: list[LogRow], keep: Callable[[], object]) -> None:
        answered.append(record.answer(app, "att-02", Rating.GOOD).row)
        replace(rows, keep)

    monkeypatch.setattr(one.store, "replace_history", meanwhile)
    kept = restore(one, tmp_path / "monday.jsonl").kept
    assert kept and set(answered) <= ids_in(kept) | set(rows_in(one))


def test_a_copied_home_and_its_original_get_to_know_everything(open_workspace: Open, shared: Path) -> None:
    one = open_workspace("one")
    record.answer(one, "att-01", Rating.GOOD)
    other = copied(one, open_workspace, "other")
    record.answer(one, "att-02", Rating.GOOD)
    record.answer(other, "kv-01", Rating.GOOD)
    assert one.store.history.machine != other.store.history.machine
    for machine in (one, other, one, other):
        sync(machine, shared)
    assert sorted(rows_in(one)) == sorted(rows_in(other)) and len(rows_in(one)) == 3
    assert schedules(one) == schedules(other)


def test_a_home_that_was_rolled_back_loses_nothing_that_is_in_the_folder(open_workspace: Open, shared: Path) -> None:
    one, other = diverged(open_workspace, lambda workspace: sync(workspace, shared)), open_workspace("other")
    for machine in (one, other, one):
        sync(machine, shared)
    assert sorted(rows_in(one)) == sorted(rows_in(other)) and len(rows_in(one)) == 3


def test_rows_that_only_another_version_of_a_file_holds_are_published(open_workspace: Open, shared: Path) -> None:
    others: list[Workspace] = []
    one = diverged(open_workspace, lambda workspace: others.append(copied(workspace, open_workspace, "other")))
    for machine in (one, *others, one, *others):
        sync(machine, shared)
    assert set(rows_in(one)) == set(rows_in(others[0])) == ids_in_folder(shared) and len(rows_in(one)) == 3
    files = sorted(path.name for path in shared.iterdir())
    for machine in (one, *others):
        sync(machine, shared)
    assert sorted(path.name for path in shared.iterdir()) == files


@pytest.mark.parametrize("writes", range(3))
def test_a_sync_that_breaks_off_takes_no_row_out_of_the_folder(
    open_workspace: Open, shared: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    one = diverged(open_workspace, lambda workspace: sync(workspace, shared))
    before, left = ids_in_folder(shared), [None] * writes

    def write(path: Path, content: bytes) -> None:
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        left.pop()
        write_bytes(path, content)

    monkeypatch.setattr("attncli.practice.sync.write_bytes", write)
    if writes < 2:
        with pytest.raises(EnvironmentFailure, match="free some disk space"):
            sync(one, shared)
    else:
        sync(one, shared)
    assert before <= ids_in_folder(shared)


def test_a_cache_that_knows_another_file_of_the_same_size_is_made_anew(open_workspace: Open) -> None:
    caches: list[bytes] = []

    def keep(workspace: Workspace) -> None:
        workspace.store.close()
        caches.append(workspace.home.database.read_bytes())

    one = diverged(open_workspace, keep)
    rows, home = rows_in(one), one.home
    one.close()
    home.database.write_bytes(caches[0])
    assert rows_in(open_workspace("one")) == rows


def test_the_cache_of_another_home_is_made_anew(open_workspace: Open) -> None:
    with open_workspace("one") as one, open_workspace("other") as other:
        record.answer(one, "att-01", Rating.GOOD)
    shutil.copy(one.home.database, other.home.database)
    assert rows_in(open_workspace("other")) == []


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
    conflicted.unlink()
    assert ids_in_folder(shared) == set(rows_in(other)), "what the conflict copy held is in the folder elsewhere too"
    sync(one, shared)
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
    assert f"{file}:2: " in "".join(map(str, done.faults)) and "folder.jsonl is not a file" in "".join(
        map(str, done.faults)
    )
    assert "skipped 1 of 2 rows" in "".join(map(str, done.faults))
    assert file.read_bytes() == whole[:-20], "the file of another machine is left as it is"
    sync(one, shared)
    assert file.read_bytes() == whole and sync(other, shared).received == 1
    assert database_health(other.home).damages == ()


def test_a_row_whose_checksum_does_not_fit_is_named_and_left_out(open_workspace: Open, shared: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    for card in ("att-01", "att-02"):
        record.answer(one, card, Rating.GOOD)
    file = sync(one, shared).file
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"rating":3', b'"rating":1', 1))
    shutil.copy(file, shared / "copy.jsonl")
    done = sync(other, shared)
    assert ratings(other) == [3] and f"{file}:1: " in "".join(map(str, done.faults))
    (shared / "copy.jsonl").unlink()
    sync(one, shared)
    assert sync(other, shared).faults == () and ratings(other) == [3, 3]
    assert database_health(other.home).damages == (), "no damaged file is taken into the history"


def test_a_file_that_lacks_a_line_does_not_damage_the_history(open_workspace: Open, shared: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    for card in ("att-01", "att-02", "att-03"):
        record.answer(one, card, Rating.GOOD)
    file = sync(one, shared).file
    first, _, last = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + last)
    assert sync(other, shared).received == 2
    for machine in (one, other):
        sync(machine, shared)
    assert rows_in(other) == rows_in(one) and database_health(other.home).damages == ()


def test_a_backup_whose_checksum_does_not_fit_is_not_restored(workspace: Workspace, tmp_path: Path) -> None:
    for card in ("att-01", "att-02"):
        record.answer(workspace, card, Rating.GOOD)
    file = tmp_path / "backup.jsonl"
    write_copy(workspace.store.log.everything(), file)
    file.write_bytes(file.read_bytes().replace(b'"rating":3', b'"rating":1', 1))
    done = restore(workspace, file)
    assert ratings(workspace) == [3] and done.missing == 1 and len(done.faults) == 1


def test_a_row_that_differs_is_named_and_ours_stays(open_workspace: Open, shared: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    record.answer(one, "att-01", Rating.GOOD)
    file = sync(one, shared).file
    sync(other, shared)
    log = file.with_name("log.jsonl")  # an export has no checksums
    sync_module.write_lines(log, sync_module.exported(one, []))
    log.write_text(log.read_text().replace('"rating": 3', '"rating": 1'))
    done = sync(other, shared)
    assert len(done.faults) == 1 and f"{log}:1: row {rows_in(one)[0]} differs from the local one" in str(done.faults[0])
    assert ratings(other) == [3]


def test_parts_of_dead_runs_are_ignored_and_removed(workspace: Workspace, shared: Path) -> None:
    record.answer(workspace, "att-01", Rating.GOOD)
    own = f"{workspace.store.history.machine}.jsonl"
    dead, alive = shared / f".{own}.0badc0de.part", shared / f".{own}.cafebabe.part"
    for part in (dead, alive):
        part.write_text("half a li")
    os.utime(dead, (1_000_000, 1_000_000))
    assert sync(workspace, shared).faults == ()
    assert not dead.exists() and alive.exists(), "another run may be writing the younger one"


def test_no_room_in_the_folder_leaves_the_own_file_as_it_was(
    workspace: Workspace, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.answer(workspace, "att-01", Rating.GOOD)
    file = sync(workspace, shared).file
    before = file.read_bytes()
    record.answer(workspace, "att-02", Rating.GOOD)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EnvironmentFailure, match="free some disk space"):
        sync(workspace, shared)
    assert file.read_bytes() == before and [path.name for path in shared.iterdir()] == [file.name]


def test_a_folder_in_place_of_the_own_file_is_named(workspace: Workspace, shared: Path) -> None:
    record.answer(workspace, "att-01", Rating.GOOD)
    (shared / f"{workspace.store.history.machine}.jsonl").mkdir()
    with pytest.raises(UsageError, match=rf"cannot write .*{workspace.store.history.machine}.jsonl"):
        sync(workspace, shared)
    assert len(rows_in(workspace)) == 1


def test_the_export_of_one_is_the_import_of_the_other(open_workspace: Open, shared: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    record.answer(one, "att-01", Rating.GOOD)
    file = sync(one, shared).file
    assert sync_module.import_file(other, file).new == 1
    assert sync(other, shared).received == 0 and schedules(other) == schedules(one)
