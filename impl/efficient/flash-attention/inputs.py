"""Lengths that are no multiples of the blocks, more keys than queries and fewer, logits that grow from block to block."""

from __future__ import annotations

import torch

AXES = {"q": "B H T d", "k": "B H S d", "v": "B H S d", "return[0]": "B H T d", "return[1]": "B H T"}
LARGE = 10.0  # q and k both grow, so the logits reach ±200 and more
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_fewer_keys_than_queries", "edge_very_low_logits"}


def call(make, *args, **kwargs):
    """lse may come in float32 or in the dtype of the inputs."""
    handle = make.call("flash_attention", *args, **kwargs)
    make.dtypes(handle[1], torch.float32, args[0].dtype)


def qkv(make, B, H, T, S, d):
    return make.normal(B, H, T, d), make.normal(B, H, S, d), make.normal(B, H, S, d)


def case(make):
    """Causal with as many keys as queries or more: fewer are edge cases."""
    T, S, d = make.size(1, 9), make.size(1, 9), make.size(1, 5)
    causal = make.flag()
    T, S = (min(T, S), max(T, S)) if causal else (T, S)
    q, k, v = qkv(make, make.size(1, 2), make.size(1, 3), T, S, d)
    block_q, block_k = make.size(1, 5), make.size(1, 5)
    if make.profile == "meta":
        call(make, q, k, v)
        call(make, q, k, v, block_q, block_k, causal)
        return
    style = make.pick(["blocks", "default blocks", "one block given"])
    if style == "blocks":
        call(make, q, k, v, block_q, block_k, causal)
    elif style == "default blocks":
        call(make, q, k, v, causal=causal)
    else:
        call(make, q, k, v, block_k=block_k, causal=causal)


def edge_one_query_one_key(make):
    """T = S = 1

    T = S = 1：一个 query，一个 key
    """
    for causal in (False, True):
        call(make, *qkv(make, 2, 3, 1, 1, 4), 2, 2, causal)


def edge_default_blocks(make):
    """blocks of 64: larger than five keys, and three of them over 150 keys, where 70 queries come last

    块大小 64：五个 key 不满一块；150 个 key 分三块，70 个 query 排在最后
    """
    q, k, v = qkv(make, 1, 2, 3, 5, 4)
    call(make, q, k, v)
    call(make, q, k, v, causal=True)
    call(make, *qkv(make, 1, 1, 70, 150, 2), causal=True)


def edge_ragged_blocks(make):
    """7 queries and 11 keys in blocks of 3 and 4; 19 keys one by one

    7 个 query、11 个 key，块大小 3 和 4；19 个 key，每块一个
    """
    q, k, v = qkv(make, 2, 1, 7, 11, 3)
    call(make, q, k, v, 3, 4)
    call(make, q, k, v, 3, 4, True)
    call(make, *qkv(make, 1, 1, 5, 19, 3), 4, 1, True)


def edge_whole_blocks(make):
    """lengths that are multiples of the blocks, more keys than queries

    长度是块大小的整数倍，key 比 query 多
    """
    q, k, v = qkv(make, 1, 2, 4, 8, 3)
    call(make, q, k, v, 2, 4)
    call(make, q, k, v, 2, 2, True)


def edge_decoding(make):
    """one query behind nine keys: causal hides nothing

    一个 query 排在九个 key 的最后：因果掩码什么都不掩
    """
    q, k, v = qkv(make, 2, 2, 1, 9, 3)
    call(make, q, k, v, 4, 2, True)


def edge_fewer_keys_than_queries(make):
    """causal with S < T: the first T - S rows see no key; their out is 0, their lse −inf, their gradients 0

    因果而 S < T：前 T − S 行看不到任何 key，out 为 0，lse 为 −inf，梯度为 0
    """
    call(make, *qkv(make, 1, 2, 7, 3, 4), 2, 2, True)
    call(make, *qkv(make, 2, 1, 5, 1, 2), 5, 1, True)
    call(make, *qkv(make, 1, 1, 8, 5, 2), 3, 2, True)
    call(make, *qkv(make, 1, 2, 6, 4, 3), causal=True)


def edge_other_distances(make):
    """causal, blocks of 4, and in turn 8, 9, 11 and 10 keys for 8 queries: tiles of equal place and size hide other keys

    因果，块大小 4，8 个 query 依次对 8、9、11、10 个 key：位置和大小相同的块，挡住的 key 并不同
    """
    for S in (8, 9, 11, 10, 8):
        call(make, *qkv(make, 1, 1, 8, S, 3), 4, 4, True)


def edge_all_sizes_equal(make):
    """B = H = T = S = d = blocks

    B = H = T = S = d = 块大小
    """
    call(make, *qkv(make, 3, 3, 3, 3, 3), 3, 3, True)
    call(make, *qkv(make, 3, 3, 3, 3, 3), 3, 3)


