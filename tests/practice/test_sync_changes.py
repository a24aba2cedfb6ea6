"""A further sync reads what was added and adds what is new; whatever else happened in the folder is read whole."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import Rating
from attncli.practice import record
from attncli.practice import sync as sync_module
from attncli.practice.sync import Synced, read_log, sync
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]


@pytest.fixture
def read_whole(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were read from their beginning."""
    names: list[str] = []

    def reading(path: Path, room: Path) -> object:
        names.append(path.name)
        return read_log(path, room)

    monkeypatch.setattr(sync_module, "read_log", reading)
    return names


def ids(workspace: Workspace) -> set[str]:
    return workspace.store.log.ids()


def answered(workspace: Workspace, count: int = 1) -> None:
    for _ in range(count):
        record.answer(workspace, "att-01", Rating.GOOD)


def two_that_know_each_other(open_workspace: Open, shared: Path) -> tuple[Workspace, Workspace]:
    one, other = open_workspace("one"), open_workspace("other")
    for workspace in (one, other):
        answered(workspace, 3)
    for workspace in (one, other, one, other):
        sync(workspace, shared)
    return one, other


def test_what_both_add_is_exchanged_without_reading_the_rest(
    open_workspace: Open, shared: Path, read_whole: list[str]
) -> None:
    one, other = two_that_know_each_other(open_workspace, shared)
    read_whole.clear()
    answered(one, 2)
    file = sync(one, shared).file
    assert sync(other, shared) == Synced(2, 3, shared / f"{other.store.log.machine}.jsonl")
    answered(other)
    assert [sync(workspace, shared).received for workspace in (other, one, other)] == [0, 1, 0]
    assert ids(one) == ids(other) and len(ids(one)) == 9 and read_whole == []
    assert [placed.row.id for placed in read_log(file, shared).rows] == [
        row.id for row in one.store.log.everything() if row.machine == one.store.log.machine
    ]


@pytest.mark.parametrize("change", ["in the middle", "a new file", "a file gone", "a broken end", "rows set aside"])
def test_anything_else_is_read_whole(open_workspace: Open, shared: Path, read_whole: list[str], change: str) -> None:
    one, other = two_that_know_each_other(open_workspace, shared)
    read_whole.clear()
    theirs = shared / f"{other.store.log.machine}.jsonl"
    lines = theirs.read_text(encoding="utf-8").splitlines(keepends=True)
    if change == "in the middle":
        theirs.write_text("".join([lines[1], lines[0], *lines[2:]]), encoding="utf-8")
    elif change == "a new file":
        (shared / "conflicted copy.jsonl").write_text(lines[0], encoding="utf-8")
    elif change == "a file gone":
        theirs.unlink()
    elif change == "a broken end":
        with theirs.open("a", encoding="utf-8") as file:
            file.write(lines[0][:40])
    else:
        with one.store.transaction():
            one.store.log.set_aside([2])
    sync(one, shared)
    assert read_whole != [] and len(ids(one)) == 6


def test_a_run_that_died_while_adding_is_mended(open_workspace: Open, shared: Path) -> None:
    one, other = two_that_know_each_other(open_workspace, shared)
    answered(one)
    own = sync(one, shared).file
    whole = own.read_bytes()
    own.write_bytes(whole[:-30])
    assert len(sync(one, shared).faults) == 1 and sync(one, shared).faults == ()
    sync(other, shared)
    assert ids(other) == ids(one) and len(ids(one)) == 7


def test_a_row_under_our_name_that_is_not_ours_still_gives_a_new_name(open_workspace: Open, shared: Path) -> None:
    one, _ = two_that_know_each_other(open_workspace, shared)
    (one.home.root.parent / "copy").mkdir()
    one.store.copy_to(one.home.root.parent / "copy" / "progress.db")
    copy = open_workspace("copy")
    for workspace in (one, copy):
        answered(workspace)
        sync(workspace, shared)
    assert sync(one, shared).renewed or copy.store.log.machine != one.store.log.machine
    for workspace in (one, copy, one):
        sync(workspace, shared)
    assert ids(one) == ids(copy) and len(ids(one)) == 8


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["answer", "answer earlier", "sync"])), max_size=20))
def test_however_machines_take_turns_in_the_end_all_know_everything(
    open_workspace: Open, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, str]]
) -> None:
    root = tmp_path_factory.mktemp("turns")
    (root / "shared").mkdir()
    machines = [open_workspace(str(root / name)) for name in "abc"]
    answers = 0
    for place, step in steps:
        machine = machines[place]
        if step == "sync":
            assert sync(machine, root / "shared").faults == ()
        else:
            at = machine.clock() - timedelta(days=len(step) * answers)
            record.answer(machine, "att-01", Rating.GOOD, at)
            answers += 1
    for machine in [*machines, *machines]:
        sync(machine, root / "shared")
    assert [len(ids(machine)) for machine in machines] == [answers] * 3
    assert len({str(sorted(ids(machine))) for machine in machines}) == 1
