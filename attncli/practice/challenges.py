"""Where the learner stands with each challenge, and which is next."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, get_args
from unicodedata import normalize

from attncli.domain.challenge import RUNGS, Challenge, Rung, Standing
from attncli.domain.log_row import LogRow, RowKind, Schedule
from attncli.domain.text import LANGS, Lang, Localised
from attncli.errors import Unfit, UsageError
from attncli.memory.replay import fixed_of, standing, standing_of
from attncli.practice.record import iso, record
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


# Hints, one after the other; each one seen counts as help.


@dataclass(frozen=True, slots=True)
class Hint:
    """Hint `number` of `total`; `again` if all had been given and the last one is repeated."""

    number: int
    total: int
    text: Localised
    again: bool


def next_hint(workspace: Workspace, id: str) -> Hint:
    """The next hint for challenge `id`, recorded as seen; they start over once it was solved."""
    challenge = workspace.library.challenge(id)
    if not challenge.hints:
        said = f"challenge {challenge.id} has no hints; `attn solution {challenge.id}` shows the reference"
        raise Unfit(said, "no-hints")
    seen = len(_since_solved(workspace, challenge.id, RowKind.HINT))
    number = min(seen + 1, len(challenge.hints))
    if seen < len(challenge.hints):
        record(workspace, RowKind.HINT, challenge.id, {"number": number})
    return Hint(number, len(challenge.hints), challenge.hints[number - 1], seen >= len(challenge.hints))


def _since_solved(workspace: Workspace, id: str, kind: RowKind) -> Sequence[LogRow]:
    found: list[LogRow] = []
    for row in standing(workspace.store.log.of_subjects([id])):
        if row.reached != "none":
            found.clear()
        elif row.kind is kind:
            found.append(row)
    return found


# The code that solved a challenge; for the summary, the learner's own alone, without handed-out files repaired.


@dataclass(frozen=True, slots=True)
class OwnSolution:
    """A challenge with the last code of the learner's own that reached the highest rung; `attempts` at it in all."""

    challenge: Challenge
    rung: Rung
    source: str
    at: datetime
    attempts: int


@dataclass(frozen=True, slots=True)
class OwnSolutions:
    """What the learner made of the challenges: written, repaired from a file with planted bugs, and only tried."""

    solved: tuple[OwnSolution, ...]
    repaired: tuple[Challenge, ...]
    tried: tuple[Challenge, ...]


def written(workspace: Workspace) -> OwnSolutions:
    """Every challenge that was attempted, in reading order."""
    solved, repaired, tried = [], [], []
    for challenge in workspace.library.challenges():
        rows = standing(workspace.store.log.of_subjects([challenge.id]))
        attempts = list(_attempts(rows))
        own = [row for row, is_repair in attempts if not is_repair]
        mended_rounds = any(row.fixes for row in rows)
        if mended_rounds or any(is_repair and row.reached != "none" for row, is_repair in attempts):
            repaired.append(challenge)
        if last := _best(own):
            solved.append(OwnSolution(challenge, last.reached, last.source, last.at, len(own)))
        elif own:
            tried.append(challenge)
    return OwnSolutions(tuple(solved), tuple(repaired), tuple(tried))


def solving_source(workspace: Workspace, id: str) -> str | None:
    """The last code, the learner's own or mended, that reached the highest rung; None until the challenge is solved."""
    best = _best(standing(workspace.store.log.of_subjects([id])))
    return None if best is None else best.source


def _best(rows: Sequence[LogRow]) -> LogRow | None:
    reached = ([row for row in rows if row.verdict and row.reached == rung] for rung in reversed(RUNGS))
    return next((found[-1] for found in reached if found), None)


def _attempts(rows: Iterable[LogRow]) -> Iterator[tuple[LogRow, bool]]:
    """The attempts, each with whether its file is the one with planted bugs that was handed out last."""
    handed_out: LogRow | None = None
    for row in rows:
        if row.kind is RowKind.START:
            handed_out = row
        elif row.verdict:
            yield row, handed_out is not None and handed_out.is_planted and _same_file(handed_out, row)


def _same_file(start: LogRow, attempt: LogRow) -> bool:
    """Whether both name one file; a relative name is compared as far as it goes."""
    given, graded = (PurePath(str(row.payload.get("file") or "")) for row in (start, attempt))
    return given == graded if graded.is_absolute() else given.name == graded.name


# Showing the reference of a challenge; having seen it counts as help.


def show_solution(workspace: Workspace, id: str) -> str:
    """The source of the reference of challenge `id`, recorded as seen."""
    challenge = workspace.library.challenge(id)
    text = reference(challenge)
    record(workspace, RowKind.SOLUTION, challenge.id, {})
    return text


def reference(challenge: Challenge) -> str:
    """The source of a reference, for those who have solved its challenge: nothing is recorded."""
    return _read(Path(challenge.folder) / ("kernel.py" if challenge.kernel else "reference.py"))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path} ({error}); the installation or the challenge is damaged") from error
