"""A sitting that the learner's own assistant leads: it puts a card, hands in the attempt, and only then is told more.

Nothing here tells an answer before an attempt, a reference ever, or records a rating for a card that was not put and
attempted in this sitting. What is recorded are the rows that the app records for the same acts.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from attncli.domain.card import ChoiceCard, ClozeCard, DebugCard, OrderingCard
from attncli.domain.rating import Rating
from attncli.errors import NotFound, UsageError
from attncli.practice.cards.ask import Asked
from attncli.practice.cards.choose_cards import Wish
from attncli.practice.queue import due_counts
from attncli.practice.review import ReviewSitting, SittingItem
from attncli.practice.sittings.card_for_assistant import answer_document, how_to_answer, question_document
from attncli.practice.sittings.drill_sitting import ChosenDrill
from attncli.practice.sittings.planned_cards import PlannedCards
from attncli.practice.stats import progress
from attncli.practice.workspace import Workspace
from attncli.store.queue_table import Moment, Waiting
from attncli.words.assistant_texts import NOTHING_LEFT


class OneCard(ReviewSitting):
    """A sitting of one named card, due or not."""

    def __init__(self, workspace: Workspace, card: str) -> None:
        found = workspace.library.card(card)
        self._named = Waiting(found.id, found.topic, workspace.store.schedules.get(found.id) is None)
        super().__init__(workspace)

    def _planned(self, when: Moment) -> PlannedCards:
        return PlannedCards([self._named])

    def _take(self, when: Moment) -> Waiting | None:
        return self._plan.take() if self._plan else None


class AssistantSitting:
    """What was put and what was attempted. `rng` draws numbers, and the order of options and items."""

    def __init__(self, workspace: Workspace, rng: Random) -> None:
        self.workspace = workspace
        self._rng = rng
        self._drill: ReviewSitting | None = None
        self._wanted: tuple[object, ...] = ()
        self._asked: Asked | None = None

    def due(self) -> dict[str, Any]:
        """What is due now, and which card is being asked."""
        return {**due_counts(self.workspace).document(), "asked": self._asked.card.id if self._asked else None}

    def stats(self) -> dict[str, Any]:
        return progress(self.workspace).document()

    def next_card(self, topic: str | None = None, card: str | None = None, weak: bool = False) -> dict[str, Any]:
        """The question of the next card. Raises UsageError while an attempted card waits for its rating."""
        if self._asked is not None and self._asked.revealed:
            raise UsageError(f"card {self._asked.card.id} was attempted and has no rating yet; record one with rate")
        if card is not None and (topic is not None or weak):
            raise UsageError("name a card, or a topic or weak ones, not both")
        wanted = (topic, card, weak, self.workspace.moment().day)
        if self._drill is None or wanted != self._wanted:
            drill = self._opened(topic, card, weak)
            self._drill, self._wanted, self._asked = drill, wanted, None
        item = self._drill.next()
        if item is None and type(self._drill) is ReviewSitting:
            self._drill = self._opened(topic, card, weak)
            item = self._drill.next()
        if item is None:
            self._drill = self._asked = None
            return {"card": None, "said": NOTHING_LEFT[self.workspace.lang], "due": due_counts(self.workspace).due}
        if self._asked is None or self._asked.card.id != item.card.id:
            self._asked = Asked.of(item.card, self._rng)
        return question_document(self._asked, self.workspace.lang)

    def _opened(self, topic: str | None, card: str | None, weak: bool) -> ReviewSitting:
        if card is not None:
            return OneCard(self.workspace, card)
        if weak:
            return ChosenDrill(self.workspace, Wish(topic=topic, weak=True), self._rng)
        return ReviewSitting(self.workspace, topic)

    def attempt(
        self,
        card: str,
        text: str | None = None,
        numbers: Sequence[int] | None = None,
        blanks: Sequence[str] | None = None,
        gave_up: bool = False,
    ) -> dict[str, Any]:
        """Takes the learner's answer to the card that was put; what is right is told from here on.

        Raises UsageError for another card, a second attempt, or what is no answer to this kind of card: then nothing
        was told.
        """
        asked = self._put(card)
        if asked.revealed:
            raise UsageError(f"card {asked.card.id} was attempted already; record its rating with rate")
        given = {name for name, value in (("text", text), ("numbers", numbers), ("blanks", blanks)) if value}
        if gave_up and given:
            raise UsageError(f"gave_up goes with no answer, but {', '.join(sorted(given))} was given too")
        item = self._still_there()
        if gave_up:
            asked.item_order = []
            asked.texts = ["" for _ in asked.texts]
        else:
            self._fill(asked, given, text or "", list(numbers or ()), list(blanks or ()))
        asked.submit()
        return answer_document(asked, item, self.workspace.lang)

    def _fill(self, asked: Asked, given: set[str], text: str, numbers: list[int], blanks: list[str]) -> None:
        """Puts an answer of the right shape into `asked`, or raises UsageError."""
        card = asked.card
        fits = given == {"text"} and bool(text.strip())
        if isinstance(card, (ChoiceCard, OrderingCard, DebugCard)):
            most, exactly = _numbers_wanted(asked)
            fits = given == {"numbers"} and len(set(numbers)) == len(numbers) == (exactly or len(numbers))
            fits = fits and all(1 <= number <= most for number in numbers)
        elif isinstance(card, ClozeCard):
            fits = given == {"blanks"} and len(blanks) == len(card.blanks) and any(blank.strip() for blank in blanks)
        if not fits:
            wanted = how_to_answer(asked, "en")
            raise UsageError(
                f"card {card.id} wants {wanted}; gave_up where the learner does not know. Nothing was told"
            )
        if isinstance(card, ChoiceCard):
            asked.chosen = {asked.option_order[number - 1] for number in numbers}
        elif isinstance(card, OrderingCard):
            asked.item_order = [asked.item_order[number - 1] for number in numbers]
        elif isinstance(card, DebugCard):
            asked.line = numbers[0]
        elif isinstance(card, ClozeCard):
            asked.texts = blanks
        elif asked.task is not None:
            asked.texts = [text]

    def rate(self, card: str, rating: Rating, points: Sequence[int] | None = None) -> dict[str, Any]:
        """Records the rating of the card that was attempted: on disk when this returns.

        Raises UsageError for any other card, NotFound if it has left its bank, and Outdated where another interval
        than the one that was told would be stored; then nothing was recorded.
        """
        asked, drill = self._put(card), self._drill
        if not asked.revealed or drill is None:
            raise UsageError(f"card {asked.card.id} was not attempted yet; hand in the learner's answer with attempt")
        total = len(asked.card.points)
        if points and asked.marked is not None:
            raise UsageError(f"card {asked.card.id} was marked; leave out points")
        if points and not all(1 <= point <= total for point in points):
            raise UsageError(f"card {asked.card.id} has the points 1 to {total}; name those that the learner made")
        asked.ticked = {point - 1 for point in points or ()}
        try:
            answered = drill.answer(rating, points=asked.points, correct=asked.correct)
        except NotFound:
            self._left_out()
            raise
        self._asked = None
        if isinstance(drill, OneCard):
            self._drill = None
        return {**answered.document(), "leech": answered.leech, "left": due_counts(self.workspace).due}

    def _put(self, card: str) -> Asked:
        if self._asked is None:
            raise UsageError("no card was put yet; call next_card first")
        if card != self._asked.card.id:
            raise UsageError(f"card {card[:40]} is not the one that was put; that is {self._asked.card.id}")
        return self._asked

    def _still_there(self) -> SittingItem:
        """The item with its intervals as they stand now; a card that left its bank is put no longer."""
        assert self._drill is not None
        try:
            return self._drill.refresh()
        except NotFound:
            self._left_out()
            raise

    def _left_out(self) -> None:
        if self._drill is not None:
            self._drill.drop()
        self._asked = None


def _numbers_wanted(asked: Asked) -> tuple[int, int]:
    """The largest number that names something, and how many are wanted; 0 for one or more."""
    if isinstance(asked.card, ChoiceCard):
        return len(asked.option_order), 0 if asked.card.multiple else 1
    if isinstance(asked.card, DebugCard):
        return len(asked.card.code.rstrip().splitlines()), 1
    return len(asked.item_order), len(asked.item_order)
