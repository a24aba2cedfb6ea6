"""Check the judge's sentences: each is used, its placeholders are filled, and parts may be in both languages."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

from attncli.i18n import Localised, quoted
from attncli.judge.messages import SENTENCES, say

JUDGE = Path(__file__).parents[2] / "attncli" / "judge"
# Those of the sandbox: it words its own English, and names what another language needs.
OF_THE_SANDBOX = {"more-memory", "killed-loaded", "killed-called"}


def test_the_judge_says_every_sentence_and_no_other() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in JUDGE.rglob("*.py"))
    assert [key for key in SENTENCES if f'"{key}"' not in sources] == []
    named = re.findall(r'\bsay\(\s*"([a-z-]+)"', sources)
    assert named and set(named) <= set(SENTENCES)


def test_every_place_of_a_sentence_is_filled() -> None:
    for key in SENTENCES.keys() - OF_THE_SANDBOX:
        names = {name for _, name, _, _ in Formatter().parse(SENTENCES[key].en) if name}
        parts = {name: Localised(f"<{name} en>", f"<{name} zh>") for name in names}
        said = say(key, **parts)
        for name in parts:
            assert f"<{name} en>" in said.en and f"<{name} zh>" in said.zh, key
        assert "{" not in said.en + said.zh, key


def test_a_part_in_both_languages_goes_into_each_and_a_text_may_look_like_a_place() -> None:
    fault = say("other-shape", got=[1], due=[2, 1], place=say("in-result", path="[0]"))
    said = say("gradient-of", name="params['wk']", fault=fault)
    assert said.en == "gradient of params['wk']: shape [1], expected [2, 1] in result[0]"
    assert said.zh == "params['wk'] 的梯度：形状为 [1]，应为 [2, 1]，在 result[0]"
    said = say("raised-at", error="ValueError: {x}", line=6, code="raise ValueError('{x}')")
    assert said.zh == "ValueError: {x}（第 6 行：raise ValueError('{x}')）"
    assert quoted("{x}") == Localised("{x}", "{x}")
