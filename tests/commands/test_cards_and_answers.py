"""due, answer, undo, suspend, bury, cards, show, stats: shapes as in the contract, and one line for failures."""

from __future__ import annotations

from datetime import datetime

import pytest

from attncli import __version__

from .conftest import Attn


def test_due_counts_add_up(attn: Attn) -> None:
    counts = {"due": 6, "new": 6, "learning": 0, "review": 0, "challenges": 0, "topics": {"att": 3, "kv": 3}}
    assert attn("due", "--json").json == counts
    assert attn("due").out.splitlines()[0] == "6 due: 6 new, 0 learning, 0 to review; challenges: 0"
    assert attn("due", "--lang", "zh").out.startswith("今天 6 张：新卡 6")
    assert attn("due", "--json").out == attn("--lang", "en", "due", "--json").out, "with the option parser"
    assert attn("due").out == attn("due", "--lang", "en").out


def test_due_says_what_does_not_fit_the_minutes_that_were_set(attn: Attn) -> None:
    at = ("--at", "2026-03-05T09:00:00Z")
    for card in ("att-01", "att-02", "att-03", "kv-01", "kv-02"):
        attn("answer", card, "--rating", "easy", "--at", "2026-01-05T09:00:00Z")
    assert len(attn("due", *at).out.splitlines()) == 3
    attn("config", "minutes_per_day", "1")
    said = attn("due", *at).out.splitlines()
    assert said[0] == "4 due: 0 new, 0 learning, 4 to review; challenges: 0"
    assert said[-1].startswith("1 more review won't fit into 1 min today")
    assert attn("due", "--lang", "zh", *at).out.splitlines()[-1].startswith("还有 1 张待复习")
    document = attn("due", "--json", *at).json
    assert set(document) == {"due", "new", "learning", "review", "challenges", "topics"} and document["due"] == 4


def test_answer_prints_the_new_schedule(attn: Attn) -> None:
    answered = attn("answer", "att-01", "--rating", "good", "--at", "2026-01-05T09:00:00+08:00", "--json").json
    assert answered == {
        "card": "att-01",
        "rating": "good",
        "at": "2026-01-05T01:00:00Z",
        "state": "learning",
        "stability": 2.3065,
        "difficulty": pytest.approx(2.1181, abs=1e-4),
        "due": "2026-01-05T01:10:00Z",
        "interval_days": pytest.approx(10 / 1440),
    }
    assert datetime.fromisoformat(answered["due"]).tzinfo is not None


def test_the_published_vector_holds_from_the_command_line(attn: Attn) -> None:
    attn("config", "fuzz", "false")
    at, days = "2022-11-29T12:30:00Z", []
    words = ["again", "hard", "good", "easy"]
    for rating in [3, 3, 4, 2, 3, 1, 3, 3, 3]:
        answered = attn("answer", "kv-01", "--rating", words[rating - 1], "--at", at, "--json").json
        days.append(int(answered["interval_days"]))
        at = answered["due"]
    assert days == [0, 2, 19, 56, 164, 0, 5, 11, 23]


def test_undo_takes_back_whatever_was_done_last(attn: Attn) -> None:
    before = attn("due", "--json").out
    for command, english, chinese in (
        ("suspend", "undone: suspending att-01", "对 att-01 的搁置"),
        ("bury", "undone: burying att-01", "对 att-01 的推迟"),
        ("unsuspend", "undone: unsuspending att-01", "对 att-01 的恢复"),
    ):
        for lang, said in (("en", english), ("zh", chinese)):
            assert attn(command, "att-01").code == 0
            assert said in attn("undo", "--lang", lang).out
    attn("answer", "att-01", "--rating", "easy", "--at", "2026-01-05T09:00:00Z")
    assert "undone: att-01 easy" in attn("undo").out
    assert attn("due", "--json").out == before
    assert "nothing to undo on this machine" in attn("undo").line and attn("undo").code == 2


def test_doctor_names_rows_from_the_future(attn: Attn) -> None:
    assert attn("doctor", "--json").json["clock"] == []
    attn("answer", "att-01", "--rating", "good", "--at", "2190-01-01T10:00:00Z")
    first, advice = attn("doctor", "--json").json["clock"]
    assert first.startswith("the review of att-01 is dated 2190-01-01 10:00Z")
    assert advice.startswith("it counts from that time on")
    said = attn("doctor")
    assert "clock        the review of att-01 is dated 2190" in said.out and said.code == 0


