"""`attn grade --watch`: one warm judge, a grading on every save, and keys for what one needs meanwhile."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from attncli.commands.hint import print_hint
from attncli.commands.printed.printed_report import print_report
from attncli.commands.session import session
from attncli.commands.shared.stdout import echo
from attncli.domain.grade_report import GradeReport
from attncli.domain.text import Lang
from attncli.errors import AttnError, EditorMissing
from attncli.practice import grade as grade_file
from attncli.practice import learners_editor
from attncli.practice.challenges import is_solved, next_unsolved
from attncli.practice.grade import GradeOptions
from attncli.practice.hint import next_hint
from attncli.practice.solution import show_solution
from attncli.practice.start import solution_file, start_challenge
from attncli.practice.warm_judge import WarmJudge
from attncli.practice.workspace import Workspace
from attncli.words.after_solving_texts import after_solving
from attncli.words.command_texts import WATCH, WATCH_KEYS
from attncli.words.grade_report_texts import PRINTED, REASONS, STATUSES, headline
from attncli.words.in_chinese import told_in

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
            learners_editor.edit(self.file, self.workspace.settings.editor, os.environ)
        except EditorMissing as error:
            echo(f"attn: {learners_editor.told(error, self.lang)}", err=True)

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
