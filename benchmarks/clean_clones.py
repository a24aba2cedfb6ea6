"""Run `make test` in fresh clones of the commit, each with another seed, to find tests that pass by luck.

    python benchmarks/clean_clones.py                       ten seeds of Hypothesis; hours on two cores
    python benchmarks/clean_clones.py 11 22 --processes 4   two seeds, four processes of pytest each
    python benchmarks/clean_clones.py --processes 1 --together 3   three clones at a time, as on a busy machine

Each clone installs its dependencies, as on a new machine that has Chromium. A failed clone is kept with its log, and
the next seed follows.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from timing import ROOT

SEEDS = tuple(range(101, 1011, 101))
OF_THE_CALLER = ("CI", "VIRTUAL_ENV", "PYTHON", "PYTEST", "MAKE", "TRITON", "ATTN_")


def tested(commit: str, folder: Path, seed: int, processes: int | None) -> bool:
    """Run the suite in a new clone; print the result and pytest's last line, and return True if it passed."""
    begun = time.monotonic()
    clone, log = folder / str(seed), folder / f"{seed}.log"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    subprocess.run(["git", "checkout", "--quiet", commit], cwd=clone, check=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OF_THE_CALLER)}
    environment |= {"PYTEST_ADDOPTS": f"--hypothesis-seed={seed} --verbose", "ATTN_REQUIRE_BROWSER": "1"}
    if processes is not None:
        environment["PYTEST_XDIST_AUTO_NUM_WORKERS"] = str(processes)
    with log.open("w", encoding="utf-8") as output:
        done = subprocess.run(["make", "test"], cwd=clone, env=environment, stdout=output, stderr=subprocess.STDOUT)
    text = log.read_text(encoding="utf-8", errors="replace")
    failed = re.findall(r"^(?:FAILED|ERROR) .*", text, re.MULTILINE)
    said = re.findall(r"^=+ (.*\bin [\d.]+s.*?) =+$", text, re.MULTILINE)
    is_green, minutes = done.returncode == 0, (time.monotonic() - begun) / 60
    told = "\n    ".join([*(said[-1:] or text.splitlines()[-1:]), *failed])
    print(f"seed {seed}: {'green' if is_green else 'RED'}, {minutes:.0f} min: {told}", flush=True)
    if is_green:
        shutil.rmtree(clone, ignore_errors=True)
    return is_green


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", type=int, nargs="*", default=list(SEEDS))
    parser.add_argument("--processes", type=int, help="of pytest, 4 at most; one for each core unless it is said")
    parser.add_argument("--together", type=int, default=1, help="how many clones are tested at a time")
    options = parser.parse_args()
    read = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(read, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    folder = Path(tempfile.mkdtemp(prefix="attn-clones-"))
    print(f"{commit[:8]}, logs in {folder}", flush=True)
    with ThreadPoolExecutor(options.together) as pool:
        greens = pool.map(lambda seed: tested(commit, folder, seed, options.processes), dict.fromkeys(options.seeds))
        return 0 if all(list(greens)) else 1


if __name__ == "__main__":
    sys.exit(main())
