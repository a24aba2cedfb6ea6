"""Logs of several machines merge as a union: every machine ends with the same schedules, in any order of merging."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.domain.memory import Schedule
from attncli.domain.rating import Rating
from attncli.domain.review import RowKind
from attncli.errors import UsageError
from attncli.practice import answering, exchange
from attncli.practice.progress import progress
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


def schedules(workspace: Workspace) -> dict[str, Schedule]:
    return dict(workspace.store.schedules.all())


def write(workspace: Workspace, path: Path) -> Path:
    exchange.write_lines(path, exchange.exported(workspace))
    return path


def test_a_log_goes_out_and_in_again_unchanged(open_workspace: Open, tmp_path: Path) -> None:
    one, other = open_workspace("one"), open_workspace("other")
    for rating in (Rating.GOOD, Rating.EASY):
        answering.answer(one, "att-01", rating)
    answering.undo(one)
    answering.suspend(one, "att-02")
    answering.answer(one, "att-03", Rating.HARD, details={"note": "line\u2028 separator, 中文"})
    file = write(one, tmp_path / "log.jsonl")
    assert exchange.import_file(other, file) == 5
    assert exchange.import_file(other, file) == 0, "twice is once"
    assert list(other.store.log.everything()) == list(one.store.log.everything())
    assert schedules(other) == schedules(one) and other.store.schedules.hold("att-02") == (True, 0)
    assert progress(other).reviews == 2


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
            answering.answer(workspace, subject, rating, workspace.clock() - timedelta(minutes=minutes))
        elif workspace.store.log.last_review_here():
            answering.undo(workspace)
    logs = [write(machine, folder / f"{number}.jsonl") for number, machine in enumerate(machines)]
    for machine, log in zip(machines, reversed(logs), strict=True):
        exchange.import_file(machine, log)
    assert list(machines[0].store.log.everything()) == list(machines[1].store.log.everything())
    assert schedules(machines[0]) == schedules(machines[1])
    machines[0].derive_all()
    assert schedules(machines[0]) == schedules(machines[1])


def test_a_shared_folder_brings_three_machines_together(open_workspace: Open, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    machines = [open_workspace(name) for name in "abc"]
    for number, machine in enumerate(machines):
        for _ in range(number + 1):
            answering.answer(machine, "att-01", Rating.GOOD)
    for machine in [*machines, *machines]:
        exchange.sync(machine, shared)
    assert {machine.store.log.length() for machine in machines} == {6}
    assert len({str(schedules(machine)) for machine in machines}) == 1
    assert sorted(path.name for path in shared.iterdir()) == sorted(f"{m.store.log.machine}.jsonl" for m in machines)
    assert exchange.sync(machines[0], shared).received == 0


def test_a_folder_that_is_not_there_is_named(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no folder .*create it"):
        exchange.sync(workspace, tmp_path / "nowhere")


def test_rows_of_cards_that_no_bank_has_are_kept(open_workspace: Open, tmp_path: Path) -> None:
    workspace = open_workspace()
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps({**ROW, "subject": "elsewhere-7"}) + "\n", encoding="utf-8")
    assert exchange.import_file(workspace, file) == 1
    assert schedules(workspace)["elsewhere-7"].repetitions == 1


def test_a_fit_from_another_machine_is_used_for_all_schedules(open_workspace: Open, tmp_path: Path) -> None:
    import fsrs

    workspace = open_workspace(fuzz=False)
    answering.answer(workspace, "att-01", Rating.EASY)
    before = schedules(workspace)["att-01"]
    weights = [*fsrs.scheduler.DEFAULT_PARAMETERS]
    weights[3] = 20.0
    file = tmp_path / "fit.jsonl"
    fit = {**ROW, "kind": RowKind.FIT, "subject": "", "payload": {"parameters": weights}}
    file.write_text(json.dumps(fit), encoding="utf-8")
    exchange.import_file(workspace, file)
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
            )
        ),
    ],
)
def test_a_line_that_is_no_row_is_named_and_nothing_is_merged(workspace: Workspace, tmp_path: Path, line: str) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps(ROW) + "\n" + line + "\n", encoding="utf-8", errors="surrogatepass")
    with pytest.raises(UsageError, match=f"{file}:2: ") as refusal:
        exchange.import_file(workspace, file)
    assert len(refusal.value.message) < 600
    assert workspace.store.log.length() == 0


def test_a_file_that_is_no_text_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "log.jsonl", tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(UsageError, match=r"cannot read .*attn export reviews"):
            exchange.import_file(workspace, path)


def test_a_place_that_cannot_be_written_is_named(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name another place"):
        exchange.write_lines(tmp_path / "nowhere" / "log.jsonl", ["x"])
