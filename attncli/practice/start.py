"""Handing out a file to work on: a starter, a wrong solution to debug, or a reference with planted bugs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attncli.domain.challenge import Challenge
from attncli.domain.log_row import RowKind
from attncli.domain.log_row_payloads import LONGEST_PATH, kept_text
from attncli.domain.text import Localised
from attncli.errors import Unfit, UsageError
from attncli.files import cannot_write, free_name
from attncli.practice.log.log_transaction import record
from attncli.practice.repair_round import next_round, round_text
from attncli.practice.starters import disguised, starter
from attncli.practice.whole_statement import statement
from attncli.practice.workspace import Workspace
from attncli.words.command_texts import NO_SYMPTOM

TRITON = ("import triton", "import triton.language as tl")


@dataclass(frozen=True, slots=True)
class Started:
    """A file to work on; `kept` is where the one that stood there went, `symptom` what a single bug shows.

    `bugs` is how many were planted.
    """

    path: Path
    kept: Path | None = None
    symptom: Localised | None = None
    bugs: int = 0


def solution_file(workspace: Workspace, challenge: str) -> Path:
    """Where the learner's solution of `challenge` lies by default."""
    return workspace.home.solutions / f"{challenge}.py"


def start_challenge(
    workspace: Workspace,
    id: str,
    folder: Path | None = None,
    *,
    bug: bool = False,
    wrong: str = "",
    repair: int | None = None,
    seed: int | None = None,
    force: bool = False,
) -> Started:
    """Writes a starter for challenge `id`, and records it: with `bug` a wrong solution to debug, with `repair` the
    reference with so many bugs, those of the round numbered `seed` or of the next.

    `wrong` names the solution to debug; without it each of them is handed out in turn.
    An existing file is never overwritten: UsageError names it, unless `force` asks to keep it as a numbered copy.
    """
    challenge = workspace.library.challenge(id)
    path = (folder or workspace.home.solutions).absolute() / f"{challenge.id}.py"
    details: dict[str, Any] = {"file": kept_text(path, LONGEST_PATH)}
    symptom, bugs = None, int(bug)
    if repair is not None:
        repairs = next_round(workspace, challenge, repair, seed)
        details["repairs"], bugs = [chosen.wrong for chosen in repairs], len(repairs)
        text = round_text(challenge, repairs, path, workspace.lang)
    elif bug:
        planted = Path(challenge.folder) / "wrong" / f"{wrong}.py" if wrong else _next_bug(workspace, challenge)
        details["bug"] = planted.stem
        symptom = _symptom(challenge, planted.stem)
        text = disguised(planted, symptom[workspace.lang])
    else:
        reference, needs = Path(challenge.folder) / "reference.py", TRITON if challenge.kernel else ()
        text = starter(reference, challenge.entry, _heading(challenge, workspace), needs)
    kept = _write_new(path, text, force)
    if kept is not None:
        details["kept"] = kept_text(kept, LONGEST_PATH)
    record(workspace, RowKind.START, challenge.id, details)
    return Started(path, kept, symptom, bugs)


def _heading(challenge: Challenge, workspace: Workspace) -> str:
    return f"{challenge.title[workspace.lang]}\n\n{statement(challenge).whole(workspace.lang)}"


def _next_bug(workspace: Workspace, challenge: Challenge) -> Path:
    """Each of the wrong solutions in turn."""
    wrong = sorted((Path(challenge.folder) / "wrong").glob("*.py"))
    if not wrong:
        raise Unfit(f"challenge {challenge.id} has no wrong solution to debug; leave out --bug", "no-bug")
    rows = workspace.store.log.of_subjects([challenge.id])
    handed_out = sum(row.bug != "" for row in rows)
    return wrong[handed_out % len(wrong)]


def _symptom(challenge: Challenge, wrong: str) -> Localised:
    told = challenge.mistakes.get(wrong)
    if told is not None and told.symptom.en:
        return told.symptom
    return NO_SYMPTOM


def _write_new(path: Path, text: str, force: bool) -> Path | None:
    kept = None
    try:
        _make_folder(path.parent)
        if force and path.exists():
            kept = free_name(path, "{stem}.{number}{suffix}")
            path.rename(kept)
        _write_all(path, text)
    except FileExistsError as error:
        raise UsageError(
            f"{path} already exists and is never overwritten; --force keeps it as a numbered copy, "
            "--dir names another folder"
        ) from error
    except OSError as error:
        if kept is not None and not path.exists():
            kept.rename(path)
        raise cannot_write(path, error, "name another folder with --dir") from error
    return kept


def _write_all(path: Path, text: str) -> None:
    """Writes a file that is not there yet; nothing of it stays where there is no room for all."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(error.errno, "its folder is a file") from error
