"""`attn quiz --plain`: the whole quiz line by line, from standard input."""

from __future__ import annotations

import pytest

from .conftest import Attn

QUIZ = ("quiz", "--plain", "--seed", "7")


def only(attn: Attn, card: str) -> None:
    for other in {"att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"} - {card}:
        attn("suspend", other)


def test_a_quiz_is_scored_at_the_end_by_topic_with_what_was_missed(attn: Attn) -> None:
    result = attn(*QUIZ, "--topic", "kv", stdin="\n" * 3)
    assert result.code == 0
    asked, _, scored = result.out.partition("0 of 3 right\n")
    assert "3/3. kv-0" in asked and "Why" not in asked and "Not right" not in asked
    assert scored.startswith("KV cache 0/3\n\nMissed\n") and scored.endswith(
        "Schedules are unchanged.\n\nSame quiz again: attn quiz --topic kv --count 10 --seed 7\n"
    )
    assert "kv-03  Which line is wrong?\n    Line 1: Shapes differ." in scored and "The answer is " in scored
    stats = attn("stats", "--json").json
    assert stats["reviews"] == 0 and len(stats["topics"]["kv"]["weak"]) == 3 and attn("undo").code == 2


def test_everything_right_is_said(attn: Attn) -> None:
    only(attn, "kv-03")
    said = attn("--lang", "zh", *QUIZ, stdin="1\n").out
    assert "第 1/1 题：kv-03，KV 缓存" in said and "1 题答对 1 题" in said and "全部答对。" in said


def test_the_same_seed_asks_the_same(attn: Attn) -> None:
    first, second, other = (attn("quiz", "--plain", "--seed", seed, stdin="\n" * 8).out for seed in ("3", "3", "4"))
    assert first == second and first != other


def test_the_command_that_draws_it_again_is_told(attn: Attn) -> None:
    said = attn("quiz", "--plain", "--count", "2", stdin="\n" * 5).out
    command = said.splitlines()[-1].removeprefix("Same quiz again: attn ").split()
    assert attn(*command, "--plain", stdin="\n" * 5).out == said


@pytest.mark.parametrize("stdin", ["1\nq\n", "1\n"])
def test_whoever_stops_gets_the_score_so_far(attn: Attn, stdin: str) -> None:
    for card in ("att-01", "att-02", "att-03", "kv-01"):
        attn("suspend", card)
    lines = stdin if attn(*QUIZ, "--count", "1").out.count("kv-03") else "1 2 3\n" + stdin[2:]
    said = attn(*QUIZ, stdin=lines).out
    assert "of 1 right\n1 not asked" in said


def test_what_is_no_number_is_asked_again(attn: Attn) -> None:
    only(attn, "kv-01")
    said = attn(*QUIZ, stdin="lots\n７\n").out
    assert "“lots” is not a number" in said and "0 of 1 right" in said and "GiB (±2%); you entered 7 GiB." in said


def test_a_topic_without_marked_cards_is_no(attn: Attn) -> None:
    for card in ("att-02", "att-03"):
        attn("suspend", card)
    result = attn(*QUIZ, "--topic", "att")
    assert result.code == 1
    assert result.line == "attn: no card matches --topic att; there are 3 without --topic"


@pytest.mark.parametrize("words", [("--count", "0"), ("--seed", "-1"), ("--seed", "x"), ("--topic", "nope")])
def test_what_cannot_be_meant_is_refused(attn: Attn, words: tuple[str, str]) -> None:
    assert attn("quiz", "--plain", *words).code == 2


def test_without_a_terminal_the_plain_form_is_named(attn: Attn) -> None:
    result = attn("quiz")
    assert result.code == 2 and result.line == "attn: the app needs a terminal; run `attn quiz --plain`"
