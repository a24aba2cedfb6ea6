"""A learner's tests of a challenge: write the file, run it, record the result, and name surviving mistakes one by one.

Tests have a status and a schedule of their own: their rows belong to the subject `ID:tests`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory

from attncli.domain.challenge import Challenge, Repair, planted
from attncli.domain.log_row import LONGEST_PATH, MOST_ITEMS, LogRow, RowKind, clean_source, kept_text
from attncli.domain.tests_report import HARDENED_SHARE, SOLVED_SHARE, OwnTestsReport, tests_subject
from attncli.domain.vocabulary import Standing
from attncli.errors import InvalidInput, NotFound, UsageError, unreadable
from attncli.i18n import Lang, Localised, _, quoted
from attncli.judge.client import GradeOptions, Judge, OnCaught, OwnTestsRequest
from attncli.memory.replay import standing, standing_of
from attncli.paths import expanded
from attncli.practice.challenges import Hint
from attncli.practice.grade import calls_of, read_submission, specification
from attncli.practice.record import record
from attncli.practice.start import Started, statement, write_new
from attncli.practice.workspace import Workspace

REFERENCE_TESTS, REJECTED_BY = "tests.py", "rejected_by.json"
VERIFY_SECONDS = 60.0

_TASK = _("Write tests that accept every right solution of this challenge and fail every wrong one.")
_WRITTEN = _(
    "A test is a function test_… that takes {names} and asserts. For a function `double` it could be:\n"
    "\n"
    "    def test_doubles_every_entry(double):\n"
    "        x = torch.randn(2, 3)\n"
    "        torch.testing.assert_close(double(x), x + x)\n"
    "\n"
    "You may use torch, math, pytest's raises and approx, and Hypothesis (it draws the same examples every time)."
)
_SCORED = _(
    "Your tests are run on the reference and other right solutions, and on {wrong} wrong ones. A test that fails a\n"
    "right solution is a false alarm. solved: no false alarm, and {solved:.0%} of the basic mistakes caught (those a\n"
    "whiteboard solution must not make). hardened: no false alarm, and {hardened:.0%} of all caught. Solutions that\n"
    "are only slow or take too much memory count as extra."
)


def tests_file(workspace: Workspace, challenge: str) -> Path:
    """Return the default path of the learner's tests."""
    return workspace.home.solutions / f"test_{challenge.replace('-', '_')}.py"


def start_tests(workspace: Workspace, id: str, folder: Path | None = None, force: bool = False) -> Started:
    """Write the file for the tests of challenge `id`, and record it. An existing file is kept, as with solutions."""
    challenge = workspace.library.challenge(id)
    workspace.store.require_writable()
    path = (folder or workspace.home.solutions).absolute() / tests_file(workspace, challenge.id).name
    kept = write_new(path, starter(challenge, workspace.lang, how_scored(challenge)[workspace.lang]), force)
    record(workspace, RowKind.START, tests_subject(challenge.id), {"file": kept_text(path, LONGEST_PATH)})
    return Started(path, kept)


def how_scored(challenge: Challenge) -> Localised:
    """Return what tests are, what they may use, and how they are scored."""
    wrong = len(list(Path(challenge.folder).glob("wrong/*.py")))
    scored = _SCORED.format(wrong=wrong, solved=SOLVED_SHARE, hardened=HARDENED_SHARE)
    return quoted("\n\n").join([_TASK, how_written(challenge), scored])


def how_written(challenge: Challenge) -> Localised:
    """Return what a test is, and what it may use."""
    return _WRITTEN.format(names=", ".join(challenge.entry))


def starter(challenge: Challenge, lang: Lang, task: str) -> str:
    """Return the text of a new file of tests: the task, the statement, and one test that asserts nothing."""
    parts = (challenge.title[lang], task, statement(challenge).whole(lang))
    heading = "\n\n".join(parts).replace("\\", "\\\\").replace('"""', "'''")
    calls = "\n".join(f"    # {call}" for call in calls_of(challenge))
    names = ", ".join(challenge.entry)
    return f'"""{heading}\n"""\n\nimport torch\n\n\ndef test_example({names}):\n{calls}\n    ...\n'


def run_tests(
    workspace: Workspace, judge: Judge, id: str, path: Path, options: GradeOptions, on_caught: OnCaught | None = None
) -> OwnTestsReport:
    """Run a file of tests and record the attempt, unless `options.record` is off.

    Raises NotFound, UsageError, and JudgeFailed if there is no result.
    """
    challenge = workspace.library.challenge(id)
    source = read_submission(path)
    report = judge.run_tests(request_of(challenge, source, str(path), options), on_caught)
    if options.record:
        settle(workspace, report, source.decode("utf-8", "replace"))
    return report


def settle(workspace: Workspace, report: OwnTestsReport, source: str) -> None:
    """Record the report on the tests `source`."""
    record(workspace, RowKind.ATTEMPT, tests_subject(report.challenge), _payload(report, source))


def request_of(challenge: Challenge, source: bytes, filename: str, options: GradeOptions) -> OwnTestsRequest:
    """Return the request to the judge about a file of tests."""
    folder = Path(challenge.folder)
    return OwnTestsRequest(
        options=options,
        spec=specification(challenge),
        folder=folder,
        source=source,
        filename=filename,
        rejected_by=_rejected_by(folder.parent.parent).get(challenge.id, {}),
    )


