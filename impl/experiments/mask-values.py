"""−inf, −1e9 and finfo.min hide a key equally well, unless a whole row is hidden, the dtype is short, or masks add up.

Four keys, in float32, bfloat16 and float16, by `masked_fill`: two of the four hidden, then all four. The
weights of a fully hidden row are NaN with −inf, and 1/4 each with a finite value, as if nothing were hidden. float16,
whose largest value is 65504, has two traps: it rejects −1e9, and two added masks of finfo.min give −inf.
The scores are drawn; the outcome does not depend on them (seeds 0 … 199).
Control: the fill is −10 instead of −1e9.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

TITLE = {"en": "−inf, −1e9, finfo.min: what a mask is filled with", "zh": "−inf、−1e9、finfo.min：掩码填什么"}
CLAIM = {
    "en": "All three give a hidden key a weight of exactly 0; a fully hidden row is NaN with −inf and uniform with a finite fill; float16 cannot hold −1e9.",
    "zh": "三种填充值都使被遮的 key 权重恰好为 0；整行被遮时，−inf 得到 NaN，有限值得到均匀分布；float16 装不下 −1e9。",
}
CARDS = ("mask-01", "mask-02", "mask-03", "mask-04", "mask-05")
CAVEATS = (
    {
        "en": "Ordinary scores, a few units in size; −1e4 or logits in the thousands are another matter.",
        "zh": "分数是普通大小（几个单位）；填 −1e4 或 logit 达到上千时另当别论。",
    },
)
SEEDS = 1
SECONDS = (2, 2)
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
FILLS = {
    "−inf": lambda dtype: float("-inf"),
    "−1e9": lambda dtype: -1e9,
    "finfo.min": lambda dtype: torch.finfo(dtype).min,
}
PARTLY = torch.tensor([False, True, False, True])  # (4,), True = hidden
WHOLLY = torch.tensor([True] * 4)


def both(en: str, zh: str) -> dict:
    return {"en": en, "zh": zh}


def check(says: dict, holds: bool, got: str, due: str) -> dict:
    return {"says": says, "holds": holds, "got": got, "due": due}


REFUSED, UNIFORM, NAN = both("refused", "报错"), both("uniform, 1/4 each", "均匀分布，各 1/4"), both("NaN", "NaN")


def weights(scores: Tensor, hidden: Tensor, fill: float) -> Tensor | None:
    """Return the softmax of scores (4,) with the hidden ones filled, or None if the dtype rejects the value."""
    try:
        return torch.softmax(scores.masked_fill(hidden, fill), dim=-1)
    except RuntimeError:
        return None


def hidden_weight(found: Tensor | None) -> object:
    return REFUSED if found is None else found[PARTLY].max().item()


def whole_row(found: Tensor | None) -> dict:
    if found is None:
        return REFUSED
    return NAN if found.isnan().all() else UNIFORM if (found == 0.25).all() else both("neither", "其他")


def hides(scores: Tensor) -> bool:
    return bool((scores[PARTLY] == float("-inf")).all())


def run(seed: int, quick: bool, progress: Callable[[float], None], control: bool = False) -> dict:
    scores = torch.randn(4, generator=torch.Generator().manual_seed(seed))  # (4,)
    rows, seen = [], {}
    for dtype in DTYPES:
        for name, fill in FILLS.items():
            value = -10.0 if control and name == "−1e9" else fill(dtype)
            some, every = (weights(scores.to(dtype), hidden, value) for hidden in (PARTLY, WHOLLY))
            seen[name, dtype] = (hidden_weight(some), whole_row(every))
            rows.append([str(dtype).removeprefix("torch."), name, *seen[name, dtype]])
    half = scores.half()
    added = half + PARTLY.half() * -1e9  # (4,): an added mask is not refused
    twice = half + 2 * (PARTLY.half() * torch.finfo(torch.float16).min)  # (4,): two masks, say causal and padding
    progress(1.0)

    exact = [one[0] for key, one in seen.items() if one[0] is not REFUSED]
    long = [torch.float32, torch.bfloat16]
    uniform = all(seen["−1e9", dtype][1] is UNIFORM for dtype in long) and all(
        seen["finfo.min", dtype][1] is UNIFORM for dtype in DTYPES
    )
    nan = all(seen["−inf", dtype][1] is NAN for dtype in DTYPES)
    refused = all(cell is REFUSED for cell in seen["−1e9", torch.float16])
    told = {True: "yes", False: "no"}
    at, at_half = {name: seen[name, torch.float32][1] for name in FILLS}, seen["−1e9", torch.float16][1]
    pictured = [
        (both("two hidden, −inf", "遮两个，−inf"), weights(scores, PARTLY, float("-inf"))),
        (both("two hidden, −1e9", "遮两个，−1e9"), weights(scores, PARTLY, -1e9)),
        (both("all hidden, −1e9", "全部遮住，−1e9"), weights(scores, WHOLLY, -1e9)),
    ]
    return {
        "columns": [
            both("dtype", "dtype"),
            both("fill", "填充值"),
            both("weight of a hidden key", "被遮 key 的权重"),
            both("all four hidden", "四个全遮"),
        ],
        "rows": rows,
        "plots": [
            {
                "kind": "heat",
                "title": both(
                    "Weights of one query, float32 (−inf on a fully hidden row is NaN: not drawn)",
                    "一个查询的权重，float32（整行用 −inf 遮住得到 NaN，未画）",
                ),
                "rows": [name for name, _ in pictured],
                "columns": [
                    both("key 0", "key 0"),
                    both("key 1, hidden", "key 1，被遮"),
                    both("key 2", "key 2"),
                    both("key 3, hidden", "key 3，被遮"),
                ],
                "values": [found.tolist() for _, found in pictured],
            }
        ],
        "checks": [
            check(
                both("largest weight of a hidden key", "被遮 key 的最大权重"), max(exact) == 0.0, f"{max(exact):g}", "0"
            ),
            check(both("a fully hidden row is NaN with −inf", "整行用 −inf 遮住得到 NaN"), nan, told[nan], "yes"),
            check(both("… and uniform with a finite fill", "用有限值遮住则均匀"), uniform, told[uniform], "yes"),
            check(
                both("float16 refuses masked_fill(−1e9)", "float16 拒绝 masked_fill(−1e9)"),
                refused,
                told[refused],
                "yes",
            ),
            check(
                both("−1e9 added in float16", "在 float16 中加上 −1e9"), hides(added), f"{added[1].item():g}", "-inf"
            ),
            check(
                both("finfo.min added twice in float16", "在 float16 中两次加上 finfo.min"),
                hides(twice),
                f"{twice[1].item():g}",
                "-inf",
            ),
        ],
        "seen": both(
            f"a hidden key got a weight of {max(exact):g} at most; with all four hidden, {at['−inf']['en']} with −inf and {at['−1e9']['en']} with −1e9 in float32, {at_half['en']} with −1e9 in float16.",
            f"被遮的 key 权重最大为 {max(exact):g}；四个全遮时，float32 中 −inf 得到{at['−inf']['zh']}，−1e9 得到{at['−1e9']['zh']}，float16 中 −1e9 {at_half['zh']}。",
        ),
    }
