"""The report on a class as one document, which depends only on the files and the standard.

It does not depend on the order of the results or on the machine that graded them. Times are included only on request,
in a separate part.
"""

from __future__ import annotations

import csv
import io
import keyword
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from attncli.cohort.outcomes import ClassFolder, Graded, Pair, shown, stated
from attncli.domain.challenge import Challenge
from attncli.domain.text import printable
from attncli.i18n import Lang, Localised, _, quoted
from attncli.judge.client import GradeOptions

Document = dict[str, Any]
Shingle = tuple[str, ...]
MOST_COSTLY = 10

COLUMNS = (
    *("learner", "challenge", "rung", "solved", "hardened", "check", "reason", "message"),
    *("diagnosis", "cards", "alike", "problem", "seed"),
)
MOST_NAMES = 10
# Spreadsheets run cells that start so as formulas, also after a semicolon. Names and messages are untrusted.
_FORMULA = re.compile(r"""(^|;)([ "']*)(?=[=+\-@＝＋－＠﹦﹢﹣﹫])""")

METHOD = "Jaccard similarity of token 5-grams"
SHINGLE = 5
THRESHOLD = 0.6
LEAST_SHINGLES = 30  # shorter files can be written in one way only
# In classes of at least this size, shingles in more than half of the files come from the challenge.
LEAST_CLASS, COMMON_SHARE = 10, 0.5
# Python's tokenizer takes quadratic time for an endless line of quotes.
LARGEST_COMPARED, LONGEST_LINE = 64 * 1024, 500
_LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassResults:
    """The results of a class: its submissions, their stored results, the gradings that failed, and similar files."""

    folder: ClassFolder
    challenges: Mapping[str, Challenge]
    options: GradeOptions
    versions: Mapping[str, str]
    graded: Mapping[Pair, Graded]
    failed: Mapping[Pair, str]
    similar: Sequence[SimilarFiles]


def report_document(results: ClassResults, with_times: bool = False) -> Document:
    """Return the document that `attn cohort --json` prints; pages and tables are rendered from it."""
    documents = {pair: _result(results, pair) for pair in sorted(results.graded)}
    submitted = {submission.challenge for submission in results.folder.submissions}
    report: Document = {
        **stated(results.options),
        "versions": dict(results.versions),
        "sandbox": _sandbox(results.graded.values()),
        "learners": [_learner(results, name, documents) for name in results.folder.learners],
        "challenges": [_challenge(results, id, documents) for id in sorted(submitted)],
        "costliest": {"checks": _checks(documents.values()), "diagnoses": _diagnoses(documents.values())},
        "similarity": {"method": METHOD, "threshold": THRESHOLD},
        "similar": [
            {"challenge": found.challenge, "learners": list(map(shown, found.learners)), "share": found.share}
            for found in results.similar
        ],
        "left_out": [
            {**asdict(item), "message": item.message.en, "message_zh": item.message.zh}
            for item in results.folder.left_out
        ],
        "judge_failed": [
            {"learner": shown(learner), "challenge": challenge, "error": error}
            for (learner, challenge), error in sorted(results.failed.items())
        ],
    }
    return {**report, "times": _times(results)} if with_times else report


def grading_standard(report: Mapping[str, Any]) -> Localised:
    """Return the line with the seed, the limits and the sandbox layers that all files were graded with."""
    several = len(report["sandbox"]) > 1
    layers = []
    for found in report["sandbox"]:
        names = quoted(", ".join(found["layers"])) if found["layers"] else _("none")
        layers.append(_("{layers} ({files} files)", layers=names, files=found["files"]) if several else names)
    return _(
        "seed {seed}, {timeout:g} s and {memory} MiB per run, sandbox: {layers}",
        seed=report["seed"],
        timeout=report["timeout_seconds"],
        memory=report["memory_mib"],
        layers=quoted("; ").join(layers) if layers else _("none"),
    )


def _sandbox(graded: Iterable[Graded]) -> list[Document]:
    """Return each set of sandbox layers in force, and the number of files graded with it."""
    counts = Counter(tuple(found["sandbox"]) for found in graded)
    return [{"layers": list(layers), "files": count} for layers, count in sorted(counts.items())]


def _learner(results: ClassResults, name: str, documents: Mapping[Pair, Document]) -> Document:
    mine = [document for (learner, _), document in documents.items() if learner == name]
    document = [{key: value for key, value in document.items() if key != "learner"} for document in mine]
    return {"learner": shown(name), **_reached(mine), "results": document}


