"""What README promises is there: commands, files, and the published score."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from attncli.cli import COMMANDS, Commands

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CALLS = [line[2:].split("  #")[0].strip() for line in README.splitlines() if line.startswith("$ attn")]


@pytest.mark.parametrize("call", CALLS)
def test_a_command_of_the_readme_exists_with_its_options(call):
    words = shlex.split(call)[1:]
    if not words:
        return
    assert words[0] in COMMANDS
    command = Commands("attn").get_command(click.Context(click.Command("attn")), words[0])
    rest = words[1:]
    if isinstance(command, click.Group):
        command = command.get_command(click.Context(command), rest.pop(0))
    assert command is not None
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in rest if word.startswith("-")} <= known


@pytest.mark.parametrize("target", re.findall(r"make (\w+)", README))
def test_a_make_target_of_the_readme_exists(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)]+)\)", README))
def test_a_link_of_the_readme_leads_to_a_file(link):
    assert link.startswith("http") or (ROOT / link).exists()


@pytest.mark.parametrize("room", re.findall(r"`(attncli/\w+)`", README))
def test_a_room_of_the_readme_exists(room):
    assert (ROOT / room).is_dir()


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
