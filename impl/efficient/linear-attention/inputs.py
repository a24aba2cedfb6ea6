"""Queries, keys and values of unequal sizes, feature maps of every kind, states that come from anywhere."""

from __future__ import annotations

import torch

AXES = {
    "q": "B H T d",
    "k": "B H T d",
    "v": "B H T dv",
    "return": "B H T dv",
    "state[0]": "B H d dv",
    "state[1]": "B H d",
    "q_t": "B H d",
    "k_t": "B H d",
    "v_t": "B H dv",
    "return[0]": "B H dv",
    "return[1][0]": "B H d dv",
    "return[1][1]": "B H d",
}
LARGE = 1.0
PROFILES = {"stable": ["large"]}
# exp(-80) is 2e-35 where φ is computed exactly and 0 where it is computed as elu(x) + 1: both are sound.
TOLERANCE = {"float32": 1e-20, "float64": 1e-20}
_SIXTEEN_BITS = ("bf16", "fp16")
HARDENED = {"edge_values_of_100"}


def qkv(make, T=None):
    B, H, d, dv = make.size(1, 2), make.size(1, 3), make.size(1, 5), make.size(1, 6)
    T = T or make.size(1, 7)
    return make.normal(B, H, T, d), make.normal(B, H, T, d), make.normal(B, H, T, dv)


def feature_map(make, d):
    """A module is a callable that carries gradients: elementwise, over the last dimension, or to another width."""
    kind = make.pick(["softplus", "softmax", "sigmoid", "wider"])
    if kind == "softmax":
        return make.new("torch.nn.Softmax", -1)
    if kind == "sigmoid":
        return make.new("torch.nn.Sigmoid")
    if kind == "wider" and make.profile not in _SIXTEEN_BITS:
        linear = make.new("torch.nn.Linear", d, d + 2)
        make.set(linear, {"weight": make.normal(d + 2, d), "bias": make.normal(d + 2)})
        return make.new("torch.nn.Sequential", linear, make.new("torch.nn.Softplus"))
    return make.new("torch.nn.Softplus")


def state_for(make, B, H, d, dv):
    """The sums of an unknown past: z is positive."""
    return make.normal(B, H, d, dv, scale=2.0), make.uniform(B, H, d, low=0.5, high=3.0)


def token(make, B, H, d, dv):
    return make.normal(B, H, d), make.normal(B, H, d), make.normal(B, H, dv)


def case(make):
    if make.profile == "meta":
        q, k, v = qkv(make)
        make.call("linear_attention", q, k, v, True)
        make.call("linear_attention", q, k, v, False)
        steps(make)
        return
    kind = make.pick(["parallel", "feature", "steps"])
    if kind == "parallel":
        make.call("linear_attention", *qkv(make), make.flag())
    elif kind == "feature":
        q, k, v = qkv(make)
        feature = feature_map(make, q.shape[-1])
        if make.flag():
            make.call("linear_attention", q, k, v, make.flag(), feature)
        else:
            make.call("linear_attention", q, k, v, causal=make.flag(), feature=feature)
    else:
        steps(make)


def steps(make):
    """Tokens written to one state after another; two continuations of the last one."""
    B, H, d, dv = make.size(1, 3), make.size(1, 3), make.size(1, 5), make.size(1, 6)
    state = state_for(make, B, H, d, dv)
    if make.profile in _SIXTEEN_BITS:  # a state rounded to 16 bits on the way would have no single right value
        make.call("linear_attention_step", state, *token(make, B, H, d, dv))
        return
    for _ in range(make.size(1, 3)):
        state = make.call("linear_attention_step", state, *token(make, B, H, d, dv))[1]
    make.call("linear_attention_step", state, *token(make, B, H, d, dv))
    make.call("linear_attention_step", state, *token(make, B, H, d, dv))


def far(make, *shape):
    """Numbers of 80 to 140 of either sign, with ordinary ones among them."""
    x = torch.randn(shape, generator=make.random, dtype=torch.float64)
    large = x.sign() * (80 + 20 * x.abs().clamp(max=3.0))
    return make.keep(torch.where(torch.rand(shape, generator=make.random) < 0.6, large, x), grad=True)


def stable(make):
    B, H, T, d, dv = make.size(1, 2), make.size(1, 3), make.size(1, 7), make.size(1, 5), make.size(1, 6)
    make.call("linear_attention", far(make, B, H, T, d), far(make, B, H, T, d), make.normal(B, H, T, dv), make.flag())


def edge_one_token(make):
    """one token, almost its own value; and d = 1 with dv = 5

    一个 token，输出几乎就是自己的 value；以及 d = 1、dv = 5
    """
    for T, d, dv in ((1, 4, 2), (4, 1, 5)):
        q, k, v = make.normal(2, 3, T, d), make.normal(2, 3, T, d), make.normal(2, 3, T, dv)
        make.call("linear_attention", q, k, v, True)
        make.call("linear_attention", q, k, v, False)


