"""Where the learner stands with each challenge, and which is next."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any, get_args
from unicodedata import normalize

from attncli.domain.challenge import Challenge, Standing
from attncli.domain.rungs import RUNGS
from attncli.domain.schedule import Schedule
from attncli.domain.text import LANGS, Lang
from attncli.memory.attempt_rating import fixed_of, standing_of
from attncli.memory.replay import standing
from attncli.practice.record import iso
from attncli.practice.workspace import Workspace
from attncli.words.track_texts import track_title


@dataclass(frozen=True, slots=True)
class ChallengeStanding:
    """A challenge and where the learner stands with it; `schedule` is None until it is solved.

    `fixed` counts the files with planted bugs that the learner has mended.
    """

    challenge: Challenge
    standing: Standing
    schedule: Schedule | None
    attempts: int
    is_due: bool
    fixed: int = 0

    def document(self, lang: Lang) -> dict[str, Any]:
        """What `attn challenges --json` lists; `due` is when to solve it again, or null."""
        return {
            "id": self.challenge.id,
            "track": self.challenge.track,
            "level": self.challenge.level,
            "title": self.challenge.title[lang],
            "standing": self.standing,
            "due": iso(self.schedule.due_at) if self.schedule else None,
            "fixed": self.fixed,
        }


def standings(workspace: Workspace, track: str | None = None) -> list[ChallengeStanding]:
    """Every challenge (of `track`), in reading order. Raises NotFound for an unknown track."""
    due = workspace.store.queue.challenges_due(workspace.moment())
    return [_standing(workspace, challenge, due) for challenge in workspace.library.challenges(track)]


def _standing(workspace: Workspace, challenge: Challenge, due: Container[str]) -> ChallengeStanding:
    rows = standing(workspace.store.log.of_subjects([challenge.id]))
    schedule = workspace.store.schedules.get(challenge.id)
    attempts = sum(row.verdict != "" for row in rows)
    is_due = challenge.id in due
    return ChallengeStanding(challenge, standing_of(rows), schedule, attempts, is_due, fixed_of(rows))


STATES = (*get_args(Standing), "due")
"""What `is:` narrows a list of challenges to."""


def narrowed(listed: Iterable[ChallengeStanding], query: str) -> list[ChallengeStanding]:
    """Those in which each word of the query stands: in the id, a title, the track's names, or as `is:` and a state."""
    words = normalize("NFKC", query).casefold().split()
    return [found for found in listed if all(_has(found, word) for word in words)]


def _has(found: ChallengeStanding, word: str) -> bool:
    if word.startswith("is:"):
        return word[3:] == found.standing or (word == "is:due" and found.is_due)
    challenge = found.challenge
    titles = [title[lang] for title in (challenge.title, track_title(challenge.track)) for lang in LANGS]
    return word in "\n".join([challenge.id, challenge.track, *titles]).casefold()


def next_unsolved(workspace: Workspace, id: str) -> Challenge | None:
    """The first challenge after this one, in reading order and from the start again, that is not solved."""
    listed = standings(workspace)
    place = next(k for k, found in enumerate(listed) if found.challenge.id == id)
    rest = [found.challenge for found in [*listed[place + 1 :], *listed[:place]] if found.standing not in RUNGS]
    return rest[0] if rest else None


def is_solved(workspace: Workspace, id: str) -> bool:
    return standing_of(standing(workspace.store.log.of_subjects([id]))) in RUNGS
