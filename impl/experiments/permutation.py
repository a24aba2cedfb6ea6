"""Attention without positions sees a set: permute the tokens and the outputs are permuted, nothing else (equivariance).

X has 6 tokens of width 8 and Q = K = V = X, in float32. f(PX) is compared with P f(X), which equivariance demands, and
with f(X), which invariance would. A causal mask breaks the symmetry: earlier tokens are seen by more tokens. That is
how a causal decoder can learn order without any positional encoding. In the last row, within one causal layer,
the last token still sees its prefix as a set. P is a cyclic shift, which moves every token; a random P may move few.
Over seeds 0 … 199 the four differences were at most 7e-7, 0.91 … 5.2, 0.12 … 1.8 and at most 2e-7.

Control: every token gets a random vector for its position.

Yun et al. 2019, arXiv 1912.10077, §2; Haviv et al. 2022, arXiv 2203.16634 (NoPE).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

TITLE = {
    "en": "Attention is permutation-equivariant; a causal mask breaks it",
    "zh": "注意力是置换等变的；因果掩码打破这一点",
}
CLAIM = {
    "en": "Without positions f(PX) = P f(X), which is equivariance and not invariance; with a causal mask it no longer holds.",
    "zh": "没有位置编码时 f(PX) = P f(X)，这是等变而不是不变；加上因果掩码后不再成立。",
}
CARDS = ("att-16", "pos-01", "pos-02")
CAVEATS = (
    {
        "en": "One layer and one head; the proof on the cards is what covers every stack.",
        "zh": "只有一层一个头；任意层数的情形由卡片上的证明覆盖。",
    },
)
SEEDS = 1
SECONDS = (2, 2)
TOKENS, WIDTH = 6, 8


def both(en: str, zh: str) -> dict:
    return {"en": en, "zh": zh}


def check(says: dict, holds: bool, got: str, due: str) -> dict:
    return {"says": says, "holds": holds, "got": got, "due": due}


def attention(x: Tensor, causal: bool, places: Tensor | float = 0.0) -> tuple[Tensor, Tensor]:
    """Return output (T, d) and weights (T, T) of attention with Q = K = V = x + places, both (T, d)."""
    x = x + places
    scores = x @ x.T / x.shape[-1] ** 0.5  # (T, T)
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), float("-inf"))
    weights = torch.softmax(scores, dim=-1)  # (T, T)
    return weights @ x, weights


def apart(a: Tensor, b: Tensor) -> float:
    return (a - b).abs().max().item()


def run(seed: int, quick: bool, progress: Callable[[float], None], control: bool = False) -> dict:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(TOKENS, WIDTH, generator=generator)  # (T, d)
    order = (
        torch.arange(TOKENS) + torch.randint(1, TOKENS, (1,), generator=generator)
    ) % TOKENS  # (T,), moves every token
    behind = torch.cat(
        (order[order != TOKENS - 1], torch.tensor([TOKENS - 1]))
    )  # (T,), the last token stays where it is

    places = torch.randn(TOKENS, WIDTH, generator=generator) if control else 0.0
    equivariance = apart(attention(x[order], False, places)[0], attention(x, False, places)[0][order])
    invariance = apart(attention(x[order], False)[0], attention(x, False)[0])
    causal = apart(attention(x[order], True)[0], attention(x, True)[0][order])
    last_row = apart(attention(x[behind], True)[0][-1], attention(x, True)[0][-1])
    progress(1.0)
    names = [str(place) for place in order.tolist()]
    return {
        "columns": [both("what is compared", "比较对象"), both("mask", "掩码"), both("largest difference", "最大差异")],
        "rows": [
            [both("f(PX) with P f(X): equivariance", "f(PX) 与 P f(X)：等变"), both("none", "无"), equivariance],
            [both("f(PX) with f(X): invariance", "f(PX) 与 f(X)：不变"), both("none", "无"), invariance],
            [both("f(PX) with P f(X): equivariance", "f(PX) 与 P f(X)：等变"), both("causal", "因果"), causal],
            [
                both("last row, tokens before it permuted", "最后一行，其前的 token 被置换"),
                both("causal", "因果"),
                last_row,
            ],
        ],
        "plots": [
            {
                "kind": "heat",
                "title": title,
                "rows": names,
                "columns": names,
                "values": attention(x[order], causal_mask)[1].tolist(),
            }
            for title, causal_mask in (
                (both("Weights of the permuted tokens, no mask", "置换后的注意力权重，无掩码"), False),
                (both("Weights of the permuted tokens, causal mask", "置换后的注意力权重，因果掩码"), True),
            )
        ],
        "checks": [
            check(
                both("f(PX) − P f(X), no mask", "f(PX) − P f(X)，无掩码"),
                equivariance < 1e-5,
                f"{equivariance:.0e}",
                "< 1e-5",
            ),
            check(
                both("f(PX) − f(X), no mask", "f(PX) − f(X)，无掩码"), invariance > 0.1, f"{invariance:.2f}", "> 0.1"
            ),
            check(both("f(PX) − P f(X), causal", "f(PX) − P f(X)，因果掩码"), causal > 0.05, f"{causal:.2f}", "> 0.05"),
            check(
                both("last row, its prefix permuted, causal", "最后一行，其前缀被置换，因果掩码"),
                last_row < 1e-5,
                f"{last_row:.0e}",
                "< 1e-5",
            ),
        ],
        "seen": both(
            f"permuting the tokens permuted the outputs, to within {equivariance:.0e}, and changed them by {invariance:.1f} in place; under a causal mask f(PX) and P f(X) were {causal:.1f} apart.",
            f"置换 token 后，输出随之置换（误差 {equivariance:.0e}），同一位置的输出则变化 {invariance:.1f}；加因果掩码后 f(PX) 与 P f(X) 相差 {causal:.1f}。",
        ),
    }
