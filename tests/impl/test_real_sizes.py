"""Record practical sizes within the judge's memory; violations of memory limits are reported for them in GiB."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from attncli.judge.challenge import Folder
from attncli.judge.exam import Exam
from attncli.judge.growth import contracts

IMPL = Path(__file__).parents[2] / "impl"
REAL = sorted(path.parent for path in IMPL.glob("*/*/inputs.py") if '"real"' in path.read_text(encoding="utf-8"))
MOST_BYTES = 8 << 30  # of addresses: torch alone maps several GiB
MOST_STEPS = 100


def record_at_real_sizes(folder: Path) -> None:
    exam = Exam(Folder({"id": folder.name}, folder), 0)
    for contract in contracts(exam.folder, "memory"):
        if contract.real is not None:
            asked = exam.sized(contract.case, int(contract.real["size"]), contract.measure, "meta")
            assert len(asked.request.header["steps"]) <= MOST_STEPS


@pytest.mark.full
def test_every_real_size_is_recorded_in_few_steps_and_little_memory():
    assert len(REAL) >= 16
    done = subprocess.run([sys.executable, __file__, *REAL], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr[-600:]
    assert done.stdout.split() == [folder.name for folder in REAL]


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    for each in sys.argv[1:]:
        print(Path(each).name, flush=True)
        record_at_real_sizes(Path(each))
