"""Run an experiment in its own process: progress, results, crashes, and withheld resources."""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from attncli.errors import ExperimentFailed
from attncli.experiments.runner import ChildRun, SeedOutcome, find

from .conftest import MakeExperiment

ENDLESS = """\
def run(seed, quick, progress):
    import fcntl, time
    held = open({lock!r}, "w")
    fcntl.flock(held, fcntl.LOCK_EX)
    progress(0.5)
    while True:
        time.sleep(1)
"""


def outcomes(impl: Path, seeds: tuple[int, ...] = (0,), quick: bool = False, told: list[float] | None = None):
    with ChildRun(find(impl, "toy"), impl, seeds, quick) as run:
        return run.outcomes((told if told is not None else []).append)


def ends(impl: Path, seeds: tuple[int, ...] = (0,)) -> str:
    with pytest.raises(ExperimentFailed) as failed:
        outcomes(impl, seeds)
    assert "\n" not in str(failed.value)
    return str(failed.value)


def freed(lock: Path) -> bool:
    """Return True if the process that held the lock ends within a minute."""
    with lock.open("w") as file:
        for _ in range(1200):
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            time.sleep(0.05)
    return False


def test_every_seed_is_run_and_progress_runs_over_all_of_them(make: MakeExperiment) -> None:
    told: list[float] = []
    found = outcomes(make(), (4, 5), told=told)
    assert [(outcome.seed, outcome.holds) for outcome in found] == [(4, True), (5, False)]
    assert told == sorted(told) and told[-1] == 1.0
    assert {0.125, 0.5, 0.625} <= set(told)


def test_what_an_experiment_prints_is_no_part_of_its_result(make: MakeExperiment) -> None:
    print_progress = "import os\n    os.write(1, b'{\"progress\": 9}\\n')"
    noisy = f"def run(seed, quick, progress):\n    {print_progress}\n    return result(seed)\n"
    told: list[float] = []
    (found,) = outcomes(make(run=noisy), told=told)
    assert isinstance(found, SeedOutcome) and told == [1.0]


def test_many_small_steps_are_told_as_few(make: MakeExperiment) -> None:
    loop = "    for n in range(5000):\n        progress(n / 5000)\n"
    steps = f"def run(seed, quick, progress):\n{loop}    return result(0)\n"
    told: list[float] = []
    outcomes(make(run=steps), told=told)
    assert 100 < len(told) < 210


def test_quick_the_seed_and_control_reach_it(make: MakeExperiment) -> None:
    run = "def run(seed, quick, progress):\n    return result(seed if quick else seed + 1)\n"
    assert outcomes(make(run=run), (2,), quick=True)[0].holds
    assert not outcomes(make(run=run), (2,), quick=False)[0].holds
    run = "def run(seed, quick, progress, control=False):\n    return result(seed + control)\n"
    toy = find(make(run=run), "toy")
    assert outcomes(toy.file.parents[1], (2,))[0].holds
    with ChildRun(toy, toy.file.parents[1], [2], True, control=True) as child:
        assert not child.outcomes()[0].holds


def test_a_reference_of_impl_is_lent(make: MakeExperiment, small_impl: Path) -> None:
    (small_impl / "basics" / "double" / "reference.py").write_text("def double(x):\n    return x + x\n")
    run = "def run(seed, quick, progress, reference):\n    return result(reference('basics/double').double(seed))\n"
    (found,) = outcomes(make(run=run), (7,))
    assert found.checks[0].got == "14"
    assert not list(small_impl.rglob("__pycache__"))


def test_nothing_of_the_learner_is_handed_over(make: MakeExperiment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTN_HOME", "/home/learner")
    run = (
        "def run(seed, quick, progress):\n"
        "    import os, sys\n"
        "    assert 'ATTN_HOME' not in os.environ and os.environ['OMP_NUM_THREADS'] == '1'\n"
        "    assert not any(name.startswith('attncli') for name in sys.modules)\n"
        "    return result(seed)\n"
    )
    assert outcomes(make(run=run))


def test_however_it_ends_it_is_one_line(make: MakeExperiment) -> None:
    for body, said in (
        ("    return 1 / 0", "experiment toy.py:27: ZeroDivisionError: division by zero"),
        ("    raise ValueError('two\\nlines')", "experiment toy.py:27: ValueError: two lines"),
        ("    return {'x': object()}", "TypeError: Object of type object is not JSON serializable"),
        ("    return {'x': float('nan')}", "ValueError: Out of range float values are not JSON compliant"),
        ("    return {}", "experiment toy returned no usable result: 'columns' is missing"),
        ("    import os; os._exit(7)", "experiment toy ended with status 7 before it had a result; run it again"),
        ("    import os; os.kill(os.getpid(), 9)", "experiment toy was killed by signal 9 before it had a result"),
        ("    raise SystemExit('enough')", "experiment toy ended with status 1 before it had a result (enough)"),
        ("    return 'x' * 2_000_000", "experiment toy reported more than 1 MiB"),
        ("    import torch_that_is_not_there", "No module named 'torch_that_is_not_there'"),
    ):
        assert said in ends(make(run=f"def run(seed, quick, progress):\n{body}\n"))


def test_without_torch_the_remedy_is_named(make: MakeExperiment) -> None:
    said = "experiment toy needs PyTorch, which is not installed; install it with: pip install torch"
    assert ends(make(run="raise ModuleNotFoundError(\"No module named 'torch'\")\n")) == said


def test_seeds_must_check_the_same(make: MakeExperiment) -> None:
    run = "def run(seed, quick, progress):\n    found = result(0)\n    found['checks'] *= seed + 1\n    return found\n"
    assert "must run the same checks for every seed" in ends(make(run=run), (0, 1))


def test_a_run_that_is_left_is_ended(make: MakeExperiment, tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    impl = make(run=ENDLESS.format(lock=str(lock)))

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), ChildRun(find(impl, "toy"), impl, [0], False) as run:
        run.outcomes(stop)
    assert freed(lock)


def test_it_ends_when_whoever_asked_is_gone(make: MakeExperiment, tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    impl = make(run=ENDLESS.format(lock=str(lock)))
    asker = os.fork()
    if asker == 0:
        with ChildRun(find(impl, "toy"), impl, [0], False) as run:
            run.outcomes(lambda share: os._exit(9))
    os.waitpid(asker, 0)
    assert freed(lock)


def test_a_process_that_cannot_be_started_is_one_line(make: MakeExperiment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    assert ends(make()).startswith("cannot start experiment toy (/nowhere/python: No such file or directory);")
