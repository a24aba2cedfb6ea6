"""`attn plan`, and all other places that show the interview date."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from attncli import __main__ as program
from attncli.commands.cards import _shortened
from attncli.commands.session import Session
from attncli.domain.text import cells

from .conftest import Attn

NOON = datetime(2026, 6, 12, 12, 0, tzinfo=UTC)
TODAY = date(2026, 6, 12)
SOON = "2026-06-24"


@pytest.fixture(autouse=True)
def a_clock_that_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "Session", lambda: Session(lambda: NOON))


def test_what_cannot_be_planned_is_said_in_one_line(attn: Attn) -> None:
    refused = attn("plan")
    assert refused.code == 2 and refused.out == ""
    assert "--interview" in refused.line and "attn config interview" in refused.line
    for words, said in (
        (("--interview", "2020-01-01"), "is in the past"),
        (("--interview", "2999-01-01"), "more than two years away"),
        (("--interview", "soon"), "is not a date; write it like"),
        (("--interview", SOON, "--minutes", "0"), "1<=x<=960"),
        (("--interview", SOON, "--minutes", "many"), "not a valid integer"),
    ):
        refused = attn("plan", *words)
        assert refused.code == 2 and said in refused.line


def test_the_json_says_every_day_and_what_is_left_out(attn: Attn) -> None:
    found = attn("plan", "--interview", SOON, "--minutes", "2", "--json").json
    assert (found["interview"], found["days_left"], found["minutes_per_day"]) == (SOON, 12, 2)
    assert len(found["days"]) == 12 and found["days"][0]["new"] == found["today"] == ["att-01"]
    assert set(found["topics"]) == {"att", "kv"}
    for told in (found["recall"], found["recall_if_stopped"], found["topics"]["att"]):
        assert 0 <= told["low"] <= told["recall"] <= told["high"] <= 1
    assert found["left_out"]["challenges"] == 1 and found["left_out"]["cards"] == 0
    assert found["last_pass"] == found["days"][-1]["date"]


def test_the_plan_reads_in_both_languages(attn: Attn) -> None:
    for key, value in (("interview", SOON), ("minutes_per_day", "1"), ("easy_days", "mon=0 tue=0 wed=0 thu=0 fri=0")):
        attn("config", key, value)
    for lang, said in (
        ("en", ("The interview is in 12 days", "won't fit", "Day by day", "Last pass", "Attention")),
        ("zh", ("距离面试还有 12 天", "学不到", "每日安排", "最后一轮")),
    ):
        text = attn("plan", "--lang", lang).out
        assert all(words in text for words in said), text
    for days, said in ((0, "The interview is today."), (1, "The interview is tomorrow")):
        plan = attn("plan", "--interview", (TODAY + timedelta(days=days)).isoformat())
        assert plan.code == 0 and plan.out.startswith(said)


def test_the_date_that_is_set_shows_in_statistics_and_its_clearing_ends_that(attn: Attn) -> None:
    assert attn("stats", "--json").json["interview"] is None
    attn("config", "interview", SOON)
    attn("answer", "att-01", "--rating", "good")
    told = attn("stats", "--json").json["interview"]
    assert (told["date"], told["days_left"]) == (SOON, 12) and 0 < told["recall"] < 1
    assert attn("stats").out.startswith("12 days to the interview")
    assert attn("stats", "--lang", "zh").out.startswith("距面试 12 天")
    assert attn("config", "interview", "").code == 0
    assert attn("stats", "--json").json["interview"] is None and attn("plan").code == 2


def test_the_day_s_list_is_not_given_again_once_it_is_done(attn: Attn) -> None:
    attn("config", "interview", SOON)
    attn("config", "minutes_per_day", "1")
    assert "Today: 1 min" in attn("plan").out
    attn("answer", attn("plan", "--json").json["days"][0]["new"][0], "--rating", "easy")
    text = attn("plan").out
    assert "Studied today: about 1 min" in text and "Today's list is done." in text
    assert "今天的清单已完成。" in attn("plan", "--lang", "zh").out
    assert attn("plan", "--json").json["studied_minutes"] == 1 and attn("due", "--json").json["due"] == 0


def test_a_title_that_is_cut_off_shows_that_it_is() -> None:
    assert _shortened("Attention mathematics") == "Attention mathematics"
    assert _shortened("Architectures: encoder, decoder, cross-attention") == "Architectures: encoder, decoder, c…"
    assert cells(_shortened("架构：编码器、解码器与交叉注意力，以及更多的内容一二三四五")) < 36


def test_config_prints_what_it_kept_and_refuses_a_past_date(attn: Attn) -> None:
    assert attn("config", "easy_days", "sun SAT=20").out == "easy_days = sat=20 sun=50\n"
    assert attn("config", "day_start", "5:30").out == "day_start = 05:30\n"
    assert attn("config", "easy_days", "").out == "easy_days = \n"
    refused = attn("config", "interview", "2020-01-01")
    assert refused.code == 2 and "2020-01-01 is in the past" in refused.line
    assert attn("config", "interview").out == "\n"


def test_the_summary_takes_the_day_that_is_set_and_counts_as_the_plan_does(
    attn: Attn, home: Path, monkeypatch: Any
) -> None:
    attn("config", "interview", SOON)
    midnight = datetime.combine(TODAY, datetime.min.time()).replace(hour=1).astimezone() + timedelta(days=1)
    monkeypatch.setattr(program, "Session", lambda: Session(lambda: midnight.astimezone(UTC)))
    told = attn("export", "summary", "--format", "json").json
    assert told["days_left"] == attn("plan", "--json").json["days_left"] == 12 and told["interview"] == SOON
    (home / "config.toml").write_text('interview = "2020-01-01"\n', encoding="utf-8")
    assert attn("export", "summary", "--format", "json").json["interview"] == "", "a day that is past is none"
    refused = attn("export", "summary", "--interview", "2020-01-01")
    assert refused.code == 2 and "2020-01-01 is in the past" in refused.err
