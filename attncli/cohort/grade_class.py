"""Grading a class: what is known is taken over, the rest is graded and kept as it comes, and all of it told."""

from __future__ import annotations

import json
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread, Timer
from typing import BinaryIO

from attncli.cohort.class_folder import ClassFolder
from attncli.cohort.outcomes import (
    CohortOptions,
    Graded,
    Outcome,
    Pair,
    Task,
    ended_the_judge,
    is_graded,
    kept,
    standard_of,
    versions,
)
from attncli.cohort.report import Alike, ClassResults, alike
from attncli.domain.card import STREAMS
from attncli.domain.challenge import Challenge
from attncli.errors import JudgeFailed, UsageError
from attncli.judge.client import GradeRequest, Judge
from attncli.paths import cannot_write, flush_folder
from attncli.practice.start import TRITON, starter, statement

GradeTasks = Callable[[Sequence[Task]], Iterator[Outcome]]
OnProgress = Callable[[int, int, int], None]


def grade_class(
    place: Path,
    folder: ClassFolder,
    challenges: Mapping[str, Challenge],
    options: CohortOptions,
    grade: GradeTasks,
    on_progress: OnProgress = lambda done, total, before: None,
    draw_seed: Callable[[], int] | None = None,
) -> ClassResults:
    """Grades what is not known yet of the class in `place`; `grade` does it, here or elsewhere.

    Each result is on disk before the next one is waited for. `on_progress` is told how many are done, of how many, and
    how many of them were known before. With `draw_seed`, the seed of the options gives way to that of the results
    before, and to a drawn one where there are none. Raises UsageError, EnvironmentFailure.
    """
    stands = versions()
    handed_in = {submission.challenge for submission in folder.submissions}
    with opened(place) as results:
        if draw_seed is not None:
            options = replace(options, seed=draw_seed() if results.seed is None else results.seed)
        standards = {id: standard_of(challenges[id], options, stands) for id in sorted(handed_in)}
        tasks = [Task(submission, standards[submission.challenge]) for submission in folder.submissions]
        known = {task.pair: found for task in tasks if (found := results.of(task)) is not None}
        graded, failed = _grade_rest(tasks, known, results, grade, on_progress)
    return ClassResults(
        folder=folder,
        challenges=challenges,
        options=options,
        versions=stands,
        graded=graded,
        failed=failed,
        similar=_similar(folder, challenges),
    )


def _grade_rest(
    tasks: Sequence[Task],
    known: Mapping[Pair, Graded],
    results: ResultsFile,
    grade: GradeTasks,
    on_progress: OnProgress,
) -> tuple[dict[Pair, Graded], dict[Pair, str]]:
    graded, failed = dict(known), dict[Pair, str]()
    rest = [task for task in tasks if task.pair not in known]
    on_progress(len(known), len(tasks), len(known))
    for outcome in grade(rest) if rest else ():
        pair = outcome.task.pair
        if outcome.graded is None:
            failed[pair] = outcome.error
        elif pair not in graded:
            results.add(outcome.task, outcome.graded)
            graded[pair] = outcome.graded
        on_progress(len(graded) + len(failed), len(tasks), len(known))
    return graded, failed


def _similar(folder: ClassFolder, challenges: Mapping[str, Challenge]) -> list[Alike]:
    sources: dict[str, dict[str, bytes]] = {}
    for submission in folder.submissions:
        sources.setdefault(submission.challenge, {})[submission.learner] = submission.source
    return [
        found
        for id in sorted(sources)
        if len(sources[id]) > 1
        for found in alike(id, sources[id], _given(challenges[id]))
    ]


def _given(challenge: Challenge) -> list[str]:
    """What everybody was handed out: the starter."""
    needs = TRITON if challenge.kernel else ()
    text = statement(challenge).whole("en")
    return [starter(Path(challenge.folder) / "reference.py", challenge.entry, text, needs)]


# The judges of one machine: each a process of its own with its zygote, kept warm, replaced when it dies.

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


# Which submission is graded next, so that a judge stays with a challenge while there is something of it to grade.


