"""Without a balance loss, top-1 routing leaves experts unused; with it all of them get tokens.

8 linear experts, 8 Gaussian clusters of inputs, each with its own linear map to learn: one expert per cluster would
be ideal. The router picks one expert per token, weighted by its raw probability, and is trained by that weight alone.
An expert that is picked early improves and is picked again (the Matthew effect). α·N·Σ f·P of the Switch Transformer is
added with α = 0, 0.05 and 0.5. The plot shows the effective number of experts, exp of the entropy of the load, over
training; the table counts experts without a token in the last batch. With a dead expert the effective number is at most 7.
Over seeds 0 … 20 it ended at 3.4 … 6.6 with α = 0 and 7.1 … 8.0 with 0.5, over seeds 0 … 9 at 4.1 … 6.8 with 0.05
(shown, not checked); 1 to 4 experts were dead with α = 0, none with 0.5.

Control: the balance losses are swapped, 0.5 instead of 0 and 0 instead of 0.5.

Shazeer et al. 2017, arXiv 1701.06538; Fedus et al. 2021, arXiv 2101.03961, §2.2.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

TITLE = {"en": "Dead experts, and the loss that revives them", "zh": "死专家，以及让它们复活的损失"}
CLAIM = {
    "en": "Top-1 routing trained on the task alone leaves experts without tokens; a balance loss brings all of them into use.",
    "zh": "只用任务损失训练的 top-1 路由会让一些专家分不到 token；加上负载均衡损失，所有专家都用得上。",
}
CARDS = ("moe-10", "moe-11", "moe-12")
CAVEATS = (
    {
        "en": "The error falls here as well, since every cluster wants its own expert; on other data balance may cost some fit.",
        "zh": "这里误差也随之下降，因为每个簇正好需要一个专家；换成别的数据，均衡可能要牺牲一些拟合。",
    },
    {
        "en": "Toy size, without noise, capacity or dropped tokens; large models also balance by a bias on the logits.",
        "zh": "玩具规模，没有噪声、容量上限和丢弃 token；大模型还会用加在 logit 上的偏置来均衡。",
    },
)
SEEDS = 3
SECONDS = (5, 20)
WIDTH, EXPERTS, BATCH, STEPS = 16, 8, 256, 600
ALPHAS = (0.0, 0.05, 0.5)


def run(seed, quick, progress, control=False):
    alphas = (0.0, 0.5) if quick else ALPHAS
    rows, curves = [], []
    for place, alpha in enumerate(alphas):
        used = max(alphas) - alpha if control else alpha
        curve, dead, error = trained(seed, used, lambda share: progress((place + share) / len(alphas)))  # noqa: B023
        curves.append(curve)
        rows.append([alpha, curve[-1], dead, error])
    alone, balanced = rows[0], rows[-1]
    return {
        "columns": [
            {"en": "α", "zh": "α"},
            {"en": "effective experts", "zh": "有效专家数"},
            {"en": "dead", "zh": "死专家"},
            {"en": "task MSE", "zh": "任务 MSE"},
        ],
        "rows": rows,
        "plots": [
            {
                "kind": "line",
                "title": {"en": "Effective number of experts over steps", "zh": "有效专家数随训练步数的变化"},
                "x": list(range(0, STEPS, 10)),
                "series": [
                    {"name": {"en": f"α = {alpha:g}", "zh": f"α = {alpha:g}"}, "y": curve[:-1]}
                    for alpha, curve in zip(alphas, curves, strict=True)
                ],
            }
        ],
        "checks": [
            check("effective experts, α = 0", "有效专家数，α = 0", f"{alone[1]:.2f}", "< 7", alone[1] < 7),
            check("dead experts, α = 0", "死专家，α = 0", f"{alone[2]}", "≥ 1", alone[2] >= 1),
            check("effective experts, α = 0.5", "有效专家数，α = 0.5", f"{balanced[1]:.2f}", "> 7", balanced[1] > 7),
            check("dead experts, α = 0.5", "死专家，α = 0.5", f"{balanced[2]}", "0", balanced[2] == 0),
        ],
        "seen": {
            "en": f"left alone {alone[2]} of 8 experts got no token and {alone[1]:.1f} were in effective use; with the balance loss it was {balanced[1]:.1f}.",
            "zh": f"不加约束时 8 个专家中有 {alone[2]} 个分不到 token，有效专家数为 {alone[1]:.1f}；加上均衡损失后为 {balanced[1]:.1f}。",
        },
    }


def check(en, zh, got, due, holds):
    return {"says": {"en": en, "zh": zh}, "holds": holds, "got": got, "due": due}


def trained(seed, alpha, progress):
    """Return the effective experts every ten steps, and the dead experts and the task error of the last batch."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    centres = 2 * draw(EXPERTS, WIDTH)  # (clusters, d)
    maps = draw(EXPERTS, WIDTH, WIDTH) / WIDTH**0.5  # (clusters, d, d): the maps to learn
    router = (draw(WIDTH, EXPERTS) / WIDTH**0.5).requires_grad_()  # (d, E)
    experts = (draw(EXPERTS, WIDTH, WIDTH) / WIDTH**0.5).requires_grad_()  # (E, d, d)
    optimiser = torch.optim.Adam([router, experts], lr=1e-2)
    curve = []
    for step in range(STEPS):
        cluster = torch.randint(EXPERTS, (BATCH,), generator=generator)  # (n,)
        x = centres[cluster] + draw(BATCH, WIDTH)  # (n, d)
        target = torch.einsum("nd,nde->ne", x, maps[cluster])  # (n, d)
        p = torch.softmax(x @ router, dim=-1)  # (n, E)
        gate, chosen = p.max(dim=-1)  # (n,) each
        y = gate[:, None] * torch.einsum("nd,nde->ne", x, experts[chosen])  # (n, d)
        load = F.one_hot(chosen, EXPERTS).float().mean(dim=0)  # (E,): f, no gradient through it
        error = (y - target).square().mean()
        optimiser.zero_grad()
        (error + alpha * EXPERTS * (load * p.mean(dim=0)).sum()).backward()
        optimiser.step()
        if step % 10 == 0 or step == STEPS - 1:
            curve.append(torch.special.entr(load).sum().exp().item())
            progress((step + 1) / STEPS)
    return curve, int((load == 0).sum()), error.item()
