"""Compare answers, drills, quizzes, interviews and gradings in the app with those on the command line."""

from __future__ import annotations

from dataclasses import dataclass
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
from attncli.commands.plain import PlainMock, PlainQuiz, PlainReview, read_answer
from attncli.commands.session import Session
from attncli.domain.card_kinds import ClozeCard, card_of
from attncli.domain.grade_report import GradeReport, read
from attncli.domain.grade_report_text import headline
from attncli.domain.log_row import Rating, RowKind, Schedule
from attncli.i18n import LANGS, Lang, _
from attncli.practice import record
from attncli.practice.assistant import AssistantSession
from attncli.practice.challenges import ASKED_NEXT
from attncli.practice.grade import GradeOptions
from attncli.practice.marking import Asked
from attncli.practice.mock import MockInterview, MockOptions, asked_card
from attncli.practice.mock_report import report_of, score_lines
from attncli.practice.queue import CardFilter
from attncli.practice.quiz import Quiz, QuizOptions
from attncli.practice.review import DrillSession, ReviewSession
from attncli.practice.workspace import Workspace
from attncli.tui.formulas import inline
from attncli.tui.screens.mock import MockInterviewScreen
from attncli.tui.screens.quiz import QuizScreen
from attncli.tui.widgets.card import CardVerdict
from moved_clock import Clock
from same_answer import answer_in_app

from .conftest import BANK, MakeApp, OpenOther, press, running, shown, text_of
from .test_challenge import REJECTED, Scripted, write_solution
from .test_review import KINDS, asked

SEED = 7
SECONDS = 42
Captured, Patch = pytest.CaptureFixture[str], pytest.MonkeyPatch


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
        await press(pilot, "space" if kind == "qa" else "enter", *(["enter"] if kind == "cloze" else []))
        if kind == "qa":
            await pilot.press(*("abcdefg"[place] for place in given))
        verdicts = [text_of(verdict) for verdict in app.screen.query(CardVerdict)]
        head, detail = (text[app.lang] for text in asked(app.screen).told)
        whole = head if kind == "choice" else f"{head}  {inline(detail).plain}".strip()
        assert verdicts == [whole] * (kind != "qa")
        await press(pilot, rating or "enter")
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
    ("qa", [1, 2]),
    ("choice", [0]),
    ("numeric", ["2^40 B"]),
    ("cloze", ["i/d", "QK"]),
    ("ordering", [3, 1, 0, 2]),
    ("debug", [2]),
    ("numeric", [""]),
]
"""One answer to each kind of card, not right by default, and one that gives up."""
MORE_ANSWERS: list[tuple[str, Any]] = [
    ("qa", [0, 1, 2, 3]),
    ("qa", [3]),
    *(("choice", [place]) for place in range(1, 4)),
    ("numeric", ["1 GiB"]),
    ("cloze", ["10000^(-2i/d)", "q, k"]),
    ("cloze", ["", ""]),
    ("ordering", [0, 1, 2, 3]),
    ("ordering", [2, 3, 1, 0]),
    ("debug", [0]),
]


@pytest.mark.parametrize(
    ("number", "kind", "given"),
    [
        *((n, *answer) for n, answer in enumerate(ANSWERS)),
        *(pytest.param(n, *answer, marks=pytest.mark.full) for n, answer in enumerate(MORE_ANSWERS)),
    ],
)
async def test_the_same_answer_is_marked_told_logged_and_scheduled_alike(
    make_app: MakeApp, open_other: OpenOther, capsys: Captured, number: int, kind: str, given: Any
) -> None:
    lang, rating = LANGS[number % 2], "" if number % 3 else "4"
    clocks = [Clock() for _ in range(3)]
    app = make_app("review", lang=lang)
    app.workspace.clock = clocks[0]
    by_app = await in_the_app(app, clocks[0], kind, given, rating)
    with open_other("plain", lang, clocks[1]) as workspace:
        by_line = line_by_line(workspace, clocks[1], kind, given, rating)
    with open_other("assistant", lang, clocks[2]) as workspace:
        by_assistant = by_an_assistant(workspace, clocks[2], kind, given, rating)
    assert by_app == by_line == by_assistant
    assert by_app.payload["elapsed_ms"] == SECONDS * 1000
    assert by_app.told in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("cram", [False, True])
async def test_a_drill_records_the_same_everywhere(make_app: MakeApp, open_other: OpenOther, cram: bool) -> None:
    card_filter = CardFilter(kind="debug", cram=cram)
    async with running(make_app("review", card_filter=card_filter), (100, 60)) as (app, pilot):
        assert asked(app.screen).card.id == KINDS["debug"]
        await press(pilot, "down", "down", "enter", "4")
    with open_other("plain") as workspace:
        lines = iter(["3\n", "4\n"])
        drill = DrillSession(workspace, card_filter, Random(SEED))
        PlainReview(workspace, lambda: next(lines, ""), drill, Random(SEED)).run()
        kept = [
            [(row.subject, row.payload, found.store.schedules.get(row.subject)) for row in found.store.log.everything()]
            for found in (app.workspace, workspace)
        ]
    assert kept[0] == kept[1] and len(kept[0]) == (not cram)


