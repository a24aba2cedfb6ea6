"""Grade on a running Ray cluster: one actor per core, each with a warm judge.

A grading is one call of an actor. If a worker is lost, its task is handed out again; the caller records results, so
that none is recorded twice. Nothing is sent except to the named address, and no usage statistics.
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

from attncli.cohort.grade_class import WITH_JUDGE, TaskQueue, stored_grading
from attncli.cohort.outcomes import Graded, Outcome, Pair, Task, versions
from attncli.errors import AttnError, ClusterFailed, EnvironmentFailure, UsageError
from attncli.i18n import Localised, _
from attncli.judge.client import GradeRequest, Judge, sandbox_layers

PATIENCE_SECONDS = 120.0  # for the first worker
CONNECT_SECONDS = 10.0
LAST_PORT = 65535
MOST_LOSSES = 3  # of workers with the same task
MOST_FALSE_STARTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """The cluster's address; `jobs` 0 means all of its cores, `weak_sandbox` permits missing layers of the sandbox."""

    address: str
    jobs: int = 0
    memory_mib: int
    weak_sandbox: bool = False


def grade_on_cluster(tasks: Sequence[Task], options: ClusterOptions) -> Iterator[Outcome]:
    """Yield the outcome of every task as it arrives. Raises UsageError, ClusterFailed, EnvironmentFailure."""
    # Ray prints to standard output, which must contain only the report.
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        ray = _connect(options.address)
        try:
            yield from _Grading(ray, options, tasks).outcomes()
        finally:
            ray.shutdown()


def _connect(address: str) -> Any:
    _require_listener(address)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
    except ImportError as error:
        raise EnvironmentFailure(_("--ray needs Ray: pip install 'attncli[cluster]'")) from error
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError, AssertionError) as error:
        raise ClusterFailed(_no_cluster_message(address, error)) from error
    return ray


