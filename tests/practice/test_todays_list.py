"""Today's list: the same for all callers, made once, and made again if the cache is lost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli import config
from attncli.domain.log_row import Rating, RowKind
from attncli.practice import record
from attncli.practice.assistant import AssistantSession
from attncli.practice.plan import make_plan
from attncli.practice.queue import planned_for
from attncli.practice.record import toggle_flag
from attncli.practice.review import ReviewSession
from attncli.practice.today import cards_left, due_counts, todays_list
from attncli.practice.workspace import Workspace, change_setting
from attncli.store.database import TODAY, remove_cache

Open = Callable[..., Workspace]
_homes = count()
CARDS = ("att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03")
OWN = """\
topic: mine
licence: CC-BY-4.0
title: {en: Mine, zh: 我的}
cards:
  - id: mine-01
    kind: qa
    level: research
    question: {en: Why?, zh: 为什么？}
    short: {en: So., zh: 所以。}
    explain: {en: Because., zh: 因为。}
    points:
      - {en: it is so, zh: 就是这样}
      - {en: and so, zh: 如此}
      - {en: and on, zh: 等等}
"""

acts = st.lists(
    st.tuples(
        st.sampled_from(("answer", "answer", "answer", "undo", "suspend", "unsuspend", "bury", "flag")),
        st.sampled_from(CARDS),
        st.sampled_from(Rating),
        st.integers(1, 1500),
    ),
    max_size=12,
)
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


def choose(workspace: Workspace, days: int | None, are_set: bool, **chosen: Any) -> None:
    interview = None if days is None else date.fromordinal(workspace.moment().day + days)
    workspace.adopt(workspace.settings._replace(interview=interview, **chosen))
    workspace.home.config.write_text(f"minutes_per_day = {chosen['minutes_per_day']}\n" if are_set else "")


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


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=acts, today=acts, chosen=choices)
def test_everyone_serves_the_same_list_and_a_deleted_cache_gives_it_again(
    open_workspace: Open, moving_clock: Any, before: Any, today: Any, chosen: Any
) -> None:
    home = f"home-{next(_homes)}"
    workspace = open_workspace(home, fuzz=False)
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
    anew = open_workspace(home, fuzz=False)
    anew.adopt(chosen_settings)
    if anew.moment().day == day:
        assert todays_list(anew, anew.moment()) == listed


def test_an_answer_never_remakes_the_list(open_workspace: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_workspace(new_per_day=3)
    before = todays_list(workspace, workspace.moment())
    monkeypatch.setattr("attncli.practice.today.scheduled_list", lambda *_: pytest.fail("made again"))
    for card in before.cards:
        record.answer(workspace, card, Rating.EASY)
    assert todays_list(workspace, workspace.moment()) == before and due_counts(workspace).due == 0


def test_rows_of_another_machine_from_before_today_remake_it(open_workspace: Open) -> None:
    workspace = open_workspace(new_per_day=0, fuzz=False)
    assert due_counts(workspace).review == 0
    record.answer(workspace, "att-01", Rating.EASY, workspace.clock() - timedelta(days=60))
    assert due_counts(workspace).review == 1


@pytest.mark.parametrize("days", [None, 2, 9])
def test_own_and_flagged_cards_are_next_whatever_their_level(open_workspace: Open, days: int | None) -> None:
    workspace = open_workspace(fuzz=False)
    choose(workspace, days, False, new_per_day=3, minutes_per_day=4, level="screen", code_share=0, easy_days=())
    assert "mine-01" not in todays_list(workspace, workspace.moment()).cards
    workspace.home.banks.mkdir(parents=True, exist_ok=True)
    (workspace.home.banks / "mine.yaml").write_text(OWN, encoding="utf-8")
    workspace.read_banks()
    toggle_flag(workspace, "kv-03")
    new = [card.id for card in cards_left(workspace, workspace.moment()) if card.is_new]
    most = 2 if days is None else len(new)
    assert {"mine-01", "kv-03"} <= set(new[: max(2, most)]) if days != 9 else new[0] in ("mine-01", "kv-03")


def test_of_three_days_new_cards_are_must_know_or_own_and_reviews_stay(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    record.answer(workspace, "att-01", Rating.EASY, workspace.clock() - timedelta(days=60))
    choose(workspace, 3, False, new_per_day=3, minutes_per_day=30, level="any", code_share=0, easy_days=())
    must_know = set(workspace.store.index.must_know()[0])
    counts = due_counts(workspace)
    new = {card.id for card in cards_left(workspace, workspace.moment()) if card.is_new}
    assert counts.review == 1 and new <= must_know
    toggle_flag(workspace, "kv-02")
    assert {card.id for card in cards_left(workspace, workspace.moment()) if card.is_new} == new | {"kv-02"}


def test_a_date_set_a_week_before_brings_new_cards_to_the_last_day(open_workspace: Open, moving_clock: Any) -> None:
    workspace = open_workspace(fuzz=False)
    change_setting(workspace, "minutes_per_day", "1")
    change_setting(workspace, "interview", "+7d")
    moving_clock.move(days=5)
    assert any(card.is_new for card in cards_left(workspace, workspace.moment()))
    plan = make_plan(workspace)
    assert plan.days_left == 2 and not plan.is_late
    change_setting(workspace, "interview", "+3d")
    assert make_plan(workspace).is_late


def test_the_share_of_code_is_met_over_a_week_with_must_know_first(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    for share, minutes in ((33, 30), (33, 120), (20, 60)):
        choose(
            workspace, 28, False, new_per_day=3, minutes_per_day=minutes, level="any", code_share=share, easy_days=()
        )
        plan = make_plan(workspace)
        assert all(day.minutes <= day.has_minutes + 1e-6 for day in plan.days)
        code = [sum(day.code.values()) for day in plan.days]
        assert code[0] > 0 and plan.days[0].code
    choose(workspace, 28, False, new_per_day=3, minutes_per_day=30, level="any", code_share=0, easy_days=())
    assert not any(day.code for day in make_plan(workspace).days)
