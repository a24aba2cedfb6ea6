"""App, commands and assistant agree: same answers, same marks, words, rows and schedules."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from attncli import paths
from attncli.__main__ import main
from attncli.commands import grade as grade_command
from attncli.commands.grade import GradeWatch, Layout
from attncli.commands.plain import PlainQuiz, PlainReview, read_answer
from attncli.commands.session import Session
from attncli.config import Settings
from attncli.domain.card_kinds import card_of
from attncli.domain.grade_report import GradeReport, read
from attncli.domain.grade_report_text import headline
from attncli.domain.log_row import Rating, RowKind, Schedule
from attncli.i18n import LANGS, Lang, _
from attncli.paths import Home
from attncli.practice import record
from attncli.practice.assistant import AssistantSession
from attncli.practice.challenges import ASKED_NEXT
from attncli.practice.grade import GradeOptions
from attncli.practice.marking import Asked
from attncli.practice.queue import CardFilter
from attncli.practice.quiz import Quiz, QuizOptions
from attncli.practice.review import DrillSession, ReviewSession
from attncli.practice.workspace import Workspace
from attncli.tui.formulas import inline
from attncli.tui.screens.quiz import QuizScreen
from attncli.tui.widgets.card import CardVerdict
from moved_clock import Clock
from same_answer import answer_in_app

from .conftest import BANK, MakeApp, shown, text_of
from .test_challenge import REJECTED, Scripted, settled, write_solution
from .test_review import KINDS, asked

SEED = 7
SECONDS = 42
Keys = Callable[[Pilot[None], Asked], Any]


@dataclass(frozen=True)
class Outcome:
    """The result of an answer: the message, the logged row, and the next schedule."""

    told: str
    payload: dict[str, Any]
    schedule: Schedule | None


def only(workspace: Workspace, kind: str) -> None:
    """Suspend all cards except the one of `kind`."""
    for card in KINDS.values():
        if card != KINDS[kind]:
            record.hold(workspace, RowKind.SUSPEND, card)


def outcome(workspace: Workspace, told: str) -> Outcome:
    (row,) = workspace.store.log.of_kind(RowKind.REVIEW)
    return Outcome(" ".join(told.split()), row.payload, workspace.store.schedules.get(row.subject))


async def arrange(pilot: Pilot[None], places: list[int]) -> None:
    """Move the items into the order `places`: the first of `places` comes first, and so on."""
    now, cursor = list(range(len(places))), 0
    for target, item in enumerate(places):
        place = now.index(item)
        await pilot.press(*(["j"] * (place - cursor) if place > cursor else ["k"] * (cursor - place)))
        await pilot.press(*["K"] * (place - target))
        now.insert(target, now.pop(place))
        cursor = target


async def in_the_app(app: Any, clock: Clock, kind: str, given: Any, rating: str) -> Outcome:
    only(app.workspace, kind)
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.pause()
        card = asked(app.screen).card
        assert card.id == KINDS[kind]
        clock.move(seconds=SECONDS)
        match kind:
            case "choice" | "debug":
                await pilot.press(*("abcdefg"[place] for place in given) if kind == "choice" else ["down"] * given[0])
            case "cloze" | "numeric":
                for number, text in enumerate(given):
                    app.screen.query("AnswerField")[number].value = text
            case "ordering":
                await arrange(pilot, given)
        await pilot.pause()
        await pilot.press("space" if kind == "qa" else "enter", *(["enter"] if kind == "cloze" else []))
        await pilot.pause()
        if kind == "qa":
            await pilot.press(*("abcdefg"[place] for place in given))
        verdicts = [text_of(verdict) for verdict in app.screen.query(CardVerdict)]
        head, detail = (text[app.lang] for text in asked(app.screen).told)
        assert verdicts == (
            [] if kind == "qa" else [f"{head}  {inline(detail).plain}".strip() if kind != "choice" else head]
        )
        await pilot.press(rating or "enter")
        await pilot.pause()
    return outcome(app.workspace, f"{head} {detail}")


def line_by_line(workspace: Workspace, clock: Clock, kind: str, given: Any, rating: str) -> Outcome:
    only(workspace, kind)
    typed = [str(place + 1) for place in given] if kind in ("qa", "choice", "ordering", "debug") else given
    lines = [""] * (kind == "qa") + ([" ".join(typed)] if kind not in ("cloze", "numeric") else typed) + [rating]
    waiting = iter(lines)

    def read() -> str:
        if len(lines) == waiting.__length_hint__():
            clock.move(seconds=SECONDS)
        return next(waiting, "q") + "\n"

    drill = ReviewSession(workspace)
    review = PlainReview(workspace, read, drill, Random(SEED))
    told: list[Asked] = []
    tell = review._print_answer
    review._print_answer = lambda found: (told.append(found), tell(found))[1]  # type: ignore[method-assign]
    review.run()
    return outcome(workspace, " ".join(text[workspace.lang] for text in told[0].told))


def by_an_assistant(workspace: Workspace, clock: Clock, kind: str, given: Any, rating: str) -> Outcome:
    only(workspace, kind)
    tutor = AssistantSession(workspace, Random(SEED))
    card = tutor.next_card()["card"]
    clock.move(seconds=SECONDS)
    numbers = [place + 1 for place in given] if kind in ("qa", "choice", "ordering", "debug") else []
    answers = {"qa": {"text": "aloud"}, "numeric": {"text": given[0]}, "cloze": {"blanks": given}}
    answer = answers.get(kind, {"numbers": numbers})
    told = tutor.attempt(card, **(answer if numbers or any(given) else {"gave_up": True}))
    made = len(numbers) / len(told["points"]) if kind == "qa" else 0
    suggested = told.get("suggested_rating") or ("good" if made == 1 else "hard" if made >= 0.5 else "again")
    tutor.rate(card, Rating.EASY if rating else Rating.of(suggested), numbers if kind == "qa" else None)
    return outcome(workspace, told.get("said", ""))


ANSWERS: list[tuple[str, Any]] = [
    ("qa", [0, 1, 2, 3]),
    ("qa", [1, 2]),
    ("qa", [3]),
    *(("choice", [place]) for place in range(4)),
    ("numeric", ["1 GiB"]),
    ("numeric", ["2^40 B"]),
    ("numeric", [""]),
    ("cloze", ["10000^(-2i/d)", "q, k"]),
    ("cloze", ["i/d", "QK"]),
    ("cloze", ["", ""]),
    ("ordering", [0, 1, 2, 3]),
    ("ordering", [3, 1, 0, 2]),
    ("ordering", [2, 3, 1, 0]),
    ("debug", [0]),
    ("debug", [2]),
]


@pytest.mark.parametrize(("number", "kind", "given"), [(n, *answer) for n, answer in enumerate(ANSWERS)])
async def test_the_same_answer_is_marked_told_logged_and_scheduled_alike(
    make_app: MakeApp,
    indexed: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    number: int,
    kind: str,
    given: Any,
) -> None:
    lang, rating = LANGS[number % 2], "" if number % 3 else "4"
    clock, other_clock = Clock(), Clock()
    app = make_app("review", lang=lang)
    app.workspace.clock = clock
    home = Home(tmp_path / "plain")
    home.root.mkdir()
    shutil.copy(indexed, home.database)
    by_app = await in_the_app(app, clock, kind, given, rating)
    with Workspace.open(home, other_clock, lang, Settings(fuzz=False), BANK) as workspace:
        by_line = line_by_line(workspace, other_clock, kind, given, rating)
    clock, home = Clock(), Home(tmp_path / "assistant")
    home.root.mkdir()
    shutil.copy(indexed, home.database)
    with Workspace.open(home, clock, lang, Settings(fuzz=False), BANK) as workspace:
        by_assistant = by_an_assistant(workspace, clock, kind, given, rating)
    assert by_app == by_line == by_assistant
    assert by_app.payload["elapsed_ms"] == SECONDS * 1000
    printed = " ".join(capsys.readouterr().out.split())
    assert by_app.told in printed


@pytest.mark.parametrize("cram", [False, True])
async def test_a_drill_records_the_same_in_the_app_and_line_by_line(
    make_app: MakeApp, indexed: Path, tmp_path: Path, cram: bool
) -> None:
    card_filter = CardFilter(kind="debug", cram=cram)
    app = make_app("review", card_filter=card_filter)
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.pause()
        assert asked(app.screen).card.id == KINDS["debug"]
        await pilot.press("down", "down", "enter", "4")
        await pilot.pause()
    home = Home(tmp_path / "plain")
    home.root.mkdir()
    shutil.copy(indexed, home.database)
    with Workspace.open(home, Clock(), "en", Settings(fuzz=False), BANK) as workspace:
        lines = iter(["3\n", "4\n"])
        PlainReview(
            workspace, lambda: next(lines, ""), DrillSession(workspace, card_filter, Random(SEED)), Random(SEED)
        ).run()
        kept = [
            [(row.subject, row.payload, found.store.schedules.get(row.subject)) for row in found.store.log.everything()]
            for found in (app.workspace, workspace)
        ]
    assert kept[0] == kept[1] and len(kept[0]) == (not cram)


@pytest.mark.parametrize("lang", LANGS)
async def test_a_quiz_asks_marks_and_tells_the_same_in_the_app_and_line_by_line(
    make_app: MakeApp, indexed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: Lang
) -> None:
    options = QuizOptions(seed=SEED)
    app = make_app("quiz", lang=lang)
    in_app = Quiz(app.workspace, options)
    async with app.run_test(size=(120, 60)) as pilot:
        app.push_screen(QuizScreen(in_app))
        await pilot.pause()
        lines: list[str] = []
        while (question := in_app.current) is not None:
            lines += await answer_in_app(pilot, question)
            await pilot.pause()
        on_screen = " ".join(shown(app).split())
    home = Home(tmp_path / "plain")
    home.root.mkdir()
    shutil.copy(indexed, home.database)
    with Workspace.open(home, Clock(), lang, Settings(fuzz=False), BANK) as workspace:
        by_line, waiting = Quiz(workspace, options), iter(lines)
        PlainQuiz(workspace, lambda: next(waiting, "") + "\n", by_line).run()
        assert workspace.store.log.length() == app.workspace.store.log.length() == 5
    assert in_app.score == by_line.score and in_app.score.left == 0 < in_app.score.right
    printed = capsys.readouterr().out
    told = printed[printed.rindex(_("Missed")[lang]) :]
    assert all(missed.card in told and missed.card in on_screen for missed in in_app.score.missed)
    head = _("{right} of {answered} right", right=in_app.score.right, answered=in_app.score.answered)[lang]
    assert head in printed and head in on_screen


BOTH = {"en": "text", "zh": "文字"}
MANY = card_of(
    {
        "id": "x-01",
        "topic": "x",
        "kind": "choice",
        "level": "screen",
        "question": BOTH,
        "options": [{"text": BOTH, "correct": number % 2 == 0, "why_not": BOTH} for number in range(5)],
        "explain": BOTH,
    }
)


@given(st.sets(st.integers(0, 4)), st.integers(0, 99))
def test_options_by_number_are_options_by_letter(places: set[int], seed: int) -> None:
    by_letter, by_line = Asked.of(MANY, Random(seed)), Asked.of(MANY, Random(seed))
    for place in places:
        by_letter.choose(sorted({*by_letter.answer.places} ^ {place}))
    by_letter.submit()
    read_answer(by_line, "en", lambda: "", lambda: " ".join(str(place + 1) for place in places))
    assert by_line == by_letter and by_line.told == by_letter.told and by_line.suggestion == by_letter.suggestion


CHECKS = REJECTED["checks"]
HARD = {**CHECKS[1], "rung": "hardened"}
KNOWN = {"wrong": "no-scale", "says": "Forgets the scale.", "cards": ["att-02"], "beside": "nan-rows"}
COMMON = {"wrong": "transposed", "says": "Two axes are swapped.", "says_zh": "有两个轴互换了。", "cards": []}
CALLS = {
    **CHECKS[1]["counterexample"],
    "call": 2,
    "calls": [{"call": "sdpa", "args": {"n": 3}}, {"call": "sdpa"}],
    "first_wrong_index": [0, 1],
    "frames": [{"line": 7, "function": "sdpa", "code": "raise ValueError"}],
}
REPORTS = {
    "rejected": REJECTED,
    "not hardened": {**REJECTED, "rung": "solved", "checks": [CHECKS[0], HARD], "diagnosis": []},
    "solved": {**REJECTED, "verdict": "accepted", "rung": "solved", "checks": CHECKS[:1], "diagnosis": []},
    "two mistakes": {**REJECTED, "diagnosis": [KNOWN, {**KNOWN, "wrong": "nan-rows", "beside": "no-scale"}]},
    "in common": {**REJECTED, "diagnosis": [COMMON]},
    "calls": {**REJECTED, "checks": [CHECKS[0], {**CHECKS[1], "counterexample": CALLS}]},
}


class Judge:
    """A fake of the judge's client with a fixed report."""

    def __init__(self, report: GradeReport) -> None:
        self.report = report

    def grade(self, request: object, on_check: object = None) -> GradeReport:
        return self.report

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing, as nothing was started."""


@pytest.fixture
def second_home(indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setattr(paths, "bundled_quizbank", lambda: BANK)
    monkeypatch.setenv("ATTN_HOME", str(tmp_path / "commands"))
    monkeypatch.setenv("COLUMNS", "98")
    home = Home(tmp_path / "commands")
    home.root.mkdir()
    shutil.copy(indexed, home.database)
    yield home


def attempts(workspace: Workspace) -> list[tuple[Any, ...]]:
    rows = workspace.store.log.of_kind(RowKind.ATTEMPT)
    return [(row.subject, row.at, row.day, row.payload) for row in rows]


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("name", REPORTS)
async def test_the_same_grading_is_told_and_kept_alike(
    make_app: MakeApp,
    second_home: Home,
    clock: Clock,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    lang: Lang,
) -> None:
    app = make_app("challenges", challenge="sdpa", lang=lang)
    write_solution(app)
    file = app.workspace.home.solutions / "sdpa.py"
    document = {**REPORTS[name], "file": str(file)}
    report = read(GradeReport, document)
    app.grader = Scripted(lambda: document)
    async with app.run_test(size=(106, 80)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        in_the_app = " ".join(shown(app).split())
    monkeypatch.setattr(grade_command, "Judge", type("Started", (), {"start": staticmethod(lambda: Judge(report))}))
    monkeypatch.setattr("attncli.__main__.Session", lambda: Session(clock))
    capsys.readouterr()
    code = main(["--lang", lang, "grade", "sdpa", str(file), "--full"])
    assert code == (0 if report.accepted else 1)
    by_command = capsys.readouterr().out
    with Workspace.open(second_home, clock, lang, Settings(lang=lang, fuzz=False), BANK) as workspace:
        GradeWatch(workspace, Judge(report), "sdpa", file, GradeOptions(), Layout(full=True)).grade()  # type: ignore[arg-type]
        by_watch = capsys.readouterr().out
        kept = attempts(workspace)
    assert attempts(app.workspace) * 2 == [(row[0], clock.now, *row[2:]) for row in kept] and len(kept) == 2
    printed = by_command.splitlines()
    after_solving = (number for number, line in enumerate(printed) if line.startswith(ASKED_NEXT[lang]))
    printed = printed[: next(after_solving, len(printed))]
    *watched, verdict = by_watch.splitlines()[1:-1]
    assert watched == printed and headline(report, lang) in verdict
    assert headline(report, lang) in printed[0] and headline(report, lang).casefold() in in_the_app.casefold()
    told = [" ".join(line.split()) for line in printed[1:] if line.startswith(" " * 8) or "√" in line or "轴" in line]
    assert [line for line in told if line and line not in in_the_app] == []
    assert bool(told) == (name != "solved")
