"""`attn grade`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from attncli.commands.session import session
from attncli.commands.shared.shared_options import UserPath, json_option, print_json
from attncli.commands.shared.stdout import echo, show_progress, verdict_counts
from attncli.domain.device_choice import AUTO, CHOICES, CUDA
from attncli.domain.grade_report import CheckResult, GradeReport
from attncli.domain.grade_report_json import report_document
from attncli.domain.rungs import RUNGS, CaseRung
from attncli.domain.seeds import STREAMS
from attncli.domain.text import Lang
from attncli.errors import JudgeFailed, Rejected, UsageError
from attncli.judge.client import MEMORY_MIB, TIMEOUT_SECONDS, Judge
from attncli.words.command_texts import GRADE


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
        from attncli.practice.gpu import require_gpu

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
        from attncli.commands.grade_watch import watch_file
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
            from attncli.commands.printed.printed_report import print_report

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
