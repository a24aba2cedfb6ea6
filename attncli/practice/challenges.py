"""The learner's status in each challenge, the next challenge to solve, hints, and the learner's solutions.

Hints and solutions that were shown are recorded, because they count as help.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, get_args
from unicodedata import normalize

from attncli.domain.challenge import Challenge
from attncli.domain.log_row import LogRow, RowKind, Schedule, iso
from attncli.domain.tests_report import tests_subject
from attncli.domain.vocabulary import RUNGS, Rung, Standing, track_title
from attncli.errors import InvalidInput, UsageError, unreadable
from attncli.i18n import LANGS, Lang, Localised, _
from attncli.memory.replay import fixed_of, standing, standing_of
from attncli.practice.record import record
from attncli.practice.workspace import Workspace

STATES = (*get_args(Standing), "due", "must-know")
"""The values of the filter `is:`."""


@dataclass(frozen=True, slots=True)
class ChallengeStatus:
    """A challenge and the learner's status in it; `schedule` is None until it is solved.

    `fixed` counts the files with planted bugs that the learner has repaired; `tests` is the status of their tests.
    """

    challenge: Challenge
    standing: Standing
    schedule: Schedule | None
    attempts: int
    is_due: bool
    fixed: int = 0
    tests: Standing = "new"

    def document(self, lang: Lang) -> dict[str, Any]:
        """Return the JSON of one entry of `attn challenges --json`; `due` is when to solve it again, or None."""
        return {
            "id": self.challenge.id,
            "track": self.challenge.track,
            "level": self.challenge.level,
            "title": self.challenge.title[lang],
            "standing": self.standing,
            "due": iso(self.schedule.due_at) if self.schedule else None,
            "fixed": self.fixed,
            "tests": self.tests,
        }


def standings(workspace: Workspace, track: str | None = None) -> list[ChallengeStatus]:
    """Return the status of every challenge (of `track`), in reading order. Raises NotFound for an unknown track."""
    due = workspace.store.queue.challenges_due(workspace.moment())
    return [_status(workspace, challenge, due) for challenge in workspace.library.challenges(track)]


def _status(workspace: Workspace, challenge: Challenge, due: Container[str]) -> ChallengeStatus:
    rows = standing(workspace.store.log.of_subjects([challenge.id]))
    schedule = workspace.store.schedules.get(challenge.id)
    attempts = sum(row.verdict != "" for row in rows)
    is_due = challenge.id in due
    tests = standing_of(workspace.store.log.of_subjects([tests_subject(challenge.id)]))
    return ChallengeStatus(challenge, standing_of(rows), schedule, attempts, is_due, fixed_of(rows), tests)


def narrowed(listed: Iterable[ChallengeStatus], query: str) -> list[ChallengeStatus]:
    """Return those that match each word of the query: in id, title or track name, or as `is:` and a state."""
    words = normalize("NFKC", query).casefold().split()
    return [found for found in listed if all(_has(found, word) for word in words)]


def _has(found: ChallengeStatus, word: str) -> bool:
    challenge = found.challenge
    if word.startswith("is:"):
        marks = {"is:due": found.is_due, "is:must-know": challenge.must_know}
        return word[3:] == found.standing or marks.get(word, False)
    titles = [title[lang] for title in (challenge.title, track_title(challenge.track)) for lang in LANGS]
    return word in "\n".join([challenge.id, challenge.track, *titles]).casefold()


ASKED_NEXT = _("What interviewers ask next")


def asked_next(challenge: Challenge, lang: Lang) -> Iterator[str]:
    """Yield the follow-ups of a challenge with their answers as lines; nothing if it has none."""
    follow_ups = [(asked.ask, asked.answer, asked.card) for asked in challenge.follow_ups if asked.ask and asked.answer]
    if follow_ups:
        yield f"{ASKED_NEXT[lang]}:" if lang == "en" else f"{ASKED_NEXT[lang]}："
    for number, (ask, answer, card) in enumerate(follow_ups, 1):
        yield f"  {number}. {ask[lang]}"
        yield f"     {answer[lang]}" + (f"  → {card}" if card else "")


def after_solving(challenge: Challenge, following: Challenge | None, lang: Lang) -> Iterator[str]:
    """Yield the lines for a learner who has just solved a challenge for the first time."""
    yield from asked_next(challenge, lang)
    yield "  " + _("Compare with the reference: `attn solution {id}`", id=challenge.id)[lang]
    if following is not None:
        yield "  " + _("Next: {title}: `attn start {id}`", title=following.title, id=following.id)[lang]


def is_solved(workspace: Workspace, id: str) -> bool:
    return standing_of(standing(workspace.store.log.of_subjects([id]))) in RUNGS


# Hints


@dataclass(frozen=True, slots=True)
class Hint:
    """Hint `number` of `total`; `again` if all had been shown and the last one is repeated."""

    number: int
    total: int
    text: Localised
    again: bool


def next_hint(workspace: Workspace, id: str) -> Hint:
    """Return the next hint for challenge `id` and record it as seen; after solving, hints start over.

    Raises NotFound, and InvalidInput if the challenge has no hints.
    """
    challenge = workspace.library.challenge(id)
    if not challenge.hints:
        message = _("challenge {id} has no hints; `attn solution {id}` shows the reference", id=challenge.id)
        raise InvalidInput(message, "no-hints")
    seen = 0
    for row in standing(workspace.store.log.of_subjects([challenge.id])):
        seen = 0 if row.reached != "none" else seen + (row.kind is RowKind.HINT)
    number = min(seen + 1, len(challenge.hints))
    if seen < len(challenge.hints):
        record(workspace, RowKind.HINT, challenge.id, {"number": number})
    return Hint(number, len(challenge.hints), challenge.hints[number - 1], seen >= len(challenge.hints))


# The code that solved a challenge


@dataclass(frozen=True, slots=True)
class OwnSolution:
    """A challenge, the learner's last own code that reached the highest rung, and how often they tried."""

    challenge: Challenge
    rung: Rung
    source: str
    at: datetime
    attempts: int


