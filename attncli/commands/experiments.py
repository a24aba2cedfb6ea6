"""`attn experiment`: the list, a run, and the picture, which holds the plots of the first seed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from attncli import paths
from attncli.commands.session import session
from attncli.commands.shared.export_target import Target
from attncli.commands.shared.shared_options import UserPath, json_option, print_result
from attncli.commands.shared.stdout import echo, show_progress, verdict_counts
from attncli.errors import Rejected, UsageError

if TYPE_CHECKING:
    from attncli.domain.text import Lang
    from attncli.experiments.catalogue import Experiment
    from attncli.experiments.results import SeedOutcome

LONGEST_TEXT = 400
TEXTUAL = "attention-map"


@click.command()
@click.argument("id", required=False)
@click.argument("text", required=False)
@click.option("--quick", is_flag=True, help="The short form: seconds, and one seed.")
@click.option("-o", "--output", type=UserPath(path_type=Path, dir_okay=False), help="Where to draw the plot (.svg).")
@json_option
def experiment(id: str | None, text: str | None, quick: bool, output: Path | None, as_json: bool) -> None:
    """Run the experiment ID behind a card's claim; without ID list them.

    TEXT is what attention-map looks at, in any language.

    Exit 0 where the claim showed, 1 where it did not.
    """
    if output is not None and output.suffix.lower() != ".svg":
        raise UsageError(f"{output} is no .svg file, and plots are drawn as SVG alone; name one such as plot.svg")
    if id is None:
        if quick or output is not None:
            raise UsageError("which experiment? `attn experiment` lists them; name one: attn experiment ID")
        _list(session().lang, as_json)
        return
    _run(id, text, quick, output, as_json)


def _run(id: str, text: str | None, quick: bool, output: Path | None, as_json: bool) -> None:
    from attncli.experiments.catalogue import find
    from attncli.experiments.experiment_report import WIDEST, document, lines, unmet
    from attncli.experiments.runner import ChildRun

    lang, impl = session().lang, paths.bundled_impl()
    chosen = find(impl, id)
    shown = _text(chosen, text, lang)
    Target(output).refuse_place()
    with ChildRun(chosen, impl, chosen.seeds(quick), quick, shown) as run:
        outcomes = run.outcomes(_progress(id))
    if output is not None:
        _draw(output, outcomes, lang)
    with verdict_counts():
        width = min(WIDEST, shutil.get_terminal_size().columns)
        print_result(
            as_json,
            lambda: document(chosen, outcomes, quick, lang),
            lambda: lines(chosen, outcomes, width, lang),
        )
    if failed := unmet(outcomes):
        raise Rejected(f"{id}: the claim did not show: {failed}; the table above has what was seen")


def _text(chosen: Experiment, text: str | None, lang: Lang) -> str:
    """What an experiment that looks at a text is given; nothing for the others."""
    if chosen.text is None:
        if text is not None:
            raise UsageError(f"{chosen.id} looks at no text; leave it out, or give it to attn experiment {TEXTUAL}")
        return ""
    if text is None:
        return chosen.text[lang]
    if not text.strip():
        raise UsageError(f'the text is empty; name one: attn experiment {chosen.id} "{chosen.text[lang]}"')
    if len(text) > LONGEST_TEXT:
        raise UsageError(
            f"the text has {len(text)} characters, and {LONGEST_TEXT} have room on a map; name a shorter one"
        )
    return text


def _draw(output: Path, outcomes: Sequence[SeedOutcome], lang: Lang) -> None:
    from attncli.experiments.plots import svg
    from attncli.words.experiment_texts import WRITTEN

    Target(output).write_text(svg(outcomes[0].plots, lang))
    echo(WRITTEN[lang].format(file=output), err=True)


def _list(lang: Lang, as_json: bool) -> None:
    from attncli.experiments.catalogue import catalogue

    found = catalogue(paths.bundled_impl())
    print_result(as_json, lambda: [entry.document(lang) for entry in found], lambda: _listed(found, lang))


def _listed(found: Sequence[Experiment], lang: Lang) -> list[str]:
    from attncli.domain.cells import cells, left, right
    from attncli.words.experiment_texts import LIST_HEAD, SECONDS

    rows = [LIST_HEAD[lang].split()]
    for entry in found:
        times = [SECONDS[lang].format(count=count) for count in (entry.quick_seconds, entry.full_seconds)]
        rows.append([entry.id, entry.title[lang], *times, " ".join(entry.cards)])
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    sides = (left, left, right, right, left)
    return [
        "  ".join(side(text, width) for side, text, width in zip(sides, row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _progress(id: str) -> Callable[[float], None]:
    show_progress(f"{id} …")
    return lambda share: show_progress(f"{id} {share:.0%}" if share < 1 else "")
