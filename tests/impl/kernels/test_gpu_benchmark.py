"""Check the kernel benchmark: it times correct kernels, an error costs one row, interrupted runs keep their rows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "benchmarks" / "gpu.py"


def rows_in(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    import gpu

    return gpu


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory) -> Path:
    """Return the folder that `on_gpu.sh` leaves on a machine without a GPU."""
    folder = tmp_path_factory.mktemp("on_gpu")
    environment = os.environ | {"PYTHON": sys.executable, "CUDA_VISIBLE_DEVICES": ""}
    command = ["bash", str(PROGRAM.with_name("on_gpu.sh")), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.full
def test_every_kernel_gives_what_its_reference_gives(rehearsal: Path, gpu) -> None:
    rows = rows_in(rehearsal / "kernels")
    assert [row for row in rows if row["status"] != "right"] == []
    assert [row["kernel"] for row in rows] == list(gpu.ENTRIES)
    conditions = json.loads((rehearsal / "kernels" / "conditions.json").read_text(encoding="utf-8"))
    assert conditions["torch"] == torch.__version__


@pytest.mark.slow
@pytest.mark.full
def test_the_one_command_runs_to_its_end_and_names_what_it_could_not_do(rehearsal: Path) -> None:
    said = (rehearsal / "summary.txt").read_text(encoding="utf-8")
    lines = said.splitlines()
    assert lines[1].startswith("no GPU   nothing is timed")
    assert [line.split()[1] for line in lines if line.startswith("done")] == ["gpu_small", "doctor"]
    (refused,) = [line for line in lines if line.startswith("exit 2   verify")]
    assert "no NVIDIA GPU found" in refused
    assert lines[-1].startswith("finished in")
    assert "sandbox" in (rehearsal / "doctor.txt").read_text(encoding="utf-8")
    assert not (rehearsal / "home").exists()


def test_the_one_command_wants_a_folder() -> None:
    done = subprocess.run(["bash", str(PROGRAM.with_name("on_gpu.sh"))], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "usage: benchmarks/on_gpu.sh DIR [WHEELS]")


def test_every_kernel_has_a_row(gpu) -> None:
    measured = {entry.folder for entry in gpu.ENTRIES.values()}
    assert measured == {str(path.parent.relative_to(ROOT / "impl")) for path in ROOT.glob("impl/*/*/kernel.py")}


@pytest.mark.slow
@pytest.mark.full
def test_a_run_that_is_stopped_keeps_the_rows_it_printed(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), "--small", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        printed = [line for line in (run.stdout.readline() for _ in range(4)) if line.startswith("right")]
        run.kill()
    assert len(printed) == 3
    assert [row["kernel"] for row in rows_in(tmp_path)][:3] == ["flash-64", "flash-64-causal", "flash-128"]


@pytest.mark.full
def test_rows_that_no_time_is_left_for_are_named(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), "--small", "--minutes", "0", "--out", str(tmp_path), "softmax", "rms-norm"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    found = [(row["kernel"], row["status"]) for row in rows_in(tmp_path)]
    assert found == [("softmax", "skipped"), ("rms-norm", "skipped")]


def raises(x):
    raise ValueError("no such tile")


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (lambda x: torch.softmax(x, -1) * torch.nan, "off by nan"),
        (lambda x: torch.softmax(x, -1) * 1.01, "off by 0.01"),
        (lambda x: torch.empty_like(x), "off by nan"),
        (lambda x: torch.softmax(x, -1)[:-1], "shape (5, 70), expected (6, 70)"),
        (raises, "ValueError: no such tile"),
    ],
    ids=["nan", "wrong", "never written", "shape", "raises"],
)
def test_a_wrong_kernel_is_one_failed_row(gpu, monkeypatch, kernel, reason) -> None:
    entry = gpu.ENTRIES["softmax"]
    load = gpu.module_of

    def loaded(folder, name):
        module = load(folder, name)
        if name == "kernel.py":
            module.softmax = kernel
        return module

    monkeypatch.setattr(gpu, "module_of", loaded)
    row = gpu.attempt("softmax", lambda: gpu.check_small("softmax", entry))
    assert row.status == "failed"
    assert reason in row.reason
    assert reason in row.line()


@pytest.mark.slow
def test_without_a_gpu_it_says_so(tmp_path: Path) -> None:
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, str(PROGRAM), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 3
    assert "there is no GPU here" in done.stderr
