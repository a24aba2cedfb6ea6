"""Which submission is graded next, so that a judge stays with a challenge while there is something of it to grade."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from threading import Lock

from attncli.cohort.outcomes import Task


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
