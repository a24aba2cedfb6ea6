"""The challenge side of practice: what to write, help that is remembered, and attempts that schedule the next one.

Grading itself is the judge's; this room hands out files and records what came of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from attncli.domain.challenge import Challenge, Standing
from attncli.domain.counterexamples import is_counterexample
from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.memory import Schedule
from attncli.domain.payloads import LONGEST_NAME, LONGEST_PATH, MOST_ITEMS, clean_source
from attncli.domain.plain_json import LARGEST_WHOLE
from attncli.domain.rungs import RUNGS, Rung
from attncli.domain.text import Lang, Localised
from attncli.errors import UsageError
from attncli.memory.evidence import CHALLENGE_ROWS, standing_of
from attncli.memory.replay import standing
from attncli.practice.answering import iso
from attncli.practice.challenge_texts import statement
from attncli.practice.derivation import derive_subject
from attncli.practice.recording import recording
from attncli.practice.stamping import stamp
from attncli.practice.starters import disguised, starter
from attncli.practice.workspace import Workspace

MOST_STORED = 16


@dataclass(frozen=True, slots=True)
class ChallengeStanding:
    """A challenge and where the learner stands with it; `schedule` is None until it is solved."""

    challenge: Challenge
    standing: Standing
    schedule: Schedule | None
    attempts: int
    is_due: bool

    def document(self, lang: Lang) -> dict[str, Any]:
        """What `attn challenges --json` lists; `due` is when to solve it again, or null."""
        return {
            "id": self.challenge.id,
            "track": self.challenge.track,
            "level": self.challenge.level,
            "title": self.challenge.title[lang],
            "standing": self.standing,
            "due": iso(self.schedule.due_at) if self.schedule else None,
        }


def standings(workspace: Workspace, track: str | None = None) -> list[ChallengeStanding]:
    """Every challenge (of `track`), in reading order. Raises NotFound for an unknown track."""
    when = workspace.moment()
    return [_standing(workspace, challenge, when.day) for challenge in workspace.library.challenges(track)]


def _standing(workspace: Workspace, challenge: Challenge, day: int) -> ChallengeStanding:
    rows = standing(workspace.store.log.of_subjects([challenge.id]))
    schedule = workspace.store.schedules.get(challenge.id)
    attempts = sum(row.verdict != "" for row in rows)
    is_due = schedule is not None and schedule.due_day <= day
    return ChallengeStanding(challenge, standing_of(rows), schedule, attempts, is_due)


@dataclass(frozen=True, slots=True)
class Started:
    """A file to work on; `kept` is where the one that stood there went, `symptom` what the planted bug shows."""

    path: Path
    kept: Path | None = None
    symptom: Localised | None = None


def solution_file(workspace: Workspace, challenge: str) -> Path:
    """Where the learner's solution of `challenge` lies by default."""
    return workspace.home.solutions / f"{challenge}.py"


def start(
    workspace: Workspace, id: str, folder: Path | None = None, *, bug: bool = False, force: bool = False
) -> Started:
    """Writes a starter for challenge `id`, or with `bug` a wrong solution to debug, and records it.

    An existing file is never overwritten: UsageError names it, unless `force` asks to keep it as a numbered copy.
    """
    challenge = workspace.library.challenge(id)
    path = (folder or workspace.home.solutions).absolute() / f"{challenge.id}.py"
    details: dict[str, Any] = {"file": _short(path, LONGEST_PATH)}
    symptom = None
    if bug:
        wrong = _next_bug(workspace, challenge)
        details["bug"] = wrong.stem
        symptom = _symptom(challenge, wrong.stem)
        text = disguised(wrong, symptom[workspace.lang])
    else:
        text = starter(Path(challenge.folder) / "reference.py", challenge.entry, _heading(challenge, workspace))
    kept = _write_new(path, text, force)
    _record(workspace, RowKind.START, challenge.id, details)
    return Started(path, kept, symptom)


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
        raise UsageError(f"challenge {challenge.id} has no hints; `attn solution {challenge.id}` shows the reference")
    seen = len(_since_solved(workspace, challenge.id, RowKind.HINT))
    number = min(seen + 1, len(challenge.hints))
    if seen < len(challenge.hints):
        _record(workspace, RowKind.HINT, challenge.id, {"number": number})
    return Hint(number, len(challenge.hints), challenge.hints[number - 1], seen >= len(challenge.hints))


def solution(workspace: Workspace, id: str) -> str:
    """The source of the reference of challenge `id`, recorded as seen."""
    challenge = workspace.library.challenge(id)
    text = _read(Path(challenge.folder) / "reference.py")
    _record(workspace, RowKind.SOLUTION, challenge.id, {})
    return text


@dataclass(frozen=True, slots=True)
class Attempt:
    """A recorded attempt; `schedule` is None until the challenge has been solved."""

    row: LogRow
    standing: Standing
    schedule: Schedule | None


