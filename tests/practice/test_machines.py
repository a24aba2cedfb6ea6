"""Three machines, copied homes, restored backups, conflict copies, broken files: in any order nobody loses a row."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from attncli.config import Settings
from attncli.domain.log_row import Rating, RowKind
from attncli.paths import Home
from attncli.practice import record
from attncli.practice.record import take_back
from attncli.practice.sync import read_log, sync
from attncli.practice.workspace import Workspace
from attncli.store.backups import OTHERS_KEPT
from attncli.store.restore_backup import restore_database

NAMES = ("a", "b", "c")
CARDS = ("att-01", "att-02", "kv-01")
CONFLICTS = ("{} (conflicted copy {}).jsonl", "{}.sync-conflict-{}.jsonl", "{} {}.jsonl")

machines = st.sampled_from(NAMES)
cards = st.sampled_from(CARDS)
numbers = st.integers(0, 10**6)


class Machines(RuleBasedStateMachine):
    """`acknowledged` holds every row that a command has acknowledged."""

    open_home: Callable[[Home, Callable[[], datetime]], Workspace]
    root: Path

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(mkdtemp(dir=self.root))
        self.shared = self.folder / "shared"
        self.shared.mkdir()
        self.now = datetime(2026, 6, 12, 9, tzinfo=UTC)
        self.acknowledged: set[str] = set()
        self.backups: list[Path] = []
        self.older: list[tuple[Path, bytes]] = []
        self.serial = count()

    def clock(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now

    @contextmanager
    def workspace(self, name: str) -> Iterator[Workspace]:
        with type(self).open_home(Home(self.folder / name), self.clock) as opened:
            yield opened

    def rows(self, name: str) -> set[str]:
        with self.workspace(name) as workspace:
            return {row.id for row in workspace.store.log.everything()}

    def everywhere(self) -> set[str]:
        """All rows that somebody still has: at home, in a copy that a restore kept, or in the shared folder."""
        kept = [path for name in NAMES for path in (self.folder / name / "backups").glob("*-before-restore.db")]
        files = [*kept, *self.shared.glob("*.jsonl*")]
        found = {placed.row.id for path in files for placed in read_log(path, self.folder).rows}
        return found.union(*map(self.rows, NAMES))

    @initialize()
    def begin(self) -> None:
        for name in NAMES:
            self.rows(name)

    @rule(name=machines, card=cards, rating=st.sampled_from(Rating), minutes=st.integers(0, 3000))
    def answer(self, name: str, card: str, rating: Rating, minutes: int) -> None:
        with self.workspace(name) as workspace:
            self.acknowledged.add(record.answer(workspace, card, rating, self.clock() - timedelta(minutes=minutes)).row)

    @rule(name=machines)
    def undo(self, name: str) -> None:
        with self.workspace(name) as workspace:
            before = workspace.store.log.ids()
            if workspace.store.log.last_here([RowKind.REVIEW]):
                take_back(workspace)
            self.acknowledged |= workspace.store.log.ids() - before

    @rule(name=machines, card=cards, act=st.sampled_from([record.suspend, record.bury, record.unsuspend]))
    def hold(self, name: str, card: str, act: Callable[[Workspace, str], str]) -> None:
        with self.workspace(name) as workspace:
            before = workspace.store.log.ids()
            act(workspace, card)
            self.acknowledged |= workspace.store.log.ids() - before

    @rule(name=machines)
    def sync(self, name: str) -> None:
        before = self.everywhere()
        held = {path: self.ids_in(path) for path in self.shared.glob("????????.jsonl")}
        with self.workspace(name) as workspace:
            sync(workspace, self.shared)
        assert self.everywhere() >= before
        for path, ids in held.items():
            assert self.ids_in(path) >= ids, "a shared file became shorter"

    def ids_in(self, path: Path) -> set[str]:
        return {placed.row.id for placed in read_log(path, self.folder).rows}

    @rule(source=machines, lost=machines)
    def copy_home(self, source: str, lost: str) -> None:
        """The disk of `lost` is gone, and it starts from the folder of another machine; what only it had is lost."""
        if source == lost:
            return
        shutil.rmtree(self.folder / lost)
        shutil.copytree(self.folder / source, self.folder / lost)
        self.acknowledged &= self.everywhere()

    @rule(name=machines)
    def back_up(self, name: str) -> None:
        with self.workspace(name) as workspace:
            self.backups.append(self.folder / f"backup-{next(self.serial)}.db")
            workspace.store.copy_to(self.backups[-1])

    @precondition(lambda self: self.backups)
    @rule(name=machines, number=numbers)
    def restore(self, name: str, number: int) -> None:
        before, home = self.everywhere(), Home(self.folder / name)
        if len([*home.backups.glob("*-before-restore.db")]) >= OTHERS_KEPT:
            return
        backup = self.backups[number % len(self.backups)]
        done = restore_database(home.database, backup, home.backups, self.clock())
        assert self.rows(name) == self.ids_in(backup) and not done.refused
        assert self.everywhere() >= before

    def shared_file(self, number: int) -> Path | None:
        files = sorted(self.shared.glob("????????.jsonl"))
        return files[number % len(files)] if files else None

    @rule(number=numbers, form=st.sampled_from(CONFLICTS))
    def leave_a_conflict_copy(self, number: int, form: str) -> None:
        """A file-sync tool lets an older version win, and keeps the newer one under another name."""
        if (file := self.shared_file(number)) is not None:
            (self.shared / form.format(file.stem, next(self.serial))).write_bytes(file.read_bytes())
            older = [content for path, content in self.older if path == file]
            if older:
                file.write_bytes(older[number % len(older)])

    @rule(number=numbers)
    def remember(self, number: int) -> None:
        if (file := self.shared_file(number)) is not None:
            self.older.append((file, file.read_bytes()))

    @rule(number=numbers, keep=st.floats(0, 1))
    def leave_half_a_file(self, number: int, keep: float) -> None:
        if (file := self.shared_file(number)) is not None:
            content = file.read_bytes()
            (self.shared / f"half-{next(self.serial)}.jsonl").write_bytes(content[: int(keep * len(content))])
            (self.shared / f".{file.name}.{next(self.serial):08x}.part").write_bytes(content[:100])

    @rule()
    def everyone_syncs_twice(self) -> None:
        for _ in range(2):
            for name in NAMES:
                self.sync(name)
        seen = []
        for name in NAMES:
            with self.workspace(name) as workspace:
                ids = {row.id for row in workspace.store.log.everything()}
                given_up = self.acknowledged - ids
                seen.append((ids, self.derived(workspace)))
                workspace.derive_all()
                assert self.derived(workspace) == seen[-1][1], "what was derived step by step is what the log says"
                assert given_up <= self.kept_by_restores(), "only what was restored away is missing"
        assert seen[0] == seen[1] == seen[2]

    def kept_by_restores(self) -> set[str]:
        kept = [path for name in NAMES for path in (self.folder / name / "backups").glob("*-before-restore.db")]
        return set().union(*(self.ids_in(path) for path in kept))

    def derived(self, workspace: Workspace) -> object:
        holds = [workspace.store.schedules.hold(card) for card in CARDS]
        return dict(workspace.store.schedules.all()), holds

    def teardown(self) -> None:
        self.everyone_syncs_twice()
        shutil.rmtree(self.folder, ignore_errors=True)


def test_nobody_loses_a_row(
    tmp_path: Path, small_bank: Path, small_impl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_home(home: Home, clock: Callable[[], datetime]) -> Workspace:
        return Workspace.open(home, clock, settings=Settings(), quizbank=small_bank, impl=small_impl)

    monkeypatch.setattr(Machines, "open_home", staticmethod(open_home), raising=False)
    monkeypatch.setattr(Machines, "root", tmp_path, raising=False)
    run_state_machine_as_test(
        Machines,
        settings=settings(
            max_examples=12, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
