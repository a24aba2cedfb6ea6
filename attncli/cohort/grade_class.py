"""Grade a class: reuse stored results, grade the rest, and store each result before the next one arrives.

The results file has one JSON line per grading. A line that a killed run left unfinished is cut off before anything is
appended. Each judge on this machine is a separate process with its zygote. It stays warm and is replaced when it dies.
"""

from __future__ import annotations

import json
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread, Timer
from typing import BinaryIO

from attncli.cohort.outcomes import (
    ClassFolder,
    Graded,
    Outcome,
    Pair,
    Task,
    is_stored_result,
    judge_crash_result,
    standard_of,
    stored_result,
    versions,
)
from attncli.cohort.report import ClassResults, SimilarFiles, similar_files
from attncli.domain.challenge import Challenge
from attncli.domain.vocabulary import STREAMS
from attncli.errors import JudgeFailed, UsageError
from attncli.i18n import _
from attncli.judge.client import GradeOptions, GradeRequest, Judge
from attncli.paths import cannot_write, flush_folder
from attncli.practice.start import TRITON, starter, statement

GradeTasks = Callable[[Sequence[Task]], Iterator[Outcome]]
OnProgress = Callable[[int, int, int], None]

FOLDER, FILE = ".attn-cohort", "results.jsonl"
_NAMES = ("learner", "challenge", "sha256", "standard")
_REMEDY = _("copy the class to a folder that you may write to")

# A judge ends every grading within some thirty time limits; if it stays silent for longer, it has hung.
PATIENCE_LIMITS = 60
TRIES = 2
WITH_JUDGE = 2  # times a submission's memory: the judge needs up to half of that for the answers, and torch


