"""The judges of a Ray cluster that is there already: one actor a core, each with a judge that it keeps warm.

A grading is one call of an actor. When a worker is lost its task is handed out again; whoever asks records results, so
that none is recorded twice. Nothing goes anywhere but to the address that was named, and no usage statistics are sent.
"""

from __future__ import annotations

import logging
import os
import socket
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attncli.cohort.grade_class import WITH_JUDGE, JudgeSlot, TaskQueue
from attncli.cohort.outcomes import Graded, Outcome, Pair, Task, versions
from attncli.errors import AttnError, ClusterFailed, EnvironmentFailure, UsageError
from attncli.judge.client import GradeRequest, sandbox_layers

# How long a cluster may take to give the first worker, and how often a lost worker's task is handed out again.
PATIENCE_SECONDS = 120.0
CONNECT_SECONDS = 10.0
LAST_PORT = 65535
MOST_LOSSES = 3
MOST_FALSE_STARTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """Which cluster; `jobs` 0 means all of its cores. `weak_sandbox`: workers may lack layers of the sandbox."""

    address: str
    jobs: int = 0
    memory_mib: int
    weak_sandbox: bool = False


def grade_on_cluster(tasks: Sequence[Task], options: ClusterOptions) -> Iterator[Outcome]:
    """The outcome of every task as it comes. Raises UsageError, ClusterFailed, EnvironmentFailure."""
    # Ray prints what its own processes say; standard output is the report's.
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        ray = _connected(options.address)
        try:
            yield from _Grading(ray, options, tasks).outcomes()
        finally:
            ray.shutdown()


def _connected(address: str) -> Any:
    _require_listener(address)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
    except ImportError as error:
        raise EnvironmentFailure("--ray needs Ray: pip install 'attncli[cluster]'") from error
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError, AssertionError) as error:
        raise ClusterFailed(_nothing_at(address, error)) from error
    return ray


