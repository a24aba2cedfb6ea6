"""Print how many files of attncli run code for one card, and for one submission.

    python benchmarks/walks.py            the counts, by room
    python benchmarks/walks.py --files    the files too

The card goes from its YAML over the screen to the disk: index, first screen, reveal, rating. The submission is a wrong
solution of `sdpa` by `attn grade`: the command's process, the judge and the zygote. A file counts if one of its
functions runs; bodies of modules and classes, with their comprehensions, do not count. Both walks run in a copy of the
package whose entries are traced. The files of a worker are not counted: seccomp forbids it to write them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRACE = """
import os as _os, sys as _sys, threading as _threading
_seen, _log = set(), _os.open({log!r}, _os.O_WRONLY | _os.O_CREAT | _os.O_APPEND)
_is_log = _os.fstat(_log).st_ino
def _note(frame, event, argument):
    code = frame.f_code
    name = code.co_filename
    at_import = code.co_name[0] == "<" and frame.f_back and not frame.f_back.f_code.co_flags & 1
    if event == "call" and name not in _seen and code.co_flags & 1 and not at_import:  # no body of a module or class
        _seen.add(name)
        try:  # a worker has closed the log, and may have another file under its number
            if _os.fstat(_log).st_ino == _is_log:
                _os.write(_log, (name + "\\n").encode())
                return
        except OSError:
            pass
        _sys.setprofile(None)
_sys.setprofile(_note)
_threading.setprofile(_note)
"""
CARD = """
schema: 1
topic: own
cards:
  - id: walk-01
    kind: qa
    level: core
    tags: [core]
    question: {en: "What does one card walk through?", zh: "一张卡片会经过哪些代码？"}
    answer: {en: "The files of the program.", zh: "程序的各个文件。"}
"""
IN_THE_APP = """
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path
from attncli.paths import Home
from attncli.practice.workspace import Workspace
from attncli.tui.app import AttnApp

async def main(home):
    with Workspace.open(Home(home), lambda: datetime.now(UTC)) as workspace:
        app = AttnApp(workspace, "review")
        async with app.run_test(size=(100, 40)) as pilot:
            for key in ("space", "3"):
                await pilot.pause(0.3)
                await pilot.press(key)
            await pilot.pause(0.3)

asyncio.run(main(Path(sys.argv[1])))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", action="store_true", help="name the files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for what, files in (
            ("a card", card(Path(scratch) / "card")),
            ("a submission", submission(Path(scratch) / "code")),
        ):
            rooms = Counter(name.split("/")[0].removesuffix(".py") for name in files)
            print(f"{what}: {len(files)} files ({', '.join(f'{room} {count}' for room, count in rooms.most_common())})")
            if options.files:
                print(*(f"  {name}" for name in sorted(files)), sep="\n")
    return 0


def card(folder: Path) -> set[str]:
    """Return the files that run code for one card from YAML to disk."""
    package = copy_of_package(folder)
    home = folder / "home"
    (home / "quizbank").mkdir(parents=True)
    (home / "quizbank" / "own.yaml").write_text(CARD, encoding="utf-8")
    walk = folder / "walk.py"
    walk.write_text(TRACE.format(log=str(folder / "log")) + IN_THE_APP, encoding="utf-8")
    run(folder, [str(walk), str(home)], home)
    return walked(folder / "log", package)


def submission(folder: Path) -> set[str]:
    """Return the files that run code for one wrong solution: the command, the judge and the zygote."""
    package = copy_of_package(folder)
    for entry in (package / "__main__.py", package / "sandbox" / "launch.py"):
        text = entry.read_text(encoding="utf-8")
        after = "from __future__ import annotations\n"
        entry.write_text(text.replace(after, after + TRACE.format(log=str(folder / "log")), 1), encoding="utf-8")
    home = folder / "home"
    home.mkdir()
    run(folder, ["-m", "attncli", "due"], home)  # build the index first
    (folder / "log").unlink()
    wrong = ROOT / "impl" / "attention" / "sdpa" / "wrong" / "no-scale.py"
    run(folder, ["-m", "attncli", "grade", "sdpa", str(wrong)], home, codes=(1,))
    return walked(folder / "log", package)


def copy_of_package(folder: Path) -> Path:
    package = folder / "attncli"
    shutil.copytree(ROOT / "attncli", package, ignore=shutil.ignore_patterns("__pycache__"))
    for data in ("quizbank", "impl", "pyproject.toml"):
        (folder / data).symlink_to(ROOT / data)
    return package


def run(folder: Path, arguments: list[str], home: Path, codes: tuple[int, ...] = (0,)) -> None:
    environment = {**os.environ, "PYTHONPATH": str(folder), "ATTN_HOME": str(home)}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode not in codes:
        raise SystemExit(f"the walk failed with {done.returncode}: {done.stderr[-2000:]}")


def walked(log: Path, package: Path) -> set[str]:
    names = {Path(line) for line in log.read_text(encoding="utf-8").splitlines()}
    return {str(name.relative_to(package)) for name in names if name.is_relative_to(package)}


if __name__ == "__main__":
    sys.exit(main())