def grade_class(
    folder_path: Path,
    folder: ClassFolder,
    challenges: Mapping[str, Challenge],
    options: GradeOptions,
    grade: GradeTasks,
    on_progress: OnProgress = lambda done, total, previous: None,
    draw_seed: Callable[[], int] | None = None,
) -> ClassResults:
    """Grade the submissions of the class in `folder_path` that have no stored result, using `grade`.

    Each result is written to disk before waiting for the next. `on_progress` gets the numbers of results done, in
    total, and stored earlier. With `draw_seed`, the seed is that of the stored results, or random if there are none.
    Raises UsageError, EnvironmentFailure.
    """
    current_versions = versions()
    submitted = {submission.challenge for submission in folder.submissions}
    with open_results(folder_path) as results:
        if draw_seed is not None:
            options = replace(options, seed=draw_seed() if results.seed is None else results.seed)
        standards = {id: standard_of(challenges[id], options, current_versions) for id in sorted(submitted)}
        tasks = [Task(submission, standards[submission.challenge]) for submission in folder.submissions]
        known = {task.pair: result for task in tasks if (result := results.of(task)) is not None}
        graded, failed = _grade_rest(tasks, known, results, grade, on_progress)
    return ClassResults(
        folder=folder,
        challenges=challenges,
        options=options,
        versions=current_versions,
        graded=graded,
        failed=failed,
        similar=_similar_submissions(folder, challenges),
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


def _similar_submissions(folder: ClassFolder, challenges: Mapping[str, Challenge]) -> list[SimilarFiles]:
    sources: dict[str, dict[str, bytes]] = {}
    for submission in folder.submissions:
        sources.setdefault(submission.challenge, {})[submission.learner] = submission.source
    return [
        group
        for id in sorted(sources)
        if len(sources[id]) > 1
        for group in similar_files(id, sources[id], _handed_out(challenges[id]))
    ]


def _handed_out(challenge: Challenge) -> list[str]:
    """Return the texts that every learner received: the starter file."""
    needs = TRITON if challenge.kernel else ()
    text = statement(challenge).whole("en")
    return [starter(Path(challenge.folder) / "reference.py", challenge.entry, text, needs)]


# The results file: one JSON line per grading, next to the submissions


@contextmanager
def open_results(folder: Path) -> Iterator[ResultsFile]:
    """Open and lock the results of the class in `folder`. Raises UsageError, EnvironmentFailure."""
    results_folder = folder / FOLDER
    path = results_folder / FILE
    try:
        results_folder.mkdir(mode=0o700, exist_ok=True)
        _require_own(results_folder)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(handle, "r+b") as file:
            _require_own(path)
            _lock(file, folder)
            _cut_torn_line(file)
            flush_folder(results_folder)
            yield ResultsFile(path, file)
    except OSError as error:
        raise cannot_write(path, error, _REMEDY) from error


class ResultsFile:
    """The stored results of a class, opened by `open_results`. `seed` is the seed of the last result."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file
        results = list(_read_results(file))
        self._stored = {key: graded for key, _, graded in results}
        self.seed = next((seed for _unused, seed, _ in reversed(results) if seed is not None), None)

    def of(self, task: Task) -> Graded | None:
        """Return the stored result of the same file and standard, or None."""
        return self._stored.get(task.key)

    def add(self, task: Task, graded: Graded) -> None:
        """Append a result and sync it to disk. Raises UsageError or EnvironmentFailure."""
        seed = task.standard.options.seed
        document = {**dict(zip(_NAMES, task.key, strict=True)), "seed": seed, "graded": graded}
        line = json.dumps(document, allow_nan=False)
        try:
            self._file.write(f"{line}\n".encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise cannot_write(self.path, error, _REMEDY) from error
        self._stored[task.key], self.seed = graded, seed


def _read_results(file: BinaryIO) -> Iterator[tuple[tuple[str, ...], int | None, Graded]]:
    """Yield every readable result with its key and seed; leave the file position at the end."""
    file.seek(0)
    for line in file:
        try:
            document = json.loads(line)
        except ValueError:
            continue
        if isinstance(document, dict) and is_stored_result(document.get("graded")):
            seed = document.get("seed")
            in_range = type(seed) is int and 0 <= seed < STREAMS
            key = tuple(str(document.get(name)) for name in _NAMES)
            yield key, seed if in_range else None, document["graded"]


def _require_own(path: Path) -> None:
    """Reject results that another user could have written. Raises UsageError."""
    if path.is_symlink() or (hasattr(os, "geteuid") and path.stat().st_uid != os.geteuid()):
        raise UsageError(
            _("{path} belongs to another user, so its results are not trusted; remove it and try again", path=path)
        )


def _lock(file: BinaryIO, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(
            _("another attn cohort is grading {folder}; wait for it, or stop it", folder=folder)
        ) from error


def _cut_torn_line(file: BinaryIO) -> None:
    content = file.read()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        file.truncate(whole)


# The judges of this machine


def grade_here(tasks: Sequence[Task], jobs: int, make: Callable[[], Judge] = Judge) -> Iterator[Outcome]:
    """Yield each task's outcome as it arrives, with `jobs` judges in parallel.

    Raises JudgeFailed or SandboxUnavailable if no judge can be started.
    """
    queue, done = TaskQueue(tasks), SimpleQueue[Outcome | BaseException]()
    judges = [make() for _round in range(min(jobs, len(tasks)))]
    threads = [Thread(target=_run_judge, args=(judge, queue, done), daemon=True) for judge in judges]
    for thread in threads:
        thread.start()
    try:
        for _ in tasks:
            outcome = done.get()
            if isinstance(outcome, BaseException):
                raise outcome
            yield outcome
    finally:
        for judge in judges:
            judge.stop()
        for judge, thread in zip(judges, threads, strict=True):
            thread.join()
            judge.close()


def _run_judge(judge: Judge, queue: TaskQueue, done: SimpleQueue[Outcome | BaseException]) -> None:
    """Grade tasks until none is left. Pass any exception to the caller, which waits for the outcome."""
    previous = ""
    try:
        while (task := queue.next(previous)) is not None:
            previous = task.submission.challenge
            done.put(Outcome(task, *stored_grading(judge, task.standard.request(task.submission.source))))
    except BaseException as error:  # noqa: BLE001 - re-raised where the outcome is awaited
        done.put(error)


def stored_grading(judge: Judge, request: GradeRequest) -> tuple[Graded | None, str]:
    """Return the result to store and "", or None and the error. If the judge dies, try once more with a new one.

    If the judge dies at every try, the result says so. Raises JudgeFailed if no judge can be started.
    """
    message, deaths, layers = "", 0, list[str]()
    for _round in range(TRIES):
        layers = judge.layers()
        watch = Timer(PATIENCE_LIMITS * request.options.timeout_seconds, judge.cancel)
        watch.daemon = True
        watch.start()
        try:
            return stored_result(judge.grade(request)), ""
        except JudgeFailed as error:
            message = str(error)
            deaths += not judge.alive()
        finally:
            watch.cancel()
    return (judge_crash_result(layers), "") if deaths == TRIES else (None, message)


class TaskQueue:
    """Thread-safe queue of tasks that keeps a judge on one challenge while that has tasks left.

    `give_back` makes a task available again.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._waiting: dict[str, deque[Task]] = {}
        self._at_work: Counter[str] = Counter()
        self._lock = Lock()
        for task in tasks:
            self._waiting.setdefault(task.submission.challenge, deque()).append(task)

    def next(self, previous: str = "") -> Task | None:
        """Return the next task for a judge whose last challenge was `previous`; None when all are handed out."""
        with self._lock:
            self._at_work[previous] -= previous != ""
            open_now = [challenge for challenge, tasks in self._waiting.items() if tasks]
            if not open_now:
                return None
            chosen = previous if previous in open_now else min(open_now, key=self._order)
            self._at_work[chosen] += 1
            return self._waiting[chosen].popleft()

    def give_back(self, task: Task) -> None:
        """Put the task of a lost judge back, ahead of the other tasks of its challenge."""
        with self._lock:
            self._at_work[task.submission.challenge] -= 1
            self._waiting[task.submission.challenge].appendleft(task)

    def _order(self, challenge: str) -> tuple[int, int]:
        """Sort challenges by fewest judges, then most tasks, so that no long one is left to a single judge."""
        return self._at_work[challenge], -len(self._waiting[challenge])


def default_jobs(memory_mib: int) -> int:
    """Return the number of judges: one per core, fewer if memory is short for them and their submissions."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not hasattr(os, "sysconf"):
        return cores
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(cores, memory_bytes // (WITH_JUDGE * memory_mib * 2**20)))