def run_on_draft(
    judge: Judge, request: OwnTestsRequest, repairs: Iterable[Repair], on_caught: OnCaught | None = None
) -> OwnTestsReport:
    """Run tests on the right solutions, and on the reference with each of the bugs `repairs` alone.

    Nothing is recorded. Raises JudgeFailed if there is no result.
    """
    reference = (request.folder / "reference.py").read_text(encoding="utf-8")
    with TemporaryDirectory() as name:
        folder = Path(name)
        copytree(request.folder, folder, ignore=ignore_patterns("wrong"), dirs_exist_ok=True)
        (folder / "wrong").mkdir()
        for repair in repairs:
            (folder / "wrong" / f"{repair.wrong}.py").write_text(planted(reference, [repair]), encoding="utf-8")
        return judge.run_tests(replace(request, folder=folder, rejected_by={}), on_caught)


@cache
def _rejected_by(impl: Path) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Read, for each challenge in a folder, the check and rung at which our judge rejects each wrong solution."""
    try:
        found: dict[str, dict[str, list[str]]] = json.loads((impl / REJECTED_BY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # a learner's own challenges: every mistake counts as wrong values
    return found


def _payload(report: OwnTestsReport, source: str) -> dict[str, object]:
    return {
        "verdict": report.verdict,
        "rung": report.rung,
        "file": kept_text(report.file, LONGEST_PATH),
        "seconds": report.seconds,
        "diagnosis": list(report.survived[:MOST_ITEMS]),
        "sha256": sha256(source.encode("utf-8", "surrogateescape")).hexdigest(),
        "source": clean_source(kept_text(source, len(source))),
    }


def tests_target(workspace: Workspace, challenge: str, file: Path | None) -> tuple[str, Path]:
    """Return the id and the file of tests to run. Raises NotFound, UsageError.

    A challenge alone means the tests that were started for it last; a file alone the challenge in its name.
    """
    if file is not None:
        return workspace.library.challenge(challenge).id, file
    path = Path(expanded(challenge))
    if path.suffix == ".py":
        try:
            return workspace.library.challenge(path.stem.removeprefix("test_").replace("_", "-")).id, path
        except NotFound:
            raise UsageError(_("name the challenge too: attn grade CHALLENGE {file} --tests", file=path)) from None
    id = workspace.library.challenge(challenge).id
    begun = [row.payload.get("file") for row in _rows(workspace, id) if row.kind is RowKind.START]
    files = [Path(name) for name in reversed(begun) if isinstance(name, str)]
    return id, next((found for found in files if found.is_file()), tests_file(workspace, id))


def tests_standing(workspace: Workspace, id: str) -> Standing:
    """Return how far the learner's tests of a challenge have come."""
    return standing_of(_rows(workspace, id))


def next_survivor(workspace: Workspace, id: str) -> Hint:
    """Return the mistake of the next wrong solution that the last tests did not catch, and record it as a hint.

    Raises NotFound, and InvalidInput if there is none.
    """
    challenge = workspace.library.challenge(id)
    survivors: Sequence[str] = ()
    seen = 0
    for row in _rows(workspace, challenge.id):
        if row.kind is RowKind.ATTEMPT:
            survivors, seen = row.diagnosis, 0
        seen += row.kind is RowKind.HINT
    survivors = [name for name in survivors if name in challenge.mistakes]
    if not survivors:
        raise InvalidInput(
            _("there is nothing to name; run your tests first: attn grade {id} --tests", id=id), "no-survivor"
        )
    number = min(seen + 1, len(survivors))
    if seen < len(survivors):
        record(workspace, RowKind.HINT, tests_subject(challenge.id), {"number": number})
    return Hint(number, len(survivors), challenge.mistakes[survivors[number - 1]].says, seen >= len(survivors))


def show_reference_tests(workspace: Workspace, id: str) -> str:
    """Return the reference tests of challenge `id`, and record them as seen. Raises UsageError if there are none."""
    challenge = workspace.library.challenge(id)
    text = reference_tests(challenge).decode()
    record(workspace, RowKind.SOLUTION, tests_subject(challenge.id), {})
    return text


def reference_tests(challenge: Challenge) -> bytes:
    """Return the bytes of the reference tests. Raises UsageError if there are none."""
    path = Path(challenge.folder) / REFERENCE_TESTS
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UsageError(_("challenge {id} has no reference tests", id=challenge.id)) from None
    except OSError as error:
        raise UsageError(unreadable(path, error, _("the installation or the challenge is damaged"))) from error


def verify_tests(challenges: Iterable[Challenge]) -> Iterator[tuple[Challenge, OwnTestsReport]]:
    """Yield the report on the reference tests of each challenge. Raises UsageError if one has none, JudgeFailed."""
    options = GradeOptions(timeout_seconds=VERIFY_SECONDS)
    with Judge.start() as judge:
        for challenge in challenges:
            request = request_of(challenge, reference_tests(challenge), REFERENCE_TESTS, options)
            yield challenge, judge.run_tests(request)


def _rows(workspace: Workspace, id: str) -> list[LogRow]:
    return standing(workspace.store.log.of_subjects([tests_subject(id)]))
