"""Windows narrower and wider than the sequence, sinks inside and outside of them, both directions."""

from __future__ import annotations

import torch

AXES = {"q": "B H T d", "k": "B H T d", "v": "B H T d", "return": "B H T d"}
LARGE = 10.0  # q and k both grow, so the logits reach ±200 and more
PROFILES = {"stable": ["large"]}


def qkv(make, B, H, T, d):
    return make.normal(B, H, T, d), make.normal(B, H, T, d), make.normal(B, H, T, d)


def case(make):
    B, H, T, d = make.size(1, 2), make.size(1, 3), make.size(1, 9), make.size(1, 5)
    q, k, v = qkv(make, B, H, T, d)
    window, n_sink = make.size(1, 6), make.size(0, 4)
    if make.profile == "meta":
        make.call("sliding_window_attention", q, k, v, window)
        make.call("sliding_window_attention", q, k, v, window, 2, False)
        make.call("sliding_window_attention", q, k, v, window, n_sink=2)
        return
    style = make.pick(["sinks", "both directions", "positional", "default"])
    if style == "default":
        make.call("sliding_window_attention", q, k, v, window)
    elif style == "sinks":
        make.call("sliding_window_attention", q, k, v, window, n_sink=n_sink)
    elif style == "both directions":
        make.call("sliding_window_attention", q, k, v, window, n_sink=n_sink, causal=False)
    else:
        make.call("sliding_window_attention", q, k, v, window, n_sink, make.flag())


def edge_one_token(make):
    """T = 1: its own value, with any window and any number of sinks

    T = 1：不管窗口多宽、有几个 sink，输出都是自己的 value
    """
    q, k, v = qkv(make, 2, 3, 1, 4)
    for causal in (True, False):
        make.call("sliding_window_attention", q, k, v, 1, 0, causal)
        make.call("sliding_window_attention", q, k, v, 5, 3, causal)


def edge_window_one(make):
    """window = 1: every token sees itself, and the sinks

    window = 1：每个 token 只看自己和 sink
    """
    q, k, v = qkv(make, 2, 2, 5, 3)
    make.call("sliding_window_attention", q, k, v, 1)
    make.call("sliding_window_attention", q, k, v, 1, 0, False)
    make.call("sliding_window_attention", q, k, v, 1, 2)
    make.call("sliding_window_attention", q, k, v, 1, 2, False)


def edge_window_as_long_as_the_sequence(make):
    """window = T - 1, T, T + 1 and far more: full attention from T on

    window 为 T − 1、T、T + 1 乃至大得多：从 T 起就是完整注意力
    """
    q, k, v = qkv(make, 1, 2, 6, 3)
    for window in (5, 6, 7, 50):
        make.call("sliding_window_attention", q, k, v, window)
        make.call("sliding_window_attention", q, k, v, window, 0, False)


def edge_sink_in_the_window(make):
    """sinks that the window reaches are one key each, not two

    落在窗口里的 sink 各算一个 key，不算两个
    """
    q, k, v = qkv(make, 2, 1, 7, 3)
    make.call("sliding_window_attention", q, k, v, 3, 2)
    make.call("sliding_window_attention", q, k, v, 3, 2, False)
    make.call("sliding_window_attention", q, k, v, 7, 4)


def edge_more_sinks_than_tokens(make):
    """n_sink ≥ T: full attention, causal or not

    n_sink ≥ T：不管是否因果，都是完整注意力
    """
    q, k, v = qkv(make, 1, 3, 4, 2)
    for n_sink in (4, 9):
        make.call("sliding_window_attention", q, k, v, 1, n_sink)
        make.call("sliding_window_attention", q, k, v, 2, n_sink, False)


def edge_sinks_ahead(make):
    """a causal query sees no sink behind it; in both directions it does

    因果 query 看不到排在自己后面的 sink；非因果时看得到
    """
    q, k, v = qkv(make, 2, 2, 6, 3)
    make.call("sliding_window_attention", q, k, v, 1, 4)
    make.call("sliding_window_attention", q, k, v, 2, 5, False)


def edge_prime_lengths(make):
    """13 tokens in windows of 4 and 5: the last block is ragged

    13 个 token，窗口 4 和 5：最后一块不满
    """
    for window in (4, 5):
        make.call("sliding_window_attention", *qkv(make, 1, 2, 13, 3), window, 1)
        make.call("sliding_window_attention", *qkv(make, 1, 2, 13, 3), window, 0, False)


def edge_long_and_wide(make):
    """37 tokens, windows of 8 and 19, ten sinks, d = 9

    37 个 token，窗口 8 和 19，十个 sink，d = 9
    """
    make.call("sliding_window_attention", *qkv(make, 1, 1, 37, 9), 19, 10)
    make.call("sliding_window_attention", *qkv(make, 1, 1, 37, 9), 8, 10, False)


