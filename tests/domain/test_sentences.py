"""The judge's sentences: both languages have the same places, each is used, and parts may be in both languages."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from attncli.domain.sentences import SENTENCES, quoted, say
from attncli.domain.text import Localised

JUDGE = Path(__file__).parents[2] / "attncli" / "judge"
# Those of the sandbox: it words its own English, and names what another language needs.
OF_THE_SANDBOX = ("more-memory", "killed-loaded", "killed-called")


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("key", [key for key in SENTENCES if key not in OF_THE_SANDBOX])
def test_both_languages_name_the_same_things(key: str) -> None:
    assert places(SENTENCES[key].en) == places(SENTENCES[key].zh)


@pytest.mark.parametrize("key", SENTENCES)
def test_a_sentence_is_said_by_the_judge(key: str) -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in JUDGE.glob("*.py"))
    assert f'"{key}"' in sources


def test_every_sentence_that_the_judge_says_is_there() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in JUDGE.glob("*.py"))
    named = re.findall(r'\bsay\(\s*"([a-z-]+)"', sources)
    assert named and set(named) <= set(SENTENCES)


def test_a_part_in_both_languages_goes_into_each() -> None:
    fault = say("other-shape", got=[1], due=[2, 1], place=say("in-result", path="[0]"))
    said = say("gradient-of", name="params['wk']", fault=fault)
    assert said.en == "gradient of params['wk']: shape [1] where [2, 1] was expected in result[0]"
    assert said.zh == "params['wk'] 的梯度：形状为 [1]，应为 [2, 1]，在 result[0]"


def test_what_the_learners_code_says_may_look_like_a_place() -> None:
    said = say("raised-at", error="ValueError: {x}", line=6, code="raise ValueError('{x}')")
    assert said.zh == "ValueError: {x}（第 6 行：raise ValueError('{x}')）"
    assert quoted("{x}") == Localised("{x}", "{x}")
