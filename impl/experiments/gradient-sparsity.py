"""Weight gradients of attention are dense; those of a ReLU MLP are half zeros for one token, and dense for a batch.

One causal block (attention, then a ReLU MLP) over 64 tokens with random weights. A weight's gradient is a sum of outer
products over tokens. A token that sees several keys moves every score and value a little, so nothing is exactly 0. The
first token sees one key: its softmax is the constant 1, and W_Q and W_K get nothing from it. A ReLU unit that is off
for a token passes nothing: its column of W₁ and its row of W₂ get exact zeros from that token. Compare the
share of exact zeros for a loss on the first token, on the last, and on all 64. Below, the same for a
mixture of 8 ReLU experts with 2 chosen per token. One token leaves 6 of 8 without gradient by construction. How many a
group of 8 tokens leaves depends on the router: (1 − k/E)^8 = 0.10 if it is balanced, 0.75 if it always picks the same
two. Over seeds 0 … 199 the last token left 0.35 … 0.60 of W₁ and W₂ at 0, a group of 8 left 0.03 … 0.20 of the experts,
the batch nothing; the attention matrices had no zero for the last token in any seed.
Control: GELU instead of ReLU.

Li et al. 2022, arXiv 2210.06313 (activation sparsity); Shazeer et al. 2017, arXiv 1701.06538 (experts).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

TITLE = {"en": "Which weight gradients are sparse", "zh": "哪些权重梯度是稀疏的"}
CLAIM = {
    "en": "For a token that sees at least two keys attention's weight gradients have no exact zeros; a ReLU MLP's are about half zeros for one token and dense for a batch.",
    "zh": "对至少看得到两个 key 的 token，注意力的权重梯度没有严格的零；ReLU MLP 的权重梯度对单个 token 约一半为零，对整个 batch 则是稠密的。",
}
CARDS = ("eval-13", "ffn-11", "moe-23", "opt-21")
CAVEATS = (
    {
        "en": "Half is the value at initialisation; trained ReLU MLPs are far sparser, and GELU or SwiGLU have no exact zeros.",
        "zh": "一半是初始化时的数值；训练好的 ReLU MLP 稀疏得多，而 GELU、SwiGLU 没有严格的零。",
    },
    {
        "en": "One block; in a deeper stack the paths of other tokens fill the zeros of the lower MLPs.",
        "zh": "这里只有一块；层数更多时，较低层 MLP 的零会被其他 token 的通路填满。",
    },
    {
        "en": "The router is random, thus roughly balanced; one that has collapsed leaves experts out of whole batches.",
        "zh": "这里的路由器是随机的，负载大致均衡；坍缩的路由器会让一些专家在整个 batch 里都得不到梯度。",
    },
)
SEEDS = 1
SECONDS = (2, 2)
TOKENS, WIDTH, HIDDEN, EXPERTS, CHOSEN, GROUP = 64, 32, 128, 8, 2, 8
NAMES = ("Wq", "Wk", "Wv", "Wo", "W1", "W2")
NAMED = {"MoE": {"en": "whole experts", "zh": "整个专家"}}
BALANCED = (1 - CHOSEN / EXPERTS) ** GROUP


def run(seed, quick, progress, control=False):
    activation = F.gelu if control else torch.relu
    first, last, batch = (zero_shares(seed, chosen, activation) for chosen in (slice(1), slice(-1, None), slice(None)))
    progress(0.5)
    groups = [slice(start, start + GROUP) for start in range(0, TOKENS, GROUP)]
    missed = sum(zero_shares(seed, group, activation)["MoE"] for group in groups) / len(groups)
    rows = [[NAMED.get(name, name), first[name], last[name], batch[name]] for name in batch]
    one_key = min(first["Wq"], first["Wk"])
    attention = max(last[name] for name in NAMES[:4])
    mlp = min(last["W1"], last["W2"])
    densest = max(batch[name] for name in NAMES)
    heads = [
        {"en": "loss on the first token", "zh": "损失取第一个 token"},
        {"en": "on the last", "zh": "取最后一个"},
        {"en": f"on all {TOKENS}", "zh": f"取全部 {TOKENS} 个"},
    ]
    return {
        "columns": [{"en": "exact zeros", "zh": "严格的零"}, *heads],
        "rows": rows,
        "plots": [
            {
                "kind": "bar",
                "title": {"en": "Share of gradient entries that are exactly 0", "zh": "梯度中严格为 0 的元素比例"},
                "x": [row[0] for row in rows],
                "series": [{"name": name, "y": [row[place + 1] for row in rows]} for place, name in enumerate(heads)],
            }
        ],
        "checks": [
            check("W_Q and W_K, first token", "W_Q 与 W_K，第一个 token", one_key, "1", one_key == 1),
            check("attention, last token", "注意力，最后一个 token", attention, "< 0.01", attention < 0.01),
            check("W1 and W2, last token", "W1 与 W2，最后一个 token", mlp, "> 0.3", mlp > 0.3),
            check(f"every matrix, {TOKENS} tokens", f"所有矩阵，{TOKENS} 个 token", densest, "< 0.01", densest < 0.01),
            check(
                f"experts, groups of {GROUP} tokens",
                f"专家，每组 {GROUP} 个 token",
                missed,
                f"< 0.3 ({BALANCED:.2f} = (1 − k/E)^{GROUP})",
                missed < 0.3,
            ),
            check(f"experts, {TOKENS} tokens", f"专家，{TOKENS} 个 token", batch["MoE"], "0", batch["MoE"] == 0),
        ],
        "seen": {
            "en": f"for the last token {mlp:.0%} of the MLP's gradient entries were exactly 0 and {attention:.0%} of attention's, for the first {one_key:.0%} of those of W_Q and W_K; for all {TOKENS} tokens at most {densest:.0%} of a matrix. {GROUP} tokens left {missed:.0%} of the experts without gradient, {TOKENS} left {batch['MoE']:.0%}.",
            "zh": f"对最后一个 token，MLP 梯度有 {mlp:.0%} 严格为零，注意力为 {attention:.0%}；对第一个 token，W_Q、W_K 的梯度有 {one_key:.0%} 为零；对全部 {TOKENS} 个 token，各矩阵最多 {densest:.0%}。{GROUP} 个 token 使 {missed:.0%} 的专家得不到梯度，{TOKENS} 个时为 {batch['MoE']:.0%}。",
        },
    }


def check(en, zh, got, due, holds):
    return {"says": {"en": f"zeros, {en}", "zh": f"零的比例，{zh}"}, "holds": holds, "got": f"{got:.3f}", "due": due}


def zero_shares(seed, tokens, activation):
    """Return the share of exact zeros in each weight's gradient, with the loss on the `tokens`, a slice of all 64."""
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
    hidden = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)  # (n, n), True: hidden
    mixed = x + torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1) @ (x @ wv) @ wo  # (n, d)
    dense = mixed + activation(mixed @ w1) @ w2  # (n, d)
    gates, chosen = torch.softmax(x @ router, dim=-1).topk(CHOSEN, dim=-1)  # (n, k) each
    by_all = torch.einsum("enh,ehd->ned", activation(x @ first), second)  # (n, E, d)
    sparse = (gates[..., None] * by_all.gather(1, chosen[..., None].expand(-1, -1, WIDTH))).sum(dim=1)  # (n, d)
    for output in (dense, sparse):
        (output - target)[tokens].square().sum().backward()
    shares = {name: (weight.grad == 0).float().mean().item() for name, weight in weights.items()}
    return {**shares, "MoE": (first.grad == 0).all(dim=(1, 2)).float().mean().item()}
