"""Split a text into tokens for the attention map, and report a text that is too long."""

import pytest

from attncli.experiments.runner import ChildRun, find

from ..conftest import IMPL

MAP = find(IMPL, "attention-map")


def tokens(text: str) -> list[str]:
    """Split a text as the experiment does."""
    inside: dict[str, object] = {}
    exec(compile(MAP.file.read_text(encoding="utf-8"), str(MAP.file), "exec"), inside)
    return inside["TOKEN"].findall(text)  # type: ignore[attr-defined, no-any-return]


def test_a_token_is_a_word_a_character_or_a_sign() -> None:
    for text, due in (
        ("the cat's hat, it", ["the", "cat's", "hat", ",", "it"]),
        ("小猫，3 只", ["小", "猫", "，", "3", "只"]),
        ("a_b", ["a", "_", "b"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("👨\u200d👩\u200d👧👍🏽❤\ufe0f", ["👨\u200d👩\u200d👧", "👍🏽", "❤\ufe0f"]),
        ("🇨🇳🇫🇷", ["🇨🇳", "🇫🇷"]),
        ("\u200d\u2060", []),
    ):
        assert tokens(text) == due


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "en", "zh"),
    [
        ("猫", "no token of 1 occurs twice", "1 个 token 里没有重复的"),
        (
            "小猫看小狗，" * 10,
            "of the first 40 of 60 tokens 35 had occurred before",
            "60 个 token，只看前 40 个，其中有 35 个",
        ),
    ],
)
def test_the_sentence_tells_how_much_of_the_text_was_looked_at(text: str, en: str, zh: str) -> None:
    with ChildRun(MAP, IMPL, [0], True, text) as run:
        (outcome,) = run.outcomes()
    assert en in outcome.seen.en and zh in outcome.seen.zh
