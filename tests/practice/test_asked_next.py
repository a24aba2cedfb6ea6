"""Print the follow-ups of an accepted solution in the terminal, in both languages."""

from __future__ import annotations

from dataclasses import replace

from attncli.domain.card import FollowUp
from attncli.i18n import Localised
from attncli.practice.challenges import after_solving, asked_next
from tests.domain.test_statement import challenge

QUESTIONS = (
    FollowUp(Localised("And 0?", "0 呢？"), Localised("It is 0.", "还是 0。"), "att-01"),
    FollowUp(Localised("And 1?", "1 呢？"), Localised("It is 2.", "是 2。")),
)


def test_questions_come_with_their_answers_and_cards() -> None:
    asked = replace(challenge(), follow_ups=QUESTIONS)
    assert list(asked_next(asked, "en")) == [
        "What interviewers ask next:",
        "  1. And 0?",
        "     It is 0.  → att-01",
        "  2. And 1?",
        "     It is 2.",
    ]
    assert list(asked_next(asked, "zh"))[:3] == ["面试官接着会问：", "  1. 0 呢？", "     还是 0。  → att-01"]


def test_a_challenge_without_questions_names_the_reference_and_the_next_one() -> None:
    following = replace(challenge(), id="triple", title=Localised("Tripling", "三倍"))
    assert list(asked_next(challenge(), "en")) == []
    reference, after = after_solving(challenge(), following, "en")
    assert "`attn solution double`" in reference and after == "  Next: Tripling: `attn start triple`"
    assert list(after_solving(challenge(), following, "zh"))[1] == "  下一题：三倍，用 `attn start triple` 开始"
    assert len(list(after_solving(challenge(), None, "en"))) == 1