def test_holds(attn: Attn) -> None:
    assert attn("suspend", "att-01").code == attn("bury", "att-02").code == 0
    assert attn("due", "--json").json["topics"] == {"att": 1, "kv": 3}
    assert attn("unsuspend", "att-01").code == attn("unsuspend", "att-02").code == 0
    assert attn("due", "--json").json["due"] == 6
    for command in ("suspend", "bury", "unsuspend"):
        assert "unknown card nope" in attn(command, "nope").line and attn(command, "nope").code == 2


UNUSABLE = {
    "answer att-1 --rating good": "unknown card att-1; did you mean att-0",
    "answer att-01": "Missing option '--rating'",
    "answer att-01 --rating fine": "'fine' is not one of",
    "answer att-01 --rating good --at 2026-01-05T09:00:00": "has no UTC offset",
    "answer att-01 --rating good --at yesterday": "is not a time such as",
    "answer att-01 --rating good --at 9999-12-31T23:59:59Z": "is not between 1990 and 2200",
    "answer att-01 --rating good --at 0001-01-01T00:00:00+14:00": "is not between 1990 and 2200",
    "answer att-01 extra --rating good": "unexpected extra argument",
    "due --jsn": "No such option '--jsn'",
    "dew": "unknown command dew; did you mean due?",
    "xyzzy": "run `attn --help` for a list",
    "show nope": "unknown card nope",
    "show \udcff": "unknown card",
    "cards --topic at": "unknown topic at; did you mean att?",
    "review --plain --topic nope": "unknown topic nope",
    "review --plain --limit 0": "0 is not in the range",
    "review": "`attn review --plain`",
    "": "run `attn due` for the counts",
}


def test_an_unusable_call_exits_2_with_one_line(attn: Attn) -> None:
    for call, said in UNUSABLE.items():
        result = attn(*call.split())
        assert result.code == 2 and said in result.line, call


def test_cards_are_listed_and_searched_in_both_languages(attn: Attn) -> None:
    def found(*words: str) -> list[str]:
        return [card["id"] for card in attn("cards", *words, "--json").json]

    first = attn("cards", "--json").json[0]
    asked = "Why divide by the root of d?"
    assert first == {"id": "att-01", "topic": "att", "kind": "qa", "level": "screen", "question": asked}
    assert found() == ["att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"]
    assert found("置换") == ["att-02"] and found("--topic", "kv") == ["kv-01", "kv-02", "kv-03"]
    chinese = attn("cards", "decod", "--lang", "zh").out
    assert chinese.startswith("kv-02") and "排列解码的步骤" in chinese
    result = attn("cards", "flux capacitor", "--json")
    assert result.code == 1 and result.json == [] and "no card matches flux capacitor" in result.line


def test_every_kind_of_card_is_shown_whole(attn: Attn) -> None:
    for card in ("att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"):
        document = attn("show", card, "--json").json
        assert document["id"] == card and document["schedule"] is None
        for lang in ("en", "zh"):
            assert document["explain"][lang].strip() in attn("show", card, "--lang", lang).out
            narrowed = attn("show", card, "--lang", lang, "--json").json
            assert narrowed["question"] == document["question"][lang] and "'en'" not in str(narrowed)
    assert "✓ **attention**" in attn("show", "att-02").out and "It sees neighbours." in attn("show", "att-02").out
    assert "layers * dtype" in attn("show", "kv-01").out and "{{" not in attn("show", "kv-01").out
    attn("answer", "att-01", "--rating", "easy")
    assert attn("show", "att-01", "--json").json["schedule"]["state"] == "review"


def test_stats_have_the_promised_keys_and_a_forgotten_card_is_called_out(attn: Attn) -> None:
    attn("answer", "att-01", "--rating", "good")
    found = attn("stats", "--json").json
    assert (found["reviews"], found["today"], found["streak_days"], found["retention"]) == (1, 1, 1, None)
    assert found["topics"]["att"]["seen"] == 1 and len(found["forecast"]) == 14
    assert attn("stats").out.startswith("1 review (1 today), streak 1 day, 30-day retention")
    assert "复习 1 次" in attn("stats", "--lang", "zh").out
    for month in range(1, 10):
        attn("answer", "att-02", "--rating", "easy", "--at", f"2025-{month:02}-01T09:00:00Z")
        last = attn("answer", "att-02", "--rating", "again", "--at", f"2025-{month:02}-20T09:00:00Z")
    assert "forgotten 9 times" in last.out


def test_version(attn: Attn) -> None:
    assert attn("--version").out == f"attn {__version__}\n"
