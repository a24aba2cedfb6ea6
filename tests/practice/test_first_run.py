"""Ask the first-run questions to new learners only, and store the answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from attncli.config import load
from attncli.domain.log_row import Rating
from attncli.errors import ConfigInvalid
from attncli.practice import record
from attncli.practice.workspace import QUESTIONS, Workspace, answer, do_not_ask_again, is_first_run, saved_settings

Open = Callable[..., Workspace]


def test_a_new_folder_is_asked_until_something_is_kept(open_workspace: Open) -> None:
    workspace = open_workspace()
    assert is_first_run(workspace)
    do_not_ask_again(workspace)
    assert not is_first_run(workspace)
    assert load(workspace.home.config, {}).lang == workspace.lang


def test_who_has_answered_a_card_is_not_asked(open_workspace: Open) -> None:
    workspace = open_workspace()
    record.answer(workspace, "att-01", Rating.GOOD, workspace.clock())
    assert not is_first_run(workspace)


def test_nothing_is_asked_that_could_not_be_kept(open_workspace: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_workspace()
    monkeypatch.setattr(workspace.store, "unwritable", "the disk is full")
    assert not is_first_run(workspace)


def test_what_is_left_as_it_stands_writes_nothing(open_workspace: Open) -> None:
    workspace = open_workspace()
    for question in QUESTIONS:
        answer(workspace, question, saved_settings(workspace).text(question))
    assert not workspace.home.config.exists()


def test_minutes_a_day_tell_how_many_new_cards_a_day_brings(open_workspace: Open) -> None:
    workspace = open_workspace()
    answer(workspace, "minutes_per_day", "60")
    assert (workspace.settings.minutes_per_day, workspace.settings.new_per_day) == (60, 20)
    answer(workspace, "minutes_per_day", "1")
    assert workspace.settings.new_per_day == 1


@pytest.mark.parametrize(
    ("question", "text"), [("interview", "2020-01-01"), ("interview", "soon"), ("minutes_per_day", "0")]
)
def test_an_answer_that_does_not_fit_is_refused(open_workspace: Open, question: str, text: str) -> None:
    workspace = open_workspace()
    with pytest.raises(ConfigInvalid):
        answer(workspace, question, text)
    assert not workspace.home.config.exists()
