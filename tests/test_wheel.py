"""Build the wheel once and unpack it outside the checkout: everything works from its own copy of the data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
DATA = "attncli/_data"
WHERE = "import attncli, sys; sys.stdout.write(attncli.__file__)"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="grading wants Linux")]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (found,) = out.glob("attncli-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def python(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in `folder`, importing from the unpacked wheel first."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "ATTN_HOME": f"{installed}-home", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [sys.executable, "-P", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def attn(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return python(installed, folder, "-m", "attncli", *words)


def bundled() -> list[Path]:
    files = [path for room in ("quizbank", "impl") for path in (ROOT / room).rglob("*") if path.is_file()]
    return [path.relative_to(ROOT) for path in files if not {"__pycache__", ".ruff_cache"} & set(path.parts)]


def compiled(installed: Path) -> set[Path]:
    return set((installed / DATA).rglob("*.pyc"))


def test_the_wheel_holds_the_program_its_data_as_it_is_here_and_nothing_else(wheel):
    sheets = {path.relative_to(ROOT).as_posix() for end in ("tcss", "j2") for path in ROOT.glob(f"attncli/**/*.{end}")}
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        texts = {name.split("/", 1)[1]: name for name in names if ".dist-info/" in name}
        assert "attn = attncli.__main__:main" in archive.read(texts["entry_points.txt"]).decode()
        for file in bundled():
            assert archive.read(f"{DATA}/{file.as_posix()}") == (ROOT / file).read_bytes()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"attncli"}
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".db"))]
    assert sum(name.startswith(f"{DATA}/") for name in names) == len(bundled())
    assert sheets and sheets <= set(names)
    assert {"licenses/LICENSE", "licenses/quizbank/LICENSE"} <= set(texts)


def test_the_unpacked_wheel_is_what_runs_with_every_card_and_challenge(installed, tmp_path):
    assert python(installed, tmp_path, "-c", WHERE).stdout == str(installed / "attncli" / "__init__.py")
    report = json.loads(attn(installed, tmp_path, "doctor", "--json").stdout)
    assert report["paths"]["quizbank"] == str(installed / DATA / "quizbank")
    assert report["paths"]["impl"] == str(installed / DATA / "impl")
    assert report["banks"]["challenges"] == len(list((ROOT / "impl").glob("*/*/challenge.yaml")))
    assert report["banks"]["cards"] > 0 and not report["banks"]["problems"]
    for words in (["due"], ["show", "att-02", "--lang", "zh"], ["export", "summary"]):
        done = attn(installed, tmp_path, *words)
        assert done.returncode == 0 and done.stdout, done.stderr
    told = attn(installed, tmp_path, "--lang", "zh", "--help")
    assert told.returncode == 0 and told.stdout.startswith("用法"), told.stdout + told.stderr


@pytest.mark.full
def test_the_bank_of_the_wheel_is_in_order(installed, tmp_path):
    checked = attn(installed, tmp_path, "bank", "check")
    assert checked.returncode == 0 and "no problems" in checked.stderr


@pytest.mark.full
@pytest.mark.sandbox
def test_right_is_accepted_wrong_rejected_and_nothing_is_left_beside_the_challenges(installed, tmp_path):
    before = compiled(installed)
    folder = installed / DATA / "impl" / "attention" / "sdpa"
    started = attn(installed, tmp_path, "start", "sdpa", "--dir", str(tmp_path))
    assert started.stdout == f"{tmp_path / 'sdpa.py'}\n"
    assert attn(installed, tmp_path, "grade", "sdpa", "sdpa.py").returncode == 1
    right = min((folder / "right").glob("*.py"))
    graded = attn(installed, tmp_path, "grade", "sdpa", str(right))
    assert graded.returncode == 0, graded.stdout + graded.stderr
    assert compiled(installed) == before


@pytest.mark.sandbox
@pytest.mark.full
@pytest.mark.parametrize("file", ["impl/attention/sdpa/reference.py", "quizbank/att.yaml"])
def test_a_submission_cannot_read_the_data_of_the_wheel(installed, tmp_path, file):
    spy = f"""
from pathlib import Path

def sdpa(q, k, v, mask=None, scale=None):
    space = {{}}
    exec(Path({str(installed / DATA / file)!r}).read_text(), space)
    return space["sdpa"](q, k, v, mask, scale)
"""
    (tmp_path / "spy.py").write_text(spy, encoding="utf-8")
    graded = attn(installed, tmp_path, "grade", "sdpa", "spy.py", "--json")
    checks = {check["name"]: check for check in json.loads(graded.stdout)["checks"]}
    assert graded.returncode == 1
    assert checks["matches-reference"]["reason"] == "refused"
    assert "Permission denied" in checks["matches-reference"]["message"]
