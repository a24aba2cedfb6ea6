"""Ask a card and mark its answer, without a screen; quizzes of such cards."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.domain.card import Card
from attncli.domain.card_kinds import card_of
from attncli.domain.log_row import Rating, RowKind
from attncli.domain.parts import Fill
from attncli.errors import NoCardMatches, NotFound, UsageError
from attncli.export.summary import summarise
from attncli.practice import record
from attncli.practice.marking import Asked
from attncli.practice.queue import CardFilter, browse, matching_cards
from attncli.practice.quiz import Quiz, QuizOptions, QuizScore
from attncli.practice.stats import progress
from attncli.practice.workspace import Workspace
from moved_clock import Clock
from right_answer import right_answer_to

MARKED = {"att-02", "att-03", "kv-01", "kv-02", "kv-03"}
BOTH = {"en": "text", "zh": "文字"}


def give(asked: Asked, is_right: bool) -> None:
    """Submit a right answer, or a wrong one."""
    if is_right:
        asked.answer = right_answer_to(asked.card)
    elif isinstance(asked.entry, Fill):
        asked.answer.texts = ["1"] * asked.entry.fields
    else:
        right = right_answer_to(asked.card).places
        asked.choose(right[::-1] if len(right) > 1 else [place for place in range(2) if place not in right])
    asked.submit()


def taken(quiz: Quiz, *right: bool) -> QuizScore:
    for is_right in right:
        assert quiz.current is not None
        give(quiz.current, is_right)
        quiz.count_current()
    return quiz.score


def questions(quiz: Quiz) -> list[tuple[str, str, list[int], list[str]]]:
    return [(a.card.id, a.question.en, list(a.card.drawn), a.rows("en")) for a in quiz._questions]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6), st.integers(1, 8), st.lists(st.booleans(), max_size=5))
def test_a_seed_draws_the_same_quiz_every_time(workspace: Workspace, seed: int, count: int, right: list[bool]) -> None:
    options = QuizOptions(count=count, seed=seed)
    first, second = Quiz(workspace, options), Quiz(workspace, options)
    before = questions(first)
    taken(first, *right[: len(before)])
    cards = [id for id, *_ in before]
    assert len(set(cards)) == len(cards) == min(count, 5) and set(cards) <= MARKED
    assert questions(second) == before


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.booleans(), max_size=5), st.integers(0, 99))
def test_the_score_counts_what_was_answered(workspace: Workspace, right: list[bool], seed: int) -> None:
    quiz = Quiz(workspace, QuizOptions(seed=seed))
    score = taken(quiz, *right)
    assert (score.right, score.answered, score.left) == (sum(right), len(right), 5 - len(right))
    assert sum(r for r, _ in score.topics.values()) == sum(right)
    assert sum(n for _, n in score.topics.values()) == len(right)
    drawn = [asked.card.id for asked in quiz._questions]
    assert [missed.card for missed in score.missed] == [id for id, ok in zip(drawn, right, strict=False) if not ok]
    assert quiz.progress == (len(right), 5) and (quiz.current is None) == (len(right) == 5)


def test_what_was_missed_comes_with_the_right_answer_in_both_languages(workspace: Workspace) -> None:
    score = taken(Quiz(workspace, QuizOptions(seed=4)), *[False] * 5)
    told = {missed.card: missed.answer for missed in score.missed}
    assert told.keys() == MARKED
    assert "“attention” is right." in told["att-02"].en and "“注意力”是对的" in told["att-02"].zh
    assert told["att-03"].en == "Expected: 1. QK^T; 2. sqrt(d)"
    assert "GiB (±2%); you entered" in told["kv-01"].en
    assert told["kv-02"].en == "prefill → decode → detokenise"
    assert "Line 1: Shapes differ. Fix: k = torch.cat" in told["kv-03"].en
    assert all("{{" not in missed.question.en for missed in score.missed), "as it was asked"


def test_a_question_counts_only_once_it_was_submitted(workspace: Workspace) -> None:
    quiz = Quiz(workspace, QuizOptions(count=1))
    for _ in range(2):
        with pytest.raises(UsageError, match="there is no answer to count"):
            quiz.count_current()
        if quiz.current is not None:
            taken(quiz, True)


def test_a_missed_card_is_weak_until_it_is_reviewed_or_right(workspace: Workspace, moving_clock: Clock) -> None:
    def weak() -> list[set[str]]:
        stats = progress(workspace).topics.values()
        return [
            {card.id for card in matching_cards(workspace, CardFilter(weak=True))},
            {card.id for card in browse(workspace, "is:weak").cards},
            {card.card for topic in stats for card in topic.weak},
            {line.id for line in summarise(workspace, "en").weak},
        ]

    for card in ("kv-01", "kv-02"):
        record.answer(workspace, card, Rating.EASY)
        moving_clock.move(minutes=1)
    before = dict(workspace.store.schedules.all())
    assert weak() == [set()] * 4
    taken(Quiz(workspace, QuizOptions()), *[False] * 5)
    moving_clock.move(minutes=1)
    assert weak() == [MARKED] * 4 and dict(workspace.store.schedules.all()) == before
    record.answer(workspace, "kv-01", Rating.EASY)
    assert weak() == [MARKED - {"kv-01"}] * 4
    right = taken(quiz := Quiz(workspace, QuizOptions(count=1)), True)
    assert right.right == 1 and weak() == [MARKED - {"kv-01", quiz._questions[0].card.id}] * 4


def test_another_seed_draws_another_quiz_of_the_topic_without_what_is_put_away(workspace: Workspace) -> None:
    assert len({str(questions(Quiz(workspace, QuizOptions(seed=seed)))) for seed in range(20)}) > 5
    record.hold(workspace, RowKind.SUSPEND, "kv-01")
    assert {id for id, *_ in questions(Quiz(workspace, QuizOptions("kv")))} == {"kv-02", "kv-03"}
    with pytest.raises(NotFound, match="unknown topic nope"):
        Quiz(workspace, QuizOptions("nope"))
    for card in ("kv-02", "kv-03"):
        record.hold(workspace, RowKind.SUSPEND, card)
    with pytest.raises(NoCardMatches, match="no card matches --topic kv; there are 2 without --topic"):
        Quiz(workspace, QuizOptions("kv"))
    for card in ("att-02", "att-03"):
        record.hold(workspace, RowKind.SUSPEND, card)
    with pytest.raises(NoCardMatches, match="there are no cards"):
        Quiz(workspace, QuizOptions())


def card(kind: str, **more: object) -> Card:
    return card_of({"id": "x-01", "topic": "x", "kind": kind, "level": "screen", "question": BOTH, **more})


def test_a_question_without_marking_follows_its_points() -> None:
    asked = Asked.of(card("qa", short=BOTH, points=[BOTH, BOTH]), Random(0))
    asked.submit()
    assert asked.revealed and asked.marked is None and asked.correct is None and asked.points == []
    asked.ticked = {1, 0}
    assert asked.points == [0, 1]
    assert Asked.of(card("qa", short=BOTH), Random(0)).points is None
    for ticked, total, rating in (
        *((3, 3, Rating.GOOD), (2, 3, Rating.HARD), (1, 3, Rating.AGAIN), (0, 3, Rating.AGAIN)),
        (0, 0, Rating.GOOD),
    ):
        asked = Asked.of(card("qa", short=BOTH, points=[BOTH] * total), Random(0))
        asked.ticked = set(range(ticked))
        assert asked.suggestion is rating, ticked


def test_a_number_that_cannot_be_read_stays_unmarked_and_none_is_wrong() -> None:
    numeric = card("numeric", parameters=[["n", [["2", 2], ["3", 3]]]], compute="n * 2", unit="GiB", tolerance="1%")
    asked = Asked.of(numeric, Random(0))
    asked.answer.texts = ["four"]
    with pytest.raises(UsageError):
        asked.submit()
    assert not asked.revealed
    asked.answer = right_answer_to(asked.card)
    asked.submit()
    assert asked.correct is True and asked.suggestion is Rating.GOOD and asked.points is None
    given_up = Asked.of(numeric, Random(0))
    given_up.submit()
    assert given_up.is_blank and given_up.correct is False and given_up.marked is not None
    assert f"{right_answer_to(given_up.card).texts[0]} GiB" in given_up.marked.detail.en


def test_a_wrong_order_can_be_mended_none_gives_up_and_blanks_are_counted() -> None:
    items = [{"key": key, "text": BOTH} for key in "ab"]
    asked = Asked.of(card("ordering", items=items, before=[["a", "b"]], explain=BOTH), Random(0))
    asked.choose([0])
    with pytest.raises(UsageError, match="each of a, b once"):
        asked.submit()
    assert not asked.revealed
    asked.choose([])
    asked.submit()
    assert asked.correct is False and [text.en for text in asked.told] == ["no answer", "text → text"]
    blanks = [{"answer": answer, "form": "text"} for answer in ("one", "two")]
    asked = Asked.of(card("cloze", blanks=blanks, explain=BOTH), Random(0))
    asked.answer.texts = ["one", "three"]
    asked.submit()
    assert [text.en for text in asked.told] == ["~ Partly right: 1 of 2", "Expected: 2. two"]
    asked.answer.texts = ["one", "two"]
    asked.submit()
    assert [text.zh for text in asked.told] == ["✓ 正确", ""]
