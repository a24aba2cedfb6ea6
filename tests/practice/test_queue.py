"""Choose cards: filters, minutes a day, due steps, siblings kept apart, tags and notes, must-know cards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.config import WEEKDAYS, Settings
from attncli.config import load as load_settings
from attncli.domain.grade_report import GradeReport
from attncli.domain.log_row import Rating, RowKind, State
from attncli.domain.vocabulary import KINDS, LEVELS, LONGEST_WAIT_DAYS, Kind, Level
from attncli.errors import NoCardMatches, NotFound, NothingFound, UsageError
from attncli.memory.queue_order import LEARN_SECONDS, REVIEW_SECONDS
from attncli.paths import Home
from attncli.practice import queue, record
from attncli.practice.authoring import add_card
from attncli.practice.challenges import narrowed, standings
from attncli.practice.grade import record_attempt
from attncli.practice.queue import CardFilter, browse, draw_cards, held_apart, matching_cards, seconds_a_card
from attncli.practice.record import annotated_cards, annotation, set_note, take_back, toggle_tag
from attncli.practice.review import ReviewSession
from attncli.practice.stats import must_know, overview, progress
from attncli.practice.today import due_counts
from attncli.practice.workspace import Workspace
from moved_clock import Clock

from .conftest import MakeCard, Open

ALL = ["att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"]
Linked = Callable[..., Workspace]
NO_STEPS: dict[str, Any] = {"fuzz": False, "learning_steps": (), "relearning_steps": ()}
NAMED = [f"n-{n:02d}" for n in range(1, 9)]
links = st.dictionaries(
    st.sampled_from(NAMED), st.lists(st.sampled_from(NAMED), min_size=1, max_size=3, unique=True), max_size=6
)


def ids(workspace: Workspace, **card_filter: Any) -> list[str]:
    return [card.id for card in matching_cards(workspace, CardFilter(**card_filter))]


def found_by(workspace: Workspace, line: str) -> set[str]:
    return {card.id for card in browse(workspace, line).cards}


def test_every_condition_is_kept_to_and_what_is_put_away_left_out(workspace: Workspace) -> None:
    assert ids(workspace) == ALL
    assert ids(workspace, topic="KV") == ["kv-01", "kv-02", "kv-03"]
    assert ids(workspace, kind="debug") == ["kv-03"]
    assert ids(workspace, level="onsite") == ALL, "a level means up to it"
    assert ids(workspace, level="screen") == ["att-01", "att-02", "kv-01"]
    assert ids(workspace, topic="att", level="onsite", kind="cloze") == ["att-03"]
    assert ids(workspace, weak=True) == []
    with pytest.raises(NotFound, match="unknown topic nope"):
        ids(workspace, topic="nope")
    record.hold(workspace, RowKind.SUSPEND, "att-01")
    record.hold(workspace, RowKind.BURY, "kv-02")
    assert ids(workspace) == ["att-02", "att-03", "kv-01", "kv-03"]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    *(st.sampled_from([None, *choices]) for choices in (["att", "kv"], KINDS, LEVELS)),
    *(st.integers(1, 9), st.integers(0, 99)),
)
def test_a_draw_is_as_many_as_fit_each_once_the_same_for_a_seed(
    workspace: Workspace, topic: str | None, kind: Kind | None, level: Level | None, count: int, seed: int
) -> None:
    card_filter = CardFilter(topic, kind, level, count=count)
    fit = [card.id for card in matching_cards(workspace, card_filter)]
    if not fit:
        with pytest.raises(NoCardMatches):
            draw_cards(workspace, card_filter, Random(seed))
        return
    drawn = [card.id for card in draw_cards(workspace, card_filter, Random(seed))]
    assert len(drawn) == len(set(drawn)) == min(count, len(fit)) and set(drawn) <= set(fit)
    assert drawn == [card.id for card in draw_cards(workspace, card_filter, Random(seed))]


def test_a_card_that_lapses_often_is_weak(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    day = workspace.clock() - timedelta(days=400)
    for _ in range(3):
        for rating, days in ((Rating.EASY, 1), (Rating.EASY, 40), (Rating.AGAIN, 20)):
            record.answer(workspace, "kv-03", rating, day)
            day += timedelta(days=days)
    record.answer(workspace, "kv-03", Rating.EASY)
    schedule = workspace.store.schedules.get("kv-03")
    assert schedule is not None and schedule.lapses == 3
    assert ids(workspace, weak=True) == ["kv-03"]


def test_where_nothing_fits_the_error_says_what_to_drop(workspace: Workspace) -> None:
    card_filter = CardFilter("att", "debug", "onsite")
    assert queue.without(workspace, card_filter) == {"topic": 1, "kind": 3}
    with pytest.raises(NothingFound) as nothing:
        draw_cards(workspace, card_filter, Random(1))
    assert str(nothing.value) == (
        "no card matches --topic att --kind debug --level onsite; there are 3 without --kind, 1 without --topic"
    )
    with pytest.raises(NoCardMatches, match="no card matches --topic att --kind debug --weak; drop several of these"):
        draw_cards(workspace, CardFilter("att", "debug", weak=True), Random(1))
    for card in ALL:
        record.hold(workspace, RowKind.SUSPEND, card)
    with pytest.raises(NoCardMatches, match="there are no cards"):
        draw_cards(workspace, CardFilter(), Random(1))


def known(workspace: Workspace) -> None:
    """Log first answers of five cards on different days; each is due by now."""
    for card, days in (("att-01", 100), ("att-02", 60), ("att-03", 30), ("kv-01", 20), ("kv-02", 9)):
        record.answer(workspace, card, Rating.EASY, workspace.clock() - timedelta(days=days))


def set_minutes(workspace: Workspace, minutes: int, percent: int = 100, more: str = "fuzz = false") -> None:
    """Set minutes a day, of which each weekday has `percent`."""
    easy = " ".join(f"{day}={percent}" for day in WEEKDAYS)
    lines = f'minutes_per_day = {minutes}\n{more}\neasy_days = "{easy if percent < 100 else ""}"\n'
    workspace.home.config.write_text(lines, encoding="utf-8")
    workspace.adopt(load_settings(workspace.home.config, {}))


def asked(workspace: Workspace, ratings: Callable[[], Rating] = lambda: Rating.EASY) -> list[str]:
    """Answer all cards available now; return their ids."""
    drill, found = ReviewSession(workspace), []
    while item := drill.next():
        found.append(item.card.id)
        drill.rate(ratings())
    return found


def test_minutes_that_are_not_set_or_broken_limit_nothing(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False, minutes_per_day=1)
    known(workspace)
    assert (due_counts(workspace).review, due_counts(workspace).new, due_counts(workspace).left_out) == (5, 1, 0)
    for percent, reviews, left_out in ((100, 4, 1), (50, 2, 3), (0, 0, 5)):
        set_minutes(workspace, 1, percent)
        counts = due_counts(workspace)
        assert (counts.due, counts.review, counts.left_out) == (reviews, reviews, left_out), "an easy day has less"
    workspace.home.config.write_text("minutes_per_day =", encoding="utf-8")
    assert due_counts(workspace).review == 5


def test_reviews_come_first_and_what_does_not_fit_stays_due(open_workspace: Open, moving_clock: Clock) -> None:
    workspace = open_workspace(fuzz=False)
    known(workspace)
    set_minutes(workspace, 1)
    counts = due_counts(workspace)
    assert (counts.review, counts.new, counts.left_out) == (4, 0, 1)
    assert sum(counts.topics.values()) == counts.due == ReviewSession(workspace).progress.remaining == 4
    before = workspace.store.schedules.get("att-01")
    assert set(asked(workspace)) == {"att-02", "att-03", "kv-01", "kv-02"}
    assert workspace.store.schedules.get("att-01") == before
    moving_clock.move(days=1)
    assert asked(workspace)[0] == "att-01"
    workspace = open_workspace("losing", fuzz=False, learning_steps=())
    for card, rating, days in (("att-01", Rating.EASY, 9), ("kv-01", Rating.AGAIN, 2), ("att-02", Rating.EASY, 60)):
        record.answer(workspace, card, rating, workspace.clock() - timedelta(days=days))
    set_minutes(workspace, 1, 25)
    assert asked(workspace) == ["kv-01"], "those that lose most by waiting come first"


def test_a_new_card_costs_what_its_first_weeks_cost_and_new_per_day_is_the_most(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    for minutes, more, new in ((4, "", 2), (240, "", 6), (240, "new_per_day = 1", 1)):
        set_minutes(workspace, minutes, more=more)
        assert due_counts(workspace).new == new


def test_one_slow_review_changes_no_other_of_its_day(open_workspace: Open, moving_clock: Clock) -> None:
    workspace = open_workspace(fuzz=False)
    known(workspace)
    set_minutes(workspace, 1)
    drill = ReviewSession(workspace)
    drill.next()
    moving_clock.move(seconds=45)
    drill.rate(Rating.EASY)
    assert due_counts(workspace).review == 3
    moving_clock.move(days=1)
    assert due_counts(workspace).review == 4


def test_the_learner_s_own_pace_counts_once_enough_of_it_is_known(open_workspace: Open) -> None:
    workspace = open_workspace(fuzz=False)
    assert seconds_a_card(workspace, workspace.moment()) == (LEARN_SECONDS, REVIEW_SECONDS)
    for days in range(25, 0, -1):
        for card in ("att-01", "att-02", "att-03", "kv-01", "kv-02"):
            at = workspace.clock() - timedelta(days=days)
            record.answer(workspace, card, Rating.GOOD, at, {"elapsed_ms": 45_000})
    learn, review = seconds_a_card(workspace, workspace.moment())
    assert learn == LEARN_SECONDS and REVIEW_SECONDS < review < 45


@pytest.mark.parametrize("seed", range(2))
def test_steps_of_a_topic_are_those_of_all_topics(workspace: Workspace, moving_clock: Clock, seed: int) -> None:
    draw = Random(seed)
    for card in draw.sample(ALL, len(ALL)):
        record.answer(workspace, card, draw.choice([*Rating]))
        moving_clock.move(minutes=draw.choice([0, 1, 7]))
        if draw.random() < 0.2:
            record.hold(workspace, draw.choice([RowKind.BURY, RowKind.SUSPEND]), card)
    schedules, now = workspace.store.schedules, workspace.moment()
    seen = 0
    for when in (now, now._replace(now=now.day_end)):
        steps = workspace.store.queue.learning(when)
        seen += len(steps)
        for topic in ("att", "kv"):
            assert workspace.store.queue.learning(when, topic) == [one for one in steps if one.topic == topic]
        dues = [schedules.get(one.id).due_at for one in steps]  # type: ignore[union-attr]
        assert dues == sorted(dues)
        assert {one.id for one in steps} == {
            id
            for id, schedule in schedules.all()
            if schedule.state in (State.LEARNING, State.RELEARNING)
            and schedule.due_at <= when.now
            and schedules.hold(id) == (False, 0)
        }
    assert seen > 1


@pytest.fixture
def linked(
    small_impl: Path, moving_clock: Clock, qa_card: MakeCard, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Linked]:
    """`linked({"n-01": ["n-02"]}, **settings)` opens a workspace over cards n-01 to n-08 with these follow-ups."""
    with ExitStack() as opened:

        def make(follow_ups: dict[str, list[str]], extra: str = "", **settings: object) -> Workspace:
            bank = tmp_path_factory.mktemp("bank")
            text = "topic: n\nlicence: CC-BY-4.0\ntitle: {en: N, zh: 数}\ncards:\n"
            for id in NAMED:
                text += qa_card(id) + (f"    follow_ups: [{', '.join(follow_ups[id])}]\n" if follow_ups.get(id) else "")
                text += extra if id == "n-01" else ""
            (bank / "n.yaml").write_text(text, encoding="utf-8")
            home, chosen = Home(tmp_path_factory.mktemp("home")), Settings(**{**NO_STEPS, **settings})
            workspace = Workspace.open(home, moving_clock, settings=chosen, quizbank=bank, impl=small_impl)
            return opened.enter_context(workspace)

        yield make


def test_of_two_unseen_siblings_one_waits_two_days(linked: Linked, moving_clock: Clock) -> None:
    workspace = linked({"n-01": ["n-02"]}, new_per_day=8)
    assert due_counts(workspace).new == 7
    days = [asked(workspace, lambda: Rating.EASY)]
    while "n-02" not in days[-1]:
        moving_clock.move(days=1)
        days.append(asked(workspace))
    assert "n-01" in days[0] and len(days) == 3


def test_of_two_siblings_due_together_the_one_that_waited_longer_comes(linked: Linked, moving_clock: Clock) -> None:
    workspace = linked({"n-03": ["n-01"]}, new_per_day=0)
    moving_clock.move(days=-1)
    record.answer(workspace, "n-01", Rating.EASY)
    moving_clock.move(days=1)
    record.answer(workspace, "n-03", Rating.EASY)
    before = dict(workspace.store.schedules.all())
    moving_clock.move(days=9)
    counts = due_counts(workspace)
    assert (counts.review, counts.topics, held_apart(workspace, workspace.moment())) == (1, {"n": 1}, {"n-03": "n"})
    assert ReviewSession(workspace).progress.review == 1 and asked(workspace) == ["n-01"]
    assert due_counts(workspace).due == 0 and due_counts(workspace).topics == {}
    assert workspace.store.schedules.get("n-03") == before["n-03"]
    assert not workspace.store.log.of_kind(RowKind.BURY)
    moving_clock.move(days=1)
    assert asked(workspace) == []
    moving_clock.move(days=1)
    assert asked(workspace) == ["n-03"]


def test_nothing_waits_longer_than_a_week_nor_for_a_suspended_card(linked: Linked, moving_clock: Clock) -> None:
    workspace = linked({"n-01": ["n-02"]}, new_per_day=0)
    for card in ("n-01", "n-02"):
        record.answer(workspace, card, Rating.EASY)
    days = round(workspace.store.schedules.get("n-01").interval_days)  # type: ignore[union-attr]
    moving_clock.move(days=days)
    assert due_counts(workspace).review == 1
    record.hold(workspace, RowKind.SUSPEND, "n-01")
    assert held_apart(workspace, workspace.moment()) == {}
    record.hold(workspace, RowKind.UNSUSPEND, "n-01")
    moving_clock.move(days=LONGEST_WAIT_DAYS)
    assert due_counts(workspace).review == 2


def test_a_card_waits_for_its_challenge_and_the_challenge_for_its_card(linked: Linked, moving_clock: Clock) -> None:
    workspace = linked({}, extra="    challenge: double\n", new_per_day=0)
    record.answer(workspace, "n-01", Rating.EASY)
    due = round(workspace.store.schedules.get("n-01").interval_days)  # type: ignore[union-attr]
    moving_clock.move(days=due - 1)
    report = GradeReport(challenge="double", file="", verdict="accepted", rung="solved")
    record_attempt(workspace, report, "x")
    moving_clock.move(days=1)
    assert held_apart(workspace, workspace.moment()) == {"n-01": "n"}
    moving_clock.move(days=1)
    assert asked(workspace) == ["n-01"]
    schedule = workspace.store.schedules.get("double")
    assert schedule is not None
    moving_clock.move(days=max(0, schedule.due_day - workspace.moment().day))
    record.answer(workspace, "n-01", Rating.EASY)
    assert due_counts(workspace).challenges == 0 and not standings(workspace)[0].is_due
    moving_clock.move(days=2)
    assert due_counts(workspace).challenges == 1 and standings(workspace)[0].is_due


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(follow_ups=links, draw=st.randoms(use_true_random=False), absent=st.sets(st.integers(1, 20), max_size=6))
def test_on_no_day_nor_the_next_are_siblings_asked_and_schedules_are_those_of_the_log(
    linked: Linked, moving_clock: Clock, follow_ups: dict[str, list[str]], draw: Any, absent: set[int]
) -> None:
    follow_ups = {card: [other for other in named if other != card] for card, named in follow_ups.items()}
    workspace = linked(follow_ups, new_per_day=3)
    pairs = [{card, other} for card, named in follow_ups.items() for other in named]
    last = dict.fromkeys(NAMED, -9)
    for day in range(24):
        if day not in absent:
            schedules = dict(workspace.store.schedules.all())
            counted = due_counts(workspace).due
            found = asked(workspace, lambda: Rating(draw.choice((1, 2, 3, 3, 4))))
            assert len(found) == counted
            for card in found:
                late = workspace.moment().day - schedules[card].due_day if card in schedules else 0
                assert late <= LONGEST_WAIT_DAYS or absent
                siblings = {other for pair in pairs if card in pair for other in pair - {card}}
                near = [other for other in siblings if day - last[other] < 2 or other in found]
                assert not near or late >= LONGEST_WAIT_DAYS
            last |= dict.fromkeys(found, day)
        moving_clock.move(days=1)
    before = dict(workspace.store.schedules.all())
    workspace.derive_all()
    assert dict(workspace.store.schedules.all()) == before


def test_an_unseen_card_waits_for_an_overdue_sibling_but_not_before_an_interview(
    linked: Linked, moving_clock: Clock
) -> None:
    workspace = linked({"n-01": ["n-02"]}, new_per_day=0)
    record.answer(workspace, "n-01", Rating.GOOD)
    moving_clock.move(days=30)
    workspace.adopt(workspace.settings._replace(new_per_day=8))
    assert set(asked(workspace)) == {*NAMED} - {"n-02"}
    workspace = linked({"n-01": ["n-02"]}, new_per_day=0)
    day = date.fromordinal(workspace.moment().day + 7)
    workspace.adopt(Settings(**{**NO_STEPS, "interview": day, "minutes_per_day": 60}))
    assert due_counts(workspace).new == 8


def test_a_tag_is_put_on_and_taken_off_and_a_note_replaced(workspace: Workspace) -> None:
    assert toggle_tag(workspace, "att-01", "#Hard") and toggle_tag(workspace, "att-01", "flag")
    assert annotation(workspace, "att-01").tags == ("hard", "flag") and annotation(workspace, "att-01").flagged
    assert found_by(workspace, "#hard") == found_by(workspace, "is:flagged") == {"att-01"}
    assert not toggle_tag(workspace, "att-01", "hard")
    assert found_by(workspace, "#hard") == set() and set(annotated_cards(workspace)) == {"att-01"}
    for tag in ("", "#", "two words", "-x", "x" * 41, "a/b"):
        with pytest.raises(UsageError, match="letters, digits and hyphens for a tag, at most 40"):
            toggle_tag(workspace, "att-02", tag)
    assert annotation(workspace, "att-02").tags == ()
    set_note(workspace, "att-01", "  one ")
    set_note(workspace, "att-01", "two")
    assert annotation(workspace, "att-01").note == "two" and found_by(workspace, "is:noted") == {"att-01"}
    with pytest.raises(UsageError, match="note is too long; shorten it"):
        set_note(workspace, "att-01", "x" * 4001)
    take_back(workspace)
    assert annotation(workspace, "att-01").note == "one"
    set_note(workspace, "att-01", "one")
    take_back(workspace)
    assert annotation(workspace, "att-01").note == "" and found_by(workspace, "is:noted") == set()


def test_states_find_the_cards_that_are_in_them(workspace: Workspace) -> None:
    record.answer(workspace, "att-01", Rating.AGAIN)
    record.hold(workspace, RowKind.SUSPEND, "att-02")
    record.hold(workspace, RowKind.BURY, "att-03")
    expected = {"seen": {"att-01"}, "weak": {"att-01"}, "suspended": {"att-02"}, "buried": {"att-03"}, "leech": set()}
    for state, cards in (expected | {"new": {*ALL} - {"att-01"}, "seen is:suspended": set()}).items():
        assert found_by(workspace, f"is:{state}") == cards, state
    new = add_card(workspace, "mine", "What is a tensor?", "An array.")
    workspace.read_banks()
    for line in ("is:own", "tensor is:own", "topic:mine"):
        assert found_by(workspace, line) == {new.id}, "found as soon as it is read"
    assert not [state for state in queue.STATES if browse(workspace, f"is:{state}").unknown]


def test_filters_narrow_what_the_words_find_and_at_most_so_many_are_shown(workspace: Workspace) -> None:
    assert found_by(workspace, "kind:qa level:screen topic:ATT") == {"att-01"}
    assert found_by(workspace, "kind:numeric") == {"kv-01"}
    for word in ("is:odd", "kind:poem", "level:", "topic:nowhere"):
        found = browse(workspace, word)
        assert found.unknown == (word,) and len(found.cards) == len(ALL)
    for line in ("", "kind:numeric", "is:new", "attention"):
        whole = browse(workspace, line)
        assert whole.count == len(whole.cards)
        for most in (0, 1, 2, 10_000):
            found = browse(workspace, line, most)
            assert (found.cards, found.count) == (whole.cards[:most], whole.count), line


def mark(bank: Path, id: str) -> None:
    """Make a card of the bank a must-know card."""
    file, entry = bank / f"{id.partition('-')[0]}.yaml", f"  - id: {id}\n"
    text = file.read_text(encoding="utf-8").replace(entry, f"{entry}    must_know: true\n    formula: x\n")
    file.write_text(text, encoding="utf-8")


@pytest.fixture
def marked(small_bank: Path, small_impl: Path, open_workspace: Open) -> Workspace:
    """Return a workspace with must-know cards att-02 and kv-01, and a must-know challenge."""
    for id in ("att-02", "kv-01"):
        mark(small_bank, id)
    challenge = small_impl / "basics" / "double" / "challenge.yaml"
    challenge.write_text("must_know: true\n" + challenge.read_text(encoding="utf-8"), encoding="utf-8")
    return open_workspace()


def test_drills_and_search_have_a_filter_for_must_know_cards(marked: Workspace) -> None:
    drawn = draw_cards(marked, CardFilter(must_know=True), Random(0))
    assert {card.id for card in drawn} == found_by(marked, "is:must-know") == {"att-02", "kv-01"}
    said = r"no card matches --kind debug --must-know; there are 1 without --must-know"
    with pytest.raises(NoCardMatches, match=said):
        draw_cards(marked, CardFilter(kind="debug", must_know=True), Random(0))
    assert [found.challenge.id for found in narrowed(standings(marked), "is:must-know")] == ["double"]


def test_a_card_counts_as_known_while_it_is_likely_recalled(marked: Workspace, moving_clock: Clock) -> None:
    assert must_know(marked, marked.moment()).text.en == "0/2 cards · 0/1 challenges"
    record.answer(marked, "att-02", Rating.GOOD)
    record.answer(marked, "att-01", Rating.GOOD)
    assert progress(marked).must_know.recalled == overview(marked).must_know.recalled == 1
    moving_clock.move(days=400)
    assert progress(marked).must_know.recalled == 0


def test_the_topic_of_a_must_know_card_comes_first_on_home(small_bank: Path, open_workspace: Open) -> None:
    assert not progress(open_workspace()).must_know.text
    before = {file: file.read_text(encoding="utf-8") for file in small_bank.iterdir()}
    for id, first in (("att-02", "att"), ("kv-01", "kv")):
        for file, text in before.items():
            file.write_text(text, encoding="utf-8")
        mark(small_bank, id)
        topics = list(overview(open_workspace()).topics)
        assert topics[0] == first and len(topics) == 2
