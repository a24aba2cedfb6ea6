"""Unequal sizes, feature maps of every kind, states from anywhere."""

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
SIZES = {"B": (1, 2), "H": (1, 3, 7), "T": (1, 7, 150), "d": (1, 5), "dv": (1, 6)}
LARGE = 1.0
PROFILES = {"stable": ["large"]}
# exp(-80) is 2e-35 in an exact φ and 0 in elu(x) + 1: both are sound.
TOLERANCE = {"float32": 1e-20, "float64": 1e-20}
HARDENED = {"edge_gradients_far_out"}


def attend(make, *args):
    make.call("linear_attention", *args)


def case(make):
    if make.flag():
        return steps(make)
    feature = make.pick([(), ("torch.nn.Softplus",), ("torch.nn.Softmax", -1), ("torch.nn.Sigmoid",)])
    attend(make, *make.arguments("q", "k", "v"), make.flag(), *([make.new(*feature)] if feature else []))


def steps(make):
    """From nothing or an unknown past; two continuations of the last state."""
    state = past(make)
    if make.flag():
        state = tuple(make.keep(torch.zeros(part.shape)) for part in state)
    if make.dtype.itemsize == 2:  # a state rounded to 16 bits on the way has no single right value
        step(make, state)
        return
    for _ in range(make.size(1, 3)):
        state = step(make, state)
    left, _ = step(make, state), step(make, state)
    step(make, left)


def past(make):
    """A state whose z is positive."""
    return make.argument("state[0]", scale=2.0), make.uniform(*make.shape("state[1]"), low=0.5, high=3.0)


def step(make, state):
    return make.call("linear_attention_step", state, *make.arguments("q_t", "k_t", "v_t"))[1]


def far(make, *names):
    """Numbers of 80 to 140 of either sign among ordinary ones."""
    for name in names:
        x = torch.randn(make.shape(name), generator=make.random, dtype=torch.float64)
        large = x.sign() * (80 + 20 * x.abs().clamp(max=3.0))
        yield make.keep(torch.where(torch.rand(x.shape, generator=make.random) < 0.6, large, x), grad=True)


def stable(make):
    attend(make, *far(make, "q", "k"), make.argument("v"), make.flag())


def edge_no_feature_left(make):
    """φ(k) = 0 for every key or the first ones, or φ(q) = 0: the 1e-6 keeps the quotient finite; a step as well

    所有或开头几个 key 的 φ(k) = 0，或 φ(q) = 0：靠 1e-6 让商保持有限；单步也一样
    """
    make.hold(B=1, H=2, T=3, d=2, dv=4)
    q, k, v = make.arguments("q", "k", "v")
    none = torch.full(k.shape, -200.0)
    some = none.clone()
    some[:, :, 1] = 0.5
    none, some = make.keep(none, grad=True), make.keep(some, grad=True)
    for args in ((q, none, v, False), (q, some, v, True), (none, k, v, True)):
        attend(make, *args)
    make.call("linear_attention_step", past(make), make.argument("q_t"), make.keep(none[:, :, 0]), make.argument("v_t"))


def edge_feature_maps(make):
    """ReLU with rows of zeros; φ from width 3 to 5 or 2, which the sums then have; φ near 1e-6

    ReLU 会留下整行的 0；φ 把宽度 3 变成 5 或 2，累加的和按这个宽度；φ 在 1e-6 左右
    """
    make.hold(B=1, d=3)
    args, features = make.arguments("q", "k", "v"), [make.new("torch.nn.ReLU")]
    for width, shift in ((5, 0.0), (2, 0.0), (3, -6.5)):
        linear = make.new("torch.nn.Linear", 3, width)
        make.set(linear, {"weight": make.normal(width, 3), "bias": make.normal(width, scale=0.4, mean=shift)})
        features.append(make.new("torch.nn.Sequential", linear, make.new("torch.nn.Softplus")))
    for feature in features:
        for causal in (True, False):
            attend(make, *args, causal, feature)


def edge_gradients_far_out(make):
    """|x| up to 140: exp overflows in float32, the gradients stay finite

    |x| 到 140：exp 在 float32 里溢出，梯度仍要有限
    """
    for causal in (True, False):
        attend(make, *far(make, "q", "k"), make.argument("v"), causal)
    make.call("linear_attention_step", past(make), *far(make, "q_t", "k_t"), make.argument("v_t"))


def edge_sums_in_16_bits(make):
    """float16 sums beyond 65 504; bfloat16 sums over forty tokens, where late ones would vanish

    float16 的和超过 65504；bfloat16 累加四十个 token，后面的会加不进去
    """
    early, late = torch.linspace(-90, 110, 12), torch.arange(80) % 7 - 2.0
    for dtype, q, k, v in ((torch.float16, 100.0, 120.0, early), (torch.bfloat16, 0.5, 1.5, late)):
        v = v.reshape(1, 1, -1, 2)
        tensors = fixed(make, dtype, torch.full(v.shape, q), torch.full(v.shape, k), v)
        for causal in (True, False):
            attend(make, *tensors, causal)


def edge_state_in_float32(make):
    """bfloat16 tokens on a float32 state: each keeps its dtype

    bfloat16 的 token，float32 的状态：各自保持 dtype
    """
    state = fixed(make, torch.float32, [[[[0.1, 1.3], [2.7, -0.7]]]], [[[1.1, 2.3]]])
    tokens = fixed(make, torch.bfloat16, [[[0.5, -1.0]]], [[[1.5, 0.25]]], [[[-2.0, 3.0]]])
    for _ in range(2):
        state = make.call("linear_attention_step", state, *tokens)[1]


def fixed(make, dtype, *values):
    return tuple(make.keep(torch.as_tensor(value).to(dtype), dtype="fixed") for value in values)


def at(causal, *feature, B=1, d=4):
    def record(make, T):
        make.hold(B=B, H=1, T=T, d=d, dv=d)
        attend(make, *make.arguments("q", "k", "v"), causal, *map(make.new, feature))

    return record


# Pieces of up to 128 tokens attended pairwise are sound.
CONTRACTS = [
    {
        "check": check,
        "measure": measure,
        "real": {"size": 65_536, "en": "64k context", "zh": "64k 上下文"},
        "case": record,
        "sizes": (24, 72, 216),
        "growth_at_most": 1.0,
        "bound": bound,
        "says": {"en": f"the {en} grows with T²", "zh": f"{zh}随 T² 增长"},
    }
    for record in (at(True), at(False), at(False, "torch.nn.Softplus", B=2, d=2))
    for check, measure, bound, en, zh in (
        ("work", "flops", lambda T: 3000 * T, "work", "计算量"),
        ("memory", "largest", lambda T: 200 * T, "largest tensor", "最大的中间张量"),
    )
]
