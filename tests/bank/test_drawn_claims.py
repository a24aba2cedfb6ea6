"""Prove each claim about random data: by the card's experiment, its computed numbers, or a test that names it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attncli.bank.prose_rules import localised

from .conftest import bundled_documents

DRAWN = re.compile(r"\b(random(?:ly)?|drawn|Gaussians?|seeds?|simulat\w+|default initiali\w+|toy)\b", re.I)
FIGURE = re.compile(r"(?<![=(\d.] )(?<![\d.,])\d+\.\d+|\d+ ?%|1e-?\d+")
SENTENCE = re.compile(r"(?<=[.;?!|])\s+")
NOT_OURS = {
    "arch-01": "BERT's masking rates, which its paper states",
    "arch-23": "Huginn's size, which its paper states",
    "flash-07": "FlashAttention-3's measurements, which its paper states",
    "align-31": "Self-Instruct's numbers, which its paper states",
    "rag-18": "runs of faiss 1.15.1, which is no dependency; the card names the set-up",
    "eval-21": "5 %, 95 % and 90 % are one subtraction",
}
"""Sentences that match by words and figures, but state no measurement of ours."""

FOLDERS = Path(__file__).parent / "library_claims", Path(__file__).parents[1] / "errata"
TESTS = "".join(path.read_text(encoding="utf-8") for folder in FOLDERS for path in folder.glob("*.py"))


def claims(card: dict[str, Any]) -> Iterator[str]:
    """Yield sentences about random data with a figure outside the card's computed numbers."""
    computed = " ".join(str(number["says"]) for number in card.get("numbers") or ())
    for _, text in localised(card):
        for sentence in SENTENCE.split(text["en"].replace("\n", " ")):
            figures = [figure[0] for figure in FIGURE.finditer(sentence) if figure[0] not in computed]
            if DRAWN.search(sentence) and figures:
                yield sentence


def has_a_test(id: str) -> bool:
    return f"{id.replace('-', '_')}_" in TESTS or f'"{id}"' in TESTS


def test_a_claim_about_random_data_has_a_proof() -> None:
    cards = [card for card in bundled_documents() if any(claims(card))]
    without = [card["id"] for card in cards if not card.get("experiment") and not has_a_test(card["id"])]
    assert sorted(without) == sorted(NOT_OURS)
    assert len(cards) > 30, "the words that such claims are known by find hardly any"
