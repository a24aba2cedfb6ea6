"""Sync machines and import logs, even after copies, restores, interruptions and damaged files."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fsrs
import pytest

from attncli.domain import log_row
from attncli.domain.log_row import LogRow, Rating, RowKind, Schedule
from attncli.errors import EnvironmentFailure, UsageError
from attncli.i18n import Localised
from attncli.paths import write_bytes
from attncli.practice import record
from attncli.practice import sync as sync_module
from attncli.practice.backups import write_copy
from attncli.practice.doctor import database_health
from attncli.practice.record import take_back
from attncli.practice.stats import progress
from attncli.practice.sync import ahead_in_words, read_log, restore, sync
from attncli.practice.workspace import Workspace
from moved_clock import Clock

from .conftest import Open

Act = Callable[[Workspace], object]
CARDS = ["att-01", "kv-01"]
STORED = {"check": "stable", "record": "case", "profile": "large", "draws": [2], "values": [["bool", [1], "AQ=="]]}
FUTURE = datetime(2100, 1, 1, 10, tzinfo=UTC)
ROW: dict[str, Any] = {"id": "x-1", "machine": "x", "kind": "review", "subject": "att-01", "payload": {"rating": 3}}
ROW |= {"at": "2026-06-01T10:00:00Z", "day": 739768}
NO_ROWS = [
    *("not json", "[]", "null", '{"id": NaN}', "[" * 100_000, json.dumps(ROW)[:-1] + ', "id": "x-2"}'),
    *(json.dumps(ROW).replace('"rating": 3', f'"rating": 3, "x": {number}') for number in ("1e999", "Infinity")),
    json.dumps({key: value for key, value in ROW.items() if key != "at"}),
]


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


def test_nothing_is_written_where_nothing_is_new(open_workspace: Open, shared: Path) -> None:
    one, other, third = (open_workspace(name) for name in ("one", "other", "third"))
    record.answer(one, "att-01", Rating.GOOD)
    file = sync(one, shared).file
    before = file.stat()
    assert sync(one, shared).written == 1
    sync(other, shared)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [path.name for path in shared.iterdir()] == [file.name]
    assert sync_module.import_file(third, file).new == 1, "the export of one is the import of the other"
    assert sync(third, shared).received == 0 and schedules(third) == schedules(one)
    with pytest.raises(UsageError, match=r"there is no folder .*create it"):
        sync(one, shared / "nowhere")


def test_what_a_backup_lacks_comes_back_from_the_folder(workspace: Workspace, shared: Path, tmp_path: Path) -> None:
    monday = tmp_path / "monday.jsonl"
    record.answer(workspace, "att-01", Rating.GOOD)
    write_copy(workspace.store.log.everything(), monday)
    for card in ("att-02", "kv-01", "kv-02"):
        record.answer(workspace, card, Rating.GOOD)
    before, machine, file = rows_in(workspace), workspace.store.history.machine, sync(workspace, shared).file
    done = restore(workspace, monday)
    restore(workspace, monday)  # within the same second
    assert done.missing == 3 and rows_in(workspace) == before[:1]
    assert done.kept and ids_in(done.kept) == set(before), "the second restore keeps what the first one kept"
    assert sync(workspace, shared).received == 3
    assert rows_in(workspace) == before and ids_in(file) == set(before)
    record.answer(workspace, "att-01", Rating.GOOD)
    assert workspace.store.history.machine != machine and sync(workspace, shared).file != file


def test_a_row_written_during_a_restore_is_kept(open_workspace: Open, tmp_path: Path, monkeypatch: Any) -> None:
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
def test_a_sync_that_breaks_off_loses_no_row(open_workspace: Open, shared: Path, monkeypatch: Any, writes: int) -> None:
    one = diverged(open_workspace, lambda workspace: sync(workspace, shared))
    before, left = ids_in_folder(shared), [None] * writes

    def write(path: Path, content: bytes) -> None:
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        left.pop()
        write_bytes(path, content)

    monkeypatch.setattr("attncli.practice.sync.write_bytes", write)
    with nullcontext() if writes == 2 else pytest.raises(EnvironmentFailure, match="free some disk space"):
        sync(one, shared)
    assert before <= ids_in_folder(shared)


def test_the_cache_of_another_history_or_home_is_made_anew(open_workspace: Open) -> None:
    caches: list[bytes] = []

    def keep(workspace: Workspace) -> None:
        workspace.store.close()
        caches.append(workspace.home.database.read_bytes())

    with diverged(open_workspace, keep) as one, open_workspace("other") as other:
        rows = rows_in(one)
    shutil.copy(one.home.database, other.home.database)
    assert rows_in(open_workspace("other")) == []
    one.home.database.write_bytes(caches[0])  # it knows another file of the same size
    assert rows_in(open_workspace("one")) == rows


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
    said = "".join(map(str, done.faults))
    assert done.received == 1 and len(done.faults) == 3
    assert f"{file}:2: " in said and "folder.jsonl is not a file" in said and "skipped 1 of 2 rows" in said
    assert file.read_bytes() == whole[:-20], "the file of another machine is left as it is"
    sync(one, shared)
    assert file.read_bytes() == whole and sync(other, shared).received == 1
    assert database_health(other.home).damages == ()


def test_a_row_whose_checksum_does_not_fit_is_named_and_left_out(open_workspace: Open, shared: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    for card in ("att-01", "att-02"):
        record.answer(one, card, Rating.GOOD)
    file = sync(one, shared).file
    file.write_bytes(file.read_bytes().replace(b'"rating":3', b'"rating":1', 1))
    shutil.copy(file, shared / "copy.jsonl")
    done = sync(other, shared)
    assert ratings(other) == [3] and f"{file}:1: " in "".join(map(str, done.faults))
    (shared / "copy.jsonl").unlink()
    sync(one, shared)
    assert sync(other, shared).faults == () and ratings(other) == [3, 3]
    assert database_health(other.home).damages == (), "no damaged file is taken into the history"
    file = shared / "backup.jsonl"
    write_copy(one.store.log.everything(), file)
    file.write_bytes(file.read_bytes().replace(b'"rating":3', b'"rating":1', 1))
    restored = restore(one, file)
    assert ratings(one) == [3] and restored.missing == 1 and len(restored.faults) == 1


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
    own = shared / f".{workspace.store.history.machine}.jsonl"
    dead, alive = (own.with_name(f"{own.name}.{run}.part") for run in ("0badc0de", "cafebabe"))
    for part in (dead, alive):
        part.write_text("half a li")
    os.utime(dead, (1_000_000, 1_000_000))
    assert sync(workspace, shared).faults == ()
    assert not dead.exists() and alive.exists(), "another run may be writing the younger one"


def test_without_room_the_own_file_stays(workspace: Workspace, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record.answer(workspace, "att-01", Rating.GOOD)
    file = sync(workspace, shared).file
    before = file.read_bytes()
    record.answer(workspace, "att-02", Rating.GOOD)
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", no_room)
        with pytest.raises(EnvironmentFailure, match="free some disk space"):
            sync(workspace, shared)
    assert file.read_bytes() == before and [path.name for path in shared.iterdir()] == [file.name]
    file.unlink()
    file.mkdir()
    with pytest.raises(UsageError, match=rf"cannot write .*{file.name}"):
        sync(workspace, shared)
    assert len(rows_in(workspace)) == 2


def no_room(handle: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def lines_in(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write(workspace: Workspace, path: Path) -> Path:
    sync_module.write_lines(path, sync_module.exported(workspace, []))
    return path


def test_a_log_goes_out_and_in_again_unchanged(open_workspace: Open, tmp_path: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    for rating in (Rating.GOOD, Rating.EASY):
        record.answer(one, "att-01", rating)
    take_back(one)
    record.hold(one, RowKind.SUSPEND, "att-02")
    record.answer(one, "att-03", Rating.HARD, details={"mood": {"words": ["line\u2028 separator, 中文", None, 0.5]}})
    file = write(one, tmp_path / "log.jsonl")
    assert sync_module.import_file(other, file).new == 5
    assert sync_module.import_file(other, file).new == 0, "twice is once"
    assert list(other.store.log.everything()) == list(one.store.log.everything())
    assert schedules(other) == schedules(one) and other.store.schedules.hold("att-02") == (True, 0)
    assert progress(other).reviews == 2


def test_what_is_done_with_challenges_says_nothing_about_a_card(workspace: Workspace, tmp_path: Path) -> None:
    answered = record.answer(workspace, "att-01", Rating.GOOD)
    acts = {"hint": {"number": 1}, "start": {}, "solution": {}, "attempt": {"verdict": "accepted"}, "tag": {}}
    for kind, payload in acts.items():
        file = lines_in(tmp_path / "log.jsonl", {**ROW, "id": kind, "kind": kind, "payload": payload})
        assert sync_module.import_file(workspace, file).new == 1
        assert workspace.store.schedules.get("att-01") == answered.schedule, kind
    workspace.derive_all()
    assert workspace.store.schedules.get("att-01") == answered.schedule


def test_rows_of_unknown_cards_and_fits_of_other_machines_are_used(open_workspace: Open, tmp_path: Path) -> None:
    workspace = open_workspace(fuzz=False)
    record.answer(workspace, "att-01", Rating.EASY)
    before = schedules(workspace)["att-01"]
    weights = [*fsrs.scheduler.DEFAULT_PARAMETERS]
    weights[3] = 20.0
    fit = {**ROW, "id": "x-2", "kind": RowKind.FIT, "subject": "", "payload": {"parameters": weights}}
    file = lines_in(tmp_path / "log.jsonl", {**ROW, "subject": "elsewhere-7"}, fit)
    assert sync_module.import_file(workspace, file).new == 2
    assert schedules(workspace)["elsewhere-7"].repetitions == 1
    assert schedules(workspace)["att-01"].stability_days == 20.0 != before.stability_days
    assert workspace.policy.parameters == tuple(weights)


def attempts(*details: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"kind": "attempt", "payload": {"verdict": "accepted", **detail}} for detail in details]


NO_FIELDS: list[dict[str, Any]] = [
    *({"id": id} for id in ("", "x" * 500, "\ud800", "a\u202eb")),
    *({"at": at} for at in ("2026-06-01T10:00:00", "9999-12-31T23:59:59Z", 5)),
    *({"day": day} for day in ("today", True, 10**30, 739768 + 40)),
    *({"payload": payload} for payload in ([], {}, {"rating": 5}, {"rating": True}, {"rating": 3.0})),
    *({"payload": {"rating": 3, **more}} for more in ({"points": "all"}, {"elapsed_ms": 10**30}, {"correct": 1})),
    {"payload": {"rating": 3, "more": "x" * 20_000}},
    {"payload": {"rating": 3, "more": [[[[[[[[[1]]]]]]]]]}},
    {"payload": {"rating": 3, **{str(n): n for n in range(70)}}},
    *({"kind": "unheard-of"}, {"machine": "a\x1b[31m"}, {"subject": ""}, {"kind": "undo", "payload": {}}),
    *({"kind": "hint", "payload": {"number": "1"}}, {"kind": "start", "payload": {"bug": 5}}),
    *({"kind": "fit", "payload": {"parameters": weights}} for weights in ([1, 2, 3], ["a"] * 21, [1e9] * 21)),
    *attempts({"verdict": "maybe"}, {"seconds": -1}, {"sha256": "A" * 64}, {"source": 5}, {"source": "\x1b[31m"}),
    *attempts({"checks": [5]}, {"diagnosis": "x"}, {"stored": 5}, {"stored": [5]}),
    *attempts(*({"stored": [{**STORED, "draws": draws}]} for draws in ([20_000], [1] * 5000))),
    *attempts({"stored": [{**STORED, "check": "unheard-of"}]}, {"stored": [{**STORED, "more": 1}]}),
    *attempts({"stored": [{**STORED, "record": "__import__('os')"}]}),
    *attempts({"stored": [{**STORED, "values": [["float32", [10**6, 10**6], ""]]}]}),
    *attempts(*({"stored": [{**STORED, "values": [["float32", [1], text]]}]} for text in ("AAAA", "!!!!!!=="))),
]


def test_a_line_that_is_no_row_is_named_and_nothing_is_merged(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    for line in (*NO_ROWS, *(json.dumps({**ROW, **fields}) for fields in NO_FIELDS)):
        file.write_text(json.dumps(ROW) + "\n" + line + "\n", encoding="utf-8", errors="surrogatepass")
        with pytest.raises(UsageError, match=f"{file}:2: ") as refusal:
            sync_module.import_file(workspace, file)
        assert len(str(refusal.value)) < 600
        assert workspace.store.log.length() == 0, line[:200]


def test_files_of_another_encoding_are_refused_and_of_another_system_read(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    with pytest.raises(UsageError, match=r"there is no file .*log\.jsonl"):
        sync_module.import_file(workspace, file)
    for content in (b"\xff\xfe\x00", json.dumps(ROW).encode("utf-16"), b"\x00" * 100):
        file.write_bytes(content)
        with pytest.raises(UsageError, match=rf"{file}:1: not a history row \("):
            sync_module.import_file(workspace, file)
    for number, form in enumerate(("{}\n", "{}", "\ufeff{}\n", "{}\r\n", "\n\n  \n{}\n\n")):
        file.write_bytes(form.format(json.dumps({**ROW, "id": f"x-{number}"})).encode())
        assert sync_module.import_file(workspace, file).new == 1, form


def test_a_line_that_is_too_long_is_not_read_whole(workspace: Workspace, tmp_path: Path, monkeypatch: Any) -> None:
    for module in (log_row, sync_module):
        monkeypatch.setattr(module, "LONGEST_LINE", 1000)
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps({**ROW, "payload": {"rating": 3, "x": "y" * 5000}}) + "\nnonsense\n")
    with pytest.raises(UsageError, match="too long"):
        sync_module.import_file(workspace, file)
    first, second = map(str, read_log(file).faults)
    assert first.startswith(f"{file}:1: ") and second.startswith(f"{file}:2: ")


def test_a_row_with_other_content_is_named_and_nothing_is_merged(workspace: Workspace, tmp_path: Path) -> None:
    file = lines_in(tmp_path / "log.jsonl", ROW, ROW, {**ROW, "subject": "kv-01"})
    with pytest.raises(UsageError, match=rf"{file}:3: row x-1"):
        sync_module.import_file(workspace, file)
    assert workspace.store.log.length() == 0
    sync_module.import_file(workspace, lines_in(file, ROW))
    lines_in(file, {**ROW, "id": "x-2"}, {**ROW, "payload": {"rating": 1}})
    with pytest.raises(UsageError, match=rf"{file}:2: row x-1 differs from the local one; nothing was merged"):
        sync_module.import_file(workspace, file)
    assert [row.payload for row in workspace.store.log.everything()] == [{"rating": 3}]


def test_a_backup_and_the_history_of_another_home_are_imported_like_a_log(open_workspace: Open, tmp_path: Path) -> None:
    one, other, third = (open_workspace(name) for name in ("one", "other", "third"))
    record.answer(one, "att-01", Rating.GOOD)
    record.answer(other, "kv-01", Rating.GOOD)
    write_copy(one.store.log.everything(), tmp_path / "one.jsonl")
    assert sync_module.import_file(other, tmp_path / "one.jsonl") == sync_module.Imported(1)
    assert sync_module.import_file(other, tmp_path / "one.jsonl") == sync_module.Imported(0)
    assert set(schedules(other)) == {"att-01", "kv-01"}
    take_back(one)
    assert sync_module.import_file(third, one.store.history.folder).new == 2
    assert list(third.store.log.everything()) == list(one.store.log.everything())


def test_a_folder_is_imported_whole_or_not_at_all(open_workspace: Open, tmp_path: Path) -> None:
    one, two, other = (open_workspace(name) for name in ("one", "two", "other"))
    folder = tmp_path / "logs"
    folder.mkdir()
    for workspace, card in ((one, "att-01"), (two, "kv-01")):
        record.answer(workspace, card, Rating.GOOD)
        write(workspace, folder / f"{card}.jsonl")
    bad = folder / "z.jsonl"
    bad.write_text("nonsense\n")
    with pytest.raises(UsageError, match=f"{bad}:1: .*nothing was merged"):
        sync_module.import_file(other, folder)
    assert other.store.log.length() == 0
    bad.unlink()
    before = len(other.store.history.files())
    assert sync_module.import_file(other, folder).new == 2 and len(other.store.history.files()) == before + 1
    assert set(schedules(other)) == {"att-01", "kv-01"}


def test_a_row_that_no_import_would_take_does_not_keep_the_others_out(open_workspace: Open, tmp_path: Path) -> None:
    one, other, left_out = open_workspace("one"), open_workspace("other"), list[Localised]()
    record.answer(one, "att-01", Rating.GOOD, details={"note": "x" * 100_000})
    record.answer(one, "att-02", Rating.GOOD)
    sync_module.write_lines(tmp_path / "log.jsonl", sync_module.exported(one, left_out))
    assert sync_module.import_file(other, tmp_path / "log.jsonl").new == 1
    (said,) = map(str, left_out)
    assert said == f"row {next(one.store.log.everything()).id}: payload.note: it is too large"


def test_where_nothing_can_be_written_the_old_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tmp_path / "nowhere" / "log.jsonl"
    for place, remedy in ((missing, "choose another location"), (tmp_path, "give a file, not a folder")):
        with pytest.raises(UsageError, match=remedy):
            sync_module.write_lines(place, ["x"])
    file = tmp_path / "log.jsonl"
    file.write_text("old")
    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(EnvironmentFailure, match=r"cannot write .*log.jsonl \(No space left.*free some disk space"):
        sync_module.write_lines(file, ["new"])
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"] and file.read_text() == "old"


def test_rows_from_the_future_are_named_until_they_are_taken_back(workspace: Workspace, moving_clock: Clock) -> None:
    now = workspace.clock()
    assert ahead_in_words(workspace) == []
    moving_clock.now = FUTURE
    for card in ("att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"):
        record.answer(workspace, card, Rating.EASY)
    moving_clock.now = now
    said = ahead_in_words(workspace)
    assert "the review of kv-03 is dated 2100-01-01 10:00Z" in str(said[0]) and str(said[5]) == "1 more"
    assert str(said[6]) == "it counts from that time on; if this clock is wrong, set it"
    take_back(workspace)
    record.answer(workspace, "att-01", Rating.GOOD)
    assert len(ahead_in_words(workspace)) == 6
    moving_clock.now = FUTURE
    record.answer(workspace, "att-01", Rating.GOOD)
    assert ahead_in_words(workspace) == []
