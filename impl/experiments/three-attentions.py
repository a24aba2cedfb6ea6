"""Is GPT-style attention faster than multi-head attention? They are the same operator; what differs is how it is run.

Three layers of one width and as many heads run over whole sequences, then over one more token with a cache: multi-head
attention as in the paper (three projections, a mask), GPT's causal self-attention (one fused projection), and
multi-head latent attention. A fourth row of the table is GPT's again, with the scores left to one kernel that never
stores them (`F.scaled_dot_product_attention`). What to look at: with the same weights the first two agree to rounding
and their FLOPs are equal, so a difference in time is one of calls and of passes over memory: a general mask argument
has to be searched for empty rows. A mask saves no FLOPs: hidden scores are computed and then overwritten; only a kernel
that never visits them saves (here its FLOPs are listed in full). MLA is not the one with the fewest FLOPs of a step
either; it is the one with the smallest cache. Only FLOPs, bytes and outputs are checked, since clocks depend on the
machine; FLOPs and bytes are the same for every seed, the outputs differed by at most 5e-7 in ten.

Vaswani et al. 2017, arXiv 1706.03762; Radford et al. 2019 (GPT-2); DeepSeek-V2, arXiv 2405.04434, section 2.1.
"""

from __future__ import annotations

import time
from statistics import median

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

TITLE = {"en": "Three attentions: multi-head, GPT-style, latent", "zh": "三种注意力：多头、GPT 式、潜变量"}
CLAIM = {
    "en": "GPT-style attention is multi-head attention: the same FLOPs and the same cache; MLA shrinks the cache, not the FLOPs.",
    "zh": "GPT 式注意力就是多头注意力：FLOPs 相同，cache 也相同；MLA 缩小的是 cache，不是 FLOPs。",
}
CARDS = ("head-13", "kv-13", "kv-15")
CAVEATS = (
    {
        "en": "Times are of this machine and moment, float32; MLA's widths are DeepSeek-V2's in proportion (latent 4 heads wide, RoPE half a head): other widths, other factors.",
        "zh": "耗时取决于这台机器和当时的负载（float32）；MLA 的维度按 DeepSeek-V2 的比例取（潜变量 4 个头宽，RoPE 半个头宽），换一组维度倍数也会变。",
    },
)
SEEDS = 1
SECONDS = (4, 30)
WIDTH, HEADS = 512, 16
HEAD = WIDTH // HEADS  # d
COLUMNS = [
    {"en": en, "zh": zh}
    for en, zh in (
        ("attention", "注意力"),
        ("tokens", "token 数"),
        ("GFLOP",) * 2,
        ("ms here", "本机毫秒"),
        ("cache KiB",) * 2,
    )
]
NAMES = (
    {"en": "multi-head", "zh": "多头"},
    {"en": "GPT-style", "zh": "GPT 式"},
    {"en": "GPT-style, fused kernel", "zh": "GPT 式，融合算子"},
    {"en": "MLA", "zh": "MLA"},
)


