"""Weight gradients of attention are dense; those of a ReLU MLP are half zeros for one token, and a batch fills them.

One causal block (attention, then a ReLU MLP) over 64 tokens with random weights. A weight's gradient is a sum of outer
products over tokens. In attention every score and value counts a little, so nothing is exactly 0. A ReLU unit that is
off for a token passes nothing: its column of W₁ and its row of W₂ get exact zeros from that token. What to look at: the
share of exact zeros when the loss is taken on the last token alone, and on all 64. Below, the same for a mixture of 8
ReLU experts with 2 chosen per token: the share of experts that get no gradient is 1 − k/E for one token, 0 for the
batch. Over seeds 0 … 99 one token left 0.41 … 0.60 of W₁ and W₂ at 0, the batch nothing
at all, no expert either; the attention matrices had no zero in any seed.

Li et al. 2022, arXiv 2210.06313 (activation sparsity); Shazeer et al. 2017, arXiv 1701.06538 (experts).
"""

from __future__ import annotations

import torch

TITLE = {"en": "Which weight gradients are sparse", "zh": "哪些权重梯度是稀疏的"}
CLAIM = {
    "en": "Attention's weight gradients have no exact zeros; a ReLU MLP's are about half zeros for one token and dense for a batch.",
    "zh": "注意力的权重梯度没有严格的零；ReLU MLP 的权重梯度对单个 token 约一半为零，对整个 batch 则是稠密的。",
}
CARDS = ("eval-13", "ffn-11", "moe-23", "opt-21")
CAVEATS = (
    {
        "en": "Half is the value at initialisation; trained ReLU MLPs are far sparser, and GELU or SwiGLU have no exact zeros.",
        "zh": "一半是初始化时的数值；训练好的 ReLU MLP 稀疏得多，而 GELU、SwiGLU 没有严格的零。",
    },
    {
        "en": "The router is random, thus roughly balanced; one that has collapsed leaves experts out of whole batches.",
        "zh": "这里的路由器是随机的，负载大致均衡；坍缩的路由器会让一些专家在整个 batch 里都得不到梯度。",
    },
)
SEEDS = 1
SECONDS = (2, 2)
TOKENS, WIDTH, HIDDEN, EXPERTS, CHOSEN = 64, 32, 128, 8, 2
NAMES = ("Wq", "Wk", "Wv", "Wo", "W1", "W2")
NAMED = {"MoE": {"en": "whole experts", "zh": "整个专家"}}


def run(seed, quick, progress):
    zeros = {}
    for tokens in (1, TOKENS):
        zeros[tokens] = zero_shares(seed, tokens)
        progress(tokens / TOKENS)
    rows = [[NAMED.get(name, name), zeros[1][name], zeros[TOKENS][name]] for name in zeros[1]]
    one, batch = zeros[1], zeros[TOKENS]
    attention = max(one[name] for name in NAMES[:4])
    mlp = min(one["W1"], one["W2"])
    densest = max(batch[name] for name in NAMES)
    return {
        "columns": [
            {"en": "weights", "zh": "权重"},
            {"en": "zeros, loss on 1 token", "zh": "零的比例，损失取 1 个 token"},
            {"en": f"zeros, loss on {TOKENS}", "zh": f"零的比例，损失取 {TOKENS} 个"},
        ],
        "rows": rows,
        "plots": [
            {
                "kind": "bar",
                "title": {"en": "Share of gradient entries that are exactly 0", "zh": "梯度中严格为 0 的元素比例"},
                "x": [row[0] for row in rows],
                "series": [
                    {"name": {"en": "loss on one token", "zh": "损失取一个 token"}, "y": [row[1] for row in rows]},
                    {
                        "name": {"en": f"on all {TOKENS}", "zh": f"损失取全部 {TOKENS} 个"},
                        "y": [row[2] for row in rows],
                    },
                ],
            }
        ],
        "checks": [
            check("attention, one token", "注意力，一个 token", attention, "< 0.01", attention < 0.01),
            check("W1 and W2, one token", "W1 与 W2，一个 token", mlp, "> 0.3", mlp > 0.3),
            check(f"every matrix, {TOKENS} tokens", f"所有矩阵，{TOKENS} 个 token", densest, "< 0.01", densest < 0.01),
            check("experts, one token", "专家，一个 token", one["MoE"], "1 − k/E = 0.75", one["MoE"] == 0.75),
            check(f"experts, {TOKENS} tokens", f"专家，{TOKENS} 个 token", batch["MoE"], "0", batch["MoE"] == 0),
        ],
        "seen": {
            "en": f"for one token {mlp:.0%} of the MLP's gradient entries and {one['MoE']:.0%} of the experts were exactly 0, for attention {attention:.0%}; for {TOKENS} tokens at most {densest:.0%} of a matrix and {batch['MoE']:.0%} of the experts were.",
            "zh": f"对一个 token，MLP 梯度有 {mlp:.0%} 严格为零，专家有 {one['MoE']:.0%} 得不到梯度，注意力为 {attention:.0%}；对 {TOKENS} 个 token，各矩阵最多 {densest:.0%}，专家 {batch['MoE']:.0%}。",
        },
    }


def check(en, zh, got, due, holds):
    return {"says": {"en": f"zeros, {en}", "zh": f"零的比例，{zh}"}, "holds": holds, "got": f"{got:.3f}", "due": due}


def zero_shares(seed, tokens):
    """The share of exact zeros in each weight's gradient, the loss being taken on the last `tokens` of 64."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator) / shape[-2] ** 0.5  # noqa: E731
    x = torch.randn(TOKENS, WIDTH, generator=generator)  # (n, d)
    target = torch.randn(TOKENS, WIDTH, generator=generator)  # (n, d)
    shapes = [(WIDTH, WIDTH)] * 4 + [(WIDTH, HIDDEN), (HIDDEN, WIDTH)]
    weights = {name: draw(*shape).requires_grad_() for name, shape in zip(NAMES, shapes, strict=True)}
    router, first, second = draw(WIDTH, EXPERTS), draw(EXPERTS, WIDTH, HIDDEN), draw(EXPERTS, HIDDEN, WIDTH)
    first.requires_grad_()
    wq, wk, wv, wo, w1, w2 = weights.values()
    scores = (x @ wq) @ (x @ wk).T / WIDTH**0.5  # (n, n)
    hidden = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)  # (n, n), True: not seen
    mixed = x + torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1) @ (x @ wv) @ wo  # (n, d)
    dense = mixed + torch.relu(mixed @ w1) @ w2  # (n, d)
    gates, chosen = torch.softmax(x @ router, dim=-1).topk(CHOSEN, dim=-1)  # (n, k) each
    by_all = torch.einsum("enh,ehd->ned", torch.relu(x @ first), second)  # (n, E, d)
    sparse = (gates[..., None] * by_all.gather(1, chosen[..., None].expand(-1, -1, WIDTH))).sum(dim=1)  # (n, d)
    for output in (dense, sparse):
        (output - target)[-tokens:].square().sum().backward()
    shares = {name: (weight.grad == 0).float().mean().item() for name, weight in weights.items()}
    return {**shares, "MoE": (first.grad == 0).all(dim=(1, 2)).float().mean().item()}