def _challenge(results: ClassResults, id: str, documents: Mapping[Pair, Document]) -> Document:
    mine = [document for document in documents.values() if document["challenge"] == id]
    title = results.challenges[id].title
    document = {"challenge": id, "title": title.en, "title_zh": title.zh, **_reached(mine)}
    return {**document, "checks": _checks(mine), "diagnoses": _diagnoses(mine)}


def _reached(documents: Sequence[Document]) -> Document:
    """Count the graded files and those that reached each rung; a hardened file counts as solved too."""
    rungs = Counter(document["rung"] for document in documents)
    hardened = rungs["hardened"]
    return {"graded": len(documents), "solved": rungs["solved"] + hardened, "hardened": hardened}


def _result(results: ClassResults, pair: Pair) -> Document:
    """Return one result, with its mistakes in both languages and the check that stopped it."""
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
    """Return the check that best explains why the next rung was not reached; None for a hardened file."""
    failed = [check for check in checks if check["status"] == "fail" and check["required"]]
    first = {"forbidden": 0, "loads": 1}
    order = sorted(failed, key=lambda check: first.get(check["name"], 3 if check.get("rung") == "hardened" else 2))
    return {key: value for key, value in order[0].items() if key not in ("status", "required")} if order else None


def _checks(documents: Iterable[Document]) -> list[Document]:
    """Return the checks that stopped learners, the most frequent first."""
    stopped_by: dict[tuple[str, str], list[str]] = defaultdict(list)
    for document in documents:
        if stopped := document["stopped_by"]:
            stopped_by[stopped["name"], stopped.get("reason", "")].append(document["learner"])
    found: list[Document] = [
        {"name": name, "reason": reason, "learners": len(set(learners)), "files": len(learners)}
        for (name, reason), learners in sorted(stopped_by.items())
    ]
    return sorted(found, key=lambda check: (-check["learners"], -check["files"]))[:MOST_COSTLY]


def _diagnoses(documents: Iterable[Document]) -> list[Document]:
    """Return the diagnosed mistakes, the most frequent first."""
    learners: dict[tuple[str, str], set[str]] = defaultdict(set)
    mistakes: dict[tuple[str, str], Document] = {}
    for document in documents:
        for found in document["diagnosis"]:
            place = document["challenge"], found["wrong"]
            learners[place].add(document["learner"])
            mistakes[place] = {key: found[key] for key in ("wrong", "says", "says_zh", "cards") if key in found}
    ranked = sorted(learners, key=lambda place: (-len(learners[place]), place))[:MOST_COSTLY]
    return [{"challenge": place[0], **mistakes[place], "learners": len(learners[place])} for place in ranked]


def _times(results: ClassResults) -> Document:
    seconds = {pair: found["seconds"] for pair, found in sorted(results.graded.items())}
    files = [
        {"learner": shown(learner), "challenge": challenge, "seconds": taken}
        for (learner, challenge), taken in seconds.items()
    ]
    return {"seconds": round(sum(seconds.values()), 3), "files": files}


# The report as a table


def to_csv(report: Mapping[str, Any], lang: Lang) -> str:
    """Return the report as CSV, one line per file. Files left out and failed gradings have a `problem`."""
    out = io.StringIO()
    table = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
    table.writeheader()
    seed = {"seed": report["seed"]}
    table.writerows({key: _safe_cell(value) for key, value in row.items()} | seed for row in _rows(report, lang))
    return out.getvalue()


def _rows(report: Mapping[str, Any], lang: Lang) -> Iterator[dict[str, Any]]:
    similar = {
        (name, group["challenge"]): [other for other in group["learners"] if other != name]
        for group in report["similar"]
        for name in group["learners"]
    }
    for learner in report["learners"]:
        for result in learner["results"]:
            stopped = result["stopped_by"] or {}
            yield {
                "learner": learner["learner"],
                "challenge": result["challenge"],
                "rung": result["rung"],
                "solved": int(result["rung"] != "none"),
                "hardened": int(result["rung"] == "hardened"),
                "check": stopped.get("name", ""),
                "reason": stopped.get("reason", ""),
                "message": in_language(stopped, "message", lang),
                "diagnosis": "; ".join(in_language(found, "says", lang) for found in result["diagnosis"]),
                "cards": " ".join(card for found in result["diagnosis"] for card in found["cards"]),
                "alike": _first_names(similar.get((learner["learner"], result["challenge"]), ())),
            }
    for failed in report["judge_failed"]:
        yield {"learner": failed["learner"], "challenge": failed["challenge"], "problem": failed["error"]}
    for left in report["left_out"]:
        yield {"learner": left["path"], "problem": in_language(left, "message", lang)}


