"""Check README and docs/: commands run, links lead somewhere, figures and quotes match the files."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from datetime import date, timedelta
from pathlib import Path

import click
import pytest

from attncli.__main__ import main
from attncli.cli import COMMANDS, Commands
from attncli.judge.client import Judge
from attncli.ladder import PIECES
from verified import failed

ROOT = Path(__file__).parent.parent
README, CONTRIBUTING, SECURITY = (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))
GUIDES = [README, CONTRIBUTING, SECURITY, *sorted((ROOT / "docs").glob("*.md"))]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("[iq]*/README.md"))]
MOST_LINES = {"README.md": 160, "CONTRIBUTING.md": 120, "SECURITY.md": 120}
WIDEST = 120

NOT_RUN = {
    r"git clone ": "needs a network",
    r"pip install |pipx install |uv tool install ": "needs a network",
    r"make (run|test)$": "sets up an environment, which needs a network; CI runs it",
    r"attn$": "opens the app, which needs a terminal; see tests/tui",
    r"--watch$": "ends with Ctrl-C; see tests/commands",
    r"attn serve": "ends with Ctrl-C; see tests/servers",
    r"attn verify ": "takes minutes; `make test-all` runs it",
    r"attn ladder$": "takes half a minute; the page's next command builds the engine too",
    r"attn experiment (attention-map|three-attentions)": "takes half a minute; see tests/impl/experiments",
    r"summary\.pdf": "needs Pango and a Chinese font; see tests/export",
    r"--device cuda|on_gpu\.sh": "needs a GPU",
    r"--ray ": "needs a cluster",
    r"attn new challenge ": "writes into the checkout; see tests/commands",
    r"python tools/bank/": "reads or writes the checkout; see tests/tools",
}
"""Commands that no test runs, by pattern, with the reason. All other `console` commands are run."""
IN_THE_APP = ("attn review", "attn drill", "attn quiz", "attn mock")
"""Commands that open the app; they are run with --plain and an empty stdin."""
FIXED_DATE = "2026-12-24"
"""The pages' interview date; the tests replace it by a future one."""


def shown(page: Path) -> list[tuple[str, int]]:
    """Return the commands in the `console` blocks of a page, each with the exit code that its comment names."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    parts = [re.split(r"\s+# ", line, maxsplit=1) for line in lines]
    comments = [re.match(r"exit (\d):", "".join(comment)) for _command, *comment in parts]
    return [(command, int(code[1]) if code else 0) for (command, *_), code in zip(parts, comments, strict=True)]


def reason_not_to_run(command: str) -> str:
    return next((reason for pattern, reason in NOT_RUN.items() if re.search(pattern, command)), "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[] if page == README else pytest.mark.full, id=page.stem)
        for page in GUIDES
        if shown(page)
    ],
)
def test_the_commands_of_a_page_do_what_it_says(
    page: Path, indexed_home: Path, judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(indexed_home, tmp_path / "home")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "quizbank").symlink_to(ROOT / "quizbank")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environ = {"ATTN_HOME": str(tmp_path / "home"), "PATH": path, "LANG": "C.UTF-8", "NO_COLOR": "1"}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(Judge, "start", lambda: nullcontext(judge))
    ahead = str(date.today() + timedelta(days=27))
    for command, expected in shown(page):
        if reason_not_to_run(command):
            continue
        plain = " --plain" if command.startswith(IN_THE_APP) and "--plain" not in command else ""
        code, said = run(command.replace(FIXED_DATE, ahead) + plain, monkeypatch)
        assert code == expected, (command, said)


def run(command: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Run a command of a page, in this process if it is one of attn and needs no shell; return its code and output."""
    in_this_process = command.startswith("attn ") and command != "attn mcp"  # which answers on the real stdout
    if in_this_process and not set(command) & set("|&;<>$~*"):
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code = main(shlex.split(command)[1:])
        return code, out.getvalue()[-2000:] + err.getvalue()[-2000:]
    done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")
    return done.returncode, done.stdout[-2000:] + done.stderr[-2000:]


def test_each_reason_not_to_run_a_command_is_needed() -> None:
    commands = [command for page in GUIDES for command, _ in shown(page)]
    assert [pattern for pattern in NOT_RUN if not any(re.search(pattern, command) for command in commands)] == []


def calls(page: Path) -> Iterator[list[str]]:
    """Yield every call of attn on a page, in a block or in a line, as words after `attn`."""
    inline = re.findall(r"`(attn [^`…]+)`", page.read_text(encoding="utf-8"))
    for call in [*(command for command, _ in shown(page)), *inline]:
        name, *words = shlex.split(call)
        if name == "attn":
            yield words


