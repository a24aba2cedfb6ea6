"""`attn grade`."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import click

from attncli.commands.challenges import print_hint
from attncli.commands.session import UserPath, echo, json_option, print_json, session, show_progress, verdict_counts
from attncli.domain.card import STREAMS
from attncli.domain.challenge import AUTO, CHOICES, CUDA, RUNGS, CaseRung, Challenge
from attncli.domain.grade_report import INTERPRETER, CheckResult, GradeReport, report_document
from attncli.domain.text import Lang, printable
from attncli.errors import AttnError, EditorMissing, JudgeFailed, Rejected, UsageError
from attncli.judge.client import MEMORY_MIB, TIMEOUT_SECONDS, Judge
from attncli.practice import grade as grade_file
from attncli.practice import start
from attncli.practice.challenges import is_solved, next_hint, next_unsolved, show_solution
from attncli.practice.grade import GradeOptions, WarmJudge
from attncli.practice.start import solution_file, start_challenge
from attncli.practice.workspace import Workspace
from attncli.words import grade_report_texts as words
from attncli.words.after_solving_texts import after_solving
from attncli.words.command_texts import GRADE, WATCH, WATCH_KEYS
from attncli.words.counterexample_lines import counterexample_lines
from attncli.words.grade_report_texts import PRINTED, REASONS, STATUSES, headline
from attncli.words.in_chinese import told_in
from attncli.words.repair_texts import repaired_lines


@click.command()
@click.argument("challenge")
@click.argument("file", type=UserPath(path_type=Path))
@json_option
@click.option("--watch", is_flag=True, help="Grade again whenever the file is saved.")
@click.option("--examples", type=click.IntRange(0, 10_000), default=0, help="Inputs for matches-reference.")
@click.option("--seed", type=click.IntRange(0, STREAMS - 1), default=0, help="Another stream of inputs: a fresh exam.")
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    default=TIMEOUT_SECONDS,
    help="Seconds for one run of your code (ten times that for all).",
)
@click.option("--memory", type=click.IntRange(64, 1 << 20), default=MEMORY_MIB, help="MiB for your code.")
@click.option(
    "--device", type=click.Choice(CHOICES), default=AUTO, help="Where your code runs: auto takes a GPU that helps."
)
@click.option(
    "--rung", type=click.Choice(RUNGS), help="What is asked for: solved (the whiteboard) or hardened (production)."
)
@click.option("--no-record", is_flag=True, help="Do not count this as an attempt.")
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
    """Grade FILE as a solution of CHALLENGE: exit 0 accepted, 1 rejected, 2 unusable, 3 the judge failed."""
    if device == CUDA:
        from attncli.practice.grade import require_gpu

        require_gpu()
    if math.isnan(timeout):
        raise UsageError("--timeout is no number; give seconds, such as 10")
    if watch and as_json:
        raise UsageError("--json prints one document and --watch one report after another; leave out one of them")
    asked: dict[str, Any] = {
        "timeout_seconds": timeout,
        "memory_mib": memory,
        "seed": seed,
        "examples": examples,
        "record": not no_record,
        "rung": rung or session().settings.rung,
        "device": device,
    }
    if watch:
        from attncli.practice.grade import GradeOptions

        watch_file(challenge, file, GradeOptions(**asked))
    else:
        _once(challenge, file, asked, as_json)


def _once(challenge: str, file: Path, asked: Mapping[str, Any], as_json: bool) -> None:
    with Judge.start() as judge:  # it imports torch while this process finds out what is to be graded
        from attncli.practice import grade as grade_file
        from attncli.practice.challenges import is_solved, next_unsolved

        grade_file.read_submission(file)
        options = grade_file.GradeOptions(**asked)
        with session().workspace() as workspace:
            title = workspace.library.challenge(challenge)
            unsolved = not is_solved(workspace, title.id)
            try:
                report = grade_file.grade(workspace, judge, title.id, file, options, None if as_json else _show_check)
            except JudgeFailed as error:
                if as_json:
                    print_json(report_document(grade_file.failed_report(title.id, file, error)))
                raise
            first = unsolved and report.repaired is None
            following = next_unsolved(workspace, title.id) if report.accepted and first else None
    with verdict_counts():
        if as_json:
            print_json(report_document(report))
        else:
            print_report(report, title, session().lang)
    if report.accepted:
        if first and not as_json:
            from attncli.words.after_solving_texts import after_solving

            echo("\n".join(after_solving(title, following, session().lang)))
        _offer(report, file, title.id, as_json, session().lang)
    else:
        raise Rejected(_rejection(report, file, title.id, session().lang))


def _offer(report: GradeReport, file: Path, challenge: str, as_json: bool, lang: Lang) -> None:
    """The same file on inputs that nobody has seen: without another seed the verdict stays the same."""
    if as_json:
        return
    from attncli.practice.grade import fresh_seed

    again = f"attn grade {challenge} {file} --seed {fresh_seed(report)}"
    echo(GRADE["again"][lang].format(command=again))


def _rejection(report: GradeReport, file: Path, challenge: str, lang: Lang) -> str:
    from attncli.words.grade_report_texts import deciding_checks, told

    failed = next(iter(deciding_checks(report.checks)), None)
    name, said = (failed.name, told(failed, lang)) if failed else ("", "")
    reached = "solved" if report.rung == "solved" else "rejected"
    return GRADE[reached][lang].format(file=file, name=name, said=said, challenge=challenge)


def _show_check(check: CheckResult) -> None:
    """Names the running check."""
    show_progress(f"{check.name} …" if check.status == "running" else "")


# `attn grade --watch`: one warm judge, a grading on every save, and keys for what one needs meanwhile.

POLL_SECONDS = 0.2
# Ctrl-D, and what a terminal that is gone says.
END = "\x04"

Stamp = tuple[int, int]
Standing = tuple[str, str]
"""The status of a check, and the reason if it failed."""


@dataclass
class GradeWatch:
    """What is being watched, and the checks as they stood at the last grading."""

    workspace: Workspace
    grader: WarmJudge
    id: str
    file: Path
    options: GradeOptions
    before: dict[str, Standing] = field(default_factory=dict)
    seen: Stamp | None = None
    asked_for: str = ""

    def poll(self) -> None:
        """Grades if the file has changed since the last time."""
        stamp = _stamp(self.file)
        if stamp is not None and stamp != self.seen:
            self.seen = stamp
            self.grade()

    def grade(self) -> None:
        challenge = self.workspace.library.challenge(self.id)
        first = not is_solved(self.workspace, self.id)
        try:
            report = grade_file.grade(self.workspace, self.grader, self.id, self.file, self.options)
        except AttnError as error:
            echo(f"attn: {told_in(self.lang, error.message)}", err=True)
            return
        echo("")
        print_report(report, challenge, self.lang)
        for line in changes(self.before, report, self.lang):
            echo(line)
        self.before = check_standings(report)
        if report.accepted and first and report.repaired is None:
            echo("\n".join(after_solving(challenge, next_unsolved(self.workspace, self.id), self.lang)))
        head = PRINTED["head"][self.lang].format(
            title=challenge.title[self.lang], verdict=headline(report, self.lang), **report.score
        )
        echo(f"{head}\n{WATCH_KEYS[self.lang]}")

    @property
    def lang(self) -> Lang:
        return self.workspace.lang

    def _say(self, key: str, **values: object) -> str:
        return WATCH[key][self.lang].format(**values)

    def press(self, key: str) -> bool:
        """Does what a key asks for; False ends the watch."""
        action = self._actions().get(key)
        confirmed, self.asked_for = key == self.asked_for, ""
        if key == "s" and not confirmed:
            self.asked_for = key
            echo(self._say("see-solution"))
            return True
        if action is None:
            return key not in ("q", "\x03", END)
        try:
            action()
        except AttnError as error:
            echo(f"attn: {told_in(self.lang, error.message)}", err=True)
        return True

    def _actions(self) -> Mapping[str, Callable[[], None]]:
        return {"h": self._hint, "s": self._solution, "e": self._edit, "n": self._next, "r": self.grade}

    def _hint(self) -> None:
        print_hint(next_hint(self.workspace, self.id), self.id, self.lang)

    def _solution(self) -> None:
        echo(show_solution(self.workspace, self.id))

    def _edit(self) -> None:
        try:
            start.edit(self.file, self.workspace.settings.editor, os.environ)
        except EditorMissing as error:
            echo(f"attn: {start.told(error, self.lang)}", err=True)

    def _next(self) -> None:
        """Goes on with the first challenge that is not solved, after this one, in the same folder."""
        following = next_unsolved(self.workspace, self.id)
        if following is None:
            echo(self._say("none-left"))
            return
        folder = self.file.parent
        self.id = following.id
        self.file = folder / solution_file(self.workspace, self.id).name
        if not self.file.exists():
            self.file = start_challenge(self.workspace, self.id, folder).path
        self.before, self.seen = {}, _stamp(self.file)
        echo(f"{self.id}: {self.file}")


def watch_file(challenge: str, file: Path, options: GradeOptions) -> None:
    """Watches until `q` or Ctrl-C."""
    grade_file.read_submission(file)
    with closing(WarmJudge()) as grader, session().workspace() as workspace:
        grader.warm_up()
        watch = GradeWatch(workspace, grader, workspace.library.challenge(challenge).id, file, options)
        lang = session().lang
        echo(f"{WATCH['watching'][lang].format(file=file)} · {WATCH_KEYS[lang]}", err=True)
        with keys() as read:
            while True:
                watch.poll()
                key = read()
                if key and not watch.press(key):
                    break


def check_standings(report: GradeReport) -> dict[str, Standing]:
    """How each check of a report stands."""
    return {check.name: (check.status, check.reason) for check in report.checks}


def changes(before: Mapping[str, Standing], report: GradeReport, lang: Lang = "en") -> Iterator[str]:
    """What is different from the last grading; nothing after the first one."""
    changed = [
        (name, before[name], now) for name, now in check_standings(report).items() if before.get(name, now) != now
    ]
    for name, then, now in changed:
        words = {"check": name, "before": _in_words(then, lang), "now": _in_words(now, lang)}
        yield f"  {WATCH['changed'][lang].format(**words)}"
    if before and not changed:
        yield f"  {WATCH['unchanged'][lang]}"


def _in_words(standing: Standing, lang: Lang) -> str:
    status, reason = standing
    return STATUSES[status][lang] + (f" ({REASONS[reason][lang]})" if reason in REASONS else "")


def _stamp(file: Path) -> Stamp | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


@contextmanager
def keys() -> Iterator[Callable[[], str]]:
    """A function that waits a moment for a key; without a terminal it only waits."""
    if not sys.stdin.isatty():
        yield _wait
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


def _wait() -> str:
    time.sleep(POLL_SECONDS)
    return ""


# A grade report for people: plain lines, no colour needed.

PRINTED_LINES = 20
INDENT = " " * 8


def print_report(report: GradeReport, challenge: Challenge, lang: Lang) -> None:
    for line in report_lines(report, challenge, lang, get_terminal_size((100, 24)).columns):
        echo(line)


def report_lines(report: GradeReport, challenge: Challenge, lang: Lang, width: int = 100) -> Iterator[str]:
    """The report line by line: verdict, checks, counterexample, diagnosis, what the code printed."""
    said, title = words.PRINTED, challenge.title[lang]
    yield said["head"][lang].format(title=title, verdict=words.headline(report, lang), **report.score)
    for key, checks in (("to-harden", words.to_harden(report)), ("unproved", words.unproved(report))):
        if checks:
            yield f"  {said[key][lang].format(checks=', '.join(checks))}"
    for check in report.checks:
        badge = "" if check.required else said["badge"][lang]
        status = words.STATUSES[words.status_of(check)][lang]
        yield f"  {status}  {check.name}{badge}  {words.told(check, lang)}".rstrip()
        if check.status == "fail" and check.counterexample and not words.follows(check, report.checks):
            shown = counterexample_lines(check.counterexample, width - len(INDENT), lang, Path(report.file).name)
            yield from (f"{INDENT}{line}".rstrip() for _, line in shown)
    if report.repaired is not None:
        yield from (f"  {line}" for line in repaired_lines(report.repaired, report.accepted, lang))
    yield from (f"  {says}{cards}" for says, cards in words.diagnosis_lines(report, challenge.mistakes, lang))
    if report.printed:
        yield f"  {said['printed'][lang]}"
        yield from (f"    {line}" for line in printable(report.printed).splitlines()[:PRINTED_LINES])
    if report.device == INTERPRETER:
        yield f"  {said['interpreter'][lang]}"
    if report.device == CUDA:
        alone = challenge.kernel and not report.device_note.en
        yield from (f"  {said[key][lang]}" for key in ("gpu", *(["compiled"] if alone else [])))
    if report.device_note.en:
        yield f"  {report.device_note[lang]}"
    layers = ", ".join(report.sandbox)
    yield f"  {said['foot'][lang].format(seconds=report.seconds, seed=report.seed, layers=layers)}"
