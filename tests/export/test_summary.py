"""The summary matches the log and past mock interviews, in both languages and every format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest

from attncli.config import Settings
from attncli.domain.card_kinds import NumericCard
from attncli.domain.grade_report import GradeReport
from attncli.domain.log_row import Rating
from attncli.domain.mock_interview import MockItem, MockPart, MockPlan
from attncli.domain.text import code_block, code_span
from attncli.export.render import to_html, to_markdown
from attncli.export.summary import PARTS, summarise
from attncli.i18n import LANGS, _
from attncli.paths import Home
from attncli.practice import mock_log, record
from attncli.practice.grade import record_attempt
from attncli.practice.mock import MockInterview, MockOptions
from attncli.practice.mock_report import past_mocks
from attncli.practice.record import answer, take_back
from attncli.practice.start import start_challenge
from attncli.practice.workspace import Workspace
from moved_clock import Clock

from ..support.interviews import write_bank, write_impl
from .conftest import NOW

SOON = date(2026, 3, 8)
SOURCE = "import torch\n\n\ndef softmax(x, dim=-1):\n    return x  # `<b>` & ```fences```\n"


def forget(workspace, *cards):
    for card in cards:
        for days in (40, 39, 30):
            record.answer(workspace, card, Rating.AGAIN, NOW - timedelta(days=days))


def know(workspace, *cards, days=3):
    for card in cards:
        record.answer(workspace, card, Rating.EASY, NOW - timedelta(days=days))


def solve(workspace, id="softmax-stable", rung="hardened", source=SOURCE, file="x.py"):
    verdict = "rejected" if rung == "none" else "accepted"
    record_attempt(workspace, GradeReport(challenge=id, file=file, verdict=verdict, rung=rung), source)


def text_of(page):
    return re.sub(r"<[^>]*>", "", re.sub(r"<style>.*?</style>", "", page, flags=re.S)).replace("\u00a0", " ")


def test_an_empty_home_has_a_summary_that_says_so(workspace):
    text = to_markdown(summarise(workspace, "en"))
    assert all(said in text for said in ("No weak cards.", "No challenges solved yet.", "No cards reviewed yet"))


def test_weak_cards_come_with_answer_points_and_formulas_in_either_part_or_language(workspace):
    forget(workspace, "att-02", "arch-02")
    summary, chinese = summarise(workspace, "en"), summarise(workspace, "zh")
    assert {card.id for card in summary.weak} == {"att-02", "arch-02"}
    assert [c.id for c in summary.weak] == [c.id for c in chinese.weak]
    assert summary.weak[0].question != chinese.weak[0].question
    text = to_markdown(summary)
    assert "variance" in text and "- [ ] Var(q·k) = d_k" in text
    answer = next(card.answer for card in summary.weak if card.id == "att-02")
    assert answer in text and "\n\n" in answer, "the lead, then the rest"
    for write in (to_markdown, to_html):
        sheet, notes, both = (write(summary, parts=parts) for parts in (["sheet"], ["notes"], PARTS))
        assert "Must-know" in sheet and "Weak cards and answers" not in sheet
        assert "Must-know" not in notes and "Weak cards and answers" in notes
        assert "Must-know" in both and "Weak cards and answers" in both


def test_a_card_forgotten_today_counts_as_not_recalled_and_fewer_are_recalled_on_the_interview_day(workspace):
    forget(workspace, "att-02")
    today, later = (summarise(workspace, "en", day) for day in (None, date(2026, 4, 20)))
    assert 0 < later.recall_on_day < today.recall_on_day and later.days_left == 50
    record.answer(workspace, "att-02", Rating.AGAIN, NOW)
    record.answer(workspace, "att-03", Rating.EASY, NOW)
    topic = {t.id: t for t in summarise(workspace, "en").topics}["att"]
    assert topic.recall_on_day == 0.5
    assert "100%" not in to_markdown(summarise(workspace, "en"))


def test_points_that_were_not_ticked_make_a_card_weak_and_are_named(workspace):
    record.answer(workspace, "att-02", Rating.GOOD, NOW, {"points": [0]})
    card = summarise(workspace, "en").weak[0]
    assert card.reasons == ("points",)
    assert [point.missed for point in card.points] == [False] + [True] * (len(card.points) - 1)
    page = to_html(summarise(workspace, "zh"))
    assert page.count("上次漏答）") == len(card.points) - 1


WRITTEN = '''"""The statement.

