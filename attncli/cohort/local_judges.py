"""The judges of one machine: each a process of its own with its zygote, kept warm, replaced when it dies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import cycle, islice
from queue import SimpleQueue
from threading import Lock, Thread, Timer

from attncli.cohort.outcomes import Graded, Outcome, Task, ended_the_judge, kept
from attncli.cohort.task_queue import TaskQueue
from attncli.errors import JudgeFailed
from attncli.judge.client import GradeRequest, Judge

# A judge owns every clock of a grading (some thirty limits at most); one that is silent for longer is stuck itself.
PATIENCE_LIMITS = 60
TRIES = 2
# A judge may take half of a submission's memory for what it looks at, and has torch besides.
WITH_JUDGE = 2


def default_jobs(memory_mib: int) -> int:
    """As many judges as there are cores, while each has the memory that its submissions may fill."""
    if not hasattr(os, "sysconf"):
        return len(_cores())
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(len(_cores()), memory_bytes // (WITH_JUDGE * memory_mib * 2**20)))


def _cores() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _cores_in_turn() -> Iterator[int]:
    """The cores again and again, from another one on in each process: two classes need not meet on the first."""
    cores = _cores()
    return islice(cycle(cores), os.getpid() % len(cores), None)


def _stay_on(core: int) -> None:
    """What this thread starts runs on that core alone: a judge and the file that it asks take turns anyway, so that on
    one core they find each other's data near, and as many cores are busy as there are judges. Where the system
    refuses, it runs anywhere."""
    if hasattr(os, "sched_setaffinity"):
        with suppress(OSError):
            os.sched_setaffinity(0, {core})


class JudgeSlot:
    """One judge at a time; only `stop` may be called from another thread."""

    def __init__(self, start: Callable[[], Judge] = Judge.start) -> None:
        self._start = start
        self._judge: Judge | None = None
        self._layers: list[str] = []
        self._stopped = False
        self._lock = Lock()

    def layers(self) -> list[str]:
        """The sandbox layers in force. Raises JudgeFailed, SandboxUnavailable."""
        self._ready()
        return self._layers

    def graded(self, request: GradeRequest) -> tuple[Graded | None, str]:
        """What is kept of the report, or why there is none: a judge that dies is replaced and asked once more.

        A file on which it dies every time is to blame for that, and has a result. Raises JudgeFailed where no judge can
        be started.
        """
        said, deaths = "", 0
        for _ in range(TRIES):
            judge = self._ready()
            watch = Timer(PATIENCE_LIMITS * request.timeout_seconds, judge.kill)
            watch.daemon = True
            watch.start()
            try:
                return kept(judge.grade(request)), ""
            except JudgeFailed as error:
                said = error.message
                deaths += not judge.alive()
            finally:
                watch.cancel()
        return (ended_the_judge(self._layers), "") if deaths == TRIES else (None, said)

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
        self._layers = [str(layer) for layer in judge.hello()["layers"]]
        return judge


def grade_here(tasks: Sequence[Task], jobs: int, start: Callable[[], Judge] = Judge.start) -> Iterator[Outcome]:
    """The outcome of every task as it comes, from `jobs` judges at once.

    Raises JudgeFailed or SandboxUnavailable where no judge can be started.
    """
    queue, done = TaskQueue(tasks), SimpleQueue[Outcome | BaseException]()
    slots = [JudgeSlot(start) for _ in range(min(jobs, len(tasks)))]
    threads = [
        Thread(target=_work, args=(slot, core, queue, done), daemon=True)
        for slot, core in zip(slots, _cores_in_turn(), strict=False)
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in tasks:
            outcome = done.get()
            if isinstance(outcome, BaseException):
                raise outcome
            yield outcome
    finally:
        for slot in slots:
            slot.stop()
        for slot, thread in zip(slots, threads, strict=True):
            thread.join()
            slot.close()


def _work(slot: JudgeSlot, core: int, queue: TaskQueue, done: SimpleQueue[Outcome | BaseException]) -> None:
    """Grades until nothing is left. Whatever ends it sooner is handed on, for somebody waits for its outcome."""
    before = ""
    try:
        _stay_on(core)
        while (task := queue.next(before)) is not None:
            before = task.submission.challenge
            done.put(Outcome(task, *slot.graded(task.standard.request(task.submission.source))))
    except BaseException as error:  # noqa: BLE001 - it is raised again where it is awaited
        done.put(error)
