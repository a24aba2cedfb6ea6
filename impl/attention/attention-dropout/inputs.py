"""What is certain is compared (evaluation, p = 0, p = 1); what is random is held to what a dropout must do."""

from __future__ import annotations

import torch

AXES = {"weights": "... T S", "return": "... T S"}
SIZES = {"T": (1, 5), "S": (1, 7)}
ALIAS_ALLOWED = ("attention_dropout",)
HARDENED = {"edge_gradient_where_all_is_dropped"}
WITHOUT_MOTIFS = {"one", "equal"}  # every entry is drawn on its own
_RANKS = ((2, 6, 8), (8, 12), (2, 2, 5, 6), (2, 1, 2, 5, 6))
_DRAWN = [(0.5, True), (0.1, False), (0.25, True), (1.0, True), (0.9, True), (0.0, True), (1.0, False), (0.1, True)]


def maps(make, *shape, grad=True):
    """Attention weights: positive, away from zero, in rows that sum to about 1."""
    return make.uniform(*shape, low=0.2 / shape[-1], high=1.8 / shape[-1], grad=grad)


def case(make):
    p, training = make.pick(_DRAWN)
    weights = maps(make, *make.shape("weights"), grad=not training or p < 1.0)
    if training and 0.0 < p < 1.0:
        drop(make, weights, p, make.generator() if make.flag() and make.profile != "meta" else None)
    else:
        make.call("attention_dropout", weights, p, training)


def drop(make, weights, p, generator=None):
    """A call in training on new weights: each entry, and each gradient, is 0 or grows by 1/(1 − p)."""
    place = sum(item.grad for item in make.case.inputs)
    handle = make.call("attention_dropout", weights, p, True, generator)
    make.compare(handle, make.profile == "meta")
    given = weights.detach()
    make.property(lambda outcomes: entries(outcomes[handle.step], given, p))
    if weights.requires_grad:
        make.gradient_property(lambda outcomes, grads: alike(outcomes[handle.step], grads[place], p))
    return handle


def rounding(due, dtype):
    """What float32 may miss, and half a step of 16 bits, to which it is rounded once."""
    within = due * (1e-9 if dtype == torch.float64 else 1e-5)
    bits = torch.finfo(dtype)
    return within if bits.bits > 16 else within + due.log2().floor().exp2() * bits.eps / 2


def entries(got, weights, p):
    if (got.shape, got.dtype) != (weights.shape, weights.dtype):
        now, due = [f"{tensor.dtype} {list(tensor.shape)}" for tensor in (got, weights)]
        return f"returned {now}; due is {due}, as the weights are", f"返回的是 {now}，应与 weights 一样是 {due}"
    due = weights.double() / (1.0 - p)
    wrong = (got != 0) & ~((got.double() - due).abs() <= rounding(due, got.dtype))
    if not wrong.any():
        return None
    at = tuple(wrong.nonzero()[0].tolist())
    now, then, places = f"{float(got[at]):.6g}", f"{float(due[at]):.6g}", list(at)
    return f"entry {places} is {now}; it must be 0 or {then}", f"{places} 处为 {now}，只能是 0 或 {then}"


def alike(got, gradient, p):
    if ((gradient.double() - (got != 0) / (1.0 - p)).abs() <= 2e-5 / (1.0 - p)).all():
        return None
    return (
        "the gradient must be 1/(1 − p) where an entry was kept, and 0 where it was dropped",
        "保留的位置梯度应为 1/(1 − p)，丢掉的位置应为 0",
    )


def edge_left_alone(make):
    """outside training, and where p = 0, nothing happens

    非训练时，或 p = 0 时，什么都不做
    """
    for p, training in ((0.0, False), (0.3, False), (1.0, False), (0.0, True)):
        make.call("attention_dropout", maps(make, 2, 3, 5), p, training)


def edge_all_dropped(make):
    """p = 1 gives zeros, not NaN

    p = 1：输出全 0，不能是 NaN
    """
    make.call("attention_dropout", maps(make, 2, 3, 5, grad=False), 1.0, True)


def edge_gradient_where_all_is_dropped(make):
    """where p = 1 the gradient is zero, not NaN

    p = 1 时梯度也是 0，不能是 NaN
    """
    make.call("attention_dropout", maps(make, 2, 3, 5), 1.0, True)


def edge_equal_states(make):
    """equal states, of a generator or of torch's global one, drop the same, whatever was drawn in between

    状态相同则丢的位置相同，不管用的是 generator 还是全局生成器，也不管中间抽过什么
    """
    for k, shape in enumerate(_RANKS):
        first = drop(make, maps(make, *shape), 0.4, make.generator(11 + k))
        make.manual_seed(11 + k)
        third = drop(make, maps(make, *shape), 0.4)
        second = drop(make, maps(make, *shape), 0.4, make.generator(11 + k))
        make.manual_seed(11 + k)
        pairs = (first, second), (third, drop(make, maps(make, *shape), 0.4))
        make.property(lambda outcomes, pairs=pairs: same_masks(outcomes, pairs, True))


