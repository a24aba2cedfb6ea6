"""Compose the three parts of a statement: shared sentences appear with their checks, in both languages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from attncli.domain.challenge import FORBIDDEN_EVERYWHERE, IMPORTS, SIXTEEN_BITS, TORCH_MODULES, Challenge
from attncli.domain.statement import EVERYWHERE, HARDENED, SharedFacts, Statement, statement_of
from attncli.i18n import LANGS, Lang, Localised

ALL = ("loads", "matches-reference", "gradients", "low-precision", "layout", "device", "pure", "random", "forbidden")


def challenge(*required: str, hardened: Localised | None = None) -> Challenge:
    statement = Localised("Return twice the input.\n", "返回输入的两倍。\n")
    told: dict[str, Any] = {"title": Localised("Doubling", "加倍"), "statement": statement, "entry": ("double",)}
    told |= dict.fromkeys(("hints", "badges", "forbidden", "cards"), ()) | {"mistakes": {}, "folder": ""}
    hardened = hardened or Localised("", "")
    return Challenge(id="double", track="basics", level=1, hardened=hardened, required=required, **told)


def composed(*required: str, hardened: Localised | None = None, **facts: object) -> Statement:
    return statement_of(challenge(*required, hardened=hardened), SharedFacts(**facts))  # type: ignore[arg-type]


def test_a_sentence_is_there_exactly_where_its_check_is_required() -> None:
    for check, part, en, zh in (
        ("gradients", "everywhere", "Gradients must equal", "梯度要与参考解一致"),
        ("gradients", "everywhere", "float32 and float64 keep", "float64 保持自己的 dtype"),
        ("low-precision", "everywhere", "float32 and float64 keep", "float64 保持自己的 dtype"),
        ("gradients", "hardened", "Compute float64 in float64", "float64 按 float64 计算"),
        ("low-precision", "hardened", "Compute float64 in float64", "float64 按 float64 计算"),
        ("random", "everywhere", "the same input and random state", "同样的输入和随机状态"),
        ("low-precision", "hardened", "bfloat16 in float32 and cast", "bfloat16 转成 float32"),
        ("layout", "hardened", "any memory layout", "任意内存布局"),
        ("device", "hardened", "on the device of the inputs", "输入所在的设备上"),
        ("pure", "hardened", "not a view of an argument", "不能是参数的视图"),
    ):
        said: Localised = getattr(composed("loads", check), part)
        silent: Localised = getattr(composed("loads"), part)
        assert en in said.en and zh in said.zh and en not in silent.en and zh not in silent.zh, (check, part)


def test_a_statement_without_any_of_these_checks_still_says_what_is_not_allowed() -> None:
    shared = composed("loads")
    for lang in LANGS:
        for name in (*FORBIDDEN_EVERYWHERE, *IMPORTS, *(module.removeprefix("torch.") for module in TORCH_MODULES)):
            assert f"`{name}`" in shared.everywhere[lang]
        assert shared.hardened[lang] == "" and HARDENED[lang] not in shared.whole(lang)


def test_facts_of_the_challenge_change_what_is_said() -> None:
    said = {fact: composed("low-precision", sixteen_bits=fact).hardened for fact in SIXTEEN_BITS}
    assert "in float32 and cast" in said["float32"].en and "float32 计算" in said["float32"].zh
    assert "their own precision" in said["native"].en and "自身的精度" in said["native"].zh
    assert said["technique"] == Localised("- Compute float64 in float64.", "- float64 按 float64 计算。")
    returned = composed("pure", may_return_argument=True).hardened
    assert "view" not in returned.en and "Later calls must not write to a returned result." in returned.en
    assert "视图" not in returned.zh and "之后的调用不能再写" in returned.zh
    state = composed("pure", shows_state=True).hardened
    assert state == Localised("- A result must not be a view of an argument.", "- 结果不能是参数的视图。")


@pytest.mark.parametrize("lang", LANGS)
def test_the_parts_stand_in_their_order_and_what_is_special_comes_last(lang: Lang) -> None:
    special = Localised("Scale 0 counts too.\n", "scale 为 0 也算数。\n")
    text = composed(*ALL, hardened=special).whole(lang)
    pieces = [composed().first[lang].strip(), f"## {EVERYWHERE[lang]}\n", "`torch.compile`", f"## {HARDENED[lang]}\n"]
    places = [text.index(piece) for piece in (*pieces, "\n- ", special[lang].strip())]
    assert places == sorted(places) and "{" not in text
    alone, listed = Localised("More.", "更多。"), Localised("- More.", "- 更多。")
    assert composed("loads", hardened=alone).hardened == alone
    assert composed("layout", hardened=listed).hardened.en.endswith("expanded.\n- More."), "the shared list goes on"
    for required in ([], [*ALL]):
        parts = statement_of(replace(challenge(*required)), SharedFacts())
        for part in (parts.everywhere, parts.hardened):
            assert bool(part.en) == bool(part.zh)
            assert "，" not in part.en and "。" not in part.en
            assert part.en.count("\n") == part.zh.count("\n"), "the same paragraphs and the same list"
