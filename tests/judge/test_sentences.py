"""Check the judge's sentences: each is used, its placeholders are filled, and parts may be in both languages."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from attncli.i18n import Localised, quoted
from attncli.judge.messages import SENTENCES, say

JUDGE = Path(__file__).parents[2] / "attncli" / "judge"
# Those of the sandbox: it words its own English, and names what another language needs.
OF_THE_SANDBOX = ("more-memory", "killed-loaded", "killed-called")


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("key", SENTENCES)
def test_a_sentence_is_said_by_the_judge(key: str) -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in JUDGE.rglob("*.py"))
    assert f'"{key}"' in sources


def test_every_sentence_that_the_judge_says_is_there() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in JUDGE.rglob("*.py"))
    named = re.findall(r'\bsay\(\s*"([a-z-]+)"', sources)
    assert named and set(named) <= set(SENTENCES)


def test_places_are_filled_in_both_languages_and_texts_follow_each_other() -> None:
    said = say("largest-error", error="3", at="[1]", tolerance="0.1", place=say("in-result", path="[0]"))
    said += say("call-of-many", name="decode_step", number=2, count=3)
    assert said.en == "largest error 3 at [1]; tolerance 0.1 in result[0] (decode_step, call 2 of 3)"
    assert said.zh == "最大误差 3，位于 [1]；容差 0.1，在 result[0]（decode_step，第 2 次调用，共 3 次）"


@pytest.mark.parametrize("key", [key for key in SENTENCES if key not in OF_THE_SANDBOX])
def test_every_place_of_a_sentence_is_filled(key: str) -> None:
    parts = {name: Localised(f"<{name} en>", f"<{name} zh>") for name in places(SENTENCES[key].en)}
    said = say(key, **parts)
    for name in parts:
        assert f"<{name} en>" in said.en and f"<{name} zh>" in said.zh
    assert "{" not in said.en + said.zh


def test_a_part_in_both_languages_goes_into_each() -> None:
    fault = say("other-shape", got=[1], due=[2, 1], place=say("in-result", path="[0]"))
    said = say("gradient-of", name="params['wk']", fault=fault)
    assert said.en == "gradient of params['wk']: shape [1], expected [2, 1] in result[0]"
    assert said.zh == "params['wk'] 的梯度：形状为 [1]，应为 [2, 1]，在 result[0]"


def test_what_the_learners_code_says_may_look_like_a_place() -> None:
    said = say("raised-at", error="ValueError: {x}", line=6, code="raise ValueError('{x}')")
    assert said.zh == "ValueError: {x}（第 6 行：raise ValueError('{x}')）"
    assert quoted("{x}") == Localised("{x}", "{x}")
