"""Settings of a workspace: the first-run questions, and the target retention of a topic."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from attncli.config import load
from attncli.domain.log_row import Rating, Schedule
from attncli.errors import ConfigInvalid, NotFound
from attncli.practice import record
from attncli.practice.workspace import (
    QUESTIONS,
    Workspace,
    answer,
    change_setting,
    do_not_ask_again,
    is_first_run,
    saved_settings,
)

from .conftest import Open

WISHED = (("att", 0.97),)


def test_only_a_new_learner_who_can_answer_is_asked(open_workspace: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_workspace()
    assert is_first_run(workspace)
    with monkeypatch.context() as patch:
        patch.setattr(workspace.store, "unwritable", "the disk is full")
        assert not is_first_run(workspace)
    do_not_ask_again(workspace)
    assert not is_first_run(workspace)
    assert load(workspace.home.config, {}).lang == workspace.lang
    other = open_workspace("other")
    record.answer(other, "att-01", Rating.GOOD)
    assert not is_first_run(other)


def test_only_answers_that_fit_and_change_something_are_written(workspace: Workspace) -> None:
    for question in QUESTIONS:
        answer(workspace, question, saved_settings(workspace).text(question))
    for question, text in (("interview", "2020-01-01"), ("interview", "soon"), ("minutes_per_day", "0")):
        with pytest.raises(ConfigInvalid):
            answer(workspace, question, text)
    assert not workspace.home.config.exists()
    for minutes, new_cards in ((60, 20), (1, 1)):
        answer(workspace, "minutes_per_day", str(minutes))
        assert (workspace.settings.minutes_per_day, workspace.settings.new_per_day) == (minutes, new_cards)


def learnt(workspace: Workspace) -> dict[str, Schedule]:
    now = workspace.clock()
    for card in ("att-01", "kv-01"):
        for days in (40, 30, 10):
            record.answer(workspace, card, Rating.GOOD, now - timedelta(days=days))
    return dict(workspace.store.schedules.all())


def test_only_cards_of_the_topic_come_sooner_at_once_and_on_replay(open_workspace: Open, small_bank: Path) -> None:
    plain = learnt(open_workspace(fuzz=False))
    wished = open_workspace(fuzz=False, topic_retention=WISHED)
    changed = dict(wished.store.schedules.all())
    assert changed == learnt(open_workspace("wished", fuzz=False, topic_retention=WISHED))
    assert changed["kv-01"] == plain["kv-01"]
    assert changed["att-01"].interval_days < plain["att-01"].interval_days
    assert changed["att-01"].stability_days == plain["att-01"].stability_days
    wished.derive_all()
    assert dict(wished.store.schedules.all()) == changed
    assert dict(open_workspace(fuzz=False).store.schedules.all()) == plain
    open_workspace(fuzz=False, topic_retention=WISHED)
    moved = (small_bank / "att.yaml").read_text(encoding="utf-8").replace("topic: att", "topic: other")
    (small_bank / "att.yaml").write_text(moved, encoding="utf-8")
    after = dict(open_workspace(fuzz=False, topic_retention=WISHED).store.schedules.all())
    assert after["att-01"].interval_days == plain["att-01"].interval_days, "it follows the topic that it moved to"


def test_the_buttons_of_a_topic_follow_its_retention(open_workspace: Open) -> None:
    workspace = open_workspace(topic_retention=WISHED)
    asked = {card: workspace.card_scheduler(card).policy.desired_retention for card in ("att-01", "kv-01", "gone")}
    assert asked == {"att-01": 0.97, "kv-01": 0.9, "gone": 0.9}
    at = workspace.clock()
    shown = workspace.card_scheduler("att-01").previews("att-01", None, at, workspace.calendar.day(at))
    assert record.answer(workspace, "att-01", Rating.EASY, at).schedule == shown[Rating.EASY]


def test_topics_are_checked_and_called_by_their_names(workspace: Workspace) -> None:
    change_setting(workspace, "topic_retention.ATT", "0.95")
    change_setting(workspace, "topic_retention.kv", "0.8")
    assert "att = 0.95\nkv = 0.8" in workspace.home.config.read_text(encoding="utf-8")
    with pytest.raises(NotFound, match=r"unknown topic atn; did you mean att\?"):
        change_setting(workspace, "topic_retention.atn", "0.95")
    with pytest.raises(NotFound, match="unknown topic atn"):
        change_setting(workspace, "topic_retention", "atn=0.9")
    for text in ("2", "high"):
        with pytest.raises(ConfigInvalid, match=r"att: .* is not a number from 0.7 to 0.97"):
            change_setting(workspace, "topic_retention.att", text)
    with pytest.raises(ConfigInvalid, match=r"is not a list of topics; write it like att=0.95"):
        change_setting(workspace, "topic_retention", "att 0.9")
    change_setting(workspace, "topic_retention", "")
    assert "topic_retention" not in workspace.home.config.read_text(encoding="utf-8")