def record_attempt(workspace: Workspace, report: Mapping[str, Any], source: str, at: datetime | None = None) -> Attempt:
    """Records a grading: `report` is the judge's document (see CONTRACT.md), `source` the text that was graded.

    Raises UsageError for a report without verdict accepted or rejected: where the judge failed, nothing was shown.
    """
    if report["verdict"] not in ("accepted", "rejected"):
        raise UsageError(f"a grading with verdict {report['verdict']} says nothing about the submission")
    challenge = workspace.library.challenge(report["challenge"])
    details = _kept(report, source)
    row = _record(workspace, RowKind.ATTEMPT, challenge.id, details, at)
    rows = workspace.store.log.of_subjects([challenge.id])
    return Attempt(row, standing_of(rows), workspace.store.schedules.get(challenge.id))


def _kept(report: Mapping[str, Any], source: str) -> dict[str, Any]:
    """What the log keeps of a grading, within the bounds that any reader of the log holds it to."""
    checks = [{k: _short(check[k]) for k in _TOLD_OF_A_CHECK if check.get(k)} for check in report["checks"]]
    return {
        "verdict": report["verdict"],
        **({"rung": report["rung"]} if "rung" in report else {}),
        "file": _short(report.get("file", ""), LONGEST_PATH),
        "seed": max(-LARGEST_WHOLE, min(report.get("seed", 0), LARGEST_WHOLE)),
        "seconds": report.get("seconds", 0.0),
        "examples": sum(check.get("examples") or 0 for check in report["checks"]),
        "checks": checks[:MOST_ITEMS],
        "diagnosis": [_short(entry["wrong"]) for entry in report.get("diagnosis") or ()][:MOST_ITEMS],
        "stored": [stored for stored in report.get("stored") or () if is_counterexample(stored)][:MOST_STORED],
        "sha256": sha256(source.encode("utf-8", "surrogateescape")).hexdigest(),
        "source": clean_source(_short(source, len(source))),
    }


_TOLD_OF_A_CHECK = ("name", "status", "reason", "rung")


def _short(text: Any, longest: int = LONGEST_NAME) -> str:
    return str(text).encode("utf-8", "replace").decode()[:longest]


@dataclass(frozen=True, slots=True)
class Solved:
    """A solved challenge with the learner's last code that reached the highest rung."""

    challenge: Challenge
    rung: Rung
    source: str
    at: datetime
    attempts: int


def solved(workspace: Workspace) -> list[Solved]:
    """Every solved challenge there still is, by track and level."""
    found = []
    for challenge in workspace.library.challenges():
        rows = standing(workspace.store.log.of_subjects([challenge.id]))
        attempts = [row for row in rows if row.verdict]
        reached = [[row for row in attempts if row.reached == rung] for rung in reversed(RUNGS)]
        last = next((rows[-1] for rows in reached if rows), None)
        if last is not None:
            found.append(Solved(challenge, last.reached, last.source, last.at, len(attempts)))
    return found


def _heading(challenge: Challenge, workspace: Workspace) -> str:
    return f"{challenge.title[workspace.lang]}\n\n{statement(challenge).whole(workspace.lang)}"


def _next_bug(workspace: Workspace, challenge: Challenge) -> Path:
    """Each of the wrong solutions in turn."""
    wrong = sorted((Path(challenge.folder) / "wrong").glob("*.py"))
    if not wrong:
        raise UsageError(f"challenge {challenge.id} has no wrong solution to debug; leave out --bug")
    rows = workspace.store.log.of_subjects([challenge.id])
    handed_out = sum(row.bug != "" for row in rows)
    return wrong[handed_out % len(wrong)]


def _symptom(challenge: Challenge, wrong: str) -> Localised:
    told = challenge.mistakes.get(wrong)
    if told is not None and told.symptom.en:
        return told.symptom
    return Localised("This solution is rejected. Find out why, and mend it.", "这份解答通不过评测。找出原因并改正。")


def _write_new(path: Path, text: str, force: bool) -> Path | None:
    kept = None
    try:
        _make_folder(path.parent)
        if force and path.exists():
            kept = _free_copy(path)
            path.rename(kept)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(
            f"{path} already exists and is never overwritten; --force keeps it as a numbered copy, "
            "--dir names another folder"
        ) from error
    except OSError as error:
        raise UsageError(f"cannot write {path} ({error.strerror}); name another folder with --dir") from error
    return kept


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(error.errno, "its folder is a file") from error


def _free_copy(path: Path) -> Path:
    number = 1
    while (copy := path.with_name(f"{path.stem}.{number}{path.suffix}")).exists():
        number += 1
    return copy


def _since_solved(workspace: Workspace, id: str, kind: RowKind) -> Sequence[LogRow]:
    found: list[LogRow] = []
    for row in standing(workspace.store.log.of_subjects([id])):
        if row.reached != "none":
            found.clear()
        elif row.kind is kind:
            found.append(row)
    return found


def _record(
    workspace: Workspace, kind: RowKind, subject: str, details: dict[str, Any], at: datetime | None = None
) -> LogRow:
    with recording(workspace):
        when = stamp(workspace, subject, CHALLENGE_ROWS, at)
        row = workspace.store.log.append(kind, subject, when.at, when.day, {**details, **when.details})
        derive_subject(workspace, subject)
    return row


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path} ({error}); the installation or the challenge is damaged") from error