def _first_names(names: Sequence[str]) -> str:
    """Join the first few names of a group; append `, +N` for N more."""
    more = f", +{len(names) - MOST_NAMES}" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def in_language(document: Mapping[str, Any], name: str, lang: Lang) -> str:
    """Return the text `name` of a document, in Chinese `name_zh` if present."""
    text = document.get(name, "")
    return str(document.get(f"{name}_zh", text) if lang == "zh" else text)


def _safe_cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return _FORMULA.sub(r"\1\2'", " ".join(printable(value).split()))


# Similar submissions


@dataclass(frozen=True, slots=True)
class SimilarFiles:
    """Learners with similar files for one challenge; `share` is the lowest similarity that links the group."""

    challenge: str
    learners: tuple[str, ...]
    share: float


def similar_files(challenge: str, sources: Mapping[str, bytes], known: Sequence[str]) -> list[SimilarFiles]:
    """Return the groups of similar files among `sources` (by learner); `known` are texts that every learner received.

    Similarity is the share of runs of SHINGLE tokens that both files have among all runs of either file. Comments,
    layout, docstrings and names of variables do not count; names after a dot (`torch.softmax`), keywords and numbers
    do. Runs of the known texts, or of most files of a class, are ignored.
    """
    given = set().union(*(_shingles(text) for text in known))
    files = {learner: _shingles(_text(source)) - given for learner, source in sorted(sources.items())}
    common = _common_shingles(files.values())
    files = {learner: found for learner, found in files.items() if len(found) >= LEAST_SHINGLES}
    group_of = {learner: [learner] for learner in files}
    least: dict[str, float] = {}
    for share, one, other in sorted(_similar_pairs(files, common), reverse=True):
        first, second = group_of[one], group_of[other]
        if first is not second:
            first += second
            group_of |= dict.fromkeys(second, first)
            least[first[0]] = share
    groups = (
        SimilarFiles(challenge, tuple(sorted(group_of[first])), round(share, 2))
        for first, share in least.items()
        if group_of[first][0] == first
    )
    return sorted(groups, key=lambda found: (-found.share, found.learners))


def _common_shingles(files: Collection[set[Shingle]]) -> set[Shingle]:
    if len(files) < LEAST_CLASS:
        return set()
    counts = Counter(shingle for found in files for shingle in found)
    return {shingle for shingle, count in counts.items() if count > COMMON_SHARE * len(files)}


def _similar_pairs(files: Mapping[str, set[Shingle]], common: set[Shingle]) -> Iterator[tuple[float, str, str]]:
    """Yield every pair with a similarity of at least THRESHOLD; equal files count even if all they share is common."""
    own = {learner: found - common for learner, found in files.items()}
    for one, other in combinations(files, 2):
        if files[one] == files[other]:
            yield 1.0, one, other
        elif min(len(own[one]), len(own[other])) >= LEAST_SHINGLES:
            shared = len(own[one] & own[other])
            share = shared / (len(own[one]) + len(own[other]) - shared)
            if share >= THRESHOLD:
                yield share, one, other


def _shingles(text: str) -> set[Shingle]:
    tokens = _tokens(text)
    return {tuple(tokens[start : start + SHINGLE]) for start in range(len(tokens) - SHINGLE + 1)}


def _text(source: bytes) -> str:
    lines = source[:LARGEST_COMPARED].decode("utf-8", "replace").split("\n")
    return "\n".join(line[:LONGEST_LINE] for line in lines)


def _tokens(text: str) -> list[str]:
    """Return a program's tokens up to the first error, without layout, docstrings and freely chosen names."""
    found: list[str] = []
    begins = True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _LAYOUT:
                begins = begins or token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
                continue
            if not (begins and token.type == tokenize.STRING):
                found.append(_normal(token, found[-1] if found else ""))
                begins = False
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    return found


def _normal(token: tokenize.TokenInfo, before: str) -> str:
    if token.type == tokenize.STRING:
        return "S"
    if token.type != tokenize.NAME or keyword.iskeyword(token.string) or before == ".":
        return token.string
    return "V"