@dataclass(frozen=True, slots=True)
class OwnSolutions:
    """The challenges that the learner solved, repaired from a file with planted bugs, and only tried."""

    solved: tuple[OwnSolution, ...]
    repaired: tuple[Challenge, ...]
    tried: tuple[Challenge, ...]


def written(workspace: Workspace) -> OwnSolutions:
    """Sort every attempted challenge into solved, repaired and tried, in reading order.

    Only the learner's own code counts as solved: code from handed-out files counts as repaired.
    """
    solved, repaired, tried = [], [], []
    for challenge in workspace.library.challenges():
        rows = standing(workspace.store.log.of_subjects([challenge.id]))
        attempts = list(_attempts(rows))
        own = [row for row, is_repair in attempts if not is_repair]
        has_repaired = any(row.fixes for row in rows)
        if has_repaired or any(is_repair and row.reached != "none" for row, is_repair in attempts):
            repaired.append(challenge)
        if last := _best(own):
            solved.append(OwnSolution(challenge, last.reached, last.source, last.at, len(own)))
        elif own:
            tried.append(challenge)
    return OwnSolutions(tuple(solved), tuple(repaired), tuple(tried))


def solving_source(workspace: Workspace, id: str) -> str | None:
    """Return the last code, own or repaired, that reached the highest rung; None until the challenge is solved."""
    best = _best(standing(workspace.store.log.of_subjects([id])))
    return None if best is None else best.source


def _best(rows: Sequence[LogRow]) -> LogRow | None:
    reached = ([row for row in rows if row.verdict and row.reached == rung] for rung in reversed(RUNGS))
    return next((found[-1] for found in reached if found), None)


def _attempts(rows: Iterable[LogRow]) -> Iterator[tuple[LogRow, bool]]:
    """Yield each attempt, and whether its file is the one with planted bugs that was handed out last."""
    handed_out: LogRow | None = None
    for row in rows:
        if row.kind is RowKind.START:
            handed_out = row
        elif row.verdict:
            yield row, handed_out is not None and handed_out.is_planted and _same_file(handed_out, row)


def _same_file(start: LogRow, attempt: LogRow) -> bool:
    """Return True if both rows name one file; a relative name is compared by its last part."""
    started, graded = (PurePath(str(row.payload.get("file") or "")) for row in (start, attempt))
    return started == graded if graded.is_absolute() else started.name == graded.name


# The reference


def show_solution(workspace: Workspace, id: str) -> str:
    """Return the source of the reference of challenge `id`, and record it as seen."""
    challenge = workspace.library.challenge(id)
    text = reference(challenge)
    record(workspace, RowKind.SOLUTION, challenge.id, {})
    return text


def reference(challenge: Challenge) -> str:
    """Return the source of a reference without recording it, for those who have solved the challenge."""
    path = Path(challenge.folder) / ("kernel.py" if challenge.kernel else "reference.py")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(unreadable(path, error, _("the installation or the challenge is damaged"))) from error
