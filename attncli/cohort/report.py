"""The report of a class as one document: the same whenever the same files are graded by the same standard.

It follows from the results alone: neither the order in which they came nor who graded them shows. Times are added only
where they are asked for, in a part of their own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attncli.cohort import similarity
from attncli.cohort.class_folder import ClassFolder, shown
from attncli.cohort.outcomes import Graded, Pair
from attncli.cohort.similarity import Alike
from attncli.cohort.standards import CohortOptions
from attncli.domain.challenge import Challenge
from attncli.words.cohort_texts import left_out_text

Document = dict[str, Any]
# What stands at the top of a list that nobody reads to its end.
MOST_COSTLY = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassResults:
    """What a report tells of: who handed in what, what came of each, what failed, and who wrote alike."""

    folder: ClassFolder
    challenges: Mapping[str, Challenge]
    options: CohortOptions
    versions: Mapping[str, str]
    graded: Mapping[Pair, Graded]
    failed: Mapping[Pair, str]
    similar: Sequence[Alike]


def report_document(results: ClassResults, with_times: bool = False) -> Document:
    """What `attn cohort --json` prints, and what the pages and tables are made of."""
    documents = {pair: _result(results, pair) for pair in sorted(results.graded)}
    report: Document = {
        **asdict(results.options),
        "versions": dict(results.versions),
        "sandbox": _sandbox(results.graded.values()),
        "learners": [_learner(results, name, documents) for name in results.folder.learners],
        "challenges": [_challenge(results, id, documents) for id in _handed_in(results)],
        "costliest": {"checks": _checks(documents.values()), "diagnoses": _diagnoses(documents.values())},
        "similarity": {"method": similarity.METHOD, "threshold": similarity.THRESHOLD},
        "similar": [
            {"challenge": found.challenge, "learners": list(map(shown, found.learners)), "share": found.share}
            for found in results.similar
        ],
        "left_out": [
            {**asdict(item), "message": left_out_text(item.reason, item.detail).en} for item in results.folder.left_out
        ],
        "judge_failed": [
            {"learner": shown(learner), "challenge": challenge, "error": error}
            for (learner, challenge), error in sorted(results.failed.items())
        ],
    }
    return {**report, "times": _times(results)} if with_times else report


def _handed_in(results: ClassResults) -> list[str]:
    return sorted({submission.challenge for submission in results.folder.submissions})


def _result(results: ClassResults, pair: Pair) -> Document:
    """One result, its mistakes in both languages, and the check that decided each rung that was not reached."""
    learner, challenge = pair
    graded = results.graded[pair]
    mistakes = results.challenges[challenge].mistakes
    diagnosis = []
    for found in graded["diagnosis"]:
        known = mistakes.get(found["wrong"])
        diagnosis.append({**found, "says_zh": known.says.zh} if known and known.says.zh else dict(found))
    return {
        "learner": shown(learner),
        "challenge": challenge,
        "rung": graded["rung"],
        "stopped_by": _stopped_by(graded["checks"]),
        "checks": graded["checks"],
        "diagnosis": diagnosis,
    }


def _stopped_by(checks: Sequence[Mapping[str, Any]]) -> Document | None:
    """The check that says most of why the next rung was not reached; None for a hardened file."""
    failed = [check for check in checks if check["status"] == "fail" and check["required"]]
    first = {"forbidden": 0, "loads": 1}
    order = sorted(failed, key=lambda check: first.get(check["name"], 3 if check.get("rung") == "hardened" else 2))
    return {key: value for key, value in order[0].items() if key not in ("status", "required")} if order else None


def _learner(results: ClassResults, name: str, documents: Mapping[Pair, Document]) -> Document:
    mine = [document for (learner, _), document in documents.items() if learner == name]
    told = [{key: value for key, value in document.items() if key != "learner"} for document in mine]
    return {"learner": shown(name), **_reached(mine), "results": told}


def _challenge(results: ClassResults, id: str, documents: Mapping[Pair, Document]) -> Document:
    mine = [document for document in documents.values() if document["challenge"] == id]
    title = results.challenges[id].title
    told = {"challenge": id, "title": title.en, "title_zh": title.zh, **_reached(mine)}
    return {**told, "checks": _checks(mine), "diagnoses": _diagnoses(mine)}


def _reached(documents: Sequence[Document]) -> Document:
    """How many files there are, and how many reached each rung; a hardened one is solved too."""
    rungs = Counter(document["rung"] for document in documents)
    hardened = rungs["hardened"]
    return {"graded": len(documents), "solved": rungs["solved"] + hardened, "hardened": hardened}


def _checks(documents: Iterable[Document]) -> list[Document]:
    """The checks that stopped people, those that stopped most of them first."""
    people: dict[tuple[str, str], set[str]] = defaultdict(set)
    files: Counter[tuple[str, str]] = Counter()
    for document in documents:
        if stopped := document["stopped_by"]:
            place = stopped["name"], stopped.get("reason", "")
            people[place].add(document["learner"])
            files[place] += 1
    ranked = sorted(people, key=lambda place: (-len(people[place]), -files[place], place))
    return [
        {"name": name, "reason": reason, "learners": len(people[name, reason]), "files": files[name, reason]}
        for name, reason in ranked[:MOST_COSTLY]
    ]


def _diagnoses(documents: Iterable[Document]) -> list[Document]:
    """The mistakes that were named, those that most people made first."""
    people: dict[tuple[str, str], set[str]] = defaultdict(set)
    told: dict[tuple[str, str], Document] = {}
    for document in documents:
        for found in document["diagnosis"]:
            place = document["challenge"], found["wrong"]
            people[place].add(document["learner"])
            told[place] = {key: found[key] for key in ("wrong", "says", "says_zh", "cards") if key in found}
    ranked = sorted(people, key=lambda place: (-len(people[place]), place))
    return [{"challenge": place[0], **told[place], "learners": len(people[place])} for place in ranked[:MOST_COSTLY]]


def _sandbox(graded: Iterable[Graded]) -> list[Document]:
    """The layers that were in force, and for how many files."""
    counts = Counter(tuple(found["sandbox"]) for found in graded)
    return [{"layers": list(layers), "files": count} for layers, count in sorted(counts.items())]


def _times(results: ClassResults) -> Document:
    seconds = {pair: found["seconds"] for pair, found in sorted(results.graded.items())}
    files = [
        {"learner": shown(learner), "challenge": challenge, "seconds": taken}
        for (learner, challenge), taken in seconds.items()
    ]
    return {"seconds": round(sum(seconds.values()), 3), "files": files}
