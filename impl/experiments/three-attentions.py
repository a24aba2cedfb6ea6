"""Compare GPT-style and multi-head attention in speed: they are the same operator, run in different ways.

Three layers of equal width and head count run over whole sequences, then over one more token with a cache: multi-head
attention as in the paper (three projections, a mask), GPT's causal self-attention (one fused projection), and
multi-head latent attention (MLA). A fourth row is GPT's again, with one kernel for the scores, which never stores them
(`F.scaled_dot_product_attention`). With the same weights the first two agree to rounding at equal
FLOPs. A difference in time comes from calls and from passes over memory, which the column of MiB written counts. A
mask saves no FLOPs: hidden scores are computed and then overwritten. Only a kernel that skips them saves (its FLOPs
are listed in full here). MLA runs as in DeepSeek-V2: keys and values expanded over a sequence, absorbed in a step. Its
cache is the smallest; beyond some thirty tokens multi-head attention needs fewer FLOPs in a step. Times depend on the
machine and the moment. Every turn times all four, and the range shown is the interquartile range: if it contains
1, no difference is claimed. Only FLOPs, bytes and outputs are checked; FLOPs and bytes are the same for every seed,
the outputs differed by at most 5e-7 in ten.
Control: MLA's latent is as wide as all keys and values.

Vaswani et al. 2017, arXiv 1706.03762; Radford et al. 2019 (GPT-2); DeepSeek-V2, arXiv 2405.04434, section 2.1.
"""

from __future__ import annotations

import time
from statistics import median, quantiles

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

TITLE = {"en": "Three attentions: multi-head, GPT-style, latent", "zh": "三种注意力：多头、GPT 式、潜变量"}
CLAIM = {
    "en": "GPT-style attention is multi-head attention: the same FLOPs and the same cache; MLA shrinks the cache, not the FLOPs of a step.",
    "zh": "GPT 式注意力就是多头注意力：FLOPs 相同，cache 也相同；MLA 缩小的是 cache，不是解码一步的 FLOPs。",
}
CARDS = ("head-13", "kv-13", "kv-15")
CAVEATS = (
    {
        "en": "Times are of this machine and moment, float32. MLA runs as in DeepSeek-V2, expanded over a sequence and absorbed in a step, with its widths in proportion (latent 4 heads wide, RoPE half a head): other widths, other factors.",
        "zh": "耗时取决于这台机器和当时的负载（float32）。MLA 与 DeepSeek-V2 一样，整段序列展开计算，解码一步用矩阵吸收；维度按它的比例取（潜变量 4 个头宽，RoPE 半个头宽），换一组维度倍数也会变。",
    },
)
SEEDS = 1
SECONDS = (4, 30)
WIDTH, HEADS = 512, 16
HEAD = WIDTH // HEADS  # d
DECIDED = {True: ("faster", "更快"), False: ("slower", "更慢"), None: ("no clear difference", "差别不明显")}


def both(en, zh):
    return {"en": en, "zh": zh}


COLUMNS = [
    both("attention", "注意力"),
    both("tokens", "token 数"),
    both("GFLOP", "GFLOP"),
    both("MFLOP of the next token", "下一个 token 的 MFLOP"),
    both("MiB written", "写入 MiB"),
    both("ms here", "本机毫秒"),
    both("cache KiB", "cache KiB"),
]
NAMES = [
    both("multi-head", "多头"),
    both("GPT-style", "GPT 式"),
    both("GPT, fused", "GPT 式，融合"),
    both("MLA", "MLA"),
]


