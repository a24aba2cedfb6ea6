"""Retrieval needs attention that depends on the input. Memorisation needs trained parameters, in the MLP or elsewhere.

Small Transformers in variants: all trained; MixiT, whose heads mix positions by a fixed random causal matrix instead of
attention; W_Q and W_K frozen at random; the MLP frozen at random; for memorisation also a frozen MLP in a wider model,
and the MLP alone trained (with the 96 numbers of the positions). Tasks: retrieval (8 key–value pairs, then the same
keys in another order: predict each value), memorisation (a random label for each of 4,096 pairs of tokens) and modular
addition.
MixiT fails at retrieval alone, since the place of the key changes from sequence to sequence. Excluding values
already used gives 0.42 there without looking at a key: MixiT must stay below. A frozen MLP halves the
trained parameters, and half of the facts are lost. At width 48 it trains fewer parameters than the full model of width
32, and nearly all facts are learnt; the MLP alone, with as many trained parameters as all but the MLP, learns fewer. So
the loss measures trained parameters, not a task that only the MLP can do.
Over seeds 0 … 9: MixiT 0.16 … 0.27 in retrieval, the frozen MLP 0.47 … 0.54 in memorisation; at width 48 0.986 …
0.999 (seeds 0 … 4); the MLP alone 0.34 … 0.38 (seeds 0, 1).
Control: nothing is frozen, and MixiT has attention.

Inspired by arXiv 2506.01115 (2025), whose MixiT matrix differs in detail.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

TITLE = {
    "en": "Retrieval needs attention, memorisation needs trained parameters",
    "zh": "检索靠注意力，记忆靠可训练参数",
}
CLAIM = {
    "en": "Retrieval needs attention that depends on the input, even with W_Q and W_K frozen; memorisation needs enough trained parameters, in the MLP or elsewhere.",
    "zh": "检索需要随输入变化的注意力，W_Q、W_K 冻结也行；记忆需要足够多的可训练参数，不一定在 MLP 里。",
}
CARDS = ("eval-07", "eval-08", "eval-09", "eval-10", "eval-11", "peft-12")
CAVEATS = (
    {
        "en": "Chance (0.06) is no baseline for retrieval: excluding values already used gives 0.42 without any key.",
        "zh": "检索任务不能拿随机水平（0.06）作基线：只排除用过的值，不看 key 也有 0.42。",
    },
    {
        "en": "Tiny models, tested for fit after 2,500 steps: with three times the steps the frozen MLP's model reached 0.86. A wider one also has more random features.",
        "zh": "模型很小，测的是训练 2,500 步后的拟合；步数增到三倍，MLP 冻结的模型达到 0.86。模型加宽，随机特征也随之增多。",
    },
)
SEEDS = 3
SECONDS = (60, 900)
LAYERS, HEADS, PAIRS, SYMBOLS, GUESSING, WIDER = 2, 4, 8, 16, 0.424, 48
NAMES = {"full": "完整", "MixiT": "MixiT", "frozen QK": "冻结 QK", "frozen MLP": "冻结 MLP"}
NAMES |= {"retrieval": "检索", "memorisation": "记忆", "addition": "加法"}
NAMES |= {"frozen MLP, wider": "冻结 MLP 并加宽", "only the MLP trained": "只训练 MLP"}
SIZES = {
    "retrieval": (64, 800, 64, 2e-3, 0),
    "memorisation": (32, 2500, 512, 3e-3, 64),
    "addition": (64, 2500, 128, 2e-3, 31),
}
# task: width, steps, batch, learning rate and P, for facts about P² pairs
FROZEN = {"frozen QK": ("wq", "wk"), "MixiT": ("wq", "wk")}
FROZEN |= {"frozen MLP": ("w1", "w2"), "frozen MLP, wider": ("w1", "w2")}
FROZEN |= {"only the MLP trained": ("embed", "head", "wq", "wk", "wv", "wo")}
RETRIEVED, MIXED = ("retrieval", "full"), ("retrieval", "MixiT")
HALVED, WIDENED, ALONE = (
    ("memorisation", name) for name in ("frozen MLP", "frozen MLP, wider", "only the MLP trained")
)
QUICK = (RETRIEVED, MIXED, HALVED, WIDENED)


def run(seed, quick, progress, control=False):
    jobs = QUICK if quick else [(task, name) for task in SIZES for name in list(NAMES)[:4]] + [WIDENED, ALONE]
    found = {}
    for place, job in enumerate(jobs):
        variant = "full" if control else job[1]
        found[job] = accuracy(seed, *job, variant, lambda share, place=place: progress((place + share) / len(jobs)))
    got = {job: score for job, (score, _) in found.items()}
    others = [score for job, score in got.items() if job not in (*QUICK, ALONE)]
    label = lambda job: {"en": ", ".join(job), "zh": "，".join(NAMES[name] for name in job)}  # noqa: E731
    checks = [
        check(label(RETRIEVED), got[RETRIEVED], "≥ 0.95", got[RETRIEVED] >= 0.95),
        check(label(MIXED), got[MIXED], f"≤ {GUESSING}", got[MIXED] <= GUESSING),
        check(label(HALVED), got[HALVED], "≤ 0.7", got[HALVED] <= 0.7),
        check(label(WIDENED), got[WIDENED], "≥ 0.9", got[WIDENED] >= 0.9),
    ]
    if not quick:
        others_name = {"en": "the least of all others", "zh": "其余各项的最低值"}
        checks.append(check(label(ALONE), got[ALONE], "≤ 0.7", got[ALONE] <= 0.7))
        checks.append(check(others_name, min(others), "≥ 0.9", min(others) >= 0.9))
    skipped = {"en": "frozen W_Q and W_K, the MLP alone", "zh": "冻结 W_Q、W_K，只训练 MLP"}
    return {
        "columns": [
            {"en": "task, variant", "zh": "任务，变体"},
            {"en": "trained parameters", "zh": "可训练参数"},
            {"en": "accuracy", "zh": "准确率"},
        ],
        "rows": [[label(job), count, score] for job, (score, count) in found.items()],
        "plots": [
            {
                "kind": "bar",
                "title": {"en": "Accuracy by task and variant", "zh": "各任务、各变体的准确率"},
                "x": [label(job) for job in got],
                "series": [{"name": {"en": "accuracy", "zh": "准确率"}, "y": list(got.values())}],
            }
        ],
        "checks": checks,
        "seen": {
            "en": f"MixiT retrieved {got[MIXED]:.2f} (without a key up to 0.42 can be had), full attention {got[RETRIEVED]:.2f}. With the MLP frozen {got[HALVED]:.2f} of the facts were memorised at {found[HALVED][1]:,} trained parameters, {got[WIDENED]:.2f} at {found[WIDENED][1]:,}.",
            "zh": f"MixiT 的检索准确率为 {got[MIXED]:.2f}（不看 key 最多 0.42），完整注意力为 {got[RETRIEVED]:.2f}。MLP 冻结时，可训练参数 {found[HALVED][1]:,} 个，记住 {got[HALVED]:.2f} 的事实；{found[WIDENED][1]:,} 个，记住 {got[WIDENED]:.2f}。",
        },
        **({"skipped": skipped} if quick else {}),
    }


def check(says, got, due, holds):
    return {"says": says, "holds": holds, "got": f"{got:.3f}", "due": due}


def accuracy(seed, task, name, variant, progress):
    """Train this variant; return its accuracy and trained parameters. All variants share the task and the start."""
    width, steps, batch, rate, p = SIZES[task]
    width = WIDER if name == WIDENED[1] else width
    generator = torch.Generator().manual_seed(seed)
    table = torch.randint(max(p, 1), (p, p), generator=generator)  # (P, P), the facts
    if task == "addition":
        table = (torch.arange(p)[:, None] + torch.arange(p)) % p
    model = start(width, 2 * p + 1 if p else 2 * SYMBOLS, 3 if p else 4 * PAIRS, generator)
    frozen = (*FROZEN.get(variant, ()), "mix")
    trained = [weight.requires_grad_() for name, weight in model.items() if name not in frozen]
    optimiser = torch.optim.AdamW(trained, lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    for step in range(steps):
        warm, cosine = min(1, (step + 1) / 100), 0.55 + 0.45 * math.cos(math.pi * step / steps)
        optimiser.param_groups[0]["lr"] = rate * warm * cosine
        x, y, at = facts(table, batch, generator) if p else retrieval(batch, generator)
        optimiser.zero_grad()
        F.cross_entropy(logits(model, x, at, variant).flatten(0, 1), y.flatten()).backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        progress((step + 1) / steps)
    x, y, at = facts(table, 4096, generator) if p else retrieval(512, generator)
    with torch.no_grad():
        score = (logits(model, x, at, variant).argmax(dim=-1) == y).float().mean().item()
    return score, sum(weight.numel() for weight in trained)


def retrieval(count, generator):
    """Return k v k v …, then the same pairs in another order (b, 32); the targets are the values in the second half."""
    keys = torch.rand(count, SYMBOLS, generator=generator).argsort(dim=1)[:, :PAIRS]  # (b, 8), distinct
    pairs = torch.stack([keys, SYMBOLS + torch.randint(SYMBOLS, keys.shape, generator=generator)], dim=2)  # (b, 8, 2)
    order = torch.rand(keys.shape, generator=generator).argsort(dim=1)  # (b, 8)
    again = pairs.gather(1, order[..., None].expand(-1, -1, 2))  # (b, 8, 2)
    return torch.cat([pairs, again], dim=1).flatten(1), again[..., 1], slice(2 * PAIRS, None, 2)


def facts(table, count, generator):
    """Return a, b, = as (b, 3), and the target: the table's entry for a and b."""
    a, b = torch.randint(len(table), (2, count), generator=generator)  # (b,) each
    x = torch.stack([a, len(table) + b, torch.full_like(a, 2 * len(table))], dim=1)
    return x, table[a, b][:, None], slice(2, 3)