@pytest.mark.parametrize("lang", ["zh", pytest.param("en", marks=pytest.mark.full)])
async def test_quizzes_are_alike(make_app: MakeApp, open_other: OpenOther, capsys: Captured, lang: Lang) -> None:
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
    with open_other("plain", lang) as workspace:
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
OPTIONS = [{"text": BOTH, "correct": number % 2 == 0, "why_not": BOTH} for number in range(5)]
NAMES = {"id": "x-01", "topic": "x", "kind": "choice", "level": "screen"}
MANY = card_of({**NAMES, "question": BOTH, "options": OPTIONS, "explain": BOTH})


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
FRAMES = [{"line": 7, "function": "sdpa", "code": "raise ValueError"}]
CALLED = {"call": 2, "calls": [{"call": "sdpa", "args": {"n": 3}}, {"call": "sdpa"}], "frames": FRAMES}
CALLS = {**CHECKS[1]["counterexample"], **CALLED, "first_wrong_index": [0, 1]}
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


def attempts(workspace: Workspace) -> list[tuple[Any, ...]]:
    rows = workspace.store.log.of_kind(RowKind.ATTEMPT)
    return [(row.subject, row.at, row.day, row.payload) for row in rows]


# One language of each report is enough in most runs.
CASES = [(name, lang, lang == LANGS[number % 2]) for number, name in enumerate(REPORTS) for lang in LANGS]


@pytest.mark.parametrize(
    ("name", "lang"), [pytest.param(name, lang, marks=[pytest.mark.full] * (not often)) for name, lang, often in CASES]
)
async def test_the_same_grading_is_told_and_kept_alike(
    make_app: MakeApp, open_other: OpenOther, clock: Clock, capsys: Captured, monkeypatch: Patch, name: str, lang: Lang
) -> None:
    app = make_app("challenges", challenge="sdpa", lang=lang)
    write_solution(app)
    file = app.workspace.home.solutions / "sdpa.py"
    document = {**REPORTS[name], "file": str(file)}
    report = read(GradeReport, document)
    app.grader = Scripted(lambda: document)
    async with app.run_test(size=(106, 80)) as pilot:
        in_the_app = " ".join((await press(pilot, "g")).split())
    with open_other("commands", lang, clock) as workspace:
        monkeypatch.setattr(paths, "bundled_quizbank", lambda: BANK)
        monkeypatch.setenv("ATTN_HOME", str(workspace.home.root))
        monkeypatch.setenv("COLUMNS", "98")
        monkeypatch.setattr(grade_command, "Judge", type("Started", (), {"start": staticmethod(lambda: Judge(report))}))
        monkeypatch.setattr("attncli.__main__.Session", lambda: Session(clock))
        capsys.readouterr()
        code = main(["--lang", lang, "grade", "sdpa", str(file), "--full"])
        assert code == (0 if report.accepted else 1)
        by_command = capsys.readouterr().out
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


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["zh", pytest.param("en", marks=pytest.mark.full)])
async def test_mock_interviews_are_alike(
    make_app: MakeApp, open_other: OpenOther, capsys: Captured, lang: Lang
) -> None:
    options = MockOptions(20, "screen", 5)
    app = make_app("home", lang=lang)
    in_app = MockInterview.begin(app.workspace, options)
    lines: list[str] = []
    async with app.run_test(size=(120, 60)) as pilot:
        app.push_screen(MockInterviewScreen(in_app))
        await pilot.pause()
        while (asked := in_app.asked) is not None:
            match asked.card.kind:
                case "qa" if asked.card.points:
                    await pilot.press("space", "b", "enter")
                    lines += ["", "2"]
                case "qa":
                    await pilot.press("space", "1")
                    lines += ["", "1"]
                case _:
                    lines += await answer_in_app(pilot, asked)
            await pilot.pause()
        in_app.end()
    with open_other("plain", lang) as workspace:
        by_line, waiting = MockInterview.begin(workspace, options), iter([*lines, "n"])
        PlainMock(workspace, lambda: next(waiting, "n") + "\n", by_line, app.grader).run()
        results = [
            {place: (found.got, found.of, found.points) for place, found in interview.state.results.items()}
            for interview in (in_app, by_line)
        ]
        # One more: the code that was on the screen when the interview ended.
        assert results[0] == results[1] and len(results[0]) == len(lines) - lines.count("") - _blanks(in_app) + 1
        reports = [report_of(room, held.state) for room, held in ((app.workspace, in_app), (workspace, by_line))]
    assert reports[0].missed == reports[1].missed and reports[0].share == reports[1].share
    printed = capsys.readouterr().out
    assert all(text in printed for kind, text in score_lines(reports[1], lang) if kind == "line")


def _blanks(interview: MockInterview) -> int:
    """Count the lines of cloze cards beyond one per card."""
    cards = [asked_card(interview.workspace, item) for item in interview.state.plan.items if not item.is_code]
    return sum(len(card.blanks) - 1 for card in cards if isinstance(card, ClozeCard))
