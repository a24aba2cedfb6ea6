"""The judges of one machine: each a process of its own with its zygote, kept warm, replaced when it dies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from threading import Lock, Thread, Timer

from attncli.cohort.outcomes import Graded, Outcome, Task, kept
from attncli.cohort.task_queue import TaskQueue
from attncli.errors import AttnError, JudgeFailed
from attncli.judge.client import GradeRequest, Judge

# A judge owns every clock of a grading (some thirty limits at most); one that is silent for longer is stuck itself.
PATIENCE_LIMITS = 60
TRIES = 2
# A judge may take half of a submission's memory for what it looks at, and has torch besides.
WITH_JUDGE = 2


def default_jobs(memory_mib: int) -> int:
    """As many judges as there are cores, while each has the memory that its submissions may fill."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not hasattr(os, "sysconf"):
        return cores
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(cores, memory_bytes // (WITH_JUDGE * memory_mib * 2**20)))


class JudgeSlot:
    """One judge at a time; only `stop` may be called from another thread."""

    def __init__(self, start: Callable[[], Judge] = Judge.start) -> None:
        self._start = start
        self._judge: Judge | None = None
        self._stopped = False
        self._lock = Lock()

    def layers(self) -> list[str]:
        """The sandbox layers in force. Raises JudgeFailed, SandboxUnavailable."""
        return [str(layer) for layer in self._ready().hello()["layers"]]

    def graded(self, request: GradeRequest) -> tuple[Graded | None, str]:
        """What is kept of the report, or why there is none: a judge that dies is replaced and asked once more.

        Raises JudgeFailed where no judge can be started.
        """
        said = ""
        for _ in range(TRIES):
            judge = self._ready()
            watch = Timer(PATIENCE_LIMITS * request.timeout_seconds, judge.kill)
            watch.daemon = True
            watch.start()
            try:
                return kept(judge.grade(request)), ""
            except JudgeFailed as error:
                said = error.message
            finally:
                watch.cancel()
        return None, said

    def stop(self) -> None:
        """Ends the judge, and whatever it grades; `grade` then returns or raises, and starts no other."""
        with self._lock:
            self._stopped = True
            if self._judge is not None:
                self._judge.kill()

    def close(self) -> None:
        """Lets go of a judge that was stopped, when nobody asks it any more."""
        if self._judge is not None:
            self._judge.close()

    def _ready(self) -> Judge:
        with self._lock:
            if self._stopped:
                raise JudgeFailed("the grading was stopped")
            if self._judge is not None and self._judge.alive():
                return self._judge
            if self._judge is not None:
                self._judge.close()
            self._judge = judge = self._start()
        judge.hello()
        return judge


def grade_here(tasks: Sequence[Task], jobs: int, start: Callable[[], Judge] = Judge.start) -> Iterator[Outcome]:
    """The outcome of every task as it comes, from `jobs` judges at once.

    Raises JudgeFailed or SandboxUnavailable where no judge can be started.
    """
    queue, done = TaskQueue(tasks), SimpleQueue[Outcome | AttnError]()
    slots = [JudgeSlot(start) for _ in range(min(jobs, len(tasks)))]
    threads = [Thread(target=_work, args=(slot, queue, done), daemon=True) for slot in slots]
    for thread in threads:
        thread.start()
    try:
        for _ in tasks:
            outcome = done.get()
            if isinstance(outcome, AttnError):
                raise outcome
            yield outcome
    finally:
        for slot in slots:
            slot.stop()
        for slot, thread in zip(slots, threads, strict=True):
            thread.join()
            slot.close()


def _work(slot: JudgeSlot, queue: TaskQueue, done: SimpleQueue[Outcome | AttnError]) -> None:
    before = ""
    try:
        while (task := queue.next(before)) is not None:
            before = task.submission.challenge
            done.put(Outcome(task, *slot.graded(task.standard.request(task.submission.source))))
    except AttnError as error:
        done.put(error)
