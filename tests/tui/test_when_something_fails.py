"""Handle failures in the app: the card stays, one line says what was not stored, and the same key retries."""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from attncli import errors
from attncli.config import Settings
from attncli.domain.arithmetic import read_number
from attncli.domain.log_row import Rating, RowKind
from attncli.errors import InvalidInput, StoreBusy, StoreError, StoreFull, StoreUnwritable, UsageError
from attncli.i18n import LANGS, Lang, _, quoted
from attncli.practice import record
from attncli.practice.workspace import Workspace
from attncli.store import history
from attncli.store.connection import Connection, error_in_words
from attncli.store.database import remove_cache
from attncli.tui.app import AttnApp
from attncli.tui.screens import base
from attncli.tui.screens.base import error_text
from attncli.tui.screens.review import ReviewScreen
from attncli.tui.widgets.session import RatingButton
from moved_clock import Clock

from .conftest import BANK, MakeApp, press, running, shown
from .test_review import reviewing


@contextmanager
def refusing(monkeypatch: pytest.MonkeyPatch, number: int) -> Iterator[None]:
    """Make writes to the history fail with this error number."""

    def refused(path: Path, content: bytes) -> None:
        raise OSError(number, os.strerror(number), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(history, "append", refused)
        yield


@contextmanager
def cache_full(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the cache fail on commit, while the history can be written."""
    execute = Connection.execute

    def refused(self: Connection, sql: str, values: Any = ()) -> int:
        if sql == "COMMIT":
            raise error_in_words(sqlite3.OperationalError("database or disk is full"), self.path)
        return execute(self, sql, values)

    with monkeypatch.context() as patch:
        patch.setattr(Connection, "execute", refused)
        yield


def rows(screen: ReviewScreen) -> int:
    """Return the number of rows on disk."""
    return sum(len(path.read_bytes().splitlines()) for path in screen.workspace.store.history.files())


@asynccontextmanager
async def rating(make_app: MakeApp, **options: Any) -> AsyncIterator[tuple[Pilot[None], ReviewScreen]]:
    """Open the review with a card's answer shown."""
    async with reviewing(make_app, **options) as (pilot, screen):
        await press(pilot, "space")
        yield pilot, screen


@asynccontextmanager
async def known(make_app: MakeApp, clock: Clock) -> AsyncIterator[tuple[Pilot[None], ReviewScreen]]:
    """Open the review with a card due for its second review, its answer shown."""
    workspace = make_app().workspace
    record.answer(workspace, "att-02", Rating.EASY, clock.now - timedelta(days=20))
    async with rating(make_app) as (pilot, screen):
        yield pilot, screen


def card(screen: ReviewScreen) -> str:
    assert screen.asked is not None
    return screen.asked.card.id


def notes(screen: ReviewScreen) -> list[str]:
    return [note.message for note in screen.attn._notifications]


async def test_a_lock_keeps_the_card_and_the_key_works_when_it_is_gone(make_app: MakeApp) -> None:
    async with rating(make_app) as (pilot, screen):
        before, asked = rows(screen), card(screen)
        # Another process would hold the cache's lock so; it is taken before the history's.
        with closing(sqlite3.connect(screen.workspace.home.database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert "Not saved: another attn is writing." in await press(pilot, "3")
            assert card(screen) == asked and rows(screen) == before
        assert "Not saved" not in await press(pilot, "4") and card(screen) != asked
        assert screen.workspace.store.log.of_kind(RowKind.REVIEW)[-1].rating is Rating.EASY


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "lang", "said"),
    [
        (errno.ENOSPC, "en", "Not saved: the disk is full"),
        pytest.param(errno.EROFS, "zh", "未保存：学习记录无法写入", marks=pytest.mark.full),
    ],
)
async def test_a_disk_that_refuses_a_row_keeps_the_card_and_the_key_works_once_it_takes_it(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, number: int, lang: Lang, said: str
) -> None:
    async with rating(make_app, lang=lang) as (pilot, screen):
        before, asked = rows(screen), card(screen)
        for key in ("3", "enter", "minus", "exclamation_mark"):
            with refusing(monkeypatch, number):
                assert said in await press(pilot, key) and card(screen) == asked and rows(screen) == before
                assert len(screen.query(RatingButton)) == 4 and screen.session.progress.answered == 0
            assert said not in await press(pilot, key)
            assert rows(screen) == before + 1 and card(screen) != asked
            await screen.action_undo()
            before = rows(screen)
            assert said not in await press(pilot, "space") and card(screen) == asked
        await pilot.press("3")
        before, asked = rows(screen), card(screen)
        with refusing(monkeypatch, number):
            await screen.action_undo()
            await pilot.pause()
            assert card(screen) == asked and screen.session.progress.answered == 1 and rows(screen) == before
            assert said in shown(screen.attn), "what would be taken back is kept"


@pytest.mark.parametrize("at", ["before the answer is shown", "before it is rated"])
async def test_a_card_that_left_its_bank_is_left_out(make_app: MakeApp, at: str) -> None:
    async with reviewing(make_app) as (pilot, screen):
        asked, before = card(screen), rows(screen)
        if at == "before it is rated":
            await pilot.press("space")
        with screen.workspace.store.transaction():
            screen.workspace.store.connection.execute("DELETE FROM card WHERE id = ?", (asked,))
        await press(pilot, "space" if at == "before the answer is shown" else "3")
        assert card(screen) != asked and rows(screen) == before
        assert any(f"{asked} is no longer in its bank" in text for text in notes(screen))


async def test_a_clock_before_1990_keeps_the_card(make_app: MakeApp, clock: Clock) -> None:
    async with rating(make_app) as (pilot, screen):
        asked, now = card(screen), clock.now
        clock.now = now.replace(year=1970)
        assert "this machine's clock is wrong" in await press(pilot, "3") and card(screen) == asked
        clock.now = now
        await pilot.press("3")
        assert card(screen) != asked


async def test_an_answer_given_elsewhere_is_not_doubled(make_app: MakeApp, clock: Clock) -> None:
    async with rating(make_app) as (pilot, screen):
        asked = card(screen)
        with _second(screen, clock) as other:
            record.answer(other, asked, Rating.EASY)
        before = rows(screen)
        assert "the intervals have changed" in await press(pilot, "4")
        assert rows(screen) == before and card(screen) == asked and screen.item is not None
        promised = screen.item.previews[Rating.EASY]
        await pilot.press("4")
        stored = screen.workspace.store.schedules.get(asked)
        assert stored is not None and stored.interval_days == promised.interval_days and rows(screen) == before + 1


async def test_a_card_left_open_for_days_shows_its_new_intervals_first(make_app: MakeApp, clock: Clock) -> None:
    async with known(make_app, clock) as (pilot, screen):
        before = rows(screen)
        clock.move(days=10)
        assert "the intervals have changed" in await press(pilot, "3") and rows(screen) == before
        await pilot.press("3")
        assert rows(screen) == before + 1


async def test_settings_changed_elsewhere_are_taken_over(make_app: MakeApp, clock: Clock) -> None:
    async with known(make_app, clock) as (pilot, screen):
        asked, home = card(screen), screen.workspace.home
        home.config.write_text("desired_retention = 0.8\nfuzz = false\n", encoding="utf-8")
        with _second(screen, clock, desired_retention=0.8):
            pass
        before = rows(screen)
        assert "the intervals have changed" in await press(pilot, "4") and rows(screen) == before
        await pilot.press("4")
        stored = screen.workspace.store.schedules.get(asked)
        screen.workspace.derive_all()
        assert screen.workspace.store.schedules.get(asked) == stored
        assert screen.workspace.settings.desired_retention == 0.8


async def test_what_was_put_away_can_be_taken_back(make_app: MakeApp) -> None:
    async with rating(make_app) as (pilot, screen):
        asked = card(screen)
        await pilot.press("exclamation_mark")
        assert card(screen) != asked
        await screen.action_undo()
        await pilot.pause()
        assert card(screen) == asked and any("back in the queue" in text for text in notes(screen))
        assert screen.workspace.store.schedules.hold(asked) == (False, 0)


@pytest.mark.parametrize("earlier", [0, 1])
async def test_an_answer_for_which_only_the_cache_has_no_room_is_stored_once_and_scheduled_later(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, clock: Clock, earlier: int
) -> None:
    if earlier:
        record.hold(make_app().workspace, RowKind.SUSPEND, "kv-04")
    async with rating(make_app) as (pilot, screen):
        before, asked = rows(screen), card(screen)
        with cache_full(monkeypatch):
            await press(pilot, "3")
            assert rows(screen) == before + 1 and card(screen) != asked
        if earlier:
            record.answer(screen.workspace, card(screen), Rating.EASY)
            assert screen.workspace.store.schedules.get(asked) is not None, "it follows with the next answer"
        with _second(screen, clock) as other:
            assert other.store.schedules.get(asked) is not None


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed there")
async def test_answers_are_kept_although_the_cache_was_removed(make_app: MakeApp, clock: Clock) -> None:
    async with rating(make_app) as (pilot, screen):
        before, asked = rows(screen), card(screen)
        remove_cache(screen.workspace.home.database)
        await press(pilot, "3")
        assert card(screen) != asked and rows(screen) == before + 1 and not screen.problem
        with _second(screen, clock) as other:
            assert other.store.schedules.get(asked) == screen.workspace.store.schedules.get(asked) is not None


def test_sqlite_s_words_become_kinds_of_failure() -> None:
    for said, kind in (
        ("database is locked", StoreBusy),
        ("database or disk is full", StoreFull),
        ("attempt to write a read-only database", StoreUnwritable),
    ):
        assert type(error_in_words(sqlite3.OperationalError(said), Path("cache.db"))) is kind


@contextmanager
def _second(screen: ReviewScreen, clock: Clock, **settings: Any) -> Iterator[Workspace]:
    """Open the same home as another process would."""
    home = screen.workspace.home
    with Workspace.open(home, clock, settings=Settings(fuzz=False, **settings), quizbank=BANK) as other:
        yield other


def test_an_error_is_one_line_in_eighty_columns_and_every_failure_of_the_database_has_its_own() -> None:
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, StoreError)}
    assert kinds - set(base._LINES) == set()
    lines = [line.format(message="x")["zh"] for line in base._LINES.values()]
    assert len(set(lines)) == len(lines)
    for kind, line in base._LINES.items():
        error = kind.__new__(kind)
        error.message = quoted("x")
        for lang in LANGS:
            assert cell_len(f"! {line[lang]}") <= 76, kind
            assert error_text(error, lang) == line.format(message="x")[lang], kind


