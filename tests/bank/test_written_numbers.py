from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from attncli.bank.card_rules import readings_of

from .conftest import CARDS, Card, Cards, Errors, only, table


def with_number(card: Card, says: str, compute: object, says_zh: str = "") -> Card:
    entry: Card = {"says": says, "compute": compute}
    if says_zh:
        entry["says_zh"] = says_zh
    card["explain"] = {"en": f"It is {says} here.", "zh": f"这里是 {says_zh or says}。"}
    return card | {"numbers": [entry]}


RIGHT = r"""
57,982,058,496 | 4 * 12288**2 * 96 | 579.8 亿
58.0 billion | 4 * 12288**2 * 96 | 580 亿
58.0 B | 4 * 12288**2 * 96
0.604 B | 4 * 12288**2 / 1e9 | 6.04 亿
91 billion | sqrt(1e24 / 120) | 910 亿
0.9 B | 0.88 * 10**9 | 9 亿
2.56 M | 2 * pi * 500000 ** (126/128) / 1e6 | 256 万
33.3 % | 100 / 3
33.3 % | 1 / 3
33.3 \% | 1 / 3
1.5 GiB | 1.5 * 2**30
128 KiB | 2**17
6.3e22 FLOP | 6.3 * 10.0**22
3.1 × 10^23 | 3.14 * 10.0**23
3.1 × 10²³ | 3.14 * 10.0**23
3.1\times10^{-5} | 0.0000314
1/3 | 1 / 3
2^31 | 2**31
5 + 2 = 7 | 5 + 2
−3.5 | -3.5
about 47 | 50 ** (126/128)
"""
WRONG = """
57,982,058,495 | 4 * 12288**2 * 96 | | the text says "57,982,058,495", but 4 * 12288**2 * 96 gives 57,982,058,496
0.4966 | 0.49666 | | the text says "0.4966", but 0.49666 gives 0.49666; correct one of the two
175 billion | 1750 * 10**8 | 175 亿 | the text says "175 亿", but 1750 * 10**8 gives 175,000,000,000
91 billion | sqrt(1e24 / 120) | 900 亿 | the text says "900 亿", but sqrt(1e24 / 120) gives 9.128709292e+10
58.1 B | 4 * 12288**2 * 96 | | the text says "58.1 B", but
34 % | 1 / 3 | | the text says "34 %", but 1 / 3 gives 0.3333333333; correct one of the two
2 ** 2000 | 0 | | the text says "2 ** 2000", but 0 gives 0; correct one of the two
many | 3 | | "many" has no number to compare with its formula; write digits
"""


def test_a_number_is_what_its_formula_gives(errors: Errors) -> None:
    for cells in table(RIGHT):
        assert errors(with_number(deepcopy(CARDS["qa"]), *cells)) == [], cells
    assert errors(with_number(deepcopy(CARDS["qa"]), "57,982,058,496", "4 * 12288**2 * 96")) == []
    assert errors(with_number(deepcopy(CARDS["qa"]), "96", 96)) == []
    for says, compute, says_zh, message in table(WRONG.replace("| |", "|  |")):
        only(errors(with_number(deepcopy(CARDS["qa"]), says, compute, says_zh)), message)


def test_a_number_stands_in_the_text_of_both_languages(cards: Cards, errors: Errors) -> None:
    card = with_number(cards["qa"], "1,024", "2**10")
    card["explain"]["zh"] = "约一千。"
    assert errors(card) == ['"1,024" is not in the Chinese text; add it there, or give its Chinese form as says_zh']
    card["explain"] = {"en": "about a thousand", "zh": "1,024"}
    assert errors(card) == ['"1,024" is not in the English text; correct one of the two']


def test_spaces_and_line_breaks_do_not_matter(cards: Cards, errors: Errors) -> None:
    card = with_number(cards["qa"], "6.04 亿", "603979776")
    card["explain"] = {"en": "6.04亿", "zh": "6.04\n亿"}
    assert errors(card) == []


MYRIADS = {"万": 10**4, "亿": 10**8, "万亿": 10**12}


@given(st.integers(1, 9_999), st.sampled_from(sorted(MYRIADS)), st.sampled_from(["", " "]))
def test_a_number_in_myriads_is_read_as_what_it_stands_for(tenths: int, word: str, gap: str) -> None:
    text = f"{tenths / 10}{gap}{word}"
    assert any(reading.fits(tenths * MYRIADS[word] // 10) for reading in readings_of(text))


@given(st.text(max_size=60))
def test_any_text_has_some_readings(text: str) -> None:
    assert all(reading.slack >= 0 for reading in readings_of(text))