def edge_state_moves_on(make):
    """each call drops other entries, and its gradient knows which

    每次调用丢的位置都不同，各自的梯度也要对得上
    """
    for k, shape in enumerate(_RANKS):
        for generator in (make.generator(5 + k), None):
            pair = [drop(make, maps(make, *shape), 0.5, generator) for _ in range(2)]
            make.property(lambda outcomes, pairs=(pair,): same_masks(outcomes, pairs, False))


_SAME = "the second call dropped the same entries as the first", "第二次调用丢掉的位置与第一次完全相同"
_OTHER = (
    "equal states dropped different entries: some randomness is from elsewhere",
    "状态相同，丢的位置却不同：还有别处的随机数",
)


def same_masks(outcomes, pairs, due):
    same = [torch.equal(outcomes[first.step] != 0, outcomes[second.step] != 0) for first, second in pairs]
    return None if same == [due] * len(pairs) else _OTHER if due else _SAME


def edge_rounded_once_in_16_bits(make):
    """16 bits: what is kept is rounded once, not its factor as well

    16 位：保留下来的只舍入一次，系数不能先舍入一遍
    """
    for dtype in (torch.bfloat16, torch.float16):
        drop(make, make.keep(maps(make, 8, 12).to(dtype), dtype="fixed"), 0.3)


def edge_rarely_in_16_bits(make):
    """p = 0.002 in 16 bits: a draw that is as coarse rounds it up

    16 位、p = 0.002：同样粗糙的随机数会把它舍入上去
    """
    for dtype in (torch.bfloat16, torch.float16):
        rare(make, make.keep(torch.full((40, 64, 64), 1 / 64, dtype=dtype), dtype="fixed"), 0.002)


def rare(make, weights, p):
    """A small p is that small: a coarse draw, such as one in 16 bits, rounds it up or down."""
    handle = make.call("attention_dropout", weights, p, True)
    make.compare(handle, False)
    make.property(lambda outcomes: share(outcomes[handle.step] != 0, p))


def random(make):
    """The statistics: how much is dropped, and that every entry is drawn on its own, at every rank."""
    p, flag = make.pick([0.5, 0.2, 0.73]), make.flag()
    for lead in ((6, 4), (24,), (), (6, 2, 2)):
        shape = (*lead, 32 if lead else 768, 32)
        generator = make.generator() if flag else None
        handles = [drop(make, maps(make, *shape, grad=False), p, generator) for _ in range(4)]
        make.property(lambda outcomes, steps=[h.step for h in handles]: statistics([outcomes[s] for s in steps], p))
    rare(make, maps(make, 40, 64, 64, grad=False), make.pick([0.002, 0.03]))


def statistics(outcomes, p):
    """Of (calls, batch, heads, queries, keys), whatever the rank was."""
    kept = torch.stack([(outcome.detach() != 0).double().reshape(6, 4, 32, 32) for outcome in outcomes])
    return share(kept, p) or spread(kept, p) or togetherness(kept, p)


def share(kept, p):
    rate, sigma = 1.0 - float(kept.double().mean()), (p * (1 - p) / kept.numel()) ** 0.5
    if abs(rate - p) <= 5 * sigma:
        return None
    return (
        f"{rate:.5f} of the entries were dropped where p = {p}: more than five standard deviations off",
        f"p = {p}，丢掉的比例却是 {rate:.5f}：偏差超过五个标准差",
    )


_LINES = ("row", "行", 4), ("column", "列", 3), ("position", "个位置", 2)
_NAMES = ("calls", "调用"), ("items of the batch", "序列"), ("heads", "头"), ("queries", " query "), ("keys", " key ")


def spread(kept, p):
    """The number of entries dropped has to vary as independent draws do, neither less nor more."""
    for name, zh, dims in (*_LINES, ("call", "次调用", (1, 2, 3, 4))):
        counts = kept.sum(dims)
        n = kept.numel() // counts.numel()
        variance = float((counts - n * (1 - p)).square().mean()) / (n * p * (1 - p))
        slack, few = 6.0 * (2.0 / counts.numel()) ** 0.5 + 0.02, name == "call"
        if not (1e-4 if few else 1 - slack) < variance < 1 + slack + (8.0 if few else 0.0):  # a few calls say little
            return (
                f"the number of entries kept in a {name} does not vary as independent draws do",
                f"每{zh}保留下来的个数，波动与独立抽取不符",
            )
    return None


def togetherness(kept, p):
    """Neighbours along any dimension are dropped independently of each other."""
    centred = kept - (1 - p)
    for dim, (name, zh) in enumerate(_NAMES):
        product = centred.narrow(dim, 1, kept.shape[dim] - 1) * centred.narrow(dim, 0, kept.shape[dim] - 1)
        if abs(float(product.mean())) > 6 * p * (1 - p) / product.numel() ** 0.5:
            return f"different {name} do not draw independently of each other", f"不同的{zh}之间不是独立抽取的"
    return None
