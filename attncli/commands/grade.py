"""`attn grade`: one grading, or with `--watch` one on every save; and the report of a grading as lines of text."""

from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import get_terminal_size

import click

from attncli.commands.challenges import print_hint
from attncli.commands.options import TimeLimit, UserPath, examples_option, json_option
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
from attncli.domain.tests_report import tests_document, tests_lines
from attncli.domain.text import printable
from attncli.domain.vocabulary import RUNGS, STREAMS, CaseRung
from attncli.errors import AttnError, EditorMissing, JudgeFailed, Rejected, UsageError
from attncli.i18n import N_, Lang, Localised, _, ngettext
from attncli.judge.client import MEMORY_MIB, TIMEOUT_SECONDS, Judge
from attncli.practice import grade as grading
from attncli.practice import start
from attncli.practice.challenges import after_solving, is_solved, next_hint, show_solution
from attncli.practice.grade import GradeOptions, require_gpu
from attncli.practice.own_tests import run_tests, tests_target
from attncli.practice.start import solution_file, start_challenge
from attncli.practice.today import next_unsolved
from attncli.practice.workspace import Workspace

PRINTED_LINES, FEW_PRINTED_LINES = 20, 5
MOST_LINES = 30
INDENT = " " * 8
POLL_SECONDS = 0.2
# Ctrl-D; also read when the terminal is gone.
END = "\x04"

KEYS = _("h hint · s solution · e editor · n next challenge · r again · q quit")

CheckStatus = tuple[str, str]
"""The status of a check, and the reason if it failed."""


