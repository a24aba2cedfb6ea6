"""Check that leads can be said in 32 seconds; formulas and numbers count as spoken."""

import pytest

from spoken import UNITS_A_MINUTE, seconds, too_long


def test_every_lead_can_be_said_in_time() -> None:
    assert too_long() == []


def test_english_is_counted_in_words_and_chinese_in_characters() -> None:
    for text, words in (
        ("Queries see the next-token loss.", 5),
        ("√d_k", 3),  # root d k
        ("softmax(QKᵀ/√d)", 7),  # softmax Q K transpose over root d
        ("2N²d ≤ 0.25", 10),  # two N squared d at most zero point two five
        ("2,048 tokens", 4),  # two thousand forty-eight tokens
        ("128,256", 7),
        ("70B at 100 %", 6),  # seventy billion at one hundred percent
        ("m̂", 2),
    ):
        assert seconds(text, "en") == pytest.approx(words * 60 / UNITS_A_MINUTE["en"])
    for text, characters in (
        ("头用 softmax 归一", 5),
        ("√d_k", 4),  # 根号 d k
        ("QKᵀ", 4),  # Q K 转置
        ("2048 个", 7),  # 二千零四十八个
        ("128,256", 11),  # 十二万八千二百五十六, with 一 before 十
        ("95 %", 6),  # 百分之九十五
        ("0.5", 3),
    ):
        assert seconds(text, "zh") == pytest.approx(characters * 60 / UNITS_A_MINUTE["zh"])
