"""`attn verify`."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from attncli.commands.output import json_option, print_json
from attncli.commands.session import session
from attncli.commands.stdout import echo, show_progress, verdict_counts
from attncli.errors import Rejected


@click.command()
@click.argument("challenges", nargs=-1)
@click.option("--streams", type=click.IntRange(1, 1000), default=1, help="Input streams to prove it on.")
@click.option("--jobs", type=click.IntRange(1, 64), default=None, help="Judges at work at once (default: the cores).")
@json_option
def verify(challenges: tuple[str, ...], streams: int, jobs: int | None, as_json: bool) -> None:
    """Prove CHALLENGES (all of them by default): right solutions are accepted, wrong ones rejected."""
    from attncli.practice.proof import prove

    with session().workspace() as workspace:
        chosen = [workspace.library.challenge(id) for id in challenges] or workspace.library.challenges()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    proofs = prove(chosen, streams, jobs or cores, _progress())
    documents = [proof.document() for proof in proofs]
    score = _score(documents, streams)
    with verdict_counts():
        if as_json:
            print_json({"challenges": documents, "score": score})
        else:
            _print(documents, score)
    failing = [document["id"] for document in documents if not document["holds"]]
    if failing:
        raise Rejected(f"{len(failing)} of {len(documents)} challenges do not hold: {', '.join(failing)}; see above")


def _score(documents: list[dict[str, Any]], streams: int) -> dict[str, Any]:
    def total(kind: str, key: str) -> int:
        return sum(document[kind][key] for document in documents)

    return {
        "challenges": len(documents),
        "streams": streams,
        "right": {"accepted": total("right", "accepted"), "total": total("right", "total")},
        "wrong": {"rejected": total("wrong", "rejected"), "total": total("wrong", "total")},
    }


def _print(documents: list[dict[str, Any]], score: dict[str, Any]) -> None:
    for document in documents:
        right, wrong = document["right"], document["wrong"]
        echo(
            f"{'holds' if document['holds'] else 'FAILS'}  {document['id']}: "
            f"{right['accepted']}/{right['total']} right accepted, {wrong['rejected']}/{wrong['total']} wrong rejected"
        )
        for failure in document["failures"]:
            echo(f"       {failure['file']} on stream {failure['stream']} {failure['verdict']}: {failure['message']}")
    streams = "1 stream" if score["streams"] == 1 else f"{score['streams']} streams"
    echo(
        f"{score['wrong']['rejected']} of {score['wrong']['total']} wrong solutions rejected, "
        f"{score['right']['accepted']} of {score['right']['total']} right ones accepted, on {streams}"
    )


def _progress() -> Any:
    if not sys.stderr.isatty():
        return lambda done, of: None

    def show(done: int, of: int) -> None:
        show_progress(f"{done}/{of}" if done < of else "")

    return show
