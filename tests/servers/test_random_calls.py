"""Let an assistant make random calls: no answer before an attempt, no reference, the same log as the app's."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from attncli.domain.log_row import Rating, RowKind
from attncli.domain.vocabulary import KINDS
from attncli.errors import AttnError, UsageError
from attncli.practice import assistant, grade, record
from attncli.practice.assistant import AssistantSession
from attncli.practice.challenges import next_hint
from attncli.practice.review import ReviewSession
from attncli.practice.start import start_challenge
from attncli.practice.workspace import Workspace
from attncli.servers.mcp import TOOLS, json_safe, json_text, one_line, tool
from moved_clock import Clock
from random_assistant import RandomAssistant, assert_no_leak

from .conftest import InstantGrader, OpenSecrets

CALLS = 800


class Mirror:
    """Repeats the acts in a second home with the functions that the app calls."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.grader = InstantGrader()

    def rated(self, card: str, rating: str, points: list[int] | None, marked: bool | None, elapsed_ms: int) -> None:
        details: dict[str, Any] = {"elapsed_ms": elapsed_ms}
        if marked is not None:
            details["correct"] = marked
        elif self.workspace.library.card(card).points:
            details["points"] = sorted({point - 1 for point in points or []})
        record.answer(self.workspace, card, Rating.of(rating), details=details)

    def started(self, challenge: str, bug: bool = False, fresh: bool = False) -> None:
        start_challenge(self.workspace, challenge, bug=bug, force=fresh)

    def graded(self, challenge: str, source: bytes, filename: str, rung: Any) -> None:
        options = grade.GradeOptions(rung=rung or self.workspace.settings.rung)
        found = self.workspace.library.challenge(challenge)
        file = Path(filename) if Path(filename).is_absolute() else None  # a text has a name alone
        request = grade.request_of(self.workspace, found, source, filename, options, file)
        grade.settle(self.workspace, request, self.grader.grade(request))


def rows(workspace: Workspace) -> list[tuple[Any, ...]]:
    """Return the log without values that differ between homes: paths and row ids."""
    home, log = str(workspace.home.root), list(workspace.store.log.everything())
    places = {row.id: f"row {place}" for place, row in enumerate(log)}

    def told(value: Any) -> str:
        return str(places.get(value, value) if isinstance(value, str) else value).replace(home, "")

    return [(row.kind, row.subject, row.at, row.day, {k: told(v) for k, v in row.payload.items()}) for row in log]


class Play:
    """One random assistant, and the session's state as seen from outside."""

    def __init__(self, workspace: Workspace, mirror: Mirror, clock: Clock, seed: int, files: list[str]) -> None:
        self.rng = Random(seed)
        self.tutor = AssistantSession(workspace, Random(seed))
        self.mirror, self.clock, self.grader = mirror, clock, InstantGrader()
        self.assistant = RandomAssistant(self.rng, "double", files)
        self.put, self.attempted, self.marked, self.elapsed_ms = "", False, None, 0
        self.sitting: ReviewSession | None = None
        self.refused = self.reviews = 0
        self.done: Counter[str] = Counter()

    def step(self) -> None:
        name, arguments = self.assistant.call()
        ms = self.rng.randrange(0, 90_000)
        self.clock.move(milliseconds=ms)
        self.elapsed_ms += ms
        length = self.tutor.workspace.store.log.length()
        try:
            answer: Any = json_safe(self._answer(name, arguments))
        except AttnError as error:
            said = one_line(str(error))
            assert "\n" not in said and len(said) <= 302
            assert_no_leak(name, said, self.put, False)
            assert self.tutor.workspace.store.log.length() == length, "what is refused is not recorded"
            self.refused += 1
            return
        json_text(answer).encode()
        assert_no_leak(name, answer, self.put, name == "attempt")
        self.assistant.heard(name, answer)
        self.done[name] += 1
        self._follow(name, answer)

    def _answer(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        checked = tool(name).checked(arguments)
        if name == "rate":
            before = (self.put, self.attempted)
            document = self.tutor.rate(checked["card"], Rating.of(checked["rating"]), checked.get("points"))
            assert before == (checked["card"], True), "only what was put and attempted is rated"
            self.mirror.rated(checked["card"], checked["rating"], checked.get("points"), self.marked, self.elapsed_ms)
            return document
        if name == "grade":
            return self._graded(**checked)
        run = tool(name).run
        assert run is not None
        document = run(self.tutor, **checked)
        if name == "start":
            self.mirror.started(**checked)
        elif name == "hint":
            next_hint(self.mirror.workspace, checked["challenge"])
        return document

    def _graded(self, challenge: str, **how: Any) -> dict[str, Any]:
        request = assistant.submission(self.tutor.workspace, challenge, **how)
        document = assistant.settled(self.tutor.workspace, request, self.grader.grade(request))
        filename = request.filename.replace(str(self.tutor.workspace.home.root), str(self.mirror.workspace.home.root))
        self.mirror.graded(request.spec["id"], request.source, filename, how.get("rung"))
        return document

    def _follow(self, name: str, answer: dict[str, Any]) -> None:
        if name == "next_card":
            sitting = self.tutor._drill
            if answer["card"] != self.put or sitting is not self.sitting:
                self.elapsed_ms, self.sitting = 0, sitting
            assert not self.attempted
            self.put = answer["card"] or ""
        elif name == "attempt":
            assert answer["card"] == self.put and not self.attempted
            self.attempted, self.marked = True, answer["correct"]
        elif name == "rate":
            self.put, self.attempted, self.reviews = "", False, self.reviews + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "calls"), [(0, CALLS), *(pytest.param(seed, 3 * CALLS, marks=pytest.mark.full) for seed in range(4))]
)
def test_random_calls_leak_nothing_and_are_logged_as_by_the_app(
    open_secrets: OpenSecrets, clock: Clock, tmp_path: Path, small_impl: Path, seed: int, calls: int
) -> None:
    workspace, other = open_secrets("assistant"), open_secrets("app")
    secret, own, link = small_impl / "basics" / "double", tmp_path / "own.py", tmp_path / "link.py"
    own.write_text("def double(x): return x\n", encoding="utf-8")
    link.symlink_to(secret / "reference.py")
    files = [str(own), "double.py", str(link), str(secret / "reference.py"), str(secret / "right" / "other.py"), "\0"]
    play = Play(workspace, Mirror(other), clock, seed, files)
    for _ in range(calls):
        play.step()
    assert rows(workspace) == rows(other)
    assert dict(workspace.store.schedules.all()) == dict(other.store.schedules.all())
    assert len(workspace.store.log.of_kind(RowKind.REVIEW)) == play.reviews > 40
    assert play.refused > 100 and min(play.done[name] for name in TOOLS) > 5, play.done
    asked = {workspace.library.card(row.subject).kind for row in workspace.store.log.of_kind(RowKind.REVIEW)}
    assert asked == set(KINDS)
    with pytest.raises(UsageError, match="belongs to a challenge"):
        assistant.submission(workspace, "double", file=str(secret / "wrong" / ".." / "reference.py"))
