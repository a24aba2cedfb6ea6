"""How the learner stands in one challenge, as its screen says it."""

from __future__ import annotations

from datetime import timedelta

from attncli.domain.challenge import Challenge
from attncli.domain.text import Lang
from attncli.practice.challenges import ChallengeStanding, standings
from attncli.practice.workspace import Workspace
from attncli.words.app_texts import say
from attncli.words.interval_texts import interval_text


def standing_text(workspace: Workspace, challenge: Challenge, lang: Lang) -> str:
    """New, tried, solved or hardened, and whether it is due."""
    found = _standing(workspace, challenge)
    word = say(f"standing.{found.standing}", lang)
    return f"{word} · {say('challenges.due', lang)}" if found.is_due else word


def comes_back_text(workspace: Workspace, challenge: Challenge, lang: Lang) -> str:
    """When it is asked again; empty where it is not scheduled."""
    found = _standing(workspace, challenge)
    if found.schedule is None:
        return ""
    wait = max(timedelta(0), found.schedule.due_at - workspace.clock())
    return say("verdict.next-due", lang, interval=interval_text(wait, lang))


def _standing(workspace: Workspace, challenge: Challenge) -> ChallengeStanding:
    return next(s for s in standings(workspace, challenge.track) if s.challenge.id == challenge.id)
