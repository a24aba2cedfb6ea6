"""Put random values anywhere in a card: the check ends in messages, and a card that passes can be asked."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.bank.check import check
from attncli.bank.checked_files import Surroundings
from attncli.bank.loader import load_file
from attncli.domain.card_kinds import card_of
from attncli.domain.vocabulary import KINDS

from .conftest import Cards

JUNK = st.sampled_from(
    [
        *(None, True, False, 0, -1, 3, 1e300, 0.5, 10**39),
        *("", " ", "x", "2 ** 2000", "2 ** 10 ** 9", "1/0", "____", "$", "{{x}}", "arxiv:", "E999", "9" * 5000),
        *("(" * 300, "sdpa/x", "att-01", "1e299 * 10", "$\\frac{1}$", "1×10^" + "9" * 5000, "−" * 5000),
        *("字" * 300, "word " * 80),
        *([], {}, [None], [[]], {"en": "a"}, {"en": "a", "zh": "甲"}, {"x": {"x": []}}, [{"en": 1, "zh": 2}] * 3),
    ]
)


@st.composite
def damage(draw: st.DrawFn) -> tuple[str, list[tuple[list[float], str, Any]]]:
    kind = draw(st.sampled_from(KINDS))
    wounds = st.tuples(
        st.lists(st.floats(0, 0.999), min_size=1, max_size=4), st.sampled_from(["set", "drop", "add"]), JUNK
    )
    return kind, draw(st.lists(wounds, min_size=1, max_size=4))


def wound(card: Any, way: list[float], how: str, junk: Any) -> None:
    """Follow the fractions of `way` into the card, and damage the value there."""
    for number, fraction in enumerate(way):
        keys = list(card) if isinstance(card, dict) else list(range(len(card))) if isinstance(card, list) else []
        if not keys:
            return
        key = keys[int(fraction * len(keys))]
        if number == len(way) - 1 or not isinstance(card[key], dict | list):
            if how == "drop":
                del card[key]
            elif how == "set" or isinstance(card, list):
                card[key] = copy.deepcopy(junk)
            else:
                card["numbers"] = [{"says": str(junk), "compute": copy.deepcopy(junk)}]
            return
        card = card[key]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(damage())
def test_any_values_end_in_messages(
    cards: Cards, bank_file: Any, around: Surroundings, damage: tuple[str, list[tuple[list[float], str, Any]]]
) -> None:
    kind, wounds = damage
    card = copy.deepcopy(cards[kind])
    for way, how, junk in wounds:
        wound(card, way, how, junk)
    path: Path = bank_file(card)
    for own in (False, True):
        report = check([path], replace(around, complete=not own))
        loaded = load_file(path, own)
        assert bool(loaded.documents) == (not loaded.problems)
        assert {problem.message.en for problem in loaded.problems} <= {
            problem.message.en for problem in report.problems
        }
        for document in loaded.documents:
            assert card_of(document).question.zh.strip()