async def test_an_error_behind_any_key_is_told(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StoreFull(quoted("the disk is full"))

    async with running(make_app()) as (app, pilot):
        monkeypatch.setattr(AttnApp, "show", fail)
        await press(pilot, "s")
        assert app.failure is None and any("disk is full" in note.message for note in app._notifications)


def test_errors_and_numbers_that_cannot_be_read_are_told_in_the_learners_language() -> None:
    for error, en, zh in (
        (errors.NoTorch(quoted("grading needs PyTorch")), "pip install torch", "评测需要 PyTorch：pip install torch"),
        (errors.JudgeFailed(quoted("the judge died")), "the judge died", "评测程序出错：the judge died"),
        (errors.ExperimentFailed(quoted("it told nothing")), "it told nothing", "实验没有跑完：it told nothing"),
        (errors.ConfigInvalid(quoted("it is no TOML")), "it is no TOML", "设置没有保存：it is no TOML"),
        (UsageError(_("the interview is over")), "the interview is over", "没有成功：面试已经结束"),
        (UsageError(quoted("something else")), "something else", "没有成功：something else"),
    ):
        assert en in error_text(error, "en") and zh in error_text(error, "zh")
    for text, unit, en, zh in (
        ("about ten", "GiB", "Enter a number, e.g. 1.5, 1.5e3 or 3/4.", "请输入数字，例如 1.5"),
        ("1,5", "", "commas separate groups of three", "千位分隔"),
        ("3 s", "GiB", "Answer in GiB, not in “s”.", "答案的单位应为 GiB，不是“s”"),
        ("3 GiB", "", "Enter a plain number, without “GiB”.", "只需填数字，不要写“GiB”"),
    ):
        with pytest.raises(InvalidInput) as caught:
            read_number(text, unit)
        assert en in error_text(caught.value, "en") and zh in error_text(caught.value, "zh")