def _require_listener(address: str) -> None:
    """Ray waits for minutes where nobody listens. Raises UsageError, ClusterFailed."""
    if address == "auto":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal() or int(port) > LAST_PORT:
        raise UsageError(
            f"--ray {address} names no cluster that is there already; give HOST:PORT, or auto for one on this machine"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        raise ClusterFailed(_nothing_at(address, error)) from error


def _nothing_at(address: str, error: BaseException) -> str:
    return f"there is no Ray cluster to be had at {address} ({_first_line(error)}); `ray status` says whether it runs"


class _Grading:
    """The state of one run: which actors are starting, which are at work, on what."""

    def __init__(self, ray: Any, options: ClusterOptions, tasks: Sequence[Task]) -> None:
        self._ray = ray
        self._options = options
        self._queue = TaskQueue(tasks)
        self._open = len(tasks)
        self._starting: dict[Any, Any] = {}
        self._at_work: dict[Any, tuple[Any, Task]] = {}
        self._files: dict[str, Any] = {}
        self._losses: Counter[Pair] = Counter()
        self._false_starts = 0
        self._here = versions()

    def outcomes(self) -> Iterator[Outcome]:
        for _ in range(min(self._open, self._options.jobs or self._cores())):
            self._start_actor()
        while self._open:
            refs = [*self._starting, *self._at_work]
            done, _ = self._ray.wait(refs, num_returns=1, timeout=None if self._at_work else PATIENCE_SECONDS)
            if not done:
                raise ClusterFailed(self._no_worker())
            for ref in done:
                if ref in self._starting:
                    self._begun(ref)
                elif (outcome := self._ended(ref)) is not None:
                    self._open -= 1
                    yield outcome

    def _cores(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def _start_actor(self) -> None:
        memory_bytes = WITH_JUDGE * self._options.memory_mib * 2**20
        remote = self._ray.remote(num_cpus=1, memory=memory_bytes, max_restarts=0)(GradingActor)
        actor = remote.remote()
        self._starting[actor.fitness.remote()] = actor

    def _begun(self, ref: Any) -> None:
        """An actor is ready, or will never be."""
        actor = self._starting.pop(ref)
        try:
            fitness = self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            raise _failed(error) from error
        except self._ray.exceptions.RayActorError as error:
            self._false_starts += 1
            if getattr(error, "actor_init_failed", False) or self._false_starts > MOST_FALSE_STARTS:
                raise ClusterFailed(
                    f"a worker cannot start a judge ({_first_line(error)}); install attncli[cluster] "
                    f"{self._here['attncli']} on every machine of the cluster"
                ) from error
            self._start_actor()
            return
        self._require_fit(fitness)
        self._next_task(actor, "")

    def _ended(self, ref: Any) -> Outcome | None:
        """A grading is done, or its worker is lost."""
        actor, task = self._at_work.pop(ref)
        try:
            graded, error = self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as failed:
            raise _failed(failed) from failed
        except self._ray.exceptions.RayError as lost:
            self._start_actor()
            self._losses[task.pair] += 1
            if self._losses[task.pair] >= MOST_LOSSES:
                return Outcome(task, None, f"its worker was lost {MOST_LOSSES} times ({_first_line(lost)})")
            self._queue.give_back(task)
            return None
        self._next_task(actor, task.submission.challenge)
        return Outcome(task, graded, error)

    def _next_task(self, actor: Any, before: str) -> None:
        task = self._queue.next(before)
        if task is None:
            self._ray.kill(actor)
            return
        standard = task.standard
        if standard.fingerprint not in self._files:
            self._files[standard.fingerprint] = self._ray.put(dict(standard.files))
        request = standard.request(task.submission.source)
        ref = actor.grade.remote(standard.fingerprint, self._files[standard.fingerprint], request)
        self._at_work[ref] = actor, task

    def _require_fit(self, fitness: Fitness) -> None:
        """Raises ClusterFailed for a worker that would grade by other rules, or without the whole sandbox."""
        if fitness.versions != self._here:
            differs = ", ".join(f"{name} {fitness.versions[name]}, here {at}" for name, at in self._here.items())
            raise ClusterFailed(f"a worker has other versions ({differs}); install the same on every machine")
        missing = [layer for layer in sandbox_layers() if layer not in fitness.layers]
        if missing and not self._options.weak_sandbox:
            raise ClusterFailed(
                f"a worker lacks layers of the sandbox ({', '.join(missing)}), and submissions are anybody's code; "
                "--allow-weak-sandbox grades there all the same"
            )

    def _no_worker(self) -> str:
        mebibytes = WITH_JUDGE * self._options.memory_mib
        return (
            f"the cluster at {self._options.address} gives no worker with 1 CPU and {mebibytes} MiB free; "
            "`ray status` says what it has; --memory asks for less"
        )


def _failed(error: Any) -> AttnError:
    """What went wrong in a worker, as it was raised there."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, AttnError) else ClusterFailed(f"a worker failed: {_first_line(error)}")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


# What runs on a worker of a cluster: one judge, kept warm, and the challenges that it was sent.


@dataclass(frozen=True, slots=True)
class Fitness:
    """What a worker grades with."""

    versions: dict[str, str]
    layers: tuple[str, ...]


class GradingActor:
    """Grades one file after the other, in a process that the cluster started."""

    def __init__(self) -> None:
        self._slot = JudgeSlot()
        self._home = TemporaryDirectory(prefix="attn-cohort-")
        self._folders: dict[str, Path] = {}

    def fitness(self) -> Fitness:
        """Starts the judge. Raises JudgeFailed, SandboxUnavailable."""
        return Fitness(versions(), tuple(self._slot.layers()))

    def grade(self, fingerprint: str, files: Mapping[str, bytes], request: GradeRequest) -> tuple[Graded | None, str]:
        """What is kept of the report, or why there is none."""
        return self._slot.graded(replace(request, folder=self._folder(fingerprint, files)))

    def _folder(self, fingerprint: str, files: Mapping[str, bytes]) -> Path:
        """Where the challenge lies on this machine: the files are those of the one who asks."""
        if fingerprint not in self._folders:
            folder = Path(self._home.name) / fingerprint
            for name, content in files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            self._folders[fingerprint] = folder
        return self._folders[fingerprint]