Everywhere …
"""

import math

import torch
from torch import nn

SCALE = 1


class Block(nn.Module):
    """Says what it must do."""

    def forward(self, x):
        """Only this."""


def softmax(x):
    """A statement
    of several lines."""
    return x * SCALE
'''


def test_own_code_is_shown_without_imports_and_docstrings_and_cut_after_forty_lines(workspace):
    solve(workspace, source=WRITTEN)
    summary = summarise(workspace, "en")
    (line,) = summary.solved
    assert line.source == WRITTEN.strip("\n")
    assert line.code == (
        "SCALE = 1\n\n\nclass Block(nn.Module):\n\n    def forward(self, x):\n"
        '        """Only this."""\n\n\ndef softmax(x):\n    return x * SCALE'
    )
    assert line.code in to_markdown(summary) and "The statement" not in to_markdown(summary) + to_html(summary)
    solve(workspace, source=SOURCE)
    page = to_html(summarise(workspace, "en"))
    assert "<b>x" not in page and "&lt;b&gt;" in page, "mark-up in code is shown"
    solve(workspace, source="def softmax(x):\n" + "".join(f"    x = x + {n}\n" for n in range(60)) + "    return x\n")
    for page in (to_markdown(summarise(workspace, "en")), text_of(to_html(summarise(workspace, "en")))):
        assert "x = x + 38" in page and "x = x + 39" not in page and "lines left out: 22" in page


def test_the_sheet_has_the_formula_or_fact_of_each_must_know_card(workspace):
    forget(workspace, "att-04")
    for lang in LANGS:
        summary = summarise(workspace, lang)
        text = to_markdown(summary, parts=["sheet"])
        cards = [workspace.library.card(id) for id in workspace.store.index.must_know()[0]]
        assert len(cards) > 60
        for card in cards:
            assert (f"${card.formula}$" if card.formula else card.fact[lang]) in text, card.id
        assert summary.weak[0].gist in text and summary.weak[0].answer not in text


def test_rungs_are_told_apart(workspace):
    solve(workspace)
    solve(workspace, "sdpa", "solved")
    summary = summarise(workspace, "en")
    assert {line.id: line.rung for line in summary.solved} == {"softmax-stable": "hardened", "sdpa": "solved"}
    text = to_markdown(summary)
    assert "`softmax-stable` · hardened" in text and "`sdpa` · solved" in text
    assert "challenges solved: 2" in text and "1 hardened" in text


def test_a_repaired_bug_file_is_not_own_code_and_leaves_own_code_as_it_is(workspace, tmp_path):
    started = start_challenge(workspace, "layer-norm", bug=True)
    solve(workspace, "layer-norm", source="# mended\n", file=str(started.path))
    summary = summarise(workspace, "en")
    assert summary.solved == () and summary.tried == ()
    assert summary.repaired == (workspace.library.challenge("layer-norm").title.en,)
    assert "# mended" not in to_markdown(summary) + to_html(summary)
    solve(workspace, "sdpa", "solved", "# my own\n")
    started = start_challenge(workspace, "sdpa", tmp_path / "bugs", bug=True)
    solve(workspace, "sdpa", source="# mended\n", file=str(started.path))
    solve(workspace, "sdpa", "solved", "# my own again\n", str(tmp_path / "mine" / "sdpa.py"))
    summary = summarise(workspace, "en")
    assert [(line.rung, line.source, line.attempts) for line in summary.solved] == [("solved", "# my own again", 2)]
    assert len(summary.repaired) == 2


def test_topics_come_by_need_one_opens_with_what_is_known_and_those_not_begun_are_a_list(workspace):
    know(workspace, *(f"att-0{n}" for n in range(2, 7)))
    forget(workspace, *(f"kv-0{n}" for n in range(1, 5)))
    forget(workspace, "pos-01", "pos-02")  # two cards say little about a topic
    summary = summarise(workspace, "en")
    assert [topic.id for topic in summary.open_with] == ["att"]
    assert [topic.id for topic in summary.avoid] == ["kv"]
    assert [t.need for t in summary.topics] == sorted((t.need for t in summary.topics), reverse=True)
    assert {t.id for t in summary.started} == {"att", "kv", "pos"}
    text = to_markdown(summary)
    assert sum(line.startswith("| ") and "/" in line for line in text.splitlines()) == 3
    begun = text.index("## Not started")
    assert all(text.index(f"- {topic.title}\n", begun) for topic in summary.not_started)


def test_cards_that_come_due_before_the_day_are_listed_unless_they_are_weak(workspace):
    record.answer(workspace, "att-02", Rating.EASY, NOW)
    assert summarise(workspace, "en").to_review == ()
    later = summarise(workspace, "en", date(2026, 3, 20))
    assert [c.id for c in later.to_review] == ["att-02"] and later.weak == ()
    much_later = summarise(workspace, "en", date(2028, 6, 1))
    assert [c.id for c in much_later.weak] == ["att-02"] and much_later.to_review == ()


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_the_page_is_one_file_with_mathml_that_fetches_nothing_and_maps_the_begun_topics(workspace):
    forget(workspace, "att-02", "att-04")
    know(workspace, "kv-01", "moe-01")
    solve(workspace)
    for lang in LANGS:
        summary = summarise(workspace, lang, date(2026, 4, 1))
        page = to_html(summary)
        tags = Tags(page).found
        names = {tag for tag, _ in tags}
        assert {"math", "svg"} <= names
        assert not names & {"script", "link", "img", "iframe", "object", "use", "image"}
        assert not [a for _, attributes in tags for a in attributes if a in ("src", "href", "xlink:href", "style")]
        assert "url(" not in page and "@import" not in page and "$$" not in page
        assert _("Interview summary")[lang] in page
        shown = re.findall(r'<li data-topic="(\w+)">(.*?) <b>(\d+%)</b>', page)
        assert shown == [(topic.id, topic.title, f"{topic.readiness_on_day:.0%}") for topic in summary.started]


def test_both_languages_are_two_parts_with_the_code_once(workspace):
    forget(workspace, "att-02")
    solve(workspace)
    for write in (to_markdown, to_html):
        text = write(summarise(workspace, "zh"), summarise(workspace, "en"))
        assert text.index("速查表") < text.index("Open with")
        assert (text_of(text) if write is to_html else text).count("def softmax") == 1
        assert "See the code in the first part." in text


def test_the_json_document_holds_everything_under_the_documented_names(workspace):
    forget(workspace, "att-02")
    know(workspace, "att-03")
    solve(workspace)
    document = json.loads(json.dumps(asdict(summarise(workspace, "en", date(2026, 4, 20)))))
    assert document["weak"][0]["id"] == "att-02"
    assert document["reviews"] == 4
    page = (Path(__file__).parents[2] / "docs" / "summary.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(\w+)`", page))
    keys = set(document)
    for listed in ("topics", "must_know", "weak", "solved", "to_review"):
        keys |= set(document[listed][0])
    assert keys <= documented


def test_chinese_is_punctuated_as_chinese(workspace):
    forget(workspace, "att-02")
    know(workspace, *(f"kv-0{n}" for n in range(1, 5)))
    for write in (to_markdown, to_html):
        text = text_of(write(summarise(workspace, "zh", date(2026, 4, 20))))
        assert "面试日期 2026-04-20" in text
        assert "尚未开始" in text and "；" in text
        own = re.sub(r"##* 各主题的薄弱卡片与答案.*", "", text, flags=re.S).partition("各主题的薄弱卡片与答案")[0]
        assert " %" not in own and not re.search(r"[一-鿿]: ", own)


def test_a_fence_is_longer_than_any_in_the_code():
    assert code_block("a ```` b") == "`````\na ```` b\n`````"
    assert code_block("plain", "python") == "```python\nplain\n```"
    assert code_span("a`b") == "``a`b``"
    assert code_span("`b") == "`` `b ``"


def test_the_last_days_are_the_plans_and_nothing_without_a_date(workspace):
    know(workspace, "att-02", "kv-01")
    assert summarise(workspace, "en").last_days == ()
    summary = summarise(workspace, "en", date(2026, 3, 20))
    assert [line.date for line in summary.last_days] == [f"2026-03-{day}" for day in range(13, 20)]
    assert all(line.to_do for line in summary.last_days)
    assert "## The last days" in to_markdown(summary)
    assert "最后一轮" in to_html(summarise(workspace, "zh", date(2026, 3, 20)))


@pytest.fixture
def held(tmp_path: Path, moving_clock: Clock) -> Iterator[Workspace]:
    """Review the first card, then miss two of its points in an interview."""
    bank, impl = write_bank(tmp_path / "bank"), write_impl(tmp_path / "impl")
    home = Home(tmp_path / "home")
    with Workspace.open(home, moving_clock, settings=Settings(), quizbank=bank, impl=impl) as workspace:
        interview = MockInterview.begin(workspace, MockOptions(30, "onsite", 3))
        assert interview.asked is not None
        answer(workspace, interview.asked.card.id, Rating.EASY)
        moving_clock.move(seconds=20)
        interview.reveal()
        interview.asked.ticked = {1}
        interview.answer()
        interview.end()
        yield workspace


def test_an_interview_is_told_with_the_points_that_were_missed_until_it_is_undone(held: Workspace) -> None:
    told = {"en": ("one", "three", "Which one, norm 5?"), "zh": ("其一", "其三", "哪一个，norm 5？")}
    for lang in LANGS:
        summary, missed = summarise(held, lang), told[lang]
        (mock,) = summary.mocks
        assert (mock.date[:5], mock.minutes, mock.missed) == ("2026-", 30, missed)
        assert mock.score == pytest.approx(1 / 6)
        lines = to_markdown(summary).splitlines()
        place = next(n for n, line in enumerate(lines) if line.startswith("**2026-"))
        assert "30" in lines[place] and "17" in lines[place]
        assert lines[place + 2] == f"- {mock.questions[0].question}"
        assert lines[place + 3 : place + 5] == [f"  - {point}" for point in missed[:2]]
        assert all(point in to_html(summary) for point in missed)
        weak = next(card for card in summary.weak if "points" in card.reasons)
        assert [point.missed for point in weak.points] == [True, False, True] and weak.reasons == ("points",)
    take_back(held)
    take_back(held)
    summary = summarise(held, "en")
    assert summary.mocks == () and summary.weak == () and "Mock interviews" not in to_markdown(summary)


def test_a_missed_number_shows_question_right_number_and_answer(
    tmp_path: Path, small_bank: Path, moving_clock: Clock
) -> None:
    with Workspace.open(Home(tmp_path / "home"), moving_clock, settings=Settings(), quizbank=small_bank) as workspace:
        plan = MockPlan(30, "screen", 5, False, (MockPart("warm-up", 8, (MockItem("card", "kv-01"),)),))
        interview = MockInterview(workspace, mock_log.begin(workspace, plan))
        asked = interview.asked
        assert asked is not None and isinstance(asked.card, NumericCard)
        question, right = asked.question.en, f"{asked.card.expected:g}"
        asked.answer.texts = ["1"]
        interview.reveal()
        interview.answer()
        (missed,) = summarise(workspace, "en").mocks[0].questions
        assert missed.question == question and right in missed.right[0] and "you entered 1" in missed.right[0]
        (line,) = past_mocks(workspace)[0].missed
        assert missed.right[0] == line.answer.en and question == line.question.en
