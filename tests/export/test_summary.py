"""The summary says what the log says, in both languages and every format."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta
from html.parser import HTMLParser

import pytest

from attncli import paths
from attncli.domain.rating import Rating
from attncli.domain.report import GradeReport
from attncli.export.html import to_html
from attncli.export.markdown import fence, to_markdown
from attncli.export.summary import summarise
from attncli.practice import record_review
from attncli.practice.attempt import record_attempt
from attncli.practice.workspace import Workspace
from attncli.words.summary_texts import LABELS

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOURCE = "import torch\n\n\ndef softmax(x, dim=-1):\n    return x  # `<b>` & ```fences```\n"


@pytest.fixture
def workspace(tmp_path):
    with Workspace.open(paths.Home(tmp_path), lambda: NOW, "en") as opened:
        yield opened


def forget(workspace, *cards):
    for card in cards:
        for days in (40, 39, 30):
            record_review.answer(workspace, card, Rating.AGAIN, NOW - timedelta(days=days))


def solve_softmax(workspace):
    report = GradeReport(challenge="softmax-stable", file="x.py", verdict="accepted", rung="hardened")
    record_attempt(workspace, report, SOURCE)


def test_an_empty_home_has_a_summary_that_says_so(workspace):
    text = to_markdown(summarise(workspace, "en"))
    assert "No weak cards." in text
    assert "No challenge solved yet." in text


def test_weak_cards_come_with_answer_points_and_formulas(workspace):
    forget(workspace, "att-02")
    summary = summarise(workspace, "en")
    assert [card.id for card in summary.weak] == ["att-02"]
    text = to_markdown(summary)
    assert "variance" in text
    assert "$$" in text
    assert "- [ ] Var(q·k) = d_k" in text


def test_the_learners_own_code_is_in_it_whole(workspace):
    solve_softmax(workspace)
    summary = summarise(workspace, "en")
    assert summary.solved[0].source == SOURCE.strip("\n")
    assert SOURCE.strip() in to_markdown(summary)
    assert "<b>" not in re.sub(r"<pre>.*?</pre>", "", to_html(summary), flags=re.S)
    assert "&lt;b&gt;" in to_html(summary)


def test_recall_on_the_interview_day_is_lower_than_today(workspace):
    forget(workspace, "att-02")
    topic = {t.id: t for t in summarise(workspace, "en", date(2026, 4, 20)).topics}["att"]
    assert 0 < topic.recall_on_day < topic.recall
    assert summarise(workspace, "en", date(2026, 4, 20)).days_left == 50


def test_cards_that_come_due_before_the_day_are_listed(workspace):
    record_review.answer(workspace, "att-02", Rating.EASY, NOW)
    assert summarise(workspace, "en").to_review == ()
    assert [c.id for c in summarise(workspace, "en", date(2026, 6, 1)).to_review] == ["att-02"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_is_one_file_with_mathml_and_fetches_nothing(workspace, lang):
    forget(workspace, "att-02", "att-04")
    solve_softmax(workspace)
    page = to_html(summarise(workspace, lang, date(2026, 4, 1)))
    tags = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.append((tag, dict(attrs)))

    Tags().feed(page)
    names = {tag for tag, _ in tags}
    assert "math" in names
    assert not names & {"script", "link", "img", "iframe"}
    assert not [a for _, attributes in tags for a in attributes if a in ("src", "href")]
    assert LABELS["title"][lang] in page
    assert "$$" not in page


@pytest.mark.parametrize("formula", [r"\text{<b>x</b>}", r"\text{<script>alert(1)</script>}", r"\frac{a"])
def test_mark_up_in_a_formula_is_shown_and_not_obeyed(formula):
    from attncli.export.html import _parser

    shown = _parser().render(f"before ${formula}$ after")
    assert "<b>" not in shown and "<script" not in shown
    assert "before" in shown and "after" in shown


def test_chinese_and_english_list_the_same_cards(workspace):
    forget(workspace, "att-02", "arch-02")
    english, chinese = summarise(workspace, "en"), summarise(workspace, "zh")
    assert [c.id for c in english.weak] == [c.id for c in chinese.weak]
    assert english.weak[0].question != chinese.weak[0].question


def test_the_json_document_holds_everything(workspace):
    forget(workspace, "att-02")
    document = json.loads(json.dumps(summarise(workspace, "en").document()))
    assert document["weak"][0]["id"] == "att-02"
    assert document["reviews"] == 3


@pytest.mark.parametrize("write", [to_markdown, to_html])
def test_chinese_is_punctuated_as_chinese(workspace, write):
    forget(workspace, "att-02")
    text = write(summarise(workspace, "zh", date(2026, 4, 20)))
    assert "2026-04-20（50 天后）" in text and "架构：编码器、解码器与交叉注意力：0%，0/" in text
    assert " %" not in re.sub(r"<style>.*?</style>", "", text, flags=re.S)
    assert "2026-04-20 (50 days left)" in write(summarise(workspace, "en", date(2026, 4, 20)))


def test_a_fence_is_longer_than_any_in_the_code():
    assert fence("a ```` b") == "`````"
    assert fence("plain") == "```"
