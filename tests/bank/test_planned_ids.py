from __future__ import annotations

from collections import Counter
from pathlib import Path

from attncli.bank.link_rules import Planned, PlannedCard, load_planned
from attncli.paths import bundled_quizbank


def test_the_bundled_plan_has_the_published_numbers() -> None:
    planned = load_planned(bundled_quizbank())
    kinds = Counter(card.kind for card in planned.cards.values())
    levels = Counter(card.level for card in planned.cards.values())
    assert kinds == {"qa": 298, "numeric": 68, "choice": 36, "ordering": 13, "debug": 39, "cloze": 17}
    assert levels == {"screen": 147, "onsite": 251, "research": 73}
    assert sum(card.core for card in planned.cards.values()) == 234
    assert len(planned.topics) == 24
    assert (len(planned.challenges), len(planned.experiments)) == (81, 18)


def test_a_folder_without_a_plan_plans_nothing(tmp_path: Path) -> None:
    assert load_planned(tmp_path) == Planned()


def test_words_of_a_plan(tmp_path: Path) -> None:
    text = "cards:\n  a-b-1: qa screen core\n  c-1: debug onsite\nchallenges: [x]\nexperiments: []\n"
    (tmp_path / "planned.yaml").write_text(text)
    planned = load_planned(tmp_path)
    assert planned.cards == {"a-b-1": PlannedCard("qa", "screen", True), "c-1": PlannedCard("debug", "onsite", False)}
    assert planned.topics == {"a-b", "c"}