def edge_long_and_wide(make):
    """66 tokens, seven heads, d = 20: no chunk ends the sums, and nothing is scaled

    66 个 token，七个头，d = 20：求和不在分块处中断，也不做缩放
    """
    q, k, v = make.normal(1, 7, 2, 20), make.normal(1, 7, 2, 20), make.normal(1, 7, 2, 3)
    make.call("linear_attention", q, k, v, False)
    q, k, v = make.normal(1, 1, 66, 1), make.normal(1, 1, 66, 1), make.normal(1, 1, 66, 2)
    make.call("linear_attention", q, k, v, True)
    make.call(
        "linear_attention", make.normal(1, 1, 150, 1), make.normal(1, 1, 150, 1), make.normal(1, 1, 150, 1), False
    )


def edge_all_sizes_equal(make):
    """B = H = T = d = dv: a transposition keeps every shape

    B = H = T = d = dv：转置错了，形状也不变
    """
    q, k, v = make.normal(4, 4, 4, 4), make.normal(4, 4, 4, 4), make.normal(4, 4, 4, 4)
    make.call("linear_attention", q, k, v, True)
    make.call("linear_attention", q, k, v, False)


def edge_no_feature_left(make):
    """φ(k) = 0 for every key, or for the first ones: the sums are 0, and 1e-6 keeps the quotient finite; a step as well

    所有 key 或开头几个 key 的 φ(k) = 0：和为 0，靠 1e-6 让商保持有限；单步也一样
    """
    q, v = make.normal(1, 2, 3, 2), make.normal(1, 2, 3, 4)
    low = torch.full((1, 2, 3, 2), -200.0)
    make.call("linear_attention", q, make.keep(low, grad=True), v, False)
    state = (make.normal(1, 2, 2, 4), make.uniform(1, 2, 2, low=0.5, high=3.0))
    make.call(
        "linear_attention_step", state, make.normal(1, 2, 2), make.keep(low[:, :, 0].clone()), make.normal(1, 2, 4)
    )
    low = low.clone()
    low[:, :, 1] = 0.5
    make.call("linear_attention", q, make.keep(low, grad=True), v, True)
    make.call(
        "linear_attention", make.keep(torch.full((1, 2, 3, 2), -300.0), grad=True), make.normal(1, 2, 3, 2), v, True
    )


def edge_features_of_zero(make):
    """ReLU as feature map: whole rows of zeros, and their gradients

    用 ReLU 作特征映射：整行为 0，以及这时的梯度
    """
    q, k, v = make.normal(1, 2, 5, 2), make.normal(1, 2, 5, 2), make.normal(1, 2, 5, 3)
    for causal in (True, False):
        make.call("linear_attention", q, k, v, causal, make.new("torch.nn.ReLU"))


def edge_features_of_another_width(make):
    """a feature map from width 3 to 5, and to 2: the sums have its width, not d

    特征映射把宽度 3 变成 5，或变成 2：累加的和按映射后的宽度，而不是 d
    """
    q, k, v = make.normal(1, 2, 4, 3), make.normal(1, 2, 4, 3), make.normal(1, 2, 4, 6)
    for width in (5, 2):
        linear = make.new("torch.nn.Linear", 3, width)
        make.set(linear, {"weight": make.normal(width, 3), "bias": make.normal(width)})
        feature = make.new("torch.nn.Sequential", linear, make.new("torch.nn.Softplus"))
        for causal in (True, False):
            make.call("linear_attention", q, k, v, causal, feature)


def edge_small_features(make):
    """a feature map with values near 1e-6: the constant in the denominator counts

    特征映射的值在 1e-6 左右：分母里的常数不可忽略
    """
    q, k, v = make.normal(1, 2, 4, 3), make.normal(1, 2, 4, 3), make.normal(1, 2, 4, 3)
    linear = make.new("torch.nn.Linear", 3, 3)
    make.set(linear, {"weight": make.normal(3, 3), "bias": make.keep(torch.tensor([-6.0, -7.0, -6.5]))})
    make.call("linear_attention", q, k, v, True, make.new("torch.nn.Sequential", linear, make.new("torch.nn.Softplus")))


def edge_values_of_100(make):
    """|x| near 100: exp(100) overflows in float32, the gradients stay finite

    |x| 在 100 左右：exp(100) 在 float32 里溢出，梯度仍要有限
    """
    q = torch.tensor([[[[100.0, -100.0], [-95.0, 99.0], [0.5, 90.0]]]])
    k = torch.tensor([[[[-100.0, 98.0], [97.0, 100.0], [-0.25, 0.5]]]])
    for causal in (True, False):
        make.call("linear_attention", make.keep(q, grad=True), make.keep(k, grad=True), make.normal(1, 1, 3, 2), causal)
    state = (make.normal(1, 1, 2, 2), make.uniform(1, 1, 2, low=0.5, high=2.0))
    q_t, k_t = make.keep(q[:, :, 0].clone(), grad=True), make.keep(k[:, :, 1].clone(), grad=True)
    make.call("linear_attention_step", state, q_t, k_t, make.normal(1, 1, 2))


