"""Today's list: the same for all callers and made once; its counts, new cards, and why it is empty."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from unittest.mock import Mock
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli import config
from attncli.bank.loader import NOT_CARDS, load_file
from attncli.domain.log_row import Rating, RowKind
from attncli.domain.vocabulary import LEVELS
from attncli.errors import StoreBusy
from attncli.i18n import quoted
from attncli.memory.queue_order import Unseen, asked_order, asked_weight, introduction_order
from attncli.memory.scheduler import StudyCalendar
from attncli.paths import bundled_quizbank
from attncli.practice import record
from attncli.practice.assistant import AssistantSession
from attncli.practice.plan import make_plan
from attncli.practice.plan_text import standstill
from attncli.practice.queue import planned_for
from attncli.practice.record import take_back, toggle_flag
from attncli.practice.review import ReviewSession
from attncli.practice.today import cards_left, due_counts, todays_list
from attncli.practice.workspace import Workspace, change_setting
from attncli.store.database import TODAY, remove_cache
from moved_clock import Clock

from .conftest import MakeCard, Open

CARDS = ("att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03")
WINDOW = 10
names = st.sampled_from("answer answer answer undo suspend unsuspend bury flag".split())
acts = st.lists(st.tuples(names, st.sampled_from(CARDS), st.sampled_from(Rating), st.integers(1, 1500)), max_size=12)
choices = st.fixed_dictionaries(
    {
        "new_per_day": st.integers(0, 8),
        "minutes_per_day": st.sampled_from((1, 3, 15, 120)),
        "level": st.sampled_from(config.LEVEL_CHOICES),
        "code_share": st.sampled_from((0, 33)),
        "easy_days": st.sampled_from(((), (("sat", 50), ("sun", 0)))),
        "days": st.sampled_from((None, -2, 0, 1, 3, 4, 9, 21)),
        "are_set": st.booleans(),
    }
)


def test_cards_seen_today_use_up_the_quota_till_tomorrow(open_workspace: Open, moving_clock: Clock) -> None:
    workspace = open_workspace(new_per_day=2)
    none = {"learning": 0, "review": 0, "challenges": 0}
    assert due_counts(workspace).document() == {"due": 2, "new": 2, **none, "topics": {"att": 1, "kv": 1}}
    due_counts(workspace, datetime(2030, 1, 1, tzinfo=UTC))  # counting at another time changes nothing
    for card, left in (("att-01", 1), ("kv-01", 0)):
        record.answer(workspace, card, Rating.EASY)
        assert due_counts(workspace).new == left
    moving_clock.move(days=1)
    assert due_counts(workspace).new == 2


def test_a_review_is_due_from_the_start_of_its_study_day_and_a_step_from_its_minute(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    answered = record.answer(workspace, "att-01", Rating.EASY)
    day = workspace.calendar.day(answered.schedule.due_at)
    morning = workspace.calendar.starts_at(day)
    assert due_counts(workspace, morning).review == 1
    assert due_counts(workspace, morning - timedelta(minutes=1)).review == 0
    step = record.answer(workspace, "att-02", Rating.GOOD).schedule.due_at
    assert due_counts(workspace, step).learning == 1
    assert due_counts(workspace, step - timedelta(seconds=1)).learning == 0


def test_a_bury_lasts_for_its_study_day_wherever_one_is(workspace: Workspace, moving_clock: Clock) -> None:
    def total(zone: str, hours: float = 0) -> int:
        workspace.calendar = StudyCalendar(workspace.settings.day_start, ZoneInfo(zone))
        return due_counts(workspace, now + timedelta(hours=hours)).due

    now = datetime(2026, 6, 9, 21, tzinfo=UTC)  # 09:00 on the tenth in Auckland, 11:00 on the ninth in Honolulu
    moving_clock.now = now
    everything = total("Pacific/Auckland")
    record.hold(workspace, RowKind.BURY, "att-01")
    assert total("Pacific/Auckland") == total("Pacific/Honolulu") == everything - 1
    assert total("Pacific/Honolulu", hours=20) == total("Pacific/Auckland", hours=20) == everything
    take_back(workspace)
    assert total("Pacific/Auckland") == everything


def test_a_standstill_names_what_waits_and_the_next_day(open_workspace: Open) -> None:
    workspace = open_workspace(new_per_day=2, fuzz=False, learning_steps=())
    for card in cards_left(workspace, workspace.moment()):
        record.answer(workspace, card.id, Rating.EASY)
    found = standstill(workspace)
    assert due_counts(workspace).due == 0 and found.reason == "limit"
    assert (found.introduced, found.unseen) == (2, len(workspace.store.index.card_ids()) - 2)
    assert found.next_at == workspace.moment().day_end
    stepping = open_workspace("stepping", new_per_day=1, fuzz=False)
    record.answer(stepping, "att-01", Rating.AGAIN)
    assert standstill(stepping).next_at == stepping.clock() + timedelta(minutes=1), "new cards wait for tomorrow"
    workspace = open_workspace("seen", fuzz=False, learning_steps=())
    for card in workspace.store.index.card_ids():
        record.answer(workspace, card, Rating.EASY)
    found, first = standstill(workspace), min(found.interval_days for _, found in workspace.store.schedules.all())
    assert found.reason == "waiting"
    assert found.next_at == workspace.calendar.starts_at(workspace.moment().day + round(first))


def test_what_keeps_every_card_back_is_the_reason(open_workspace: Open) -> None:
    for kind, reason in ((RowKind.SUSPEND, "suspended"), (RowKind.BURY, "buried")):
        workspace = open_workspace(kind)
        for card in workspace.store.index.card_ids():
            record.hold(workspace, kind, card)
        found = standstill(workspace)
        assert due_counts(workspace).due == 0 and found.reason == reason
        assert found.next_at == (workspace.moment().day_end if kind is RowKind.BURY else None)
    found = standstill(open_workspace("off", new_per_day=0))
    assert found.reason == "off" and found.next_at is None
    workspace = open_workspace("planned", easy_days=tuple((day, 0) for day in config.WEEKDAYS))
    interview = date.fromordinal(workspace.moment().day + 20)
    workspace.adopt(workspace.settings._replace(interview=interview))
    assert due_counts(workspace).due == 0 and standstill(workspace).reason == "planned"
    workspace = open_workspace("minutes", new_per_day=10)
    workspace.adopt(workspace.settings._replace(minutes_per_day=1))
    assert standstill(workspace).reason == "limit", "nobody has chosen the usual minutes"
    config.save(workspace.home.config, "minutes_per_day", "1")
    assert due_counts(workspace).due == 0
    found = standstill(workspace)
    assert (found.introduced, found.reason, found.next_at) == (0, "minutes", workspace.moment().day_end)


def choose(workspace: Workspace, days: int | None, are_set: bool = False, **chosen: Any) -> None:
    interview = None if days is None else date.fromordinal(workspace.moment().day + days)
    usual = {"new_per_day": 3, "minutes_per_day": 30, "level": "any", "code_share": 0, "easy_days": ()}
    workspace.adopt(workspace.settings._replace(interview=interview, **{**usual, **chosen}))
    workspace.home.config.write_text(f"minutes_per_day = {workspace.settings.minutes_per_day}\n" if are_set else "")


def act(workspace: Workspace, clock: Any, what: str, card: str, rating: Rating, minutes: int) -> None:
    clock.move(minutes=minutes)
    if what == "answer":
        record.answer(workspace, card, rating, details={"elapsed_ms": 1000 * (minutes % 400)})
    elif what == "flag":
        toggle_flag(workspace, card)
    elif what == "undo":
        if workspace.store.log.last_here(record.TAKEN_BACK):
            record.take_back(workspace)
    else:
        record.hold(workspace, RowKind(what), card)


def asked_by(session: ReviewSession) -> list[str]:
    """Take the whole list from a session without answering."""
    return [session._plan.popleft().id for _ in range(len(session._plan))]


def asked_by_the_assistant(workspace: Workspace) -> list[str]:
    session = AssistantSession(workspace, Random(0))
    session.next_card()
    drill = session._drill
    if drill is None:
        return []
    first = drill.current
    is_step = first is None or first.card.id not in {card.id for card in cards_left(workspace, workspace.moment())}
    return [*([] if is_step or first is None else [first.card.id]), *asked_by(drill)]


@pytest.mark.slow
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=acts, today=acts, chosen=choices)
def test_everyone_serves_the_same_list_and_a_deleted_cache_gives_it_again(
    fresh: Open, open_workspace: Open, moving_clock: Clock, before: Any, today: Any, chosen: Any
) -> None:
    workspace = fresh(fuzz=False)
    for what, card, rating, minutes in before:
        act(workspace, moving_clock, what, card, rating, minutes)
    choose(workspace, **chosen)
    day = workspace.moment().day
    for what, card, rating, minutes in [("", "", Rating.GOOD, 0), *((*each[:3], each[3] % 40) for each in today)]:
        if what:
            act(workspace, moving_clock, what, card, rating, minutes)
        when = workspace.moment()
        if when.day != day:
            break
        listed = todays_list(workspace, when)
        left, counts = [card.id for card in cards_left(workspace, when)], due_counts(workspace)
        assert [id for id in listed.cards if id in left] == left
        assert counts.new + counts.review == len(left) == sum(counts.topics.values()) - counts.learning
        assert asked_by(ReviewSession(workspace)) == left == asked_by_the_assistant(workspace)
        if planned_for(workspace, when):
            plan = make_plan(workspace)
            assert list(plan.days[0].cards) == left and dict(plan.days[0].code) == dict(counts.code)
            assert counts.challenges == len(plan.days[0].code)
        workspace.store.keep_note(TODAY, "")
        assert todays_list(workspace, when) == listed
    path, chosen_settings = workspace.store.connection.path, workspace.settings
    workspace.close()
    remove_cache(path)
    anew = open_workspace(workspace.home.root.name, fuzz=False)
    anew.adopt(chosen_settings)
    if anew.moment().day == day:
        assert todays_list(anew, anew.moment()) == listed


def test_rows_from_before_today_remake_the_list_alone(open_workspace: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_workspace(new_per_day=3, fuzz=False)
    before = todays_list(workspace, workspace.moment())
    with monkeypatch.context() as patch:
        patch.setattr("attncli.practice.today.scheduled_list", lambda *_: pytest.fail("made again"))
        for card in before.cards:
            record.answer(workspace, card, Rating.EASY)
        assert todays_list(workspace, workspace.moment()) == before and due_counts(workspace).due == 0
    late = next(card for card in CARDS if card not in before.cards)
    record.answer(workspace, late, Rating.EASY, workspace.clock() - timedelta(days=60))
    assert due_counts(workspace).review == 1


@pytest.mark.parametrize("days", [None, 2, 9])
def test_own_and_flagged_cards_are_next_whatever_their_level(fresh: Open, qa_card: MakeCard, days: int | None) -> None:
    workspace = fresh(fuzz=False)
    choose(workspace, days, minutes_per_day=4, level="screen")
    assert "mine-01" not in todays_list(workspace, workspace.moment()).cards
    workspace.home.banks.mkdir(parents=True, exist_ok=True)
    own = "topic: mine\ncards:\n" + qa_card("mine-01").replace("level: screen", "level: research")
    (workspace.home.banks / "mine.yaml").write_text(own, encoding="utf-8")
    workspace.read_banks()
    toggle_flag(workspace, "kv-03")
    new = [card.id for card in cards_left(workspace, workspace.moment()) if card.is_new]
    most = 2 if days is None else len(new)
    assert {"mine-01", "kv-03"} <= set(new[: max(2, most)]) if days != 9 else new[0] in ("mine-01", "kv-03")


def test_of_three_days_new_cards_are_must_know_or_own_and_reviews_stay(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    record.answer(workspace, "att-01", Rating.EASY, workspace.clock() - timedelta(days=60))
    choose(workspace, 3)
    must_know = set(workspace.store.index.must_know()[0])
    new = {card.id for card in cards_left(workspace, workspace.moment()) if card.is_new}
    assert due_counts(workspace).review == 1 and new <= must_know
    toggle_flag(workspace, "kv-02")
    assert {card.id for card in cards_left(workspace, workspace.moment()) if card.is_new} == new | {"kv-02"}


def test_a_date_set_a_week_before_brings_new_cards_to_the_last_day(open_workspace: Open, moving_clock: Clock) -> None:
    workspace = open_workspace(fuzz=False)
    change_setting(workspace, "minutes_per_day", "1")
    change_setting(workspace, "interview", "+7d")
    moving_clock.move(days=5)
    assert any(card.is_new for card in cards_left(workspace, workspace.moment()))
    plan = make_plan(workspace)
    assert plan.days_left == 2 and not plan.is_late
    change_setting(workspace, "interview", "+3d")
    assert make_plan(workspace).is_late


def test_the_share_of_code_is_met_from_the_first_day_on(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    for share, minutes in ((33, 30), (33, 120), (20, 60)):
        choose(workspace, 28, minutes_per_day=minutes, code_share=share)
        plan = make_plan(workspace)
        assert all(day.minutes <= day.has_minutes + 1e-6 for day in plan.days)
        assert sum(plan.days[0].code.values()) > 0
    choose(workspace, 28)
    assert not any(day.code for day in make_plan(workspace).days)


def test_new_cards_are_mixed_and_what_is_asked_most_comes_early() -> None:
    cards = dict[str, Unseen]()
    for path in sorted(bundled_quizbank().glob("*.yaml")):
        for place, told in enumerate(() if path.name in NOT_CARDS else load_file(path).documents):
            core = bool(told.get("core"))
            cards[told["id"]] = Unseen(told["id"], told["topic"], core, told["level"], place, told["kind"])
    orders = [introduction_order(cards.values())]
    for level in ("any", *LEVELS):
        orders += [introduction_order(cards.values(), level)[:300], asked_order(cards.values(), level)[:300]]
    for order in orders:
        for first in range(len(order) - WINDOW + 1):
            window = [cards[id] for id in order[first : first + WINDOW]]
            assert len({card.kind for card in window}) >= 3 and len({card.topic for card in window}) >= 4, window
    for level in ("any", *LEVELS):
        order = introduction_order(cards.values(), level)
        weights = [asked_weight(cards[id].core, cards[id].level, level) for id in order]
        assert sum(weights[:100]) > 0.95 * sum(sorted(weights, reverse=True)[:100])
        assert all(cards[id].core for id in order[:100])


def new_cards(workspace: Workspace) -> list[str]:
    return [waiting.id for waiting in workspace.store.queue.unseen(workspace.moment(), 100)]


def test_the_level_orders_new_cards_at_once_and_in_the_next_sitting(open_workspace: Open, monkeypatch: Any) -> None:
    workspace = open_workspace()
    before = new_cards(workspace)
    level_of = {card.id: card.level for card in workspace.store.index.list_cards(None)}
    assert change_setting(workspace, "level", "screen")
    after = new_cards(workspace)
    above = [level_of[id] != "screen" for id in after]
    assert sorted(after) == sorted(before) and above == sorted(above)
    again = open_workspace(level="screen")
    assert new_cards(again) == after
    item = ReviewSession(again).next()
    assert item is not None and item.card.id == after[0]
    assert new_cards(open_workspace()) == before
    busy = Mock(side_effect=StoreBusy(quoted("another attn is writing")))
    monkeypatch.setattr(workspace, "order_new_cards", busy)
    assert not change_setting(workspace, "level", "research")
    assert workspace.settings.level == "research" and busy.called
