"""With one expert per token a renormalised gate is always 1, so the router gets no gradient at all.

A router picks k of 4 experts for each of 5 tokens, and each chosen expert's output is weighted by its gate. The choice
itself has no derivative; the gate is the only path from the loss back to the router. The gate is either the raw
softmax probability p, or p renormalised over the chosen. With k = 1 the renormalised gate is p/p = 1, a constant.
One bar is missing. Written as a softmax over the chosen logits the gradient is exactly 0;
written as p/Σp rounding errors remain. Over seeds 0 … 49 the rounding was at most 6e-7 of the raw gradient, and the greatest
entry of the three others never below 2.1.

Control: one more expert is chosen, 2 and 3 instead of 1 and 2.

Shazeer et al. 2017, arXiv 1701.06538; Fedus et al. 2021, arXiv 2101.03961 (top-1 with the raw probability).
"""

from __future__ import annotations

import torch

TITLE = {"en": "Top-1 with a renormalised gate starves the router", "zh": "top-1 加归一化门控，路由器没有梯度"}
CLAIM = {
    "en": "Renormalising the gate over a single chosen expert makes it the constant 1, so no gradient reaches the router.",
    "zh": "只选一个专家时，对选中的门控再归一化就恒等于 1，梯度到不了路由器。",
}
CARDS = ("moe-04", "moe-05")
CAVEATS = (
    {
        "en": "An auxiliary balance loss still reaches such a router: it then learns to balance, not to choose well.",
        "zh": "辅助的负载均衡损失仍能传到这样的路由器：它学会的只是均衡，而不是选对专家。",
    },
)
SEEDS = 1
SECONDS = (2, 2)
TOKENS, WIDTH, EXPERTS = 5, 8, 4
RAW = {"en": "raw p", "zh": "原始 p"}
SHARE = {"en": "p / Σp of the chosen", "zh": "p / 选中者之和"}
CHOSEN_SOFTMAX = {"en": "softmax over the chosen", "zh": "只对选中者做 softmax"}


def run(seed, quick, progress, control=False):
    rows = []
    for k in (1, 2):
        for gate in (RAW, SHARE, CHOSEN_SOFTMAX):
            rows.append([k, gate, router_gradient(seed, k + control, gate).abs().max().item()])
            progress(len(rows) / 6)
    raw, shared, softmaxed = (row[2] for row in rows[:3])
    others = [raw, *(row[2] for row in rows[3:])]
    return {
        "columns": [
            {"en": "k", "zh": "k"},
            {"en": "gate", "zh": "门控"},
            {"en": "greatest |gradient|", "zh": "|梯度| 最大值"},
        ],
        "rows": rows,
        "plots": [
            {
                "kind": "bar",
                "title": {"en": "Greatest router gradient", "zh": "路由器梯度的最大值"},
                "x": ["k = 1", "k = 2"],
                "series": [
                    {"name": gate, "y": [rows[place][2], rows[place + 3][2]]}
                    for place, gate in enumerate((RAW, SHARE, CHOSEN_SOFTMAX))
                ],
            }
        ],
        "checks": [
            {
                "says": {
                    "en": "k = 1, p/Σp: gradient relative to the raw gate's",
                    "zh": "k = 1，p/Σp：相对于原始门控的梯度",
                },
                "holds": shared < 1e-5 * raw,
                "got": f"{shared / raw:.1g}",
                "due": "< 1e-5",
            },
            {
                "says": {
                    "en": "k = 1, softmax over the chosen: gradient",
                    "zh": "k = 1，只对选中者做 softmax：梯度",
                },
                "holds": softmaxed == 0,
                "got": f"{softmaxed:g}",
                "due": "0",
            },
            {
                "says": {"en": "the smallest of the other gradients", "zh": "其余梯度中最小的"},
                "holds": min(others) > 0.1,
                "got": f"{min(others):.2f}",
                "due": "> 0.1",
            },
        ],
        "seen": {
            "en": f"with k = 1 the raw gate passed a gradient of up to {raw:.2f}, the renormalised one {max(shared, softmaxed):.1g}; with k = 2 renormalising left {rows[4][2]:.2f}.",
            "zh": f"k = 1 时，原始门控传回的梯度最大为 {raw:.2f}，归一化后只有 {max(shared, softmaxed):.1g}；k = 2 时归一化后仍有 {rows[4][2]:.2f}。",
        },
    }


def router_gradient(seed, k, gate):
    """Return the gradient of a squared error for the router's weights; every k and gate gets the same inputs."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(TOKENS, WIDTH, generator=generator)  # (n, d)
    target = torch.randn(TOKENS, WIDTH, generator=generator)  # (n, d)
    experts = torch.randn(EXPERTS, WIDTH, WIDTH, generator=generator) / WIDTH**0.5  # (E, d, d)
    router = torch.randn(WIDTH, EXPERTS, generator=generator) / WIDTH**0.5  # (d, E)
    router.requires_grad_()
    logits = x @ router  # (n, E)
    p = torch.softmax(logits, dim=-1)  # (n, E)
    gates, chosen = p.topk(k, dim=-1)  # (n, k) each
    if gate is SHARE:
        gates = gates / gates.sum(dim=-1, keepdim=True)
    if gate is CHOSEN_SOFTMAX:
        gates = torch.softmax(logits.gather(-1, chosen), dim=-1)
    outputs = torch.einsum("nd,edf->nef", x, experts)  # (n, E, d)
    mine = outputs.gather(1, chosen[..., None].expand(-1, -1, WIDTH))  # (n, k, d)
    y = (gates[..., None] * mine).sum(dim=1)  # (n, d)
    (y - target).square().sum().backward()
    return router.grad
