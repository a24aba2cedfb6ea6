"""`attn cohort`: grade the files of a class on this machine or on a Ray cluster, and report on them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import click

from attncli.commands.options import REMEDY, Target, TimeLimit, UserPath, examples_option, json_option
from attncli.commands.session import echo, json_text, keep_verdict, print_json, session, show_progress
from attncli.domain.grade_report_text import REASONS
from attncli.domain.text import in_columns, left, right
from attncli.domain.vocabulary import STREAMS
from attncli.errors import JudgeFailed, UsageError
from attncli.i18n import N_, Lang, Localised, _, pgettext
from attncli.judge.client import MEMORY_MIB, TIMEOUT_SECONDS, GradeOptions

if TYPE_CHECKING:
    from attncli.cohort.outcomes import Outcome, Task

ENDINGS = {".html": "html", ".htm": "html", ".csv": "csv", ".json": "json"}

Rows = Sequence[Sequence[str]]


@click.command(
    help=N_(
        "Grade DIR/<learner>/<challenge>.py for a class: exit 0 graded, 2 nothing to grade, 3 the "
        "judge failed.\n\n"
        "Results and the seed are kept in DIR/.attn-cohort, so no file is graded twice. Nothing "
        "counts as your attempt."
    )
)
@click.argument("folder", metavar="DIR", type=UserPath(path_type=Path))
@click.option("--jobs", type=click.IntRange(1, 1024), help=N_("Judges to run in parallel (default: number of cores)."))
@click.option("--ray", "address", metavar="ADDRESS", help=N_("Grade on this Ray cluster: HOST:PORT."))
@click.option("--allow-weak-sandbox", "weak", is_flag=True, help=N_("Allow workers that lack sandbox layers."))
@click.option(
    "-o", "--output", metavar="REPORT", type=UserPath(path_type=Path), help=N_("Report file: .html, .csv or .json.")
)
@json_option
@click.option("--times", is_flag=True, help=N_("Include timings; reports then differ from run to run."))
@examples_option
@click.option(
    "--seed", type=click.IntRange(0, STREAMS - 1), help=N_("Seed of the inputs (default: random, then reused).")
)
@click.option(
    "--timeout", type=TimeLimit(0.1, 3600), default=TIMEOUT_SECONDS, help=N_("Time limit per run, in seconds.")
)
@click.option(
    "--memory", type=click.IntRange(64, 1 << 20), default=MEMORY_MIB, help=N_("Memory limit per submission, in MiB.")
)
def cohort(
    folder: Path,
    jobs: int | None,
    address: str | None,
    weak: bool,
    output: Path | None,
    as_json: bool,
    times: bool,
    examples: int,
    seed: int | None,
    timeout: float,
    memory: int,
) -> None:
    format = _report_format(output)
    options = GradeOptions(timeout_seconds=timeout, memory_mib=memory, seed=seed or 0, examples=examples)
    draw_seed = None if seed is not None else lambda: Random().randrange(STREAMS)
    report = _report(folder, options, draw_seed, _judges(jobs, address, weak, options), times)
    _output(report, output, format, as_json, session().lang)
    if failed := report["judge_failed"]:
        first = failed[0]
        raise JudgeFailed(
            _(
                "could not grade {failed} files (the first is {first}/{first_2}.py: {first_3}); "
                "run the command again to retry",
                failed=len(failed),
                first=first["learner"],
                first_2=first["challenge"],
                first_3=first["error"],
            )
        )


def _report_format(output: Path | None) -> str:
    """Return the format of the report, before anything is graded. Raises UsageError."""
    if output is None:
        return ""
    format = ENDINGS.get(output.suffix.lower())
    if format is None:
        raise UsageError(
            _(
                "{output} must end in one of {names}; {remedy}",
                output=output,
                names=", ".join(sorted(set(ENDINGS))),
                remedy=REMEDY,
            )
        )
    Target(output).refuse_place()
    return format


def _judges(
    jobs: int | None, address: str | None, weak: bool, options: GradeOptions
) -> Callable[[Sequence[Task]], Iterator[Outcome]]:
    """Return a function that grades tasks with the judges of this machine, or of a cluster."""
    if address is not None:
        from attncli.cohort.ray_judges import ClusterOptions, grade_on_cluster

        cluster = ClusterOptions(address=address, jobs=jobs or 0, memory_mib=options.memory_mib, weak_sandbox=weak)
        return lambda tasks: grade_on_cluster(tasks, cluster)
    from attncli.cohort.grade_class import default_jobs, grade_here

    return lambda tasks: grade_here(tasks, jobs or default_jobs(options.memory_mib))


def _report(
    place: Path,
    options: GradeOptions,
    draw_seed: Callable[[], int] | None,
    grade: Callable[[Sequence[Task]], Iterator[Outcome]],
    times: bool,
) -> dict[str, Any]:
    from attncli.cohort.grade_class import grade_class
    from attncli.cohort.outcomes import read_class
    from attncli.cohort.report import report_document
    from attncli.practice.verify import can_be_run

    with session().workspace() as workspace:
        challenges = {challenge.id: challenge for challenge in workspace.library.challenges()}
    runnable = [id for id, challenge in challenges.items() if can_be_run(challenge)]
    folder = read_class(place, challenges.keys(), runnable)
    results = grade_class(place, folder, challenges, options, grade, _progress(session().lang), draw_seed)
    return report_document(results, times)


def _progress(lang: Lang) -> Callable[[int, int, int], None]:
    """Return a function that shows how many files are graded and the estimated time left."""
    start = time.monotonic()

    def show(done: int, total: int, before: int) -> None:
        if done == before:
            message = _("{count} of {total} already graded", count=before, total=total)[lang] if before else ""
        elif done < total:
            left = (time.monotonic() - start) / (done - before) * (total - done)
            wait = _("{count} min") if left >= 90 else _("{count} s")
            count = math.ceil(left / 60 if left >= 90 else left)
            message = _(
                "{done} of {total}, about {wait} left", done=done, total=total, wait=wait[lang].format(count=count)
            )[lang]
        else:
            message = ""
        show_progress(message)

    return show


def _output(report: dict[str, Any], output: Path | None, format: str, as_json: bool, lang: Lang) -> None:
    if output is not None:
        Target(output).write_text(_rendered(report, format, lang))
        echo(_("wrote the report to {file}", file=output)[lang], err=True)
    with keep_verdict():
        if as_json:
            print_json(report)
        elif output is None:
            for line in _report_lines(report, lang):
                echo(line)


def _rendered(report: dict[str, Any], format: str, lang: Lang) -> str:
    if format == "html":
        from attncli.cohort.report import grading_standard
        from attncli.export.render import to_page

        return to_page(report, grading_standard(report), lang)
    if format == "csv":
        from attncli.cohort.report import to_csv

        return to_csv(report, lang)
    return json_text(report) + "\n"


# The report as lines of text


def _report_lines(report: Mapping[str, Any], lang: Lang) -> Iterator[str]:
    """Yield the report: learners, challenges, common failures and mistakes, similar files, files not graded."""
    from attncli.cohort.report import grading_standard, in_language

    head = [text[lang] for text in (_("Files"), _("Solved"), pgettext("status", "Hardened"))]
    learners = [[row["learner"], *_reached(row)] for row in report["learners"]]
    yield from _section(_("People"), [[_("Name")[lang], *head], *learners], lang)
    challenges = [[row["challenge"], *_reached(row)] for row in report["challenges"]]
    yield from _section(_("Challenges"), [[_("Challenge")[lang], *head], *challenges], lang)
    colon = "：" if lang == "zh" else ": "
    checks = [
        f"{row['learners']} × {row['name']}"
        + (f"{colon}{REASONS[row['reason']][lang]}" if row["reason"] in REASONS else "")
        for row in report["costliest"]["checks"]
    ]
    yield from _section(_("Checks failed most often"), [[check] for check in checks], lang)
    mistakes = [
        [f"{row['learners']} × {row['challenge']}", in_language(row, "says", lang)]
        for row in report["costliest"]["diagnoses"]
    ]
    yield from _section(_("Most common mistakes"), mistakes, lang)
    similar = [[f"{row['share']:.0%}", row["challenge"], ", ".join(row["learners"])] for row in report["similar"]]
    yield from _section(_("Similar submissions"), similar, lang)
    left_out = [[row["path"], in_language(row, "message", lang)] for row in report["left_out"]]
    yield from _section(_("Not graded"), left_out, lang)
    failed = [[f"{row['learner']}/{row['challenge']}.py", row["error"]] for row in report["judge_failed"]]
    yield from _section(_("The judge failed"), failed, lang)
    files = sum(learner["graded"] for learner in report["learners"])
    yield _(
        "{files} files of {learners} people, {challenges} challenges",
        files=files,
        learners=len(report["learners"]),
        challenges=len(report["challenges"]),
    )[lang]
    yield grading_standard(report)[lang]


def _reached(row: Mapping[str, Any]) -> list[str]:
    return [str(row[name]) for name in ("graded", "solved", "hardened")]


def _section(title: Localised, rows: Rows, lang: Lang) -> Iterator[str]:
    """Yield the title and its rows in columns; with four columns the last three are numbers."""
    if not rows:
        return
    yield title[lang]
    sides = [left, right, right, right] if len(rows[0]) == 4 else repeat(left)
    yield from (f"  {line}" for line in in_columns(rows, sides))
    yield ""
