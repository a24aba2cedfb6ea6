"""The first run: when it comes, which questions it asks before the first card, and what follows from an answer."""

from __future__ import annotations

from attncli.practice.settings import change_setting, kept_settings
from attncli.practice.workspace import Workspace

QUESTIONS = ("lang", "interview", "level", "minutes_per_day")
MINUTES_A_NEW_CARD = 3
"""What a new card takes over the weeks: a minute to learn, the rest for its first reviews."""


def is_first_run(workspace: Workspace) -> bool:
    """Whether nothing was ever answered or set here, and what is told now can be kept."""
    store = workspace.store
    return not store.unwritable and not workspace.home.config.exists() and not store.log.length()


def answer(workspace: Workspace, question: str, text: str) -> None:
    """Keeps one answer, if it is another than what is set; minutes tell besides how many new cards a day brings.

    Raises ConfigInvalid for an answer that does not fit, EnvironmentFailure where it cannot be written.
    """
    if text == kept_settings(workspace).text(question):
        return
    change_setting(workspace, question, text)
    if question == "minutes_per_day":
        minutes = workspace.settings.minutes_per_day
        change_setting(workspace, "new_per_day", str(max(1, minutes // MINUTES_A_NEW_CARD)))


def do_not_ask_again(workspace: Workspace) -> None:
    """The language that is shown is kept, whatever else was answered: what is set is not asked."""
    change_setting(workspace, "lang", workspace.lang)
