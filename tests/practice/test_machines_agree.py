"""Run three machines and a shared folder in any order of acts: no row is lost, and all machines end up equal."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, Phase, settings, stateful
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from attncli.config import Settings
from attncli.domain.log_row import Rating, RowKind
from attncli.errors import EnvironmentFailure
from attncli.paths import Home, write_bytes
from attncli.practice import record
from attncli.practice.backups import write_copy
from attncli.practice.doctor import database_health
from attncli.practice.optimize import record_fit
from attncli.practice.record import TAKEN_BACK, annotated_cards, take_back
from attncli.practice.sync import restore, sync
from attncli.practice.today import due_counts
from attncli.practice.workspace import Workspace
from attncli.store.history import History, decoded

EXAMPLES = int(os.environ.get("ATTN_EXAMPLES", "8"))
NAMES = ("a", "b", "c")
CARDS = ("att-01", "att-02", "kv-01")
FIT = (0.3, 1.2, 2.5, 9.0, 6.4, 0.8, 3.0, 0.01, 1.9, 0.2, 0.8, 1.5, 0.06, 0.3, 1.6, 0.6, 1.9, 0.5, 0.1, 0.07, 0.15)

Act = Callable[[Workspace, str, int], object]
HOLDS = (RowKind.SUSPEND, RowKind.BURY, RowKind.UNSUSPEND)
machines = st.sampled_from((*"aaabbc",))
"""Mostly one machine: a sequence of acts on one home finds most errors."""
cards = st.sampled_from(CARDS)
numbers = st.integers(0, 1000)
asked = st.lists(cards, min_size=1, max_size=3)
orders = st.permutations(NAMES)
following = st.sampled_from(((), ("answer",), ("answer", "sync"), ("sync",), ("answer", "break off")))
"""Acts of a machine right after its home was replaced."""


def undo_anywhere(workspace: Workspace, _: str, number: int) -> None:
    """Undo any review; another machine may undo it too."""
    if reviews := workspace.store.log.standing_of_kind(RowKind.REVIEW):
        take_back(workspace, reviews[number % len(reviews)])


ACTS: tuple[Act, ...] = (
    undo_anywhere,
    lambda workspace, _, number: workspace.store.log.last_here(TAKEN_BACK) and take_back(workspace),
    lambda workspace, card, number: record.set_note(workspace, card, f"{number}: 注意力\n{'long ' * (number % 50)}"),
    lambda workspace, card, number: record.hold(workspace, HOLDS[number % 3], card),
    lambda workspace, _, number: record_fit(workspace, FIT if number % 2 else ()),
)


def ids_in(path: Path) -> set[str]:
    """Return the ids of the complete lines of a file."""
    found = set()
    for line in path.read_bytes().splitlines():
        try:
            found.add(decoded(line)[1].id)
        except ValueError:
            continue
    return found


def rows_in(folder: Path) -> set[str]:
    """Return the ids of all rows in the history files of a folder."""
    return set().union(*map(ids_in, folder.glob("*.jsonl")))


class Machines(RuleBasedStateMachine):
    """A state machine; `held` and `shared_rows` are the exact ids that each home and the shared folder must have.

    A row enters `held` when its act returns. It leaves when its home is replaced, restored or rolled back. It leaves
    `shared_rows` when a shared file is replaced by an older part of itself; never by a sync.
    """

    def __init__(self, root: Path, open_home: Callable[[Home, Callable[[], datetime]], Workspace]) -> None:
        super().__init__()
        self.folder, self.open_home = Path(mkdtemp(dir=root)), open_home
        self.shared = self.folder / "shared"
        self.shared.mkdir()
        self.now = datetime(2026, 6, 12, 9, tzinfo=UTC)
        self.held = {name: set[str]() for name in NAMES}
        self.shared_rows = set[str]()
        self.backups: list[tuple[Path, set[str]]] = []
        self.images: dict[str, list[tuple[Path, set[str]]]] = {name: [] for name in NAMES}
        self.had_another_cache = False
        """A cache of another day may have rows that the history here lacks; `attn doctor` then rightly reports them."""
        self.serial = count()
        random = Random(0)  # Hypothesis can only repeat and shrink what always gives the same ids
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=random.getrandbits(128), version=4))

    @contextmanager
    def workspace(self, name: str, ahead: int = 0, passed: int = 1) -> Iterator[Workspace]:
        """Open a home for one act, `passed` minutes after the last one; its clock is `ahead`, and then stops."""
        self.now += timedelta(minutes=passed)
        now = self.now + timedelta(minutes=ahead)
        self.take_an_image(name)
        with self.open_home(Home(self.folder / name), lambda: now) as opened:
            yield opened
            assert opened.store.log.ids() == self.held[name], "the cache mirrors the history"

    @initialize(order=st.tuples(orders, orders))
    def settle_the_last_order(self, order: tuple[list[str], list[str]]) -> None:
        self.last_order = order

    # What the learner does

    @rule(name=machines, asked=asked, rating=st.sampled_from(Rating), ahead=st.sampled_from((0, 0, 0, -300, 4000)))
    def answer(self, name: str, asked: list[str], rating: Rating, ahead: int) -> None:
        for card in asked:
            with self.workspace(name, ahead) as workspace:
                self.held[name].add(record.answer(workspace, card, rating).row)

    @rule(name=machines, asked=asked, then=following)
    def answer_and_go_on(self, name: str, asked: list[str], then: tuple[str, ...]) -> None:
        self.answer(name, asked, Rating.GOOD, 0)
        self.go_on(name, then)

    @rule(name=machines, card=cards, number=numbers, act=st.sampled_from(ACTS), days=st.integers(0, 9))
    def act(self, name: str, card: str, number: int, act: Act, days: int) -> None:
        self.now += timedelta(days=days)
        with self.workspace(name) as workspace:
            act(workspace, card, number)
            self.held[name] |= workspace.store.log.ids()

    # Syncing

    @rule(name=machines)
    def sync(self, name: str) -> None:
        with self.workspace(name) as workspace:
            done = sync(workspace, self.shared)
            assert done.received == len(self.shared_rows - self.held[name])
            self.held[name] |= self.shared_rows
            self.shared_rows |= self.held[name]

    @rule(name=machines, writes=st.integers(0, 2))
    def sync_until_the_disk_is_full(self, name: str, writes: int) -> None:
        """Stop publishing after `writes` files. Rows received before stay."""
        left = [None] * writes

        def write(path: Path, content: bytes) -> None:
            if not left:
                raise OSError(errno.ENOSPC, "No space left on device")
            left.pop()
            write_bytes(path, content)

        before = self.shared_rows
        with pytest.MonkeyPatch.context() as patch, self.workspace(name) as workspace:
            patch.setattr("attncli.practice.sync.write_bytes", write)
            try:
                sync(workspace, self.shared)
            except EnvironmentFailure as failure:
                assert "free some disk space" in str(failure)
            self.held[name] |= self.shared_rows
        self.shared_rows = rows_in(self.shared)
        assert before <= self.shared_rows <= self.held[name]

    @precondition(lambda self: len(self.images["a"]) > 6)
    @rule(order=st.tuples(orders, orders))
    def everyone_syncs_twice(self, order: tuple[list[str], list[str]]) -> None:
        """Sync in two rounds: after the first, the folder has every row; after the second, every machine has."""
        expected = self.shared_rows.union(*self.held.values())
        for name in (*order[0], *order[1]):
            self.sync(name)
        assert all(held == expected for held in (*self.held.values(), self.shared_rows))
        seen = []
        for name in NAMES:
            with self.workspace(name, passed=0) as workspace:
                seen.append(self.derived(workspace))
                workspace.derive_all()
                assert self.derived(workspace) == seen[-1], "what was derived step by step is what the log says"
            health = database_health(Home(self.folder / name))
            gone = [damage for damage in health.damages if "and all later rows are missing" in str(damage)]
            assert [*health.damages] == (gone if self.had_another_cache else []) and health.rows == len(expected)
        assert seen[0] == seen[1] == seen[2]

    def derived(self, workspace: Workspace) -> object:
        store = workspace.store
        holds = [store.schedules.hold(card) for card in CARDS]
        due = due_counts(workspace, self.now.replace(hour=0) + timedelta(days=3))
        return list(store.log.everything()), dict(store.schedules.all()), holds, annotated_cards(workspace), due

    # What happens to a home

    def go_on(self, name: str, then: tuple[str, ...]) -> None:
        for act in then:
            if act == "answer":
                self.answer(name, ["att-01"], Rating.GOOD, 0)
            elif act == "sync":
                self.sync(name)
            else:
                self.sync_until_the_disk_is_full(name, 1)

    def replace_home(self, name: str, source: Path) -> None:
        home = self.folder / name
        shutil.rmtree(home, ignore_errors=True)
        if source.exists():
            shutil.copytree(source, home)

    def take_an_image(self, name: str) -> None:
        image = self.folder / f"image-{next(self.serial)}"
        if (self.folder / name).exists():
            shutil.copytree(self.folder / name, image, ignore=shutil.ignore_patterns("backups"))
            self.images[name].append((image, set(self.held[name])))

    @rule(source=machines, lost=machines, then=following)
    def copy_home(self, source: str, lost: str, then: tuple[str, ...]) -> None:
        """Replace the disk of `lost`, and copy its home from another machine."""
        if source != lost:
            self.replace_home(lost, self.folder / source)
            self.held[lost] = set(self.held[source])
            self.go_on(lost, then)

    @rule(name=machines, acts=st.integers(1, 4), then=following)
    def roll_back(self, name: str, acts: int, then: tuple[str, ...]) -> None:
        """Replace a home by its state some acts ago, in the same place: it keeps its machine id."""
        if images := self.images[name]:
            image, held = images[-min(acts, len(images))]
            self.replace_home(name, image)
            self.held[name] = set(held)
            self.go_on(name, then)

    @rule(name=machines)
    def back_up(self, name: str) -> None:
        """Write a backup as `attn backup` does."""
        with self.workspace(name) as workspace:
            path = self.folder / f"backup-{next(self.serial)}.jsonl"
            write_copy(workspace.store.log.everything(), path)
        assert ids_in(path) == self.held[name]
        self.backups.append((path, set(self.held[name])))

    @rule(name=machines, number=numbers, then=following)
    def restore(self, name: str, number: int, then: tuple[str, ...]) -> None:
        """Restore a backup of any machine, or a daily copy of this one."""
        daily = [(path, ids_in(path)) for path in sorted((self.folder / name / "backups").glob("*-daily.jsonl"))]
        usable = [(path, ids) for path, ids in (*self.backups, *daily) if ids]
        if not usable:
            return
        path, ids = usable[number % len(usable)]
        before = self.held[name]
        with self.workspace(name) as workspace:
            done = restore(workspace, path)
            self.held[name] = set(ids)
        assert (done.rows, done.missing, done.faults) == (len(ids), len(before - ids), ())
        assert before == (ids_in(done.kept) if done.kept else set())
        self.go_on(name, then)

    @rule(name=machines, content=st.sampled_from((b"", b"garbage" * 1000, "deleted", "torn", *NAMES)), number=numbers)
    def restart(self, name: str, content: bytes | str, number: int) -> None:
        """A machine stops and starts again; its cache is damaged, deleted, or one of another day or machine.

        "torn": the power failed during a write. A part of the row's line is on disk, and was not acknowledged.
        """
        home = self.folder / name
        if content == "torn":
            own = home / "history" / f"{History(home).machine}.jsonl"
            if own.is_file():
                line = own.read_bytes().splitlines()[-1]
                with own.open("ab") as file:
                    file.write(line[: 1 + number % (len(line) - 1)])
        elif home.exists():
            (home / "cache.db").unlink(missing_ok=True)
            if isinstance(content, bytes):
                (home / "cache.db").write_bytes(content)
            elif images := self.images.get(content):
                cache = images[-1 - number % len(images)][0] / "cache.db"
                if cache.exists():
                    self.had_another_cache = True
                    shutil.copyfile(cache, home / "cache.db")

    # What a service that syncs files does to the shared folder

    @rule(
        number=numbers,
        lines=numbers,
        torn=st.booleans(),
        copy=st.sampled_from(("", "{} (conflicted copy 2026-11-20 {}).jsonl", "{}.sync-conflict-20261120-{}.jsonl")),
        loses=st.booleans(),
    )
    def bring_in_an_older_version(self, number: int, lines: int, torn: bool, copy: str, loses: bool) -> None:
        """Add an older version of a file as a conflict copy, or in place of the file.

        The newer version then becomes the conflict copy, or is lost; a machine that has its rows restores them.
        """
        files = sorted(self.shared.glob("*.jsonl"))
        if not files:
            return
        file = files[number % len(files)]
        content, copied = file.read_bytes(), self.shared / copy.format(file.stem[:40], next(self.serial))
        if copy and loses:
            copied.write_bytes(content)
        (file if loses else copied if copy else file).write_bytes(older(content, lines, torn))
        left = rows_in(self.shared)
        assert left <= self.shared_rows and (left == self.shared_rows or not copy)
        self.shared_rows = left

    # What must be true after each step

    @invariant()
    def every_row_is_where_it_must_be(self) -> None:
        assert rows_in(self.shared) == self.shared_rows
        for name in NAMES:
            assert rows_in(self.folder / name / "history") == self.held[name]

    def teardown(self) -> None:
        try:
            if hasattr(self, "last_order"):
                self.everyone_syncs_twice(self.last_order)
        finally:
            self.patch.undo()
            shutil.rmtree(self.folder, ignore_errors=True)


def older(content: bytes, lines: int, torn: bool) -> bytes:
    """Return the first lines of a file; with `torn`, half of the next one too."""
    every = content.splitlines(keepends=True)
    keep = lines % (len(every) + 1)
    rest = every[keep][: len(every[keep]) // 2] if torn and keep < len(every) else b""
    return b"".join(every[:keep]) + rest


@pytest.mark.slow
def test_machines_agree(tmp_path: Path, small_bank: Path, small_impl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def open_home(home: Home, clock: Callable[[], datetime]) -> Workspace:
        return Workspace.open(home, clock, settings=Settings(), quizbank=small_bank, impl=small_impl)

    monkeypatch.setattr(os, "fsync", lambda handle: None)  # no power fails here, and waiting for disks takes longest
    chosen = settings(max_examples=EXAMPLES, stateful_step_count=20, phases=set(Phase) - {Phase.explain})
    quiet = settings(chosen, deadline=None, suppress_health_check=list(HealthCheck))
    stateful.run_state_machine_as_test(lambda: Machines(tmp_path, open_home), settings=quiet)