def run(seed, quick, progress, reference, control=False):
    torch.manual_seed(seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    layers, steps = built(reference, device, 2 * WIDTH if control else 4 * HEAD)
    lengths = (64, 128, 256) if quick else (128, 256, 512, 1024)
    rows, speeds = [], [[], [], [], []]
    for place, length in enumerate(lengths):
        (many, work), (few, work_of_mla) = (decoded(step, length, device) for step in steps)
        kept, works = (many, many, many, few), (work, work, work, work_of_mla)  # in the order of NAMES
        x = torch.randn(1, length, WIDTH, device=device)  # (1, T, D)
        with torch.no_grad():
            outputs = [layer(x) for layer in layers]  # (1, T, D) each
        times = timed(layers, x, turns=9 if quick else 15)
        for which, (name, layer, seconds) in enumerate(zip(NAMES, layers, times, strict=True)):
            spent, wrote = counted(layer, x)
            told = spent / 1e9, works[which] / 1e6, wrote / 2**20, median(seconds) * 1e3
            rows.append([name, length, *told, 4 * kept[which] * length / 1024])
            speeds[which] += [first / own for first, own in zip(times[0], seconds, strict=True)]
        progress((place + 1) / len(lengths))
    same = max((outputs[0] - other).abs().max().item() for other in outputs[1:3])
    heads, like_gpt, _, latent = rows[-4:]  # of the longest sequence
    flop, memory = like_gpt[2] / heads[2], like_gpt[4] / heads[4]
    step, cache = latent[3] / heads[3], latent[6] / heads[6]
    middle = [quantiles(speed, n=4) for speed in speeds]
    gpt, fused, mla = (f"{low:.2f} … {high:.2f}" for low, _, high in middle[1:])
    en, zh = DECIDED[True if middle[1][0] > 1 else False if middle[1][2] < 1 else None]
    return {
        "columns": COLUMNS,
        "rows": rows,
        "plots": [
            {
                "kind": "line",
                "title": both(f"Milliseconds over tokens ({device})", f"毫秒，随 token 数变化（{device}）"),
                "x": list(lengths),
                "series": [{"name": name, "y": [row[5] for row in rows[which::4]]} for which, name in enumerate(NAMES)],
                "log": "xy",
            }
        ],
        "checks": [
            check("same weights, outputs differ by", "同样的权重，输出相差", f"{same:.0e}", "< 1e-4", same < 1e-4),
            check("FLOPs, GPT-style over multi-head", "FLOPs：GPT 式 ÷ 多头", flop, "1", flop == 1),
            check("bytes written, GPT-style over multi-head", "写入字节：GPT 式 ÷ 多头", memory, "< 1", memory < 1),
            check("cache, MLA over multi-head", "cache：MLA ÷ 多头", cache, "< 0.25", cache < 0.25),
            check("FLOPs of a step, MLA over multi-head", "解码一步的 FLOPs：MLA ÷ 多头", step, "> 1", step > 1),
        ],
        "seen": both(
            f"with the same weights the outputs of GPT-style and multi-head attention differed by {same:.0e}, at {flop:.2f} times the FLOPs and {memory:.2f} times the bytes written. Speed here (middle half of {len(speeds[0])} turns, multi-head = 1): GPT-style {gpt}, {en}; fused {fused}; MLA {mla}. MLA keeps {cache:.2f} of the cache, and its step takes {step:.1f} times the FLOPs.",
            f"权重相同时，GPT 式与多头的输出相差 {same:.0e}，FLOPs 是 {flop:.2f} 倍，写入的字节是 {memory:.2f} 倍。本机速度（{len(speeds[0])} 轮计时的中间一半，多头为 1）：GPT 式 {gpt}，{zh}；融合 {fused}；MLA {mla}。MLA 的 cache 是多头的 {cache:.2f} 倍，解码一步的 FLOPs 是 {step:.1f} 倍。",
        ),
    }


def check(en, zh, got, due, holds):
    got = got if isinstance(got, str) else f"{got:.3f}"
    return {"says": both(en, zh), "holds": holds, "got": got, "due": due}


def built(reference, device, latent_width):
    """Return the four layers, three of them with equal weights, and cached steps of multi-head attention and MLA."""
    GPT, MLA = reference("attention/gpt-causal-self-attention").CausalSelfAttention, reference("cache/mla").MLA
    gpt = GPT(WIDTH, HEADS, max_len=4096, bias=False).to(device)
    latent = MLA(WIDTH, HEADS, HEAD, HEAD // 2, HEAD, latent_width, 12 * HEAD).to(device)
    mha, cached = reference("attention/mha").multi_head_attention, reference("cache/kv-cache").decode_step
    wq, wk, wv = (w.detach().T for w in gpt.c_attn.weight.chunk(3))  # (D, D) each
    params = {"wq": wq, "wk": wk, "wv": wv, "wo": gpt.c_proj.weight.detach().T}
    seen = ~gpt.future  # created in advance, like GPT's

    def multi_head(x):
        return mha(x, x, **params, n_heads=HEADS, mask=seen[: x.shape[1], : x.shape[1]])

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
    """Return the cache's numbers per token, and the FLOPs of one more token after `tokens` cached ones."""
    _, past = step(torch.randn(1, 1, WIDTH, device=device), {})
    token_dimension = {name: kept.dim() - 2 for name, kept in past.items()}  # (..., t, width)
    long = {name: kept.repeat_interleave(tokens, token_dimension[name]) for name, kept in past.items()}
    with FlopCounterMode(display=False) as counter:
        step(torch.randn(1, 1, WIDTH, device=device), long)
    return sum(kept.numel() for kept in past.values()), counter.get_total_flops()


@torch.no_grad()
def timed(layers, x, turns):
    """Return the seconds of each layer in each turn; a turn runs all of them, so a busy moment affects all."""
    wait = torch.cuda.synchronize if x.is_cuda else lambda: None
    found = [[] for _ in layers]
    for turn in range(turns + 1):
        for layer, seconds in zip(layers, found, strict=True):
            wait()
            begun = time.perf_counter()
            layer(x)
            wait()
            if turn:  # the first turn warms up
                seconds.append(time.perf_counter() - begun)
    return found


class Written(TorchDispatchMode):
    """Count the bytes of every new tensor; views count as 0."""

    def __init__(self):
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        old = {one.untyped_storage().data_ptr() for one in args if isinstance(one, torch.Tensor)}
        for one in made if isinstance(made, tuple) else (made,):
            if isinstance(one, torch.Tensor) and one.untyped_storage().data_ptr() not in old:
                self.bytes += one.numel() * one.element_size()
        return made


def counted(layer, x):
    """Return the FLOPs of one run over x, and the bytes that it writes."""
    with torch.no_grad(), FlopCounterMode(display=False) as flops, sdpa_kernel(SDPBackend.MATH):
        layer(x)
    with torch.no_grad(), Written() as written:
        layer(x)
    return flops.get_total_flops(), written.bytes
