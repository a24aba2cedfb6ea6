"""After any operation the stored state equals a replay of the log: schedules, holds and the queue."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from attncli import config
from attncli.domain.grade_report import GradeReport, read
from attncli.domain.log_row import LogRow, Rating, RowKind
from attncli.errors import NotFound, UsageError
from attncli.paths import Home
from attncli.practice import record, sync
from attncli.practice.derive import derive_everything
from attncli.practice.grade import record_attempt
from attncli.practice.record import TAKEN_BACK, take_back
from attncli.practice.workspace import Workspace

START = datetime(2026, 3, 27, 20, tzinfo=UTC)
OWN = ["mine-1", "mine-2"]
CARDS = ["att-01", "att-02", *OWN]
NAMES: list[dict[str, list[str]]] = [
    {"mine-1": [], "mine-2": []},
    {"new-1": ["mine-1"], "mine-2": []},
    {"new-1": ["mine-1", "mine-2"]},
    {"new-2": ["mine-2"], "new-1": ["mine-1", "mine-2"]},
    {"mine-1": ["mine-2", "att-02"]},
    {"double": [], "mine-2": ["double"]},
    {},
]


class _Enough(Exception):
    """Raised to roll back."""


def stored(workspace: Workspace) -> dict[str, list[Any]]:
    tables = {
        "schedule": "SELECT * FROM schedule ORDER BY subject",
        "hold": "SELECT * FROM hold ORDER BY subject",
        "queue": "SELECT * FROM queue ORDER BY id",
    }
    return {name: workspace.store.connection.rows(sql) for name, sql in tables.items()}


def replayed(workspace: Workspace) -> dict[str, list[Any]]:
    """Return the state derived from the log alone; roll it back afterwards."""
    try:
        with workspace.store.transaction():
            derive_everything(workspace)
            found = stored(workspace)
            raise _Enough
    except _Enough:
        return found


class Life(RuleBasedStateMachine):
    """Mix an open program, other processes on the same home, renames there and back, and a jumping clock."""

    def __init__(self, folder: Path, bank: Path, impl: Path, card: Callable[[str], str]) -> None:
        super().__init__()
        self.home, self.bank, self.impl, self.card = Home(folder), bank, impl, card
        self.now, self.edits, self.imported = START, 0, 0
        self.home.banks.mkdir(parents=True)
        self.name(NAMES[0])
        self.open = self.process()

    def process(self) -> Workspace:
        return Workspace.open(self.home, lambda: self.now, quizbank=self.bank, impl=self.impl)

    def name(self, names: dict[str, list[str]]) -> None:
        self.edits += 1
        head = f"# {self.edits}\ntopic: mine\nlicence: CC-BY-4.0\ntitle: {{en: Mine, zh: 我的}}\ncards:\n"
        cards = [self.card(id) + (f"    formerly: {was}\n" if was else "") for id, was in names.items()]
        text = head + "".join(cards) if cards else f"# {self.edits}\n"
        (self.home.banks / "mine.yaml").write_text(text, encoding="utf-8")

    @rule(card=st.sampled_from(CARDS), rating=st.sampled_from(Rating), days=st.sampled_from([None, 0, 1, -1, -40, 3]))
    def answer(self, card: str, rating: Rating, days: int | None) -> None:
        try:
            record.answer(self.open, card, rating, None if days is None else self.now + timedelta(days=days))
        except NotFound:
            assert card not in self.open.store.index.card_ids()

    @rule(card=st.sampled_from(CARDS), kind=st.sampled_from([RowKind.SUSPEND, RowKind.BURY, RowKind.UNSUSPEND]))
    def hold(self, card: str, kind: RowKind) -> None:
        try:
            row = record.hold(self.open, kind, card)
        except NotFound:
            return
        suspended, buried_day = self.open.store.schedules.hold(row.subject)
        assert {RowKind.SUSPEND: suspended, RowKind.BURY: buried_day == row.day}.get(
            kind, not (suspended or buried_day)
        )

    @rule()
    def undo(self) -> None:
        last = self.open.store.log.last_here(TAKEN_BACK)
        try:
            assert take_back(self.open) == last
        except UsageError:
            assert last is None

    @rule(accepted=st.booleans())
    def attempt(self, accepted: bool) -> None:
        if self.open.store.index.challenge("double"):
            verdict, rung = ("accepted", "hardened") if accepted else ("rejected", "none")
            report = read(GradeReport, {"challenge": "double", "verdict": verdict, "rung": rung})
            record_attempt(self.open, report, "")

    @rule(names=st.sampled_from(NAMES))
    def rename_elsewhere(self, names: dict[str, list[str]]) -> None:
        self.name(names)
        self.process().close()

    @rule(key=st.sampled_from([("desired_retention", "0.8"), ("desired_retention", "0.9"), ("fuzz", "false")]))
    def change_settings_elsewhere(self, key: tuple[str, str]) -> None:
        config.save(self.home.config, *key)
        self.process().close()

    @rule()
    def reopen(self) -> None:
        self.open.close()
        self.open = self.process()

    @rule(hours=st.sampled_from([0.01, 1, 20, 400, 24 * 365 * 20, -0.5, -30, -2000]))
    def move_the_clock(self, hours: float) -> None:
        self.now = min(max(self.now + timedelta(hours=hours), START), START + timedelta(days=365 * 100))

    @precondition(lambda self: self.imported < 5)
    @rule(
        card=st.sampled_from([*CARDS, "new-1", "double"]), hours=st.integers(-2000, 100), kind=st.sampled_from(RowKind)
    )
    def import_a_row(self, card: str, hours: int, kind: RowKind) -> None:
        payloads: dict[RowKind, dict[str, Any]] = {
            RowKind.REVIEW: {"rating": 3},
            RowKind.ATTEMPT: {"verdict": "accepted"},
            RowKind.UNDO: {"row": f"{self.imported:04}-else"},
            RowKind.FIT: {"parameters": []},
        }
        self.imported += 1
        at = self.now + timedelta(hours=hours)
        row = LogRow(f"{self.imported:04}-else", "else", kind, card, at, at.toordinal(), payloads.get(kind, {}))
        sync.merge(self.open, [row], pytest.fail)

    @invariant()
    def stored_is_replayed(self) -> None:
        if self.open.store.note("scheduling") == self.open.settings.scheduling:
            assert stored(self.open) == replayed(self.open)
        else:
            with self.process() as fresh:
                assert stored(fresh) == replayed(fresh)

    def teardown(self) -> None:
        self.open.close()


def test_an_undo_about_another_card_takes_nothing_back(
    tmp_path: Path, small_bank: Path, small_impl: Path, qa_card: Callable[[str], str]
) -> None:
    life = Life(tmp_path / "life", small_bank, small_impl, qa_card)
    life.import_a_row(card="att-01", hours=0, kind=RowKind.BURY)
    life.import_a_row(card="mine-1", hours=0, kind=RowKind.UNDO)
    assert stored(life.open) == replayed(life.open)


def test_stored_is_replayed_after_any_operation(
    tmp_path_factory: Any, small_bank: Path, small_impl: Path, qa_card: Callable[[str], str]
) -> None:
    run_state_machine_as_test(
        lambda: Life(tmp_path_factory.mktemp("life"), small_bank, small_impl, qa_card),
        settings=settings(
            max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def test_a_card_that_leaves_its_bank_counts_for_what_its_rows_say(
    tmp_path: Path, small_bank: Path, small_impl: Path, qa_card: Callable[[str], str]
) -> None:
    """The card's hint was imported: without the card, the rows look like a challenge's."""
    life = Life(tmp_path, small_bank, small_impl, qa_card)
    life.answer("mine-1", Rating.GOOD, None)
    life.import_a_row("mine-1", 0, RowKind.HINT)
    for names in ({}, NAMES[0]):
        life.rename_elsewhere(names)
        with life.process() as fresh:
            assert stored(fresh) == replayed(fresh)
    life.teardown()
