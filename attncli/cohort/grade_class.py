"""Grading a class: what is known is taken over, the rest is graded and kept as it comes, and all of it told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from attncli.cohort.class_folder import ClassFolder
from attncli.cohort.outcomes import Graded, Outcome, Pair, Task
from attncli.cohort.report import ClassResults
from attncli.cohort.results_file import ResultsFile, opened
from attncli.cohort.similarity import Alike, alike
from attncli.cohort.standards import CohortOptions, standard_of
from attncli.cohort.versions import versions
from attncli.domain.challenge import Challenge
from attncli.practice.start import TRITON
from attncli.practice.starters import starter
from attncli.practice.whole_statement import statement

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