def edge_growing_logits(make):
    """every block of keys beats the last one by 50, up to 100; then each falls short by 6

    每一块 key 都比前一块高 50，直到 100；然后每一块都低 6
    """
    k = torch.arange(10.0).repeat_interleave(2)[None, None, :9, None].expand(1, 1, 9, 2) - 2.0
    q = torch.tensor([[[[40.0, 30.0], [70.0, 0.0], [-70.0, 1.0]]]])
    for causal in (False, True):
        call(make, make.keep(q, grad=True), make.keep(k.contiguous(), grad=True), make.normal(1, 1, 9, 2), 2, 2, causal)
    q = make.keep(torch.tensor([[[[4.0, 4.0], [5.0, 3.0], [3.0, 5.0]]]]), grad=True)  # and falling, a little each time
    call(make, q, make.keep(-k, grad=True), make.normal(1, 1, 9, 2), 3, 2)


def edge_very_low_logits(make):
    """all logits near −10⁴, then near −3·10⁴: nothing may start from 0, and what is hidden lies below

    logits 全在 −10⁴ 附近，再到 −3·10⁴ 附近：什么都不能从 0 开始，被掩掉的要更低
    """
    for scale in (1.0, 3.0):
        q, k = torch.full((1, 1, 3, 1), 100.0), torch.tensor([-100.0, -100.01, -99.99, -100.02, -100.0])
        k = scale * k.reshape(1, 1, 5, 1)
        for causal in (False, True):
            # no gradients: a backward pass from a stored lse lacks the last digits of such scores
            call(make, make.keep(q), make.keep(k), make.normal(1, 1, 5, 1, grad=False), 1, 2, causal)


def edge_low_logits(make):
    """all logits near −1000, gradients included

    logits 全在 −1000 附近，梯度也要对
    """
    q, k = torch.full((1, 1, 3, 1), 100.0), torch.tensor([-10.0, -10.01, -9.99, -10.02, -10.0]).reshape(1, 1, 5, 1)
    for causal in (False, True):
        call(make, make.keep(q, grad=True), make.keep(k, grad=True), make.normal(1, 1, 5, 1), 1, 2, causal)


def edge_float16_scores_overflow(make):
    """float16 inputs whose scores pass 65 504: float32 inside keeps them apart

    float16 输入，分数超过 65504：在 float32 里计算才分得开
    """
    q, k = torch.full((1, 1, 3, 8), 120.0).half(), torch.full((1, 1, 4, 8), 110.0).half()
    k[:, :, 1] -= 2.0
    k[:, :, 2] -= 4.0  # no two alike: at such scores half a step of float32 is a part in 500 of a shared weight
    k[:, :, 3] = -k[:, :, 3]
    v = torch.linspace(-8, 9, 32).reshape(1, 1, 4, 8).half()
    for causal in (False, True):
        call(make, *[make.keep(t, dtype="fixed") for t in (q, k, v)], 2, 2, causal)


def edge_long_sums_in_bfloat16(make):
    """bfloat16 inputs over sixty equal keys: sums in bfloat16 would stop growing

    bfloat16 输入，六十个相同的 key：在 bfloat16 里累加会停止增长
    """
    q, k = torch.full((1, 1, 2, 2), 0.25).bfloat16(), torch.full((1, 1, 60, 2), 0.5).bfloat16()
    v = (torch.arange(120).reshape(1, 1, 60, 2) % 7 - 2.0).bfloat16()
    for causal in (False, True):
        call(make, *[make.keep(t, dtype="fixed") for t in (q, k, v)], 2, 4, causal)


def tiles_at(make, T):
    """More than twice as many keys as queries."""
    call(make, *qkv(make, 1, 1, T, 2 * T + 8, 4), 32, 48)


def causal_tiles_at(make, T):
    """Two heads, and the blocks that are the default."""
    call(make, *qkv(make, 1, 2, T, T, 4), causal=True)


def causal_at(make, T):
    call(make, *qkv(make, 1, 1, T, T, 64), 16, 16, True)


def all_tiles_at(make, T):
    call(make, *qkv(make, 1, 1, T, T, 64), 16, 16)


CONTRACTS = [
    *(
        {
            "check": "memory",
            "measure": "largest",
            "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
            "case": record,
            "sizes": (32, 96, 192),
            "growth_at_most": 1.0,
            "bound": lambda T: 180 * T,  # a strip of 64 keys for all queries is sound, T² is not
            "says": {
                "en": "the largest tensor grows with T·S: the score matrix exists after all",
                "zh": "最大的张量随 T·S 增长：分数矩阵还是出现了",
            },
        }
        for record in (tiles_at, causal_tiles_at)
    ),
    {
        "check": "work",
        "measure": "flops",
        "case": causal_at,
        "sizes": (48, 96, 144),
        "growth_at_most": 0.9,  # half of the tiles and the diagonal; scores may be computed in two passes
        "bound": lambda T: (4 * 64 + 10) * T * T,
        "says": {
            "en": "causal attention does all the work of full attention: tiles without a visible key are not skipped",
            "zh": "因果注意力做了全部的计算量：看不到任何 key 的块没有跳过",
        },
    },
    {
        "check": "work",
        "measure": "flops",
        "case": causal_at,
        "beside": all_tiles_at,
        "sizes": (48, 96, 144),
        "growth_at_most": 0.6,  # half of the tiles and the diagonal: 0.556, then 0.533
        "says": {
            "en": "tiles without a visible key are computed in part before they are left out",
            "zh": "看不到任何 key 的块先算了一部分，然后才跳过",
        },
    },
]
