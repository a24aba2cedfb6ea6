"""A KV cache changes no output and divides the work: without one, token t runs all t tokens again.

One causal block (attention and a ReLU MLP, width 512, 8 heads) is fed token by token. Without a cache every step runs
the whole prefix; with one it runs the new token alone and reads the keys and values of the others from memory. The
outputs agree to rounding, and the ratio of FLOPs grows like n/2. The ratio of the times grows too, but
more slowly: one token is a matrix times a vector, which is limited by reading the weights from memory, however few
FLOPs it takes. Only FLOPs are checked, since clocks depend on the machine. Over seeds 0 … 9 of the quick form the
outputs differed by at most 4e-6 (the full one, two seeds: 5e-6); the FLOPs are the same for every seed.

Control: the cache is lost after every token.

Pope et al. 2022, arXiv 2211.05102.
"""

from __future__ import annotations

import time

import torch
from torch.utils.flop_counter import FlopCounterMode

TITLE = {"en": "What a KV cache saves", "zh": "KV cache 省了什么"}
CLAIM = {
    "en": "A KV cache leaves a causal model's outputs as they are and divides the FLOPs by about n/2; the clock sees less of it.",
    "zh": "对因果模型，KV cache 的输出不变，FLOPs 约降到原来的 2/n；实际耗时的收益要小一些。",
}
CARDS = ("kv-01", "kv-02", "kv-03", "mask-07")
CAVEATS = (
    {
        "en": "The times are of this machine and this moment: compare their trend, not their digits.",
        "zh": "耗时取决于这台机器和当时的负载：看趋势，不看具体数字。",
    },
)
SEEDS = 1
SECONDS = (5, 30)
WIDTH, HEADS = 512, 8


def run(seed, quick, progress, control=False):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(WIDTH, WIDTH)] * 4 + [(WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)]
    weights = [torch.randn(*shape, generator=generator) / shape[0] ** 0.5 for shape in shapes]
    lengths = (32, 64, 128) if quick else (64, 128, 256, 512)
    x = torch.randn(lengths[-1], WIDTH, generator=generator)  # (n, d)
    again, again_seconds = decoded(x, weights, False, progress)
    cached, cached_seconds = decoded(x, weights, True, keep=not control)
    differs = (again - cached).abs().max().item()
    rows = []
    for n in lengths:
        no_cache, cache = flops(n, weights, False), flops(n, weights, True)
        times = again_seconds[n - 1] / cached_seconds[n - 1]
        rows.append([n, no_cache / 1e9, cache / 1e9, no_cache / cache, times])
    near = [2 * row[3] / (row[0] + 1) for row in rows]
    low, high = min(near), max(near)
    holds = low > 0.95 and high < 1.1
    return {
        "columns": [
            {"en": "tokens n", "zh": "token 数 n"},
            {"en": "GFLOP, no cache", "zh": "GFLOP，无 cache"},
            {"en": "GFLOP, cache", "zh": "GFLOP，有 cache"},
            {"en": "FLOP ratio", "zh": "FLOP 之比"},
            {"en": "time ratio", "zh": "耗时之比"},
        ],
        "rows": rows,
        "plots": [
            {
                "kind": "line",
                "title": {"en": "No cache divided by cache, over tokens", "zh": "无 cache ÷ 有 cache，随 token 数"},
                "x": list(lengths),
                "series": [
                    {"name": {"en": "FLOPs", "zh": "FLOPs"}, "y": [row[3] for row in rows]},
                    {"name": {"en": "time (this machine)", "zh": "耗时（本机）"}, "y": [row[4] for row in rows]},
                ],
                "log": "xy",
            }
        ],
        "checks": [
            check("greatest difference of the outputs", "输出的最大差异", f"{differs:.0e}", "< 1e-4", differs < 1e-4),
            check("FLOP ratio over (n + 1)/2", "FLOP 之比 ÷ (n + 1)/2", f"{low:.3f} … {high:.3f}", "0.95 … 1.1", holds),
        ],
        "seen": {
            "en": f"{lengths[-1]} tokens without a cache took {rows[-1][3]:.0f} times the FLOPs and, here, {rows[-1][4]:.1f} times the time; the outputs agreed to {differs:.0e}.",
            "zh": f"{lengths[-1]} 个 token 时，不用 cache 的 FLOPs 是用 cache 的 {rows[-1][3]:.0f} 倍，本机耗时是 {rows[-1][4]:.1f} 倍；输出最多相差 {differs:.0e}。",
        },
    }


def check(en, zh, got, due, holds):
    return {"says": {"en": en, "zh": zh}, "holds": holds, "got": got, "due": due}


def decoded(x, weights, cache, progress=lambda share: None, keep=True):
    """Return the outputs token by token, and the seconds elapsed at each."""
    outputs, seconds, past, begun = [], [], None, time.perf_counter()
    for t in range(1, len(x) + 1):
        y, kept = block(x[t - 1 : t] if cache else x[:t], weights, past)  # (1, d) or (t, d)
        past = kept if cache and keep else None
        outputs.append(y[-1])
        seconds.append(time.perf_counter() - begun)
        progress((t / len(x)) ** 2)
    return torch.stack(outputs), seconds


def block(x, weights, past):
    """Run new tokens x (m, d) after `past`, keys and values (h, t, d_k); return their outputs and the new past."""
    wq, wk, wv, wo, w1, w2 = weights
    q, k, v = ((x @ w).view(len(x), HEADS, -1).transpose(0, 1) for w in (wq, wk, wv))  # (h, m, d_k)
    if past is not None:
        k, v = torch.cat([past[0], k], dim=1), torch.cat([past[1], v], dim=1)  # (h, t + m, d_k)
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5  # (h, m, t + m)
    later = torch.ones(scores.shape[1:], dtype=torch.bool, device=x.device).triu(1 + k.shape[1] - len(x))
    mixed = torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1) @ v  # (h, m, d_k)
    x = x + mixed.transpose(0, 1).reshape(x.shape) @ wo  # (m, d)
    return x + torch.relu(x @ w1) @ w2, (k, v)


def flops(n, weights, cache):
    """Count the FLOPs on tensors that have a shape but no data, so nothing is computed."""
    shapes = [weight.to("meta") for weight in weights]
    with FlopCounterMode(display=False) as counter:
        decoded(torch.empty(n, WIDTH, device="meta"), shapes, cache)
    return counter.get_total_flops()
