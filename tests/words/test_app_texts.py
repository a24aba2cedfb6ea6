"""The app's own texts: complete in both languages, alike in their placeholders, each used somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import attncli.tui
from attncli.domain.card import KINDS, LEVELS
from attncli.domain.challenge import CHECK_NAMES
from attncli.domain.rating import Rating
from attncli.words.app_texts import TEXTS, say

SOURCES = {path: path.read_text(encoding="utf-8") for path in Path(attncli.tui.__file__).parent.rglob("*.py")}
KEYS_IN_CODE = {
    match
    for source in SOURCES.values()
    for match in re.findall(r"[\"']([a-z]+\.[a-z][a-z-]*)[\"']", source)
    if match.split(".")[0] in {key.split(".")[0] for key in TEXTS} and not match.endswith(".tcss")
}
COMPOSED = {
    *(f"review.kind-{kind}" for kind in KINDS),
    *(f"review.level-{level}" for level in LEVELS),
    *(f"rating.{rating.word}" for rating in Rating),
    *(f"check.{name}" for name in CHECK_NAMES),
    *(f"status.{status}" for status in ("pass", "fail", "harden", "skipped", "info", "running")),
    *(f"standing.{standing}" for standing in ("new", "tried", "solved", "hardened")),
    *(f"palette.{route}" for route in ("home", "review", "challenges", "stats", "search")),
    *(f"{key}-one" for key in ("app.problems", "done.reviews", "home.challenges", "search.found", "stats.days")),
    *(f"outdated.{reason}" for reason in ("answered", "day", "settings")),
    *(f"home.column-{name}" for name in ("topic", "due", "cards", "ready")),
}


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("key", TEXTS)
def test_both_languages_say_it_with_the_same_placeholders(key: str) -> None:
    text = TEXTS[key]
    assert text.en.strip() and text.zh.strip()
    assert placeholders(text.en) == placeholders(text.zh)


def test_every_text_that_the_code_names_is_in_the_table() -> None:
    assert set(TEXTS) >= KEYS_IN_CODE | COMPOSED, (KEYS_IN_CODE | COMPOSED) - set(TEXTS)


def test_no_text_is_left_over() -> None:
    tracks = {key for key in TEXTS if key.startswith("track.")}
    assert set(TEXTS) - KEYS_IN_CODE - COMPOSED - tracks == set()


def test_chinese_is_punctuated_as_chinese() -> None:
    wrong = [
        key for key, text in TEXTS.items() if re.search(r"[\u4e00-\u9fff][,;:?!]|[\u4e00-\u9fff]\.(?!\d)", text.zh)
    ]
    assert wrong == []


def test_an_unknown_key_is_an_error() -> None:
    with pytest.raises(KeyError):
        say("no.such-text", "en")
