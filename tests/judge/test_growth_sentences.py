"""Word figures of growth in both languages."""

from __future__ import annotations

import pytest

from attncli.judge.growth import MEASURES, growth_told

BROKEN = {
    "holds": False,
    "says": {"en": "the largest tensor grows with T²", "zh": "最大的张量随 T² 增长"},
    "measure": "largest",
    "sizes": [32, 96],
    "got": [1024.0, 9216.0],
    "due": [320.0, 960.0],
    "real": {"size": 65536, "en": "64k context", "zh": "64k 上下文", "bytes": 17179869184.0},
}


def test_a_broken_promise_says_what_is_wrong_and_what_it_comes_to():
    assert growth_told([BROKEN]).en == (
        "the largest tensor grows with T²: 1,024 → 9,216 elements in the largest tensor at sizes 32 → 96; "
        "expected 320 → 960; at 64k context that is 16.0 GiB"
    )
    assert growth_told([BROKEN]).zh == (
        "最大的张量随 T² 增长：规模 32 → 96 时，最大张量的元素数为 1,024 → 9,216；"
        "应为 320 → 960；64k 上下文时为 16.0 GiB"
    )


def test_less_than_a_gibibyte_is_told_in_mebibytes():
    small = {**BROKEN, "real": {**BROKEN["real"], "bytes": 3 * 2**20}}
    assert growth_told([small]).en.endswith("that is 3.0 MiB")


@pytest.mark.parametrize("measure", MEASURES)
def test_a_kept_promise_gives_its_figures(measure):
    kept = {**BROKEN, "holds": True, "measure": measure, "real": None}
    assert growth_told([kept]).en == (f"1,024 → 9,216 {MEASURES[measure].en} at sizes 32 → 96; expected 320 → 960")


def test_several_promises_are_told_in_one_line():
    kept = {**BROKEN, "holds": True}
    said = growth_told([kept, kept])
    assert said.en.count("; expected") == said.zh.count("；应为") == 2
