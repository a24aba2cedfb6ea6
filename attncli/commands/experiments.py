"""`attn experiment`, which runs the experiment behind a claim, and `attn ladder`, which runs the learner's pieces."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from attncli import paths
from attncli.commands.options import Target, UserPath, json_option
from attncli.commands.session import echo, keep_verdict, print_result, session, show_progress
from attncli.domain.text import in_columns, left, right
from attncli.errors import NotFound, Rejected, UsageError, did_you_mean
from attncli.i18n import N_, Lang, _, quoted
from attncli.paths import expanded

if TYPE_CHECKING:
    from attncli.experiments.runner import Experiment

LONGEST_TEXT = 400
TEXTUAL = "attention-map"


# `attn experiment`


@click.command(
    help=N_(
        "Run experiment ID, which tests a card's claim. Without ID, list all.\n\n"
        "TEXT is the input of attention-map, in any language.\n\n"
        "Exit 0 if the claim holds, else 1."
    )
)
@click.argument("id", required=False)
@click.argument("text", required=False)
@click.option("--quick", is_flag=True, help=N_("Quick run: a few seconds, one seed."))
@click.option("-o", "--output", type=UserPath(path_type=Path, dir_okay=False), help=N_("File for the plot (.svg)."))
@json_option
def experiment(id: str | None, text: str | None, quick: bool, output: Path | None, as_json: bool) -> None:
    if output is not None and output.suffix.lower() != ".svg":
        raise UsageError(_("{output} is not an .svg file; plots are SVG only, e.g. plot.svg", output=output))
    if id is None:
        if quick or output is not None:
            raise UsageError(_("give an experiment: attn experiment ID; list them with `attn experiment`"))
        _list(session().lang, as_json)
        return
    _run(id, text, quick, output, as_json)


def _list(lang: Lang, as_json: bool) -> None:
    from attncli.experiments.runner import catalogue

    found = catalogue(paths.bundled_impl())

    def table() -> list[str]:
        rows = [_("experiment  title  quick  full  cards")[lang].split()]
        for entry in found:
            times = [_("{count:g} s", count=count)[lang] for count in (entry.quick_seconds, entry.full_seconds)]
            rows.append([entry.id, entry.title[lang], *times, " ".join(entry.cards)])
        return list(in_columns(rows, (left, left, right, right, left)))

    print_result(as_json, lambda: [entry.document(lang) for entry in found], table)


def _run(id: str, text: str | None, quick: bool, output: Path | None, as_json: bool) -> None:
    from attncli.experiments.plots import WIDEST, document, lines, svg, unmet
    from attncli.experiments.runner import ChildRun, find

    lang, impl = session().lang, paths.bundled_impl()
    chosen = find(impl, id)
    shown = _input_text(chosen, text, lang)
    Target(output).refuse_place()
    with ChildRun(chosen, impl, chosen.seeds(quick), quick, shown) as run:
        show_progress(f"{id} …")
        outcomes = run.outcomes(lambda share: show_progress(f"{id} {share:.0%}" if share < 1 else ""))
    if output is not None:
        Target(output).write_text(svg(outcomes[0].plots, lang))
        echo(_("wrote the plot to {file}", file=output)[lang], err=True)
    with keep_verdict():
        width = min(WIDEST, shutil.get_terminal_size().columns)
        print_result(
            as_json, lambda: document(chosen, outcomes, quick, lang), lambda: lines(chosen, outcomes, width, lang)
        )
    if failed := unmet(outcomes):
        raise Rejected(_("{id}: the claim does not hold: {failed}; see the table above", id=id, failed=failed))


def _input_text(chosen: Experiment, text: str | None, lang: Lang) -> str:
    """Return the input text of the experiment, empty if it takes none. Raises UsageError."""
    if chosen.text is None:
        if text is not None:
            raise UsageError(
                _("{id} takes no text; leave it out, or run attn experiment {textual}", id=chosen.id, textual=TEXTUAL)
            )
        return ""
    if text is None:
        return chosen.text[lang]
    if not text.strip():
        raise UsageError(
            _('the text is empty; give one: attn experiment {id} "{text}"', id=chosen.id, text=chosen.text)
        )
    if len(text) > LONGEST_TEXT:
        raise UsageError(
            _("the text has {text} characters; use at most {longest_text}", text=len(text), longest_text=LONGEST_TEXT)
        )
    return text


# `attn ladder`


@click.command(
    help=N_(
        "Run a small engine built from the pieces you solved: it trains, then serves.\n\n"
        "Missing pieces use the reference. Exit 0 if the engine works; else 1, naming the piece "
        "that breaks it."
    )
)
@click.option(
    "--piece",
    "given",
    multiple=True,
    metavar="ID=FILE",
    help=N_("Use this file for a piece, graded or not; may be repeated."),
)
@json_option
def ladder(given: Sequence[str], as_json: bool) -> None:
    from attncli.ladder import BY_ID, Engines, Files, climb, document, failure, lines
    from attncli.sandbox.zygote_client import ZygoteClient

    files, lang = Files(paths.bundled_impl()), session().lang
    given_files = _piece_files(given)
    with ZygoteClient.start() as zygote:  # it imports torch while this process collects the learner's files
        from attncli.practice.grade import texts_for_seats

        with session().workspace() as workspace:
            own, whose = texts_for_seats(workspace, BY_ID, given_files)
        zygote.ready()
        engines = Engines(files, zygote.worker, _ladder_progress(as_json, lang))
        found = climb(engines, own)
        layers = list(zygote.layers)
    if not as_json:
        show_progress("")
    with keep_verdict():
        print_result(
            as_json, lambda: {**document(found, whose, lang), "sandbox": layers}, lambda: lines(found, whose, lang)
        )
    if found.blames:
        raise Rejected(failure(found))


def _piece_files(words: Sequence[str]) -> dict[str, Path]:
    from attncli.ladder import BY_ID

    found = {}
    for word in words:
        id, sign, file = word.partition("=")
        if not sign or not file:
            raise UsageError(_("--piece {word} has no file; write it as --piece rope=rope.py", word=word))
        if id not in BY_ID:
            hint = did_you_mean(id, BY_ID, _("use one of {names}", names=", ".join(BY_ID)))
            raise NotFound(_("the engine has no piece {id}; ", id=id) + hint)
        found[id] = Path(expanded(file))
    return found


def _ladder_progress(as_json: bool, lang: Lang) -> Callable[[int, Sequence[str]], None]:
    if as_json:
        return lambda number, own: None

    def show(number: int, own: Sequence[str]) -> None:
        pieces = _("{count} of your pieces", count=len(own)) if len(own) != 1 else quoted(own[0])
        shown = pieces if own else _("references only")
        show_progress(_("engine {number}: {pieces}", number=number, pieces=shown)[lang])

    return show