def start(d, tokens, n, generator):
    """Return the weights of both layers by name; `mix` is MixiT's causal matrix of each head, N(0, 1/row length)."""
    shapes = {
        "embed": (tokens, d),
        "place": (n, d),
        "head": (d, tokens),
        "w1": (LAYERS, d, 4 * d),
        "w2": (LAYERS, 4 * d, d),
    }
    shapes |= dict.fromkeys(("wq", "wk", "wv", "wo"), (LAYERS, d, d))
    scales = {"embed": 4 / d**0.5, "place": 4 / d**0.5, "wq": d**-0.5, "wk": d**-0.5, "w2": (12 * d) ** -0.5}
    draw = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    model = {name: scales.get(name, (3 * d) ** -0.5) * draw(*shape) for name, shape in shapes.items()}
    rows = torch.arange(1, n + 1)[:, None] ** 0.5  # (n, 1)
    return {**model, "mix": (draw(LAYERS, HEADS, n, n) / rows).tril()}


def logits(model, x, at, variant):
    """Return logits (b, m, V) for tokens x (b, n) at m places: pre-LN, causal attention or MixiT's matrix, GELU."""
    x = model["embed"][x] + model["place"]  # (b, n, d)
    n, d = x.shape[1:]
    later = torch.ones(n, n, dtype=torch.bool).triu(1)
    weights = zip(*(model[name] for name in ("wq", "wk", "wv", "wo", "w1", "w2", "mix")), strict=True)
    for layer, (wq, wk, wv, wo, w1, w2, mix) in enumerate(weights, 1):
        y = F.layer_norm(x, (d,))
        q, k, v = ((y @ w).unflatten(2, (HEADS, -1)).transpose(1, 2) for w in (wq, wk, wv))  # (b, h, n, d_k)
        if variant != "MixiT":
            mix = (
                (q @ k.transpose(2, 3) / (d / HEADS) ** 0.5).masked_fill(later, -torch.inf).softmax(dim=-1)
            )  # (b, h, n, n)
        x = x + (mix @ v).transpose(1, 2).flatten(2) @ wo
        x = x if layer < LAYERS else x[:, at]  # the last MLP and the head: only at the places with targets
        x = x + F.gelu(F.layer_norm(x, (d,)) @ w1) @ w2
    return F.layer_norm(x, (d,)) @ model["head"]
