"""What README promises is there: commands, files, and the published score."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from attncli.cli import COMMANDS, Commands
from attncli.ladder import PIECES
from verified import failed

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CALLS = [line[2:].split("  #")[0].strip() for line in README.splitlines() if line.startswith("$ attn")]


def test_the_commands_of_the_readme_exist_with_their_options():
    for name, *rest in filter(None, (shlex.split(call)[1:] for call in CALLS)):
        assert name in COMMANDS
        command = Commands("attn").get_command(click.Context(click.Command("attn")), name)
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), rest.pop(0))
        assert command is not None, (name, rest)
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in rest if word.startswith("-")} <= known, name


def test_the_make_targets_and_links_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{target}:", makefile, re.M) for target in re.findall(r"make (\w+)", README))
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []


PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "quizbank" / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_path_on_a_page_leads_to_a_file(page):
    paths = re.findall(r"`((?:[\w-]+/)+[\w-]+\.(?:py|md|yaml|json))`", page.read_text(encoding="utf-8"))
    houses = (ROOT, ROOT / "attncli", ROOT / "impl" / "norms" / "layer-norm")
    learners = ("banks/",)
    missing = [path for path in paths if not any((house / path).is_file() for house in houses)]
    assert [path for path in missing if not path.startswith(learners)] == []


@pytest.mark.parametrize("what", ["solutions", "kernels"])
def test_the_published_score_counts_what_is_there(what):
    score = re.search(
        rf"(\d+) of (\d+) wrong {what} rejected, (\d+) of (\d+) right ones accepted \((\d+) challenges", README
    )
    assert score is not None
    rejected, wrong, accepted, right, challenges = map(int, score.groups())
    folders = [path.parent for path in (ROOT / "impl").glob("*/*/challenge.yaml")]
    folders = [folder for folder in folders if (folder.parent.name == "kernels") == (what == "kernels")]
    assert challenges == len(folders)
    assert rejected == wrong == sum(len(list(f.glob("wrong/*.py"))) for f in folders)
    assert accepted == right == sum(1 + len(list(f.glob("right/*.py"))) for f in folders)


def test_the_published_figure_of_the_ladder_is_that_of_the_run_that_is_kept():
    figure = re.search(r"one at a time: (\d+) of (\d+) are named, and none of (\d+) right ones is", README)
    assert figure is not None
    ran = json.loads((ROOT / "benchmarks" / "results" / "ladder.json").read_text(encoding="utf-8"))
    wrong_count = right_count = 0
    for piece in PIECES:
        folder = ROOT / "impl" / piece.track / piece.id
        wrong = [path.stem for path in sorted(folder.glob("wrong/*.py"))]
        wrong = [name for name in wrong if failed(piece.id).get(name, ["", "solved"])[1] == "solved"]
        right = [path.stem for path in sorted(folder.glob("right/*.py"))]
        wrong_count, right_count = wrong_count + len(wrong), right_count + len(right)
        kept = ran[piece.id]
        assert (kept["named"], kept["missed"], kept["run"], kept["blamed"]) == (wrong, [], right, [])
    assert [int(number) for number in figure.groups()] == [wrong_count, wrong_count, right_count]
