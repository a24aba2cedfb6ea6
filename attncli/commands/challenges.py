"""The commands about challenges, except `attn grade`: `challenges`, `start`, `hint`, `solution` and `verify`."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from attncli.commands.options import UserPath, json_option
from attncli.commands.session import echo, keep_verdict, print_json, print_result, session, show_progress
from attncli.domain.challenge import CPU, CUDA, MOST_BUGS
from attncli.domain.tests_report import tests_document, tests_lines
from attncli.domain.text import left
from attncli.domain.vocabulary import STANDING_NAMES, STREAMS
from attncli.errors import Rejected, UsageError
from attncli.i18n import N_, Lang, _, ngettext, quoted
from attncli.practice.challenges import Hint, asked_next, is_solved, next_hint, show_solution, standings
from attncli.practice.own_tests import next_survivor, show_reference_tests, start_tests
from attncli.practice.start import start_challenge

if TYPE_CHECKING:
    from attncli.bank.problems import Problem
    from attncli.domain.challenge import Challenge
    from attncli.practice.verify import Proof
    from attncli.practice.workspace import Workspace

JUDGES_ON_GPU = 4
"""Each worker holds a CUDA context of about 500 MiB, and more judges than this wait for the GPU."""


@click.command(help=N_("List the challenges with your status in each."))
@click.option("--track", help=N_("Only challenges of this track."))
@click.option("--must-know", is_flag=True, help=N_("Only challenges that nearly every interview asks."))
@json_option
def challenges(track: str | None, must_know: bool, as_json: bool) -> None:
    with session().workspace() as workspace:
        found = [one for one in standings(workspace, track) if one.challenge.must_know or not must_know]
        lang = workspace.lang
    if as_json:
        print_json([entry.document(lang) for entry in found])
        return
    for entry in found:
        due = ("  " + _("due {day:%Y-%m-%d}", day=entry.schedule.due_at)[lang]) if entry.schedule else ""
        due += ("  " + _("fixed: {count}", count=entry.fixed)[lang]) if entry.fixed else ""
        due += ("  " + _("tests: {status}", status=STANDING_NAMES[entry.tests])[lang]) if entry.tests != "new" else ""
        challenge, status = entry.challenge, left(STANDING_NAMES[entry.standing][lang], 10)
        echo(f"{challenge.id:<28} {challenge.track:<12} {challenge.level}  {status} {challenge.title[lang]}{due}")


@click.command(help=N_("Write a starter file for CHALLENGE; an existing file is never overwritten."))
@click.argument("challenge")
@click.option(
    "--dir", "folder", type=UserPath(path_type=Path), help=N_("Folder to write to (default: your solutions).")
)
@click.option("--bug", is_flag=True, help=N_("Write a wrong solution to debug instead of an empty starter."))
@click.option(
    "--repair",
    type=click.IntRange(1, MOST_BUGS),
    metavar="N",
    help=N_("Get the reference with N planted bugs to find and fix."),
)
@click.option(
    "--seed", type=click.IntRange(0, STREAMS - 1), help=N_("With --repair: use this round instead of the next one.")
)
@click.option("--tests", is_flag=True, help=N_("Write a file for tests that tell right solutions from wrong ones."))
@click.option("--force", is_flag=True, help=N_("Keep an existing file as a numbered copy and write a new one."))
def start(
    challenge: str, folder: Path | None, bug: bool, repair: int | None, seed: int | None, tests: bool, force: bool
) -> None:
    if tests and (bug or repair is not None):
        raise UsageError(_("--tests cannot be combined with --bug or --repair; leave out one of them"))
    if bug and repair is not None:
        raise UsageError(_("--bug and --repair cannot be combined; leave out one of them"))
    if seed is not None and repair is None:
        raise UsageError(_("--seed chooses a repair round; add --repair N"))
    with session().workspace() as workspace:
        shows_unsolved = repair is not None and not is_solved(workspace, challenge)
        if tests:
            started = start_tests(workspace, challenge, folder, force)
        else:
            started = start_challenge(workspace, challenge, folder, bug=bug, repair=repair, seed=seed, force=force)
    if started.kept:
        echo(_("kept the old file as {file}", file=started.kept)[workspace.lang], err=True)
    if started.symptom:
        echo(started.symptom[workspace.lang], err=True)
    if shows_unsolved:
        echo(_("{id} is not solved yet, and this file shows the reference", id=challenge)[workspace.lang], err=True)
    given = [str(started.path)] if folder else []
    command = shlex.join(["attn", "grade", challenge, *given, *(["--tests"] if tests else [])])
    next_step = _("next: write your solution there, then run `{command}`", command=command)
    if tests:
        next_step = _("next: write your tests there, then run `{command}`", command=command)
    if repair is not None:
        next_step = ngettext(
            "{count} bug to find and fix; check with `{command}`",
            "{count} bugs to find and fix; check with `{command}`",
            started.bugs,
            command=command,
        )
    echo(str(started.path))
    if not bug:
        echo(next_step[workspace.lang], err=True)


@click.command(help=N_("Print the next hint for CHALLENGE; it is recorded as seen."))
@click.argument("challenge")
@click.option("--tests", is_flag=True, help=N_("Name the next wrong solution that your tests did not catch."))
def hint(challenge: str, tests: bool) -> None:
    with session().workspace() as workspace:
        found = (next_survivor if tests else next_hint)(workspace, challenge)
    print_hint(found, challenge, workspace.lang)


def print_hint(found: Hint, challenge: str, lang: Lang) -> None:
    """Print the hint under its heading, and say so if it is the last one, repeated."""
    heading = _("Hint {n} of {total}", n=found.number, total=found.total)[lang]
    echo(_("{heading}: {text}", heading=heading, text=found.text[lang].strip())[lang])
    if found.again:
        echo(
            _("This was the last hint. Show the reference: `attn solution {challenge}`", challenge=challenge)[lang],
            err=True,
        )


@click.command(
    help=N_(
        "Print the reference of CHALLENGE; it is recorded as seen.\n\n"
        "Follow-up questions go to stderr, so the reference can be redirected to a file."
    )
)
@click.argument("challenge")
@click.option("--tests", is_flag=True, help=N_("Print the reference tests instead."))
def solution(challenge: str, tests: bool) -> None:
    with session().workspace() as workspace:
        if tests:
            echo(show_reference_tests(workspace, challenge), end="")
            return
        echo(show_solution(workspace, challenge), end="")
        follow_ups = asked_next(workspace.library.challenge(challenge), workspace.lang)
    for line in follow_ups:
        echo(line, err=True)


# `attn verify`


@click.command(
    help=N_(
        "Verify CHALLENGES (default: all): right solutions are accepted, wrong ones rejected.\n\n"
        "Static errors are reported first, all at once, and then nothing is run."
    )
)
@click.argument("challenges", nargs=-1)
@click.option("--streams", type=click.IntRange(1, 1000), default=1, help=N_("Number of input streams to verify on."))
@click.option(
    "--jobs", type=click.IntRange(1, 64), default=None, help=N_("Judges to run in parallel (default: number of cores).")
)
@click.option("--tests", is_flag=True, help=N_("Verify the reference tests instead."))
@click.option("--device", type=click.Choice([CPU, CUDA]), default=CPU, help=N_("Device to run on."))
@json_option
def verify(
    challenges: tuple[str, ...], streams: int, jobs: int | None, tests: bool, device: str, as_json: bool
) -> None:
    from attncli.practice.grade import require_gpu
    from attncli.practice.verify import faults, verify_challenges

    if device == CUDA:
        require_gpu()
    with session().workspace() as workspace:
        if problems := faults(workspace, challenges):
            _report_problems(problems, as_json)
        chosen = [workspace.library.challenge(id) for id in challenges] or _runnable(workspace)
    if tests:
        _verify_tests(chosen, as_json)
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    judges = jobs or (cores if device == CPU else min(cores, JUDGES_ON_GPU))
    proofs = verify_challenges(
        chosen, streams, judges, _progress(), device, lambda proof: None if as_json else _print_proof(proof)
    )
    documents = [proof.document() for proof in proofs]
    score = _score(documents, streams)
    with keep_verdict():
        if as_json:
            print_json({"challenges": documents, "problems": [], "score": score})
        else:
            right, wrong = score["right"], score["wrong"]
            echo(
                f"{wrong['rejected']} of {wrong['total']} wrong solutions rejected, "
                f"{right['accepted']} of {right['total']} right ones accepted, "
                f"on {'1 stream' if streams == 1 else f'{streams} streams'}"
            )
            if device == CUDA:
                on_gpu = sum(proof.device == CUDA for proof in proofs)
                others = len(proofs) - on_gpu
                rest = f", {others} on the CPU, as a GPU shows nothing of them" if others else ""
                echo(f"{on_gpu} on the GPU{rest}")
    failing = [document["id"] for document in documents if not document["holds"]]
    if failing:
        raise Rejected(
            _(
                "{failing} of {count} challenges failed verification: {names}; see above",
                failing=len(failing),
                count=len(documents),
                names=", ".join(failing),
            )
        )


def _verify_tests(challenges: Sequence[Challenge], as_json: bool) -> None:
    """Run the reference tests of each challenge: no false alarm, and 95 % of the catchable solutions caught."""
    from attncli.practice.own_tests import verify_tests

    documents = []
    for challenge, report in verify_tests(challenges):
        documents.append({"id": challenge.id, "holds": report.rung == "hardened", **tests_document(report)})
        if not as_json:
            echo("\n".join(tests_lines(report, quoted(challenge.id), session().lang)))
    if as_json:
        print_json({"challenges": documents})
    if failing := [document["id"] for document in documents if not document["holds"]]:
        raise Rejected(_("the reference tests of {names} do not hold; see above", names=", ".join(failing)))


def _runnable(workspace: Workspace) -> list[Challenge]:
    """Return the challenges whose dependencies are installed; print the number of the others."""
    from attncli.practice.verify import can_be_run

    everything = list(workspace.library.challenges())
    left_out = [challenge.id for challenge in everything if not can_be_run(challenge)]
    if left_out:
        echo(f"{len(left_out)} left out, as they need Triton: pip install 'attncli[kernels]' (Linux)", err=True)
    return [challenge for challenge in everything if challenge.id not in left_out]


def _report_problems(problems: Sequence[Problem], as_json: bool) -> NoReturn:
    """Print every problem of the files, then raise Rejected."""
    with keep_verdict():
        print_result(
            as_json,
            lambda: {"challenges": [], "problems": [problem.as_json() for problem in problems], "score": None},
            lambda: (problem.text[session().message_lang] for problem in problems),
        )
    raise Rejected(
        ngettext(
            "{count} problem in challenge files, nothing was run; fix it, then run attn verify again",
            "{count} problems in challenge files, nothing was run; fix them, then run attn verify again",
            len(problems),
        )
    )


def _progress() -> Callable[[int, int], None]:
    """Return a function that shows how many gradings are done, and the estimated minutes left."""
    start = time.monotonic()

    def show(done: int, of: int) -> None:
        minutes = (time.monotonic() - start) / done * (of - done) / 60
        show_progress(f"{done}/{of}, about {minutes:.0f} min left" if done < of else "")

    return show


def _print_proof(proof: Proof) -> None:
    document = proof.document()
    right, wrong = document["right"], document["wrong"]
    show_progress("")
    with keep_verdict():
        echo(
            f"{'holds' if document['holds'] else 'FAILS'}  {document['id']}: "
            f"{right['accepted']}/{right['total']} right accepted, {wrong['rejected']}/{wrong['total']} wrong rejected"
        )
        for failure in proof.failures():
            echo(f"       {failure}")


def _score(documents: list[dict[str, Any]], streams: int) -> dict[str, Any]:
    def total(kind: str, key: str) -> int:
        return sum(document[kind][key] for document in documents)

    return {
        "challenges": len(documents),
        "streams": streams,
        "right": {"accepted": total("right", "accepted"), "total": total("right", "total")},
        "wrong": {"rejected": total("wrong", "rejected"), "total": total("wrong", "total")},
    }
