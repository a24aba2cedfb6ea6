"""`attn grade`: one grading, or with `--watch` one on every save; and the report of a grading as lines of text."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import get_terminal_size

import click

from attncli.commands.challenges import print_hint
from attncli.commands.options import UserPath, json_option
from attncli.commands.session import echo, keep_verdict, print_json, session, show_progress
from attncli.domain.challenge import AUTO, CHOICES, CUDA, Challenge
from attncli.domain.counterexample_text import counterexample_lines
from attncli.domain.grade_report import INTERPRETER, CheckResult, GradeReport, report_document
from attncli.domain.grade_report_text import (
    REASONS,
    STATUSES,
    deciding_checks,
    diagnosis_lines,
    follows,
    headline,
    repaired_lines,
    status_of,
    to_harden,
    told,
    unproved,
)
from attncli.domain.text import printable
from attncli.domain.vocabulary import RUNGS, STREAMS, CaseRung
from attncli.errors import AttnError, EditorMissing, JudgeFailed, Rejected, UsageError
from attncli.i18n import N_, Lang, Localised, _
from attncli.judge.client import MEMORY_MIB, TIMEOUT_SECONDS, Judge
from attncli.practice import grade as grading
from attncli.practice import start
from attncli.practice.challenges import after_solving, is_solved, next_hint, next_unsolved, show_solution
from attncli.practice.grade import GradeOptions, require_gpu
from attncli.practice.start import solution_file, start_challenge
from attncli.practice.workspace import Workspace

PRINTED_LINES = 20
INDENT = " " * 8
POLL_SECONDS = 0.2
# Ctrl-D; also read when the terminal is gone.
END = "\x04"

KEYS = _("h hint · s solution · e editor · n next challenge · r again · q quit")

CheckStatus = tuple[str, str]
"""The status of a check, and the reason if it failed."""


@click.command(
    help=N_("Grade FILE as a solution of CHALLENGE: exit 0 accepted, 1 rejected, 2 usage error, 3 the judge failed.")
)
@click.argument("challenge")
@click.argument("file", type=UserPath(path_type=Path))
@json_option
@click.option("--watch", is_flag=True, help=N_("Grade again whenever the file is saved."))
@click.option(
    "--examples", type=click.IntRange(0, 10_000), default=0, help=N_("Number of inputs for matches-reference.")
)
@click.option(
    "--seed",
    type=click.IntRange(0, STREAMS - 1),
    default=0,
    help=N_("Seed of the inputs; another seed gives other inputs."),
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    default=TIMEOUT_SECONDS,
    help=N_("Time limit per run, in seconds (ten times that in total)."),
)
@click.option(
    "--memory", type=click.IntRange(64, 1 << 20), default=MEMORY_MIB, help=N_("Memory limit of your code, in MiB.")
)
@click.option(
    "--device", type=click.Choice(CHOICES), default=AUTO, help=N_("Device for your code; auto uses a GPU if it helps.")
)
@click.option(
    "--rung", type=click.Choice(RUNGS), help=N_("Level to reach: solved (whiteboard) or hardened (production).")
)
@click.option("--no-record", is_flag=True, help=N_("Do not count this as an attempt."))
def grade(
    challenge: str,
    file: Path,
    as_json: bool,
    watch: bool,
    examples: int,
    seed: int,
    timeout: float,
    memory: int,
    device: str,
    rung: CaseRung | None,
    no_record: bool,
) -> None:
    if device == CUDA:
        require_gpu()
    if math.isnan(timeout):
        raise UsageError(_("--timeout is not a number; give seconds, e.g. 10"))
    if watch and as_json:
        raise UsageError(_("--json and --watch cannot be combined; leave out one of them"))
    options = GradeOptions(
        timeout_seconds=timeout,
        memory_mib=memory,
        seed=seed,
        rung=rung or session().settings.rung,
        examples=examples,
        record=not no_record,
        device=device,
    )
    if watch:
        _watch(challenge, file, options)
    else:
        _grade_once(challenge, file, options, as_json)


def _grade_once(id: str, file: Path, options: GradeOptions, as_json: bool) -> None:
    def show_check(check: CheckResult) -> None:
        show_progress(f"{check.name} …" if check.status == "running" else "")

    with Judge.start() as judge:  # it imports torch while this process reads the file and opens the workspace
        grading.read_submission(file)
        with session().workspace() as workspace:
            challenge, lang = workspace.library.challenge(id), workspace.lang
            unsolved = not is_solved(workspace, challenge.id)
            try:
                report = grading.grade(workspace, judge, challenge.id, file, options, None if as_json else show_check)
            except JudgeFailed as error:
                if as_json:
                    print_json(report_document(grading.failed_report(challenge.id, file, error)))
                raise
            first = unsolved and report.repaired is None
            next_challenge = next_unsolved(workspace, challenge.id) if report.accepted and first else None
    with keep_verdict():
        if as_json:
            print_json(report_document(report))
        else:
            print_report(report, challenge, lang)
    if not report.accepted:
        raise Rejected(_rejection(report, file, challenge.id, lang))
    if not as_json:
        if first:
            echo("\n".join(after_solving(challenge, next_challenge, lang)))
        again = f"attn grade {challenge.id} {file} --seed {grading.fresh_seed(report)}"
        echo("  " + _("Grade again on other inputs: {command}", command=again)[lang])


def _rejection(report: GradeReport, file: Path, challenge: str, lang: Lang) -> Localised:
    failed = next(iter(deciding_checks(report.checks)), None)
    name, message = (failed.name, told(failed, lang)) if failed else ("", "")
    if report.rung == "solved":
        return _("{file} is solved, but not hardened: {check}: {message}", file=file, check=name, message=message)
    return _(
        "{file} is rejected by {check}: {message}; for a hint: `attn hint {challenge}`",
        file=file,
        check=name,
        message=message,
        challenge=challenge,
    )


# The report


def print_report(report: GradeReport, challenge: Challenge, lang: Lang) -> None:
    """Print the report at the width of the terminal, or of 100 columns without one."""
    for line in report_lines(report, challenge, lang, get_terminal_size((100, 24)).columns):
        echo(line)


def report_lines(report: GradeReport, challenge: Challenge, lang: Lang, width: int = 100) -> Iterator[str]:
    """Yield the report: verdict, checks with counterexamples, diagnosis, output of the code, device, sandbox."""
    yield _head(report, challenge)[lang]
    if checks := to_harden(report):
        yield "  " + _("to harden it: {checks}", checks=", ".join(checks))[lang]
    if checks := unproved(report):
        yield "  " + _("not verified: {checks}", checks=", ".join(checks))[lang]
    for check in report.checks:
        badge = "" if check.required else _(" (badge)")[lang]
        yield f"  {STATUSES[status_of(check)][lang]}  {check.name}{badge}  {told(check, lang)}".rstrip()
        if check.status == "fail" and check.counterexample and not follows(check, report.checks):
            shown = counterexample_lines(check.counterexample, width - len(INDENT), lang, Path(report.file).name)
            yield from (f"{INDENT}{line}".rstrip() for _style, line in shown)
    if report.repaired is not None:
        yield from (f"  {line}" for line in repaired_lines(report.repaired, report.accepted, lang))
    yield from (f"  {says}{cards}" for says, cards in diagnosis_lines(report, challenge.mistakes, lang))
    if report.printed:
        yield "  " + _("Your code printed:")[lang]
        yield from (f"    {line}" for line in printable(report.printed).splitlines()[:PRINTED_LINES])
    yield from (f"  {note[lang]}" for note in _device_notes(report, challenge))
    layers = ", ".join(report.sandbox)
    foot = _("{seconds} s, seed {seed}, sandbox: {layers}", seconds=report.seconds, seed=report.seed, layers=layers)
    yield f"  {foot[lang]}"


def _head(report: GradeReport, challenge: Challenge) -> Localised:
    verdict = Localised(headline(report, "en"), headline(report, "zh"))
    return _("{title}: {verdict} ({passed} of {total} checks)", title=challenge.title, verdict=verdict, **report.score)


def _device_notes(report: GradeReport, challenge: Challenge) -> Iterator[Localised]:
    if report.device == INTERPRETER:
        yield _("Run in Triton's interpreter on the CPU: not compiled, not timed, bfloat16 not checked")
    if report.device == CUDA:
        yield _("Run on the GPU with a weaker sandbox: code can reach the driver, and host memory is not capped")
        if challenge.kernel and not report.device_note.en:
            yield _("Compiled for the GPU: loads and stores are not checked one by one; use --device cpu for that")
    if report.device_note.en:
        yield report.device_note


# `attn grade --watch`


def _watch(challenge: str, file: Path, options: GradeOptions) -> None:
    """Grade on every save with one warm judge, until `q` or Ctrl-C."""
    grading.read_submission(file)
    with Judge.start() as grader, session().workspace() as workspace:
        watch = GradeWatch(workspace, grader, workspace.library.challenge(challenge).id, file, options)
        lang = session().lang
        echo(_("watching {file}", file=file)[lang] + f" · {KEYS[lang]}", err=True)
        with keys() as read:
            while True:
                watch.poll()
                key = read()
                if key and not watch.press(key):
                    break


@dataclass
class GradeWatch:
    """The file that is watched, and the status of each check at the last grading."""

    workspace: Workspace
    grader: Judge
    id: str
    file: Path
    options: GradeOptions
    before: dict[str, CheckStatus] = field(default_factory=dict)
    seen: tuple[int, int] | None = None
    to_confirm: str = ""

    @property
    def lang(self) -> Lang:
        return self.workspace.lang

    def poll(self) -> None:
        """Grade if the file has changed since the last time."""
        stamp = _stamp(self.file)
        if stamp is not None and stamp != self.seen:
            self.seen = stamp
            self.grade()

    def grade(self) -> None:
        """Grade the file, print the report, and what has changed since the last one."""
        challenge = self.workspace.library.challenge(self.id)
        first = not is_solved(self.workspace, self.id)
        try:
            report = grading.grade(self.workspace, self.grader, self.id, self.file, self.options)
        except AttnError as error:
            echo(f"attn: {error.line(self.lang)}", err=True)
            return
        echo("")
        print_report(report, challenge, self.lang)
        for line in changes(self.before, report, self.lang):
            echo(line)
        self.before = check_statuses(report)
        if report.accepted and first and report.repaired is None:
            echo("\n".join(after_solving(challenge, next_unsolved(self.workspace, self.id), self.lang)))
        echo(f"{_head(report, challenge)[self.lang]}\n{KEYS[self.lang]}")

    def press(self, key: str) -> bool:
        """Handle a key, and return False if it ends the watch; `s` has to be pressed twice."""
        confirmed, self.to_confirm = key == self.to_confirm, ""
        try:
            match key:
                case "h":
                    print_hint(next_hint(self.workspace, self.id), self.id, self.lang)
                case "s" if confirmed:
                    echo(show_solution(self.workspace, self.id))
                case "s":
                    self.to_confirm = key
                    warning = _(
                        "Press s again to show the reference. It is recorded; solving today then counts as Again."
                    )
                    echo(warning[self.lang])
                case "e":
                    self._edit()
                case "n":
                    self._next()
                case "r":
                    self.grade()
                case _:
                    return key not in ("q", "\x03", END)
        except AttnError as error:
            echo(f"attn: {error.line(self.lang)}", err=True)
        return True

    def _edit(self) -> None:
        try:
            start.edit(self.file, self.workspace.settings.editor, os.environ)
        except EditorMissing as error:
            echo(f"attn: {start.told(error, self.lang)}", err=True)

    def _next(self) -> None:
        """Watch the next unsolved challenge, with its file in the same folder."""
        next_challenge = next_unsolved(self.workspace, self.id)
        if next_challenge is None:
            echo(_("Every other challenge is solved.")[self.lang])
            return
        folder = self.file.parent
        self.id = next_challenge.id
        self.file = folder / solution_file(self.workspace, self.id).name
        if not self.file.exists():
            self.file = start_challenge(self.workspace, self.id, folder).path
        self.before, self.seen = {}, _stamp(self.file)
        echo(f"{self.id}: {self.file}")


def changes(before: Mapping[str, CheckStatus], report: GradeReport, lang: Lang = "en") -> Iterator[str]:
    """Yield the checks whose status has changed since the last grading; nothing after the first one."""
    changed = [
        (name, before[name], now) for name, now in check_statuses(report).items() if before.get(name, now) != now
    ]
    for name, then, now in changed:
        before_text, now_text = _status_text(then, lang), _status_text(now, lang)
        yield "  " + _("changed: {check} {before} → {now}", check=name, before=before_text, now=now_text)[lang]
    if before and not changed:
        yield "  " + _("no check changed")[lang]


def check_statuses(report: GradeReport) -> dict[str, CheckStatus]:
    return {check.name: (check.status, check.reason) for check in report.checks}


def _status_text(check_status: CheckStatus, lang: Lang) -> str:
    status, reason = check_status
    return STATUSES[status][lang] + (f" ({REASONS[reason][lang]})" if reason in REASONS else "")


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


@contextmanager
def keys() -> Iterator[Callable[[], str]]:
    """Yield a function that returns the next key, or nothing after POLL_SECONDS; without a terminal it only waits."""
    if not sys.stdin.isatty():

        def wait() -> str:
            time.sleep(POLL_SECONDS)
            return ""

        yield wait
        return
    import select
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    settings = termios.tcgetattr(descriptor)

    def read() -> str:
        if not select.select([descriptor], [], [], POLL_SECONDS)[0]:
            return ""
        with suppress(OSError):
            return os.read(descriptor, 1).decode("latin-1") or END
        return END

    tty.setcbreak(descriptor)
    try:
        yield read
    finally:
        with suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(descriptor, termios.TCSADRAIN, settings)
