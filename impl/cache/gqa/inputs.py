"""Groups of 1 to 4 query heads, G = 1 and G = H, a past of any length, and shapes that do not fit."""

from __future__ import annotations

import torch

AXES = {"q": "B H T d", "k": "B G S d", "v": "B G S d", "return": "B H T d"}
LARGE = 10.0  # q and k both grow, so the logits reach ±200 and more
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_visible_scores_very_low"}


def tensors(make, B, G, R, T, S, d):
    return make.normal(B, G * R, T, d), make.normal(B, G, S, d), make.normal(B, G, S, d)


def case(make):
    B, G, R, T, d = make.size(1, 3), make.size(1, 3), make.size(1, 4), make.size(1, 5), make.size(1, 5)
    if make.profile == "meta":
        make.call("gqa", *tensors(make, B, G, R, T, T + 2, d))
        make.call("gqa", *tensors(make, B, G, R, T, T + 2, d), True)
        return
    style = make.pick(["plain", "causal", "square", "keyword", "off"])
    if style == "plain":
        make.call("gqa", *tensors(make, B, G, R, T, make.size(1, 6), d))
    elif style == "causal":
        make.call("gqa", *tensors(make, B, G, R, T, T + make.size(0, 4), d), True)
    elif style == "square":
        make.call("gqa", *tensors(make, B, G, R, T, T, d), causal=True)
    elif style == "keyword":
        make.call("gqa", *tensors(make, B, G, R, T, T + make.size(1, 4), d), causal=True)
    else:
        make.call("gqa", *tensors(make, B, G, R, T, make.size(1, 6), d), False)


def edge_one_group(make):
    """G = 1: multi-query attention, and calls with and without causal that do not meet

    G = 1，即多查询注意力；因果与非因果的调用交替进行，互不影响
    """
    q, k, v = tensors(make, 2, 1, 3, 4, 5, 6)
    for causal in (True, False, True):
        make.call("gqa", q, k, v, causal)


def edge_group_of_one(make):
    """G = H: plain multi-head attention

    G = H：就是普通的多头注意力
    """
    make.call("gqa", *tensors(make, 2, 3, 1, 4, 5, 2))


def edge_two_groups_of_three(make):
    """H = 6, G = 2: heads 0, 1, 2 read the first pair, heads 3, 4, 5 the second

    H = 6，G = 2：头 0、1、2 读第一组，头 3、4、5 读第二组
    """
    make.call("gqa", *tensors(make, 2, 2, 3, 4, 5, 7))


def edge_as_many_groups_as_heads_in_each(make):
    """H = 9, G = 3: taking h % G for h // (H/G) still fits every shape

    H = 9，G = 3：把 h // (H/G) 错写成 h % G，形状也都对得上
    """
    make.call("gqa", *tensors(make, 2, 3, 3, 3, 3, 3))


def edge_one_key(make):
    """S = 1: every query returns its group's value

    S = 1：每个 query 的输出就是本组的 value
    """
    make.call("gqa", *tensors(make, 2, 2, 2, 3, 1, 4))


def edge_decoding(make):
    """one causal query over a past of seven sees all of it

    一个因果 query 对七个 key：全都看得到
    """
    make.call("gqa", *tensors(make, 2, 2, 3, 1, 7, 4), True)


def edge_queries_come_last(make):
    """three causal queries over ninety keys are positions 87, 88 and 89: 30 query heads in 5 groups, d = 11

    90 个 key，3 个因果 query 的位置是 87、88、89；30 个 query 头分 5 组，d = 11
    """
    make.call("gqa", *tensors(make, 1, 5, 6, 3, 90, 11), causal=True)


def edge_hidden_key_leads(make):
    """a key in the future would win by 400: nothing of it may remain

    未来的 key 分数高出 400：不能对结果有任何影响
    """
    q = torch.full((1, 2, 3, 4), 20.0)
    k = torch.stack([torch.full((1, 1, 4), x) for x in (-5.0, -5.05, 5.0)], dim=2)
    make.call("gqa", make.keep(q, grad=True), make.keep(k, grad=True), make.normal(1, 1, 3, 4), True)