def edge_all_sizes_equal(make):
    """B = H = T = d

    B = H = T = d：各维大小全部相等
    """
    make.call("sliding_window_attention", *qkv(make, 4, 4, 4, 4), 2, 1)


def edge_hidden_key_leads(make):
    """keys outside the window would win by 400: nothing of them may remain

    窗口外的 key 分数高出 400：不能对结果有任何影响
    """
    k = torch.full((1, 1, 6, 2), -10.0)
    k[:, :, 0], k[:, :, 5] = 20.0, 10.0
    q = torch.full((1, 1, 6, 2), 10.0)
    v = make.normal(1, 1, 6, 2)
    for causal in (True, False):
        make.call("sliding_window_attention", make.keep(q, grad=True), make.keep(k, grad=True), v, 2, 0, causal)


def edge_hidden_key_leads_by_far(make):
    """keys outside the window would win by 30 000: more than any constant that stands for −∞

    窗口外的 key 分数高出 30000：任何代替 −∞ 的常数都不够
    """
    k = torch.full((1, 1, 6, 2), 1.0)
    k[:, :, 0], k[:, :, 5] = 200.0, 210.0
    q = torch.full((1, 1, 6, 2), 110.0)
    v = make.normal(1, 1, 6, 2)
    for causal in (True, False):
        make.call("sliding_window_attention", make.keep(q), make.keep(k), v, 2, 0, causal)


def edge_wide_windows(make):
    """90 tokens in windows of 40 and 75: more than one neighbouring tile of 32 counts

    90 个 token，窗口 40 和 75：相邻的块（每块 32 个）要算不止一块
    """
    make.call("sliding_window_attention", *qkv(make, 1, 1, 90, 2), 75, 1)
    make.call("sliding_window_attention", *qkv(make, 1, 1, 90, 2), 40, 3, False)


def edge_logits_200(make):
    """logits of ±200, growing from key to key

    logits 到 ±200，逐个 key 增大
    """
    q = torch.tensor([[[[200.0, 0.0]] * 5]])
    k = torch.tensor([[[[-1.4, 1.0], [-0.7, 2.0], [0.0, 0.0], [0.7, -1.0], [1.4, -2.0]]]])
    v = make.normal(1, 1, 5, 2)
    for causal in (True, False):
        make.call("sliding_window_attention", make.keep(q, grad=True), make.keep(k, grad=True), v, 3, 1, causal)


def edge_float16_scores_overflow(make):
    """float16 inputs whose scores pass 65 504: float32 inside keeps them apart

    float16 输入，分数超过 65504：在 float32 里计算才分得开
    """
    q, k = torch.full((1, 1, 4, 8), 120.0).half(), torch.full((1, 1, 4, 8), 110.0).half()
    k[:, :, 1] -= 2.0
    k[:, :, 2] -= 4.0  # no two alike: at such scores half a step of float32 is a part in 500 of a shared weight
    k[:, :, 3] = -k[:, :, 3]
    v = torch.tensor([[[[1.0, 2.0], [3.0, -4.0], [-5.0, 6.0], [7.0, 8.0]]]]).half().repeat(1, 1, 1, 4)
    for causal in (True, False):
        fixed = [make.keep(t, dtype="fixed") for t in (q, k, v)]
        make.call("sliding_window_attention", *fixed, 2, 1, causal)


def causal_at(make, T):
    make.call("sliding_window_attention", *qkv(make, 1, 1, T, 4), 8, 2)


def both_ways_at(make, T):
    make.call("sliding_window_attention", *qkv(make, 1, 1, T, 4), 8, 2, False)


def without_sinks_at(make, T):
    """Two sequences, and the window alone."""
    make.call("sliding_window_attention", *qkv(make, 2, 1, T, 4), 3)


# Tiles of up to 32 tokens with their neighbours are sound; T² scores, or a T² mask, are not.
CONTRACTS = [
    {
        "check": check,
        "measure": measure,
        "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
        "case": record,
        "sizes": (32, 96, 288),
        "growth_at_most": 1.0,
        "bound": bound,
        "says": says,
    }
    for record in (causal_at, both_ways_at, without_sinks_at)
    for check, measure, bound, says in (
        (
            "work",
            "flops",
            lambda T: 4000 * T,
            {
                "en": "the work grows with the square of the sequence length, as if every query scored every key",
                "zh": "计算量随序列长度的平方增长，好像每个 query 都给每个 key 打了分",
            },
        ),
        (
            "memory",
            "largest",
            lambda T: 250 * T,
            {
                "en": "the largest tensor grows with the square of the sequence length",
                "zh": "最大的中间张量随序列长度的平方增长",
            },
        ),
    )
]