def _require_listener(address: str) -> None:
    """Check that the address accepts connections; otherwise Ray waits for minutes. Raises UsageError, ClusterFailed."""
    if address == "auto":
        return
    host, _colon, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal() or int(port) > LAST_PORT:
        raise UsageError(
            _(
                "--ray {address} is not a running cluster; give HOST:PORT, or auto for one on this machine",
                address=address,
            )
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        raise ClusterFailed(_no_cluster_message(address, error)) from error


def _no_cluster_message(address: str, error: BaseException) -> Localised:
    return _(
        "cannot reach a Ray cluster at {address} ({error}); check it with `ray status`",
        address=address,
        error=_first_line(error),
    )


class _Grading:
    """The state of one run: the actors that are starting, and those at work with their tasks."""

    def __init__(self, ray: Any, options: ClusterOptions, tasks: Sequence[Task]) -> None:
        self._ray = ray
        self._options = options
        self._queue = TaskQueue(tasks)
        self._remaining = len(tasks)
        self._starting: dict[Any, Any] = {}
        self._in_progress: dict[Any, tuple[Any, Task]] = {}
        self._files: dict[str, Any] = {}
        self._losses: Counter[Pair] = Counter()
        self._false_starts = 0
        self._here = versions()

    def outcomes(self) -> Iterator[Outcome]:
        cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        for _round in range(min(self._remaining, self._options.jobs or cores)):
            self._start_actor()
        while self._remaining:
            refs = [*self._starting, *self._in_progress]
            done, _rest = self._ray.wait(refs, num_returns=1, timeout=None if self._in_progress else PATIENCE_SECONDS)
            if not done:
                raise ClusterFailed(
                    _(
                        "no worker at {address} has 1 CPU and {mebibytes} MiB free; "
                        "check `ray status`, or lower --memory",
                        address=self._options.address,
                        mebibytes=WITH_JUDGE * self._options.memory_mib,
                    )
                )
            for ref in done:
                if ref in self._starting:
                    self._on_actor_started(ref)
                elif (outcome := self._on_graded(ref)) is not None:
                    self._remaining -= 1
                    yield outcome

    def _start_actor(self) -> None:
        memory_bytes = WITH_JUDGE * self._options.memory_mib * 2**20
        remote = self._ray.remote(num_cpus=1, memory=memory_bytes, max_restarts=0)(GradingActor)
        actor = remote.remote()
        self._starting[actor.fitness.remote()] = actor

    def _on_actor_started(self, ref: Any) -> None:
        """Give a started actor its first task. Replaces one that failed to start, or raises ClusterFailed."""
        actor = self._starting.pop(ref)
        try:
            fitness = self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            raise _worker_error(error) from error
        except self._ray.exceptions.RayActorError as error:
            self._false_starts += 1
            if getattr(error, "actor_init_failed", False) or self._false_starts > MOST_FALSE_STARTS:
                raise ClusterFailed(
                    _(
                        "a worker cannot start a judge ({error}); install attncli[cluster] {here} on every machine "
                        "of the cluster",
                        error=_first_line(error),
                        here=self._here["attncli"],
                    )
                ) from error
            self._start_actor()
            return
        self._require_fit(fitness)
        self._next_task(actor, "")

    def _on_graded(self, ref: Any) -> Outcome | None:
        """Return the outcome of a grading; None if its worker was lost and the task is handed out again."""
        actor, task = self._in_progress.pop(ref)
        try:
            graded, error = self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as failed:
            raise _worker_error(failed) from failed
        except self._ray.exceptions.RayError as lost:
            self._start_actor()
            self._losses[task.pair] += 1
            if self._losses[task.pair] >= MOST_LOSSES:
                return Outcome(task, None, f"its worker was lost {MOST_LOSSES} times ({_first_line(lost)})")
            self._queue.give_back(task)
            return None
        self._next_task(actor, task.submission.challenge)
        return Outcome(task, graded, error)

    def _next_task(self, actor: Any, previous: str) -> None:
        task = self._queue.next(previous)
        if task is None:
            self._ray.kill(actor)
            return
        standard = task.standard
        if standard.fingerprint not in self._files:
            self._files[standard.fingerprint] = self._ray.put(dict(standard.files))
        request = standard.request(task.submission.source)
        ref = actor.grade.remote(standard.fingerprint, self._files[standard.fingerprint], request)
        self._in_progress[ref] = actor, task

    def _require_fit(self, fitness: Fitness) -> None:
        """Raise ClusterFailed if a worker has other versions or lacks sandbox layers."""
        if fitness.versions != self._here:
            differs = ", ".join(f"{name} {fitness.versions[name]}, here {at}" for name, at in self._here.items())
            raise ClusterFailed(
                _(
                    "a worker has different versions ({differs}); install the same ones on every machine",
                    differs=differs,
                )
            )
        missing = [layer for layer in sandbox_layers() if layer not in fitness.layers]
        if missing and not self._options.weak_sandbox:
            raise ClusterFailed(
                _(
                    "a worker lacks sandbox layers ({names}) and would run untrusted code; to "
                    "grade anyway, use --allow-weak-sandbox",
                    names=", ".join(missing),
                )
            )


def _worker_error(error: Any) -> AttnError:
    """Return the error that was raised in a worker."""
    cause = getattr(error, "cause", None)
    return (
        cause
        if isinstance(cause, AttnError)
        else ClusterFailed(_("a worker failed: {error}", error=_first_line(error)))
    )


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


@dataclass(frozen=True, slots=True)
class Fitness:
    """The versions and sandbox layers of a worker."""

    versions: dict[str, str]
    layers: tuple[str, ...]


class GradingActor:
    """Grade one file after the other in a process of the cluster, with one judge and the challenges sent to it."""

    def __init__(self) -> None:
        self._judge = Judge()
        self._home = TemporaryDirectory(prefix="attn-cohort-")
        self._folders: dict[str, Path] = {}

    def fitness(self) -> Fitness:
        """Start the judge. Raises JudgeFailed, SandboxUnavailable."""
        return Fitness(versions(), tuple(self._judge.layers()))

    def grade(self, fingerprint: str, files: Mapping[str, bytes], request: GradeRequest) -> tuple[Graded | None, str]:
        """Return the result to store and "", or None and the error."""
        return stored_grading(self._judge, replace(request, folder=self._folder(fingerprint, files)))

    def _folder(self, fingerprint: str, files: Mapping[str, bytes]) -> Path:
        """Return the challenge's folder on this machine, made from the caller's files."""
        if fingerprint not in self._folders:
            folder = Path(self._home.name) / fingerprint
            for name, content in files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            self._folders[fingerprint] = folder
        return self._folders[fingerprint]
