"""Merge logs of several machines as a union: the same schedules on every machine, in any order of merging."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.domain import log_row
from attncli.domain.log_row import Rating, RowKind, Schedule
from attncli.errors import EnvironmentFailure, UsageError
from attncli.i18n import Localised
from attncli.practice import record, sync
from attncli.practice.backups import write_copy
from attncli.practice.record import take_back
from attncli.practice.stats import progress
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]
CARDS = ["att-01", "kv-01"]
ROW = {
    "id": "x-1",
    "machine": "x",
    "kind": "review",
    "subject": "att-01",
    "at": "2026-06-01T10:00:00Z",
    "day": 739768,
    "payload": {"rating": 3},
}
STORED = {"check": "stable", "record": "case", "profile": "large", "draws": [2], "values": [["bool", [1], "AQ=="]]}


def schedules(workspace: Workspace) -> dict[str, Schedule]:
    return dict(workspace.store.schedules.all())


def write(workspace: Workspace, path: Path) -> Path:
    sync.write_lines(path, sync.exported(workspace, []))
    return path


def test_a_log_goes_out_and_in_again_unchanged(open_workspace: Open, tmp_path: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    for rating in (Rating.GOOD, Rating.EASY):
        record.answer(one, "att-01", rating)
    take_back(one)
    record.hold(one, RowKind.SUSPEND, "att-02")
    record.answer(one, "att-03", Rating.HARD, details={"note": "line\u2028 separator, 中文"})
    file = write(one, tmp_path / "log.jsonl")
    assert sync.import_file(other, file).new == 5
    assert sync.import_file(other, file).new == 0, "twice is once"
    assert list(other.store.log.everything()) == list(one.store.log.everything())
    assert schedules(other) == schedules(one) and other.store.schedules.hold("att-02") == (True, 0)
    assert progress(other).reviews == 2


@pytest.mark.parametrize(
    ("kind", "payload"),
    [("hint", {"number": 1}), ("start", {}), ("solution", {}), ("attempt", {"verdict": "accepted"}), ("tag", {})],
)
def test_what_is_done_with_challenges_says_nothing_about_a_card(
    workspace: Workspace, tmp_path: Path, kind: str, payload: dict[str, object]
) -> None:
    answered = record.answer(workspace, "att-01", Rating.GOOD)
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps({**ROW, "kind": kind, "payload": payload}) + "\n", encoding="utf-8")
    assert sync.import_file(workspace, file).new == 1
    assert workspace.store.schedules.get("att-01") == answered.schedule
    workspace.derive_all()
    assert workspace.store.schedules.get("att-01") == answered.schedule


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from([*CARDS, "undo"]), st.sampled_from(Rating), st.integers(0, 5000)),
        max_size=10,
    )
)
def test_two_machines_end_up_equal_whichever_merges_first(
    open_workspace: Open, tmp_path_factory: pytest.TempPathFactory, events: list[tuple[int, str, Rating, int]]
) -> None:
    folder = tmp_path_factory.mktemp("machines")
    machines = [open_workspace(str(folder / name)) for name in "ab"]
    for number, subject, rating, minutes in events:
        workspace = machines[number]
        if subject != "undo":
            record.answer(workspace, subject, rating, workspace.clock() - timedelta(minutes=minutes))
        elif workspace.store.log.last_here([RowKind.REVIEW]):
            take_back(workspace)
    logs = [write(machine, folder / f"{number}.jsonl") for number, machine in enumerate(machines)]
    for machine, log in zip(machines, reversed(logs), strict=True):
        sync.import_file(machine, log)
    assert list(machines[0].store.log.everything()) == list(machines[1].store.log.everything())
    assert schedules(machines[0]) == schedules(machines[1])
    machines[0].derive_all()
    assert schedules(machines[0]) == schedules(machines[1])


def test_rows_of_cards_that_no_bank_has_are_kept(open_workspace: Open, tmp_path: Path) -> None:
    workspace = open_workspace()
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps({**ROW, "subject": "elsewhere-7"}) + "\n", encoding="utf-8")
    assert sync.import_file(workspace, file).new == 1
    assert schedules(workspace)["elsewhere-7"].repetitions == 1


def test_a_fit_from_another_machine_is_used_for_all_schedules(open_workspace: Open, tmp_path: Path) -> None:
    import fsrs

    workspace = open_workspace(fuzz=False)
    record.answer(workspace, "att-01", Rating.EASY)
    before = schedules(workspace)["att-01"]
    weights = [*fsrs.scheduler.DEFAULT_PARAMETERS]
    weights[3] = 20.0
    file = tmp_path / "fit.jsonl"
    fit = {**ROW, "kind": RowKind.FIT, "subject": "", "payload": {"parameters": weights}}
    file.write_text(json.dumps(fit), encoding="utf-8")
    sync.import_file(workspace, file)
    assert schedules(workspace)["att-01"].stability_days == 20.0 != before.stability_days
    assert workspace.policy.parameters == tuple(weights)


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[]",
        "null",
        '{"id": NaN}',
        "[" * 100_000,
        json.dumps({k: v for k, v in ROW.items() if k != "at"}),
        *(
            json.dumps({**ROW, **change})
            for change in (
                {"id": ""},
                {"id": "x" * 500},
                {"id": "\ud800"},
                {"kind": "unheard-of"},
                {"at": "2026-06-01T10:00:00"},
                {"at": "9999-12-31T23:59:59Z"},
                {"at": 5},
                {"day": "today"},
                {"day": True},
                {"day": 10**30},
                {"payload": []},
                {"payload": {}},
                {"payload": {"rating": 5}},
                {"payload": {"rating": True}},
                {"kind": "undo", "payload": {}},
                {"kind": "attempt", "payload": {"verdict": "maybe"}},
                {"kind": "fit", "payload": {"parameters": [1, 2, 3]}},
                {"kind": "fit", "payload": {"parameters": ["a"] * 21}},
                {"kind": "fit", "payload": {"parameters": [1e9] * 21}},
                {"machine": "a\x1b[31m"},
                {"id": "a\u202eb"},
                {"subject": ""},
                {"day": 739768 + 40},
                {"payload": {"rating": 3.0}},
                {"payload": {"rating": 3, "points": "all"}},
                {"payload": {"rating": 3, "elapsed_ms": 10**30}},
                {"payload": {"rating": 3, "correct": 1}},
                {"payload": {"rating": 3, "more": "x" * 20_000}},
                {"payload": {"rating": 3, "more": [[[[[[[[[1]]]]]]]]]}},
                {"payload": {"rating": 3, **{str(n): n for n in range(70)}}},
                {"kind": "hint", "payload": {"number": "1"}},
                {"kind": "start", "payload": {"bug": 5}},
                {"kind": "attempt", "payload": {"verdict": "accepted", "seconds": -1}},
            )
        ),
        json.dumps(ROW)[:-1] + ', "id": "x-2"}',
        json.dumps(ROW).replace('"rating": 3', '"rating": 3, "x": 1e999'),
        json.dumps(ROW).replace('"rating": 3', '"rating": 3, "x": Infinity'),
        *(
            json.dumps({**ROW, "kind": "attempt", "payload": {"verdict": "accepted", **change}})
            for change in (
                {"sha256": "A" * 64},
                {"source": 5},
                {"source": "\x1b[31m"},
                {"checks": [5]},
                {"diagnosis": "x"},
                {"stored": 5},
                {"stored": [5]},
                {"stored": [{**STORED, "draws": [20_000]}]},
                {"stored": [{**STORED, "draws": [1] * 5000}]},
                {"stored": [{**STORED, "check": "unheard-of"}]},
                {"stored": [{**STORED, "record": "__import__('os')"}]},
                {"stored": [{**STORED, "values": [["float32", [10**6, 10**6], ""]]}]},
                {"stored": [{**STORED, "values": [["float32", [1], "AAAA"]]}]},
                {"stored": [{**STORED, "values": [["float32", [1], "!!!!!!=="]]}]},
                {"stored": [{**STORED, "more": 1}]},
            )
        ),
    ],
)
def test_a_line_that_is_no_row_is_named_and_nothing_is_merged(workspace: Workspace, tmp_path: Path, line: str) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps(ROW) + "\n" + line + "\n", encoding="utf-8", errors="surrogatepass")
    with pytest.raises(UsageError, match=f"{file}:2: ") as refusal:
        sync.import_file(workspace, file)
    assert len(str(refusal.value)) < 600
    assert workspace.store.log.length() == 0


def test_a_file_that_cannot_be_read_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no file .*missing\.jsonl"):
        sync.import_file(workspace, tmp_path / "missing.jsonl")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", json.dumps(ROW).encode("utf-16"), b"\x00" * 100])
def test_a_file_that_is_no_text_is_refused(workspace: Workspace, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=rf"{file}:1: not a history row \("):
        sync.import_file(workspace, file)


@pytest.mark.parametrize("form", ["{}\n", "{}", "\ufeff{}\n", "{}\r\n", "\n\n  \n{}\n\n"])
def test_a_mark_or_line_ends_of_another_system_do_no_harm(workspace: Workspace, tmp_path: Path, form: str) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(form.format(json.dumps(ROW)).encode())
    assert sync.import_file(workspace, file).new == 1


def test_a_line_that_is_too_long_is_refused_without_being_read_whole(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (log_row, sync):
        monkeypatch.setattr(module, "LONGEST_LINE", 1000)
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps({**ROW, "payload": {"rating": 3, "x": "y" * 5000}}) + "\nnonsense\n")
    with pytest.raises(UsageError, match="too long"):
        sync.import_file(workspace, file)
    assert [str(fault)[:50].partition(": ")[0] for fault in sync.read_log(file).faults] == [
        f"{file}:1"[:50],
        f"{file}:2"[:50],
    ]


def test_a_row_that_is_here_with_other_content_is_named_and_nothing_is_merged(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps(ROW) + "\n")
    sync.import_file(workspace, file)
    lines = [{**ROW, "id": "x-2"}, {**ROW, "payload": {"rating": 1}}]
    file.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(UsageError, match=rf"{file}:2: row x-1 differs from the local one; nothing was merged"):
        sync.import_file(workspace, file)
    assert [row.payload for row in workspace.store.log.everything()] == [{"rating": 3}]


def test_a_row_that_stands_in_a_file_twice_with_other_content_is_named(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps(ROW) + "\n" + json.dumps(ROW) + "\n" + json.dumps({**ROW, "subject": "kv-01"}) + "\n")
    with pytest.raises(UsageError, match=rf"{file}:3: row x-1"):
        sync.import_file(workspace, file)
    assert workspace.store.log.length() == 0


def test_a_backup_is_imported_like_a_log(open_workspace: Open, tmp_path: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    record.answer(one, "att-01", Rating.GOOD)
    record.answer(other, "kv-01", Rating.GOOD)
    write_copy(one.store.log.everything(), tmp_path / "one.jsonl")
    assert sync.import_file(other, tmp_path / "one.jsonl") == sync.Imported(1)
    assert sync.import_file(other, tmp_path / "one.jsonl") == sync.Imported(0)
    assert set(schedules(other)) == {"att-01", "kv-01"}


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
        sync.import_file(other, folder)
    assert other.store.log.length() == 0
    bad.unlink()
    before = len(other.store.history.files())
    assert sync.import_file(other, folder).new == 2 and len(other.store.history.files()) == before + 1
    assert set(schedules(other)) == {"att-01", "kv-01"}


def test_the_history_of_another_home_is_imported_like_a_log(open_workspace: Open) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    record.answer(one, "att-01", Rating.GOOD)
    take_back(one)
    assert sync.import_file(other, one.store.history.folder).new == 2
    assert list(other.store.log.everything()) == list(one.store.log.everything())


def test_an_unknown_key_of_a_payload_is_kept_and_travels_on(open_workspace: Open, tmp_path: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    file = tmp_path / "log.jsonl"
    newer = {**ROW, "payload": {"rating": 3, "mood": {"words": ["fine", None, 0.5]}}}
    file.write_text(json.dumps(newer))
    sync.import_file(one, file)
    sync.import_file(other, write(one, file))
    assert [row.payload for row in other.store.log.everything()] == [newer["payload"]]


def test_a_row_that_no_import_would_take_does_not_keep_the_others_out(open_workspace: Open, tmp_path: Path) -> None:
    one, other, left_out = open_workspace("one"), open_workspace("other"), list[Localised]()
    record.answer(one, "att-01", Rating.GOOD, details={"note": "x" * 100_000})
    record.answer(one, "att-02", Rating.GOOD)
    sync.write_lines(tmp_path / "log.jsonl", sync.exported(one, left_out))
    assert sync.import_file(other, tmp_path / "log.jsonl").new == 1
    assert [str(row) for row in left_out] == [
        f"row {next(one.store.log.everything()).id}: payload.note: it is too large"
    ]


def test_a_place_that_cannot_be_written_is_named(workspace: Workspace, tmp_path: Path) -> None:
    for place, remedy in (
        (tmp_path / "nowhere" / "log.jsonl", "choose another location"),
        (tmp_path, "give a file, not a folder"),
    ):
        with pytest.raises(UsageError, match=remedy):
            sync.write_lines(place, ["x"])


def test_no_room_for_an_export_is_no_misuse_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "log.jsonl"
    file.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EnvironmentFailure, match=r"cannot write .*log.jsonl \(No space left.*free some disk space"):
        sync.write_lines(file, ["new"])
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"] and file.read_text() == "old"