def run(seed, quick, progress, reference):
    torch.manual_seed(seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    layers, steps = built(reference, device)
    lengths = (64, 128, 256) if quick else (128, 256, 512, 1024)
    per_token, work_of_a_step = zip(*(decoded(step, lengths[-1], device) for step in steps), strict=True)
    kept = [per_token[0]] * 3 + [per_token[1]]  # numbers a token, in the order of NAMES
    rows, ratios = [], []
    for place, length in enumerate(lengths):
        x = torch.randn(1, length, WIDTH, device=device)  # (1, T, D)
        with torch.no_grad():
            outputs = [layer(x) for layer in layers]  # (1, T, D) each
        times = timed(layers, x, repeats=3 if quick else 7)
        for name, layer, seconds, wide in zip(NAMES, layers, times, kept, strict=True):
            rows.append([name, length, flops(layer, x) / 1e9, seconds * 1e3, 4 * wide * length / 1024])
        ratios.append([times[0] / other for other in times])
        progress((place + 1) / len(lengths))
    same = max((outputs[0] - other).abs().max().item() for other in outputs[1:3])
    flop = rows[-3][2] / rows[-4][2]  # of the longest sequence
    cache, step = per_token[1] / per_token[0], work_of_a_step[1] / work_of_a_step[0]
    gpt, fused = (median(ratio[which] for ratio in ratios) for which in (1, 2))
    holds = gpt > 1.1
    return {
        "columns": COLUMNS,
        "rows": rows,
        "plots": [
            {
                "kind": "line",
                "title": {"en": f"Milliseconds over tokens ({device})", "zh": f"毫秒，随 token 数变化（{device}）"},
                "x": list(lengths),
                "series": [{"name": name, "y": [row[3] for row in rows[which::4]]} for which, name in enumerate(NAMES)],
                "log": "xy",
            }
        ],
        "checks": [
            check("same weights, outputs differ by", "同样的权重，输出相差", f"{same:.0e}", "< 1e-4", same < 1e-4),
            check("FLOPs, GPT-style over multi-head", "FLOPs：GPT 式 ÷ 多头", flop, "1", flop == 1),
            check("cache, MLA over multi-head", "cache：MLA ÷ 多头", cache, "< 0.25", cache < 0.25),
            check("FLOPs of a step, MLA over multi-head", "解码一步的 FLOPs：MLA ÷ 多头", step, "> 1", step > 1),
        ],
        "seen": {
            "en": f"“GPT-style attention is faster than multi-head” {'holds' if holds else 'does not hold'} here: {gpt:.2f} times the speed at equal FLOPs{', by fewer passes over memory' if holds else ''}; leaving the scores to one fused kernel gave {fused:.2f} times, and MLA kept {cache:.2f} of the cache for {step:.1f} times the FLOPs of a step.",
            "zh": f"“GPT 式注意力比多头注意力快”在本机{'成立' if holds else '不成立'}：FLOPs 相同，速度是 {gpt:.2f} 倍{'，省下的是对内存的几次读写' if holds else ''}；把分数交给一个融合算子后是 {fused:.2f} 倍；MLA 的 cache 只有 {cache:.2f} 倍，解码一步的 FLOPs 却是 {step:.1f} 倍。",
        },
    }


def check(en, zh, got, due, holds):
    got = got if isinstance(got, str) else f"{got:.3f}"
    return {"says": {"en": en, "zh": zh}, "holds": holds, "got": got, "due": due}


def built(reference, device):
    """The four layers, the first three with the same weights, and a step with a cache of multi-head and of MLA."""
    GPT, MLA = reference("attention/gpt-causal-self-attention").CausalSelfAttention, reference("cache/mla").MLA
    gpt = GPT(WIDTH, HEADS, max_len=4096, bias=False).to(device)
    latent = MLA(WIDTH, HEADS, HEAD, HEAD // 2, HEAD, 4 * HEAD, 12 * HEAD).to(device)
    mha, cached = reference("attention/mha").multi_head_attention, reference("cache/kv-cache").decode_step
    wq, wk, wv = (w.detach().T for w in gpt.c_attn.weight.chunk(3))  # (D, D) each
    params = {"wq": wq, "wk": wk, "wv": wv, "wo": gpt.c_proj.weight.detach().T}

    def multi_head(x):
        causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()  # (T, T)
        return mha(x, x, **params, n_heads=HEADS, mask=causal)

    def fused(x):
        q, k, v = (part.unflatten(-1, (HEADS, HEAD)).transpose(1, 2) for part in gpt.c_attn(x).chunk(3, dim=-1))
        return gpt.c_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))

    def whole(x):
        return latent(x, torch.arange(x.shape[1], device=x.device).expand(x.shape[:2]))

    def step(x, past):
        return cached(x, past, params, HEADS)

    def latent_step(x, past):
        return latent.step(x, torch.zeros(1, 1, device=x.device), past)  # FLOPs do not depend on the position

    return [multi_head, gpt, fused, whole], [step, latent_step]


@torch.no_grad()
def decoded(step, tokens, device):
    """Numbers in the cache a token, and the FLOPs of one more token behind `tokens` that are cached."""
    _, past = step(torch.randn(1, 1, WIDTH, device=device), {})
    token_dimension = {name: kept.dim() - 2 for name, kept in past.items()}  # (..., t, width)
    long = {name: kept.repeat_interleave(tokens, token_dimension[name]) for name, kept in past.items()}
    with FlopCounterMode(display=False) as counter:
        step(torch.randn(1, 1, WIDTH, device=device), long)
    return sum(kept.numel() for kept in past.values()), counter.get_total_flops()


@torch.no_grad()
def timed(layers, x, repeats):
    """The median seconds of each layer; they take turns, so that a busy moment falls on all."""
    wait = torch.cuda.synchronize if x.is_cuda else lambda: None
    found = [[] for _ in layers]
    for turn in range(repeats + 1):
        for layer, seconds in zip(layers, found, strict=True):
            wait()
            begun = time.perf_counter()
            layer(x)
            wait()
            if turn:  # the first one warms up
                seconds.append(time.perf_counter() - begun)
    return [median(seconds) for seconds in found]


def flops(layer, x):
    with FlopCounterMode(display=False) as counter, torch.no_grad(), sdpa_kernel(SDPBackend.MATH):
        layer(x)
    return counter.get_total_flops()
