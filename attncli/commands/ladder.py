"""`attn ladder`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from attncli import paths
from attncli.commands.session import session
from attncli.commands.shared.shared_options import json_option, print_result
from attncli.commands.shared.stdout import show_progress, verdict_counts
from attncli.errors import NotFound, Rejected, UsageError
from attncli.paths import expanded

if TYPE_CHECKING:
    from attncli.domain.text import Lang


@click.command()
@click.option(
    "--piece",
    "given",
    multiple=True,
    metavar="ID=FILE",
    help="Put this file on the seat of a piece, whether it was graded or not; may be given several times.",
)
@json_option
def ladder(given: Sequence[str], as_json: bool) -> None:
    """Run one small engine of your own solved pieces: it trains, then serves.

    What is missing is the reference. Exit 0 where the engine runs right; 1 where it does not, with the piece that
    breaks it.
    """
    from attncli.ladder.blame import Engines, climb
    from attncli.ladder.climb_report import document, failure, lines
    from attncli.ladder.engine import Files
    from attncli.ladder.pieces import BY_ID
    from attncli.sandbox.zygote_client import ZygoteClient

    files, lang = Files(paths.bundled_impl()), session().lang
    given_files = _given(given)
    with ZygoteClient.start() as zygote:  # it imports torch while this process looks for what is the learner's own
        from attncli.practice.ladder_seats import texts_for_seats

        with session().workspace() as workspace:
            own, whose = texts_for_seats(workspace, BY_ID, given_files)
        zygote.ready()
        engines = Engines(files, zygote.worker, _progress(as_json, lang))
        found = climb(engines, own)
        layers = list(zygote.layers)
    if not as_json:
        show_progress("")
    with verdict_counts():
        print_result(
            as_json,
            lambda: {**document(found, whose, lang), "sandbox": layers},
            lambda: lines(found, whose, lang),
        )
    if found.blames:
        raise Rejected(failure(found, lang))


def _given(words: Sequence[str]) -> dict[str, Path]:
    from difflib import get_close_matches

    from attncli.ladder.pieces import BY_ID

    found = {}
    for word in words:
        id, sign, file = word.partition("=")
        if not sign or not file:
            raise UsageError(f"--piece {word} names no file; write it as --piece rope=rope.py")
        if id not in BY_ID:
            near = get_close_matches(id[:60], BY_ID, n=1)
            raise NotFound(
                f"the engine has no seat for {id}; "
                + (f"did you mean {near[0]}?" if near else f"its pieces are {', '.join(BY_ID)}")
            )
        found[id] = Path(expanded(file))
    return found


def _progress(as_json: bool, lang: Lang) -> Callable[[int, Sequence[str]], None]:
    from attncli.words.ladder_texts import ALL_REFERENCES, PROGRESS, SO_MANY_OWN

    if as_json:
        return lambda number, own: None

    def show(number: int, own: Sequence[str]) -> None:
        many = SO_MANY_OWN[lang].format(count=len(own))
        pieces = ALL_REFERENCES[lang] if not own else own[0] if len(own) == 1 else many
        show_progress(PROGRESS[lang].format(number=number, pieces=pieces))

    return show