@click.command(
    help=N_(
        "Grade your solution: FILE, or what `attn start CHALLENGE` wrote. FILE alone is enough if attn started it.\n\n"
        "Exit codes: 0 accepted, 1 rejected, 2 usage error, 3 the judge failed."
    )
)
@click.argument("challenge")
@click.argument("file", type=UserPath(path_type=Path), required=False)
@json_option
@click.option("--full", is_flag=True, help=N_("Print every check and counterexample, however long."))
@click.option("--format", "style", type=click.Choice(["gcc"]), help=N_("Print FILE:LINE:COLUMN: MESSAGE, for editors."))
@click.option(
    "--diagnosis/--no-diagnosis", default=None, help=N_("Name the likely mistake, or withhold it (default: setting).")
)
@click.option("--tests", is_flag=True, help=N_("Run your tests of the challenge on right and wrong solutions."))
@click.option("--watch", is_flag=True, help=N_("Grade again whenever the file is saved."))
@examples_option
@click.option(
    "--seed",
    type=click.IntRange(0, STREAMS - 1),
    default=0,
    help=N_("Seed of the inputs; another seed gives other inputs."),
)
@click.option(
    "--timeout",
    type=TimeLimit(0.1, 3600),
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
    file: Path | None,
    as_json: bool,
    full: bool,
    style: str | None,
    diagnosis: bool | None,
    tests: bool,
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
    if as_json + watch + bool(style) > 1:
        raise UsageError(_("--json, --watch and --format cannot be combined; leave out the others"))
    options = GradeOptions(
        timeout_seconds=timeout,
        memory_mib=memory,
        seed=seed,
        rung=rung or session().settings.rung,
        examples=examples,
        record=not no_record,
        device=device,
    )
    if tests and (watch or style):
        raise UsageError(_("--tests cannot be combined with --watch or --format; leave out the others"))
    if tests:
        _run_tests(challenge, file, options, as_json)
        return
    layout = Layout(full, session().settings.diagnosis if diagnosis is None else diagnosis)
    if watch:
        _watch(challenge, file, options, layout)
    else:
        _grade_once(challenge, file, options, "json" if as_json else style or "", layout)


def _run_tests(id: str, file: Path | None, options: GradeOptions, as_json: bool) -> None:
    seen = Counter[bool]()

    def show(caught: bool) -> None:
        seen[caught] += 1
        show_progress(_("{caught} caught, {missed} missed …", caught=seen[True], missed=seen[False])[session().lang])

    with Judge.start() as judge, session().workspace() as workspace:
        id, file = tests_target(workspace, id, file)
        report = run_tests(workspace, judge, id, file, options, None if as_json else show)
        title = workspace.library.challenge(id).title
    with keep_verdict():
        if as_json:
            print_json(tests_document(report))
        else:
            show_progress("")
            echo("\n".join(tests_lines(report, title, session().lang)))
    if report.rung == "none" or (options.rung == "hardened" and report.rung != "hardened"):
        raise Rejected(_("the tests in {file} are not good enough yet", file=file))


@dataclass(frozen=True, slots=True)
class Layout:
    """The extent of a printed report: `full`, or 30 lines at most; with or without the likely mistake."""

    full: bool = False
    diagnosis: bool = True


SHORT = Layout()


def _grade_once(id: str, file: Path | None, options: GradeOptions, style: str, layout: Layout) -> None:
    def show_check(check: CheckResult) -> None:
        show_progress(f"{check.name} …" if check.status == "running" else "")

    with Judge.start() as judge, session().workspace() as workspace:  # torch is imported while the workspace opens
        id, file = grading.target(workspace, id, file)
        grading.read_submission(file)
        challenge, lang = workspace.library.challenge(id), workspace.lang
        unsolved = not is_solved(workspace, id)
        try:
            report = grading.grade(workspace, judge, id, file, options, None if style else show_check)
        except JudgeFailed as error:
            if style == "json":
                failed = GradeReport(challenge=id, file=str(file), verdict="error", error=error.message)
                print_json(report_document(failed))
            raise
        first = unsolved and report.repaired is None
        next_challenge = next_unsolved(workspace, id) if report.accepted and first else None
    with keep_verdict():
        if style == "json":
            print_json(report_document(report))
        elif style == "gcc":
            echo("".join(f"{line}\n" for line in gcc_lines(report, file, challenge.entry, lang)), end="")
        else:
            print_report(report, challenge, lang, layout)
    if not report.accepted:
        raise Rejected(_rejection(report, file, challenge.id))
    if not style:
        if first:
            echo("\n".join(after_solving(challenge, next_challenge, lang)))
        again = f"attn grade {challenge.id} {file} --seed {grading.fresh_seed(report)}"
        echo("  " + _("Grade again on other inputs: {command}", command=again)[lang])


def _rejection(report: GradeReport, file: Path, challenge: str) -> Localised:
    check = next((check.name for check in deciding_checks(report.checks)), "")
    if report.rung == "solved":
        return _("{file} is solved, but not hardened: it fails {check}", file=file, check=check)
    return _(
        "{file} is rejected by {check}; for a hint: `attn hint {challenge}`",
        file=file,
        check=check,
        challenge=challenge,
    )


def gcc_lines(report: GradeReport, file: Path, entry: Sequence[str], lang: Lang) -> Iterator[str]:
    """Yield `file:line:column: error: message` for each failed check, as compilers print it and editors read it."""
    lines = grading.read_submission(file).decode("utf-8", "replace").splitlines()
    for check in deciding_checks(report.checks):
        frames = check.counterexample.frames if check.counterexample else ()
        said = re.search(r"\bline (\d+)", check.message.en)
        line = frames[-1].line if frames else int(said[1]) if said else _definition(lines, entry)
        source = lines[line - 1] if line <= len(lines) else ""
        column = len(source) - len(source.lstrip()) + 1
        yield f"{file}:{line}:{column}: error: {check.name}: {told(check, lang)}"


def _definition(lines: Sequence[str], entry: Sequence[str]) -> int:
    """Return the line on which a name of `entry` is defined, 1 if none is."""
    defined = re.compile(rf"(?:def|class)\s+(?:{'|'.join(entry)})\b")
    return next((number for number, line in enumerate(lines, 1) if defined.match(line)), 1)


# The report


def print_report(report: GradeReport, challenge: Challenge, lang: Lang, layout: Layout = SHORT) -> None:
    """Print the report at the width of the terminal, or of 100 columns without one."""
    for line in report_lines(report, challenge, lang, get_terminal_size((100, 24)).columns, layout):
        echo(line)


def report_lines(
    report: GradeReport, challenge: Challenge, lang: Lang, width: int = 100, layout: Layout = SHORT
) -> Iterator[str]:
    """Yield the verdict, the likely mistake, the smallest counterexample, the failed checks, then the rest.

    Unless the layout is full, the rest is one line, and the whole has at most MOST_LINES with the line on stderr.
    """
    failed = deciding_checks(report.checks)
    shown = failed + [check for check in report.checks if check not in failed] if layout.full else failed[:1]
    before = [_head(report, challenge)[lang], *_under_the_verdict(report, challenge, lang, layout)]
    counterexamples = [line for check in shown for line in _check_lines(check, report, lang, width)]
    after = [] if layout.full else [*_one_line_each(report, failed[1:], lang)]
    printed = printable(report.printed).splitlines()[: PRINTED_LINES if layout.full else FEW_PRINTED_LINES]
    after += ["  " + _("Your code printed:")[lang], *(f"    {line}" for line in printed)] if printed else []
    after += [f"  {note[lang]}" for note in _device_notes(report, challenge)]
    layers = ", ".join(report.sandbox)
    foot = _("{seconds} s, seed {seed}, sandbox: {layers}", seconds=report.seconds, seed=report.seed, layers=layers)
    after.append(f"  {foot[lang]}")
    room = len(counterexamples) if layout.full else MOST_LINES - 1 - len(before) - len(after)
    if len(counterexamples) > room:
        hidden = len(counterexamples) - room + 1
        more = ngettext("… {count} more line, with --full", "… {count} more lines, with --full", hidden)
        counterexamples[room - 1 :] = [INDENT + more[lang]]
    yield from (*before, *counterexamples, *after)


def _under_the_verdict(report: GradeReport, challenge: Challenge, lang: Lang, layout: Layout) -> Iterator[str]:
    if layout.diagnosis:
        yield from (f"  {says}{cards}" for says, cards in diagnosis_lines(report, challenge.mistakes, lang))
    elif report.diagnosis:
        yield "  " + _("The likely mistake is known; to see it: --diagnosis")[lang]
    if checks := to_harden(report):
        yield "  " + _("to harden it: {checks}", checks=", ".join(checks))[lang]
    if checks := unproved(report):
        yield "  " + _("not verified: {checks}", checks=", ".join(checks))[lang]
    if report.repaired is not None:
        yield from (f"  {line}" for line in repaired_lines(report.repaired, report.accepted, lang))


def _check_lines(check: CheckResult, report: GradeReport, lang: Lang, width: int) -> Iterator[str]:
    yield _check_line(check, lang)
    if check.status == "fail" and check.counterexample and not follows(check, report.checks):
        shown = counterexample_lines(check.counterexample, width - len(INDENT), lang, Path(report.file).name)
        yield from (f"{INDENT}{line}".rstrip() for _style, line in shown)


def _check_line(check: CheckResult, lang: Lang) -> str:
    badge = "" if check.required else _(" (badge)")[lang]
    return f"  {STATUSES[status_of(check)][lang]}  {check.name}{badge}  {told(check, lang)}".rstrip()


def _one_line_each(report: GradeReport, failed: Sequence[CheckResult], lang: Lang) -> Iterator[str]:
    """Yield failed checks, and in one more line the names of those that passed and of those that were skipped."""
    yield from (_check_line(check, lang) for check in failed)
    names = {
        status: [check.name for check in report.checks if check.status == status] for status in ("pass", "skipped")
    }
    passed, skipped = (", ".join(found) for found in names.values())
    parts = [
        _("passed: {checks}", checks=passed)[lang] if passed else "",
        _("skipped: {checks}", checks=skipped)[lang] if skipped else "",
    ]
    if any(parts):
        yield "  " + " · ".join(filter(None, parts))


def _head(report: GradeReport, challenge: Challenge) -> Localised:
    verdict = Localised(headline(report, "en"), headline(report, "zh"))
    return _(
        "{title}: {verdict} ({passed} of {total} checks passed)", title=challenge.title, verdict=verdict, **report.score
    )


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


def _watch(challenge: str, file: Path | None, options: GradeOptions, layout: Layout) -> None:
    """Grade on every save with one warm judge, until `q` or Ctrl-C."""
    with Judge.start() as grader, session().workspace() as workspace:
        id, file = grading.target(workspace, challenge, file)
        grading.read_submission(file)
        watch = GradeWatch(workspace, grader, id, file, options, layout)
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
    layout: Layout
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
        """Grade the file; print the report and the checks whose status has changed."""
        challenge = self.workspace.library.challenge(self.id)
        first = not is_solved(self.workspace, self.id)
        try:
            report = grading.grade(self.workspace, self.grader, self.id, self.file, self.options)
        except AttnError as error:
            echo(f"attn: {error.line(self.lang)}", err=True)
            return
        echo("")
        print_report(report, challenge, self.lang, self.layout)
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
                    edit_file(self.workspace, self.file)
                case "n":
                    self._next()
                case "r":
                    self.grade()
                case _:
                    return key not in ("q", "\x03", END)
        except AttnError as error:
            echo(f"attn: {error.line(self.lang)}", err=True)
        return True

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


def edit_file(workspace: Workspace, file: Path) -> None:
    """Open a file in the learner's editor and wait; print an error if there is none."""
    try:
        start.edit(file, workspace.settings.editor, os.environ)
    except EditorMissing as error:
        echo(f"attn: {error.message[workspace.lang]}", err=True)


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