def edge_visible_scores_very_low(make):
    """visible scores near −3·10⁴, and hidden ones of 3·10⁴: no constant stands for −∞

    可见分数在 −3·10⁴ 附近，被掩掉的是 3·10⁴：什么常数都代替不了 −∞
    """
    q = torch.full((1, 2, 3, 4), 120.0)
    k = torch.stack([torch.full((1, 1, 4), x) for x in (-130.0, -130.01, 130.0)], dim=2)
    make.call("gqa", make.keep(q), make.keep(k), make.normal(1, 1, 3, 4), True)


def edge_fewer_keys_than_queries(make):
    """without a mask S < T is fine

    没有掩码时，S < T 没有问题
    """
    make.call("gqa", *tensors(make, 1, 2, 2, 5, 2, 4))


def edge_uneven_groups(make):
    """H not a multiple of G raises ValueError

    H 不是 G 的倍数时，抛 ValueError
    """
    make.raises(ValueError, "gqa", make.normal(1, 5, 2, 4), make.normal(1, 2, 3, 4), make.normal(1, 2, 3, 4))
    make.raises(ValueError, "gqa", make.normal(1, 2, 2, 4), make.normal(1, 4, 3, 4), make.normal(1, 4, 3, 4))
    make.raises(ValueError, "gqa", make.normal(1, 4, 2, 4), make.normal(1, 3, 3, 4), make.normal(1, 3, 3, 4), True)


def edge_causal_with_too_few_keys(make):
    """causal with S < T raises ValueError

    因果而 S < T 时，抛 ValueError
    """
    make.raises(ValueError, "gqa", *tensors(make, 1, 2, 2, 3, 2, 4), True)
    make.raises(ValueError, "gqa", *tensors(make, 1, 1, 2, 5, 1, 4), causal=True)


def edge_float16_scores_overflow(make):
    """float16 inputs whose scores pass 65 504

    float16 输入，分数超过 65504
    """
    q = torch.full((1, 4, 1, 8), 120.0).half()
    k = torch.full((1, 2, 3, 8), 110.0).half()
    k[0, :, 1] -= 2.0
    k[0, :, 2] = -k[0, :, 2]
    v = torch.arange(48.0).reshape(1, 2, 3, 8).half()
    make.call("gqa", *[make.keep(t, dtype="fixed") for t in (q, k, v)])


def edge_bfloat16_scores(make):
    """bfloat16 inputs with scores around 1000, which would tie in bfloat16

    bfloat16 输入，分数在 1000 左右：用 bfloat16 算就会并列
    """
    q = torch.full((1, 2, 1, 16), 8.0).bfloat16()
    k = torch.full((1, 1, 3, 16), 8.0).bfloat16()
    k[0, 0, 1, 0] = 8.0625
    k[0, 0, 2, :2] = 8.0625
    v = torch.arange(48.0).sub(20.0).reshape(1, 1, 3, 16).bfloat16()
    make.call("gqa", *[make.keep(t, dtype="fixed") for t in (q, k, v)])


def decoding_at(make, R):
    """One query token, two sequences, two groups, and more and more query heads in each."""
    make.call("gqa", *tensors(make, 2, 2, R, 1, 24, 32))


def causal_at(make, R):
    make.call("gqa", *tensors(make, 2, 2, R, 2, 24, 32), True)


def one_group_at(make, R):
    make.call("gqa", *tensors(make, 1, 1, R, 2, 24, 32))


# For each head and query, scores are 24 and the query itself 32 numbers; keys repeated once per head would be 768.
CONTRACTS = [
    {
        "check": "memory",
        "measure": "handed",
        "case": record,
        "sizes": (2, 4, 8),
        "bound": bound,
        "growth_at_most": 1.5,
        "says": {
            "en": "keys or values are copied once for every query head; that is what grouping is there to avoid",
            "zh": "每个 query 头都复制了一份 key 或 value，而分组正是为了避免这件事",
        },
    }
    for record, bound in (
        (decoding_at, lambda R: 350 * R),
        (causal_at, lambda R: 700 * R),
        (one_group_at, lambda R: 175 * R),
    )
]
