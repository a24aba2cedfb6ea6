"""Grade a challenge's reference on the GPU, and print when each check starts and ends.

    python benchmarks/gpu_grading.py [CHALLENGE...] [--device cpu]

Lines are printed at once, so an interrupted run shows how far it came and which check it waits for.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from attncli.domain.challenge import Challenge
from attncli.domain.grade_report import CheckResult
from attncli.errors import AttnError
from attncli.judge.client import GradeOptions, GradeRequest, Judge
from attncli.practice.grade import specification
from grading import all_challenges, right_file


def grade(judge: Judge, challenge: Challenge, device: str) -> bool:
    """Grade the project's own solution of a challenge; return whether it was accepted."""
    file, id = right_file(challenge), challenge.id
    began = time.monotonic()

    def show(event: CheckResult) -> None:
        print(f"{time.monotonic() - began:7.2f} s  {id}  {event.name}  {event.status}  {event.reason}", flush=True)

    request = GradeRequest(
        spec=specification(challenge),
        folder=Path(challenge.folder),
        source=file.read_bytes(),
        filename=file.name,
        options=GradeOptions(rung="hardened", device=device),
    )
    report = judge.grade(request, show)
    print(f"{time.monotonic() - began:7.2f} s  {id}  accepted: {report.accepted}, on {report.device}", flush=True)
    for check in report.checks:
        if check.status == "fail":
            got = check.counterexample.got if check.counterexample else ""
            print(f"           {id}  {check.name}  {check.reason}: {check.message}  {got}"[:4000], flush=True)
    return report.accepted


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("challenges", nargs="*", default=["rms-norm", "vector-add"], metavar="CHALLENGE")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    asked = parser.parse_args()
    known = {challenge.id: challenge for challenge in all_challenges()}
    if unknown := [id for id in asked.challenges if id not in known]:
        parser.error(f"there is no challenge {unknown[0]}")
    with Judge.start() as judge:
        began = time.monotonic()
        try:
            print(f"{time.monotonic() - began:7.2f} s  layers on the CPU: {judge.layers()}", flush=True)
            accepted = [grade(judge, known[id], asked.device) for id in asked.challenges]
        except AttnError as error:
            print(f"{time.monotonic() - began:7.2f} s  {error.message}", flush=True)
            return 1
    return 0 if all(accepted) else 1


if __name__ == "__main__":
    sys.exit(main())
