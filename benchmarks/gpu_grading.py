"""Grade a challenge's reference on the GPU, and print when each check begins and ends.

    python benchmarks/gpu_grading.py [CHALLENGE...] [--device cpu]

Lines come as things happen, so a run that is cut off shows how far it came, and where it waits.
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from attncli.config import Settings
from attncli.domain.grade_report import CheckResult
from attncli.errors import AttnError
from attncli.judge.client import GradeRequest, Judge
from attncli.paths import Home
from attncli.practice.grade import specification
from attncli.practice.workspace import Workspace


def grade(workspace: Workspace, judge: Judge, id: str, device: str) -> bool:
    """Grade the reference of a challenge; return whether it was accepted."""
    challenge = workspace.library.challenge(id)
    folder = Path(challenge.folder)
    source = folder / ("kernel.py" if challenge.kernel else "reference.py")
    began = time.monotonic()

    def show(event: CheckResult) -> None:
        print(f"{time.monotonic() - began:7.2f} s  {id}  {event.name}  {event.status}  {event.reason}", flush=True)

    request = GradeRequest(
        spec=specification(challenge),
        folder=folder,
        source=source.read_bytes(),
        filename=source.name,
        rung="hardened",
        device=device,
    )
    report = judge.grade(request, show)
    print(f"{time.monotonic() - began:7.2f} s  {id}  accepted: {report.accepted}, on {report.device}", flush=True)
    return report.accepted


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("challenges", nargs="*", default=["rms-norm", "vector-add"], metavar="CHALLENGE")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    asked = parser.parse_args()
    with TemporaryDirectory() as home, Judge.start() as judge:
        began = time.monotonic()
        workspace = Workspace.open(Home(Path(home)), lambda: datetime.now().astimezone(), "en", Settings())
        with workspace:
            print(f"{time.monotonic() - began:7.2f} s  layers on the CPU: {judge.hello()['layers']}", flush=True)
            try:
                accepted = [grade(workspace, judge, id, asked.device) for id in asked.challenges]
            except AttnError as error:
                print(f"{time.monotonic() - began:7.2f} s  {error.message}", flush=True)
                return 1
    return 0 if all(accepted) else 1


if __name__ == "__main__":
    sys.exit(main())