def test_the_commands_that_pages_name_exist_with_their_options() -> None:
    for name, call in [(page.name, call) for page in PAGES for call in calls(page)]:
        group: click.Command = Commands("attn")
        known, words = {"--home", "--lang", "--debug", "--version"}, call
        while words and isinstance(group, click.Group):
            if words[0].startswith("-"):
                assert words[0] in known, (name, call)
                words = words[2 if words[0] in ("--home", "--lang") else 1 :]
                continue
            assert not isinstance(group, Commands) or words[0] in COMMANDS, (name, call)
            command = group.get_command(click.Context(group), words[0])
            assert command is not None, (name, call)
            group, words = command, words[1:]
        known |= {option for parameter in group.params for option in parameter.opts}
        assert {word for word in words if re.match(r"--?\w", word)} <= known, (name, call)


def test_the_make_targets_and_extras_that_pages_name_exist() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in GUIDES)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"(?:`|\$ .*)make ([\w-]+)", text))
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.M)] == []
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = set(re.findall(r"attncli\[(\w+)\]", text))
    assert extras and [extra for extra in extras if not re.search(rf"^{extra} = \[", project, re.M)] == []


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.DOTALL | re.M)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_links_of_pages_lead_somewhere_and_from_the_readme_to_every_page_of_docs() -> None:
    led: dict[Path, set[Path]] = {}
    for page in PAGES:
        links = re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8")))
        for link in (link for link in links if not link.startswith(("http://", "https://"))):
            file, _, anchor = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            assert target.exists(), (page.name, link)
            assert not anchor or anchor in anchors(target), (page.name, link)
            led.setdefault(page, set()).add(target)
    reached, todo = set(), [README]
    while todo:
        reached.add(page := todo.pop())
        todo += led.get(page, set()) - reached
    assert set(GUIDES) <= reached


def test_pages_are_short_and_narrow_and_their_paths_lead_to_files() -> None:
    for page in [*GUIDES, ROOT / "ARCHITECTURE.md"]:
        lines = page.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= MOST_LINES.get(page.name, 150), page.name
        prose = without_code("\n".join(lines)).splitlines()
        assert [line for line in prose if len(line) > WIDEST and not line.startswith("|")] == [], page.name
    houses = (ROOT, ROOT / "attncli", ROOT / "impl" / "norms" / "layer-norm")
    for page in PAGES:
        paths = re.findall(r"`((?:[\w-]+/)+[\w-]+\.(?:py|md|yaml|json))`", page.read_text(encoding="utf-8"))
        missing = [path for path in paths if not any((house / path).is_file() for house in houses)]
        assert [path for path in missing if not path.startswith("banks/")] == [], page.name


@pytest.mark.parametrize("what", ["solutions", "kernels"])
def test_the_published_score_counts_what_is_there(what: str) -> None:
    score = re.search(
        rf"(\d+) of (\d+) wrong {what} rejected, (\d+) of (\d+) right ones accepted \((\d+) challenges",
        (ROOT / "docs" / "grading-evidence.md").read_text(encoding="utf-8"),
    )
    assert score is not None
    rejected, wrong, accepted, right, challenges = map(int, score.groups())
    folders = [path.parent for path in (ROOT / "impl").glob("*/*/challenge.yaml")]
    folders = [folder for folder in folders if (folder.parent.name == "kernels") == (what == "kernels")]
    assert challenges == len(folders)
    assert rejected == wrong == sum(len(list(f.glob("wrong/*.py"))) for f in folders)
    assert accepted == right == sum(1 + len(list(f.glob("right/*.py"))) for f in folders)


def test_the_published_figure_of_the_ladder_is_that_of_the_run_that_is_kept() -> None:
    page = (ROOT / "docs" / "challenges.md").read_text(encoding="utf-8")
    figure = re.search(r"one at a time: (\d+) of (\d+) are named,\s+and\s+none\s+of\s+(\d+)\s+right\s+ones\s+is", page)
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


GUIDE = (ROOT / "docs" / "own-challenges.md").read_text(encoding="utf-8")
LAYER_NORM = ROOT / "impl" / "norms" / "layer-norm"


@pytest.mark.parametrize("name", ["inputs.py", "wrong/unbiased-variance.py"])
def test_what_is_quoted_of_layer_norm_is_its_file(name: str) -> None:
    assert f"```python\n{(LAYER_NORM / name).read_text(encoding='utf-8')}```\n" in GUIDE
