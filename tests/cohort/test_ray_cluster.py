"""Grade on a real Ray cluster of two local nodes, one of which is killed; the report equals that of one machine.

Needs the extra `cluster`, which the usual development environment lacks: 79 MB, and half a minute.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
pytest.importorskip("ray", reason="needs attncli[cluster]")

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

IMPL = Path(__file__).parents[2] / "impl"
NODE = {"num_cpus": 1, "memory": 4 << 30, "object_store_memory": 80 << 20}


@pytest.fixture
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    running = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    yield running
    running.shutdown()


def started(folder: Path, home: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "attncli", "cohort", str(folder), "--json", "--seed", "0", *words]
    environment = {**os.environ, "ATTN_HOME": str(home)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_node_that_is_killed_in_the_middle_changes_no_byte(cluster, write_class, tmp_path: Path) -> None:
    files = {}
    for place in ("attention/causal-mask", "norms/rms-norm", "positions/rope"):
        for number, file in enumerate(sorted((IMPL / place).glob("*/*.py"))[:6]):
            files[f"p{number}/{Path(place).name}.py"] = file.read_bytes()
    folder = write_class(files)
    results = folder / ".attn-cohort" / "results.jsonl"
    here = started(folder, tmp_path / "home")
    report, _ = here.communicate()
    results.unlink()
    second = cluster.add_node(**NODE)
    there = started(folder, tmp_path / "home", "--ray", cluster.address)
    while there.poll() is None and not (results.exists() and results.read_bytes().count(b"\n") >= 4):
        time.sleep(0.01)
    cluster.remove_node(second, allow_graceful=False)
    same, said = there.communicate()
    assert (there.returncode, said, same) == (0, b"", report)
    assert results.read_bytes().count(b"\n") == len(files)