class TaskQueue:
    """Hands out every task once, from any thread; `give_back` makes one available again."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._waiting: dict[str, deque[Task]] = {}
        self._at_work: Counter[str] = Counter()
        self._lock = Lock()
        for task in tasks:
            self._waiting.setdefault(task.submission.challenge, deque()).append(task)

    def next(self, before: str = "") -> Task | None:
        """The next task for a judge whose last was of the challenge `before`; None when all are handed out."""
        with self._lock:
            self._at_work[before] -= before != ""
            open_now = [challenge for challenge, tasks in self._waiting.items() if tasks]
            if not open_now:
                return None
            chosen = before if before in open_now else min(open_now, key=self._order)
            self._at_work[chosen] += 1
            return self._waiting[chosen].popleft()

    def give_back(self, task: Task) -> None:
        """A task whose judge was lost is handed out again, before the others of its challenge."""
        with self._lock:
            self._at_work[task.submission.challenge] -= 1
            self._waiting[task.submission.challenge].appendleft(task)

    def _order(self, challenge: str) -> tuple[int, int]:
        """Fewest judges first, then most to do: nobody waits alone for a long one at the end."""
        return self._at_work[challenge], -len(self._waiting[challenge])


# The results of a class, each on disk before the next is told: one JSON line a grading, beside the submissions.
#
# A line is whole or it is not there: what a killed run left of its last one is cut off before anything is added.

FOLDER, FILE = ".attn-cohort", "results.jsonl"
_NAMES = ("learner", "challenge", "sha256", "standard")
_REMEDY = "copy the class to a folder that you may write to"

Key = tuple[str, ...]


class ResultsFile:
    """What has been graded; open it with `opened`."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file
        found = list(_results(file))
        self._kept = {key: graded for key, _, graded in found}
        self.seed = next((seed for _, seed, _ in reversed(found) if seed is not None), None)
        """The seed of the last result."""

    def of(self, task: Task) -> Graded | None:
        """The result of the same file by the same standard, if there is one."""
        return self._kept.get(task.key)

    def add(self, task: Task, graded: Graded) -> None:
        """Keeps a result: it is on disk when this returns. Raises UsageError or EnvironmentFailure."""
        seed = task.standard.options.seed
        told = {**dict(zip(_NAMES, task.key, strict=True)), "seed": seed, "graded": graded}
        line = json.dumps(told, allow_nan=False)
        try:
            self._file.write(f"{line}\n".encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise cannot_write(self.path, error, _REMEDY) from error
        self._kept[task.key], self.seed = graded, seed


@contextmanager
def opened(folder: Path) -> Iterator[ResultsFile]:
    """The results of the class in `folder`; nobody else adds to them meanwhile. Raises UsageError."""
    home = folder / FOLDER
    path = home / FILE
    try:
        home.mkdir(mode=0o700, exist_ok=True)
        _require_own(home)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(handle, "r+b") as file:
            _require_own(path)
            _hold(file, folder)
            _cut_torn_line(file)
            flush_folder(home)
            yield ResultsFile(path, file)
    except OSError as error:
        raise cannot_write(path, error, _REMEDY) from error


def _require_own(path: Path) -> None:
    """Results that somebody else could have put there decide nothing. Raises UsageError."""
    if path.is_symlink() or (hasattr(os, "geteuid") and path.stat().st_uid != os.geteuid()):
        raise UsageError(f"{path} is not your own file: results in it may be anybody's; remove it and try again")


def _hold(file: BinaryIO, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(f"another attn cohort grades {folder} already; wait for it, or stop it first") from error


def _cut_torn_line(file: BinaryIO) -> None:
    content = file.read()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        file.truncate(whole)


def _results(file: BinaryIO) -> Iterator[tuple[Key, int | None, Graded]]:
    """Every result that can be read, with the seed that it was graded on; the file is then at its end."""
    file.seek(0)
    for line in file:
        try:
            document = json.loads(line)
        except ValueError:
            continue
        if isinstance(document, dict) and is_graded(document.get("graded")):
            seed = document.get("seed")
            in_range = type(seed) is int and 0 <= seed < STREAMS
            key = tuple(str(document.get(name)) for name in _NAMES)
            yield key, seed if in_range else None, document["graded"]
