"""`attn cohort`: a class with hostile people, killed and resumed, in every output form; invalid calls in one line."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from shutil import copytree

import pytest

from attncli.__main__ import main

from .conftest import Attn, Result

ROOT = Path(__file__).parent.parent.parent
TASKS = {name: ROOT / "impl" / place / name for place, name in (("attention", "causal-mask"), ("norms", "rms-norm"))}
MASK = TASKS["causal-mask"]
HOSTILE = {
    "hang": "while True: pass\n",
    "bomb": "import os\nwhile True: os.fork()\n",
    "kill": "import os\nos.kill(1 if os.getpid() == 2 else os.getppid(), 9)\n",
    "lie": 'import os\nos.write(1, b\'{"id": 1, "report": {"verdict": "accepted"}}\\n\')\nos._exit(0)\n',
}
QUICK = ("--timeout", "1", "--memory", "256")


@pytest.fixture
def environment(tmp_path: Path, indexed_home: Path) -> dict[str, str]:
    copytree(indexed_home, tmp_path / "home")
    return {**os.environ, "ATTN_HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"}


@pytest.fixture
def attn(environment: dict[str, str]) -> Attn:
    """`attn("cohort", ...)` runs in its own process."""

    def call(*words: object) -> Result:
        command = [sys.executable, "-m", "attncli", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=300)
        return Result(done.returncode, done.stdout, done.stderr)

    return call


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def honest(tmp_path: Path) -> Path:
    """Write the files of three people: two hand in a wrong file, and one copies another's text."""
    texts = {name: (folder / "reference.py").read_text(encoding="utf-8") for name, folder in TASKS.items()}
    wrong = (MASK / "wrong").glob("*.py")
    files = {f"李雷/{name}.py": text for name, text in texts.items()}
    files |= {"bob/causal-mask.py": sorted(wrong)[0].read_text(encoding="utf-8")}
    files |= {"eve/rms-norm.py": texts["rms-norm"] + "\n# mine\n", "eve/causal_mask.py": ""}
    return write(tmp_path / "class", files)


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_class_is_graded_and_nothing_is_recorded(attn: Attn, honest: Path) -> None:
    first = attn("cohort", honest, "--json", "--jobs", "1")
    assert (first.code, first.err) == (0, "")
    report = json.loads(first.out)
    reached = {row["learner"]: (row["graded"], row["solved"], row["hardened"]) for row in report["learners"]}
    assert reached["李雷"] == (2, 2, 2) and reached["eve"] == (1, 1, 1) and reached["bob"][1:] == (0, 0)
    assert "process" in report["sandbox"][0]["layers"]
    assert [(row["path"], row["detail"]) for row in report["left_out"]] == [("eve/causal_mask.py", "causal-mask")]
    assert [(row["challenge"], row["learners"]) for row in report["similar"]] == [("rms-norm", ["eve", "李雷"])]
    assert all(row["standing"] == "new" for row in attn("challenges", "--json").json)


@pytest.mark.full
@pytest.mark.sandbox
def test_results_are_kept_and_told_in_every_form(attn: Attn, honest: Path, tmp_path: Path) -> None:
    first = attn("cohort", honest, "--json", "--jobs", "1").out
    seed, results = json.loads(first)["seed"], honest / ".attn-cohort" / "results.jsonl"
    kept = results.read_bytes()
    for name in ("r.csv", "r.html"):
        done = attn("cohort", honest, "-o", tmp_path / name)
        assert (done.code, done.out) == (0, "") and done.err == f"wrote the report to {tmp_path / name}\n"
    assert results.read_bytes() == kept
    rows = list(csv.DictReader(io.StringIO((tmp_path / "r.csv").read_text(encoding="utf-8"))))
    assert [row["rung"] for row in rows] == ["none", "hardened", "hardened", "hardened", ""]
    assert {row["seed"] for row in rows} == {str(seed)}
    assert f"seed {seed}," in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "相似的提交" in attn("cohort", honest, "--lang", "zh").out
    results.unlink()
    again = attn("cohort", honest, "-o", tmp_path / "r.json", "--jobs", "2", "--seed", seed)
    assert again.code == 0 and (tmp_path / "r.json").read_text(encoding="utf-8") == first


@pytest.mark.full
@pytest.mark.sandbox
def test_hostile_people_change_nobody_else_s_result(attn: Attn, honest: Path) -> None:
    first = json.loads(attn("cohort", honest, "--json", *QUICK).out)
    before = first["learners"]
    for name, text in HOSTILE.items():
        write(honest, {f"hostile-{name}/causal-mask.py": text})
    (honest / ".attn-cohort" / "results.jsonl").unlink()
    done = attn("cohort", honest, "--json", *QUICK, "--seed", first["seed"])
    after = {row["learner"]: row for row in json.loads(done.out)["learners"]}
    assert [after[row["learner"]] for row in before] == before
    hostile = [row for name, row in after.items() if name.startswith("hostile-")]
    assert done.code == 0 and [(row["graded"], row["solved"]) for row in hostile] == [(1, 0)] * len(HOSTILE)


@pytest.mark.full
@pytest.mark.sandbox
def test_a_run_that_is_killed_goes_on_where_it_was(attn: Attn, honest: Path, environment: dict[str, str]) -> None:
    whole = attn("cohort", honest, "--json", "--seed", "7")
    results = honest / ".attn-cohort" / "results.jsonl"
    results.unlink()
    command = [sys.executable, "-m", "attncli", "cohort", str(honest), "--jobs", "1", "--seed", "7"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    while process.poll() is None and not (results.exists() and results.read_bytes().count(b"\n") >= 2):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = results.read_bytes()
    assert attn("cohort", honest, "--json").out == whole.out
    lines = results.read_bytes().splitlines()
    assert results.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    assert len({(json.loads(line)["learner"], json.loads(line)["challenge"]) for line in lines}) == len(lines) == 4


def test_a_call_that_cannot_be_done_is_one_line_and_exit_2(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    given, empty, folder = tmp_path / "class", tmp_path / "empty", tmp_path / "dir.csv"
    empty.mkdir()
    folder.mkdir()
    write(given, {"a/causal-mask.py": ""})
    for words, says in (
        (["/nowhere"], "there is no folder /nowhere"),
        ([empty], "there is nothing to grade in"),
        ([given, "-o", "report.pdf"], "report.pdf must end in one of .csv, .htm, .html, .json"),
        ([given, "-o", "/nowhere/r.csv"], "there is no folder /nowhere"),
        ([given, "-o", folder], "it is a folder"),
        ([given, "--jobs", "0"], "--jobs"),
        ([given, "--timeout", "nan"], "--timeout is not a number"),
        ([given / "a" / "causal-mask.py"], "is not a folder"),
    ):
        code = main(["cohort", *map(str, words)])
        assert says in Result(code, "", capsys.readouterr().err).line and code == 2
    assert not (given / ".attn-cohort").exists()