def edge_from_nothing(make):
    """steps from a state of zeros give what the causal form gives

    从全 0 的状态开始逐步计算，结果等于因果形式的结果
    """
    q, k, v = make.normal(2, 2, 4, 3), make.normal(2, 2, 4, 3), make.normal(2, 2, 4, 5)
    make.call("linear_attention", q, k, v, True)
    state = (make.keep(torch.zeros(2, 2, 3, 5)), make.keep(torch.zeros(2, 2, 3)))
    for t in range(4):
        columns = [make.keep(x.detach()[:, :, t].clone(), grad=True) for x in (q, k, v)]
        state = make.call("linear_attention_step", state, *columns)[1]


def edge_two_continuations(make):
    """two continuations of one state, which stays as it is

    同一个状态的两条续写，状态本身保持原样
    """
    state = state_for(make, 2, 1, 3, 2)
    left = make.call("linear_attention_step", state, *token(make, 2, 1, 3, 2))
    make.call("linear_attention_step", state, *token(make, 2, 1, 3, 2))
    make.call("linear_attention_step", left[1], *token(make, 2, 1, 3, 2))


def edge_large_sums_in_float16(make):
    """float16 inputs whose sums pass 65 504: float32 inside holds them

    float16 输入，和超过 65504：在 float32 里才装得下
    """
    q, k = torch.full((1, 1, 6, 2), 100.0).half(), torch.full((1, 1, 6, 2), 120.0).half()
    v = torch.linspace(-90, 110, 12).reshape(1, 1, 6, 2).half()
    for causal in (True, False):
        make.call("linear_attention", *[make.keep(t, dtype="fixed") for t in (q, k, v)], causal)


def edge_long_sums_in_bfloat16(make):
    """bfloat16 inputs over forty tokens: added up in bfloat16 the late ones would vanish

    bfloat16 输入，四十个 token：用 bfloat16 累加，后面的就加不进去了
    """
    T = 40
    q, k = torch.full((1, 1, T, 2), 0.5).bfloat16(), torch.full((1, 1, T, 2), 1.5).bfloat16()
    v = (torch.arange(2 * T).reshape(1, 1, T, 2) % 7 - 2.0).bfloat16()
    for causal in (True, False):
        make.call("linear_attention", *[make.keep(t, dtype="fixed") for t in (q, k, v)], causal)


def edge_state_in_float32(make):
    """bfloat16 tokens on a float32 state: y in the dtype of the tokens, the state in its own

    bfloat16 的 token，float32 的状态：y 用 token 的 dtype，状态保持自己的 dtype
    """
    state = (
        make.keep(torch.tensor([[[[0.1, 1.3], [2.7, -0.7]]]]), dtype="fixed"),
        make.keep(torch.tensor([[[1.1, 2.3]]]), dtype="fixed"),
    )
    tokens = [torch.tensor([[[0.5, -1.0]]]), torch.tensor([[[1.5, 0.25]]]), torch.tensor([[[-2.0, 3.0]]])]
    for _ in range(2):
        state = make.call("linear_attention_step", state, *[make.keep(t.bfloat16(), dtype="fixed") for t in tokens])[1]


def causal_at(make, T):
    make.call("linear_attention", make.normal(1, 1, T, 4), make.normal(1, 1, T, 4), make.normal(1, 1, T, 4), True)


def with_feature_at(make, T):
    """A feature map of one's own, and two sequences."""
    q, k, v = make.normal(2, 1, T, 2), make.normal(2, 1, T, 2), make.normal(2, 1, T, 2)
    make.call("linear_attention", q, k, v, False, make.new("torch.nn.Softplus"))


def parallel_at(make, T):
    make.call("linear_attention", make.normal(1, 1, T, 4), make.normal(1, 1, T, 4), make.normal(1, 1, T, 4), False)


# Pieces of up to 128 tokens attended pairwise are sound: their cost is linear in T. T² scores are not.
CONTRACTS = [
    {
        "check": check,
        "measure": measure,
        "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
        "case": record,
        "sizes": (24, 72, 216),
        "growth_at_most": 1.0,
        "bound": bound,
        "says": says,
    }
    for record in (causal_at, parallel_at, with_feature_at)
    for check, measure, bound, says in (
        (
            "work",
            "flops",
            lambda T: 3000 * T,
            {
                "en": "the work grows with the square of the sequence length",
                "zh": "计算量随序列长度的平方增长",
            },
        ),
        (
            "memory",
            "largest",
            lambda T: 200 * T,
            {
                "en": "the largest tensor grows with the square of the sequence length",
                "zh": "最大的中间张量随序列长度的平方增长",
            },
        ),
    )
]
