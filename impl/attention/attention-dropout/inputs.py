"""What is certain is compared (evaluation, p = 0, p = 1); what is random is held to what a dropout must do."""

from __future__ import annotations

import torch

AXES = {"weights": "... T S", "return": "... T S"}
ALIAS_ALLOWED = ("attention_dropout",)

SIXTEEN_BITS = "native"
_RANKS = ((2, 6, 8), (8, 12), (2, 2, 5, 6), (2, 1, 2, 5, 6))

_EXACT = {torch.float64: 1e-9, torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 3e-3}


def maps(make, *shape):
    """Attention weights: positive, away from zero, in rows that sum to about 1."""
    return make.uniform(*shape, low=0.2 / shape[-1], high=1.8 / shape[-1])


def case(make):
    lead = make.pick([(2,), (), (2, 3)])
    weights = maps(make, *lead, make.size(1, 4), make.size(1, 6))
    kind = make.pick(["evaluation", "training", "no dropout", "all dropped", "generator"])
    if make.profile == "meta":
        make.call("attention_dropout", weights, 0.5, True)
        make.call("attention_dropout", weights, 1.0, True)
        make.call("attention_dropout", weights, 0.5, False)
    elif kind == "evaluation":
        make.call("attention_dropout", weights, make.pick([0.1, 0.5, 0.9, 1.0]), False)
    elif kind == "no dropout":
        make.call("attention_dropout", weights, 0.0, make.flag())
    elif kind == "all dropped":
        make.call("attention_dropout", weights, 1.0, True)
    else:
        p = make.pick([0.5, 0.1, 0.25, 0.9])
        generator = make.generator() if kind == "generator" else None
        handle = drop(make, weights, p, generator)
        make.gradient_property(lambda outcomes, gradients: masked_alike(outcomes[handle.step], gradients[0], p))


def drop(make, weights, p, generator=None):
    """A call in training: each entry is 0 or the weight over 1 − p."""
    if generator is None:
        handle = make.call("attention_dropout", weights, p, True)
    else:
        handle = make.call("attention_dropout", weights, p, True, generator)
    make.compare(handle, False)
    make.property(lambda outcomes: entries(outcomes[handle.step], weights.detach(), p))
    return handle


def entries(outcome, weights, p):
    if outcome.shape != weights.shape or outcome.dtype != weights.dtype:
        return (
            f"returned {outcome.dtype} of shape {list(outcome.shape)} for {weights.dtype} of {list(weights.shape)}",
            f"输入是 {weights.dtype}、形状 {list(weights.shape)}，返回的却是 {outcome.dtype}、形状 {list(outcome.shape)}",
        )
    kept = outcome != 0
    due = weights.double() / (1.0 - p)
    wrong = kept & ((outcome.double() - due).abs() > _EXACT[weights.dtype] * due)
    if bool(wrong.any()):
        index = [int(i) for i in wrong.nonzero()[0]]
        return (
            f"entry {index} is {float(outcome[tuple(index)]):.6g}; it must be 0 or {float(due[tuple(index)]):.6g}",
            f"{index} 处为 {float(outcome[tuple(index)]):.6g}，只能是 0 或 {float(due[tuple(index)]):.6g}",
        )
    return None


def masked_alike(outcome, gradient, p):
    due = (outcome != 0).double() / (1.0 - p)
    if bool(((gradient.double() - due).abs() > _EXACT[outcome.dtype] * 2 / (1.0 - p)).any()):
        return (
            "the gradient must be 1/(1 − p) where an entry was kept, and 0 where it was dropped",
            "保留的位置梯度应为 1/(1 − p)，丢掉的位置应为 0",
        )
    return None


def edge_two_layers(make):
    """two calls of equal shape, and then both gradients: each belongs to what its own call kept

    形状相同的两次调用，之后再求两个梯度：各自对应自己那次保留的位置
    """
    for k, shape in enumerate(shape for shape in _RANKS for _ in range(2)):
        handle = drop(make, maps(make, *shape), 0.5)
        make.gradient_property(lambda o, g, h=handle, i=k: masked_alike(o[h.step], g[i], 0.5))


def edge_evaluation(make):
    """outside training nothing happens, whatever p is

    非训练时什么都不做，p 取多少都一样
    """
    weights = maps(make, 2, 3, 5)
    for p in (0.0, 0.3, 1.0):
        make.call("attention_dropout", weights, p, False)


def edge_no_dropout(make):
    """p = 0 in training changes nothing

    训练时 p = 0：什么都不变
    """
    make.call("attention_dropout", maps(make, 2, 3, 5), 0.0, True)


def edge_all_dropped(make):
    """p = 1 gives zeros, not NaN, and a zero gradient

    p = 1：输出全 0，不能是 NaN，梯度也是 0
    """
    make.call("attention_dropout", maps(make, 2, 3, 5), 1.0, True)


def edge_one_entry(make):
    """a single weight, forty times

    只有一个权重，连抽四十次
    """
    weights = maps(make, 1, 1)
    generator = make.generator()
    handles = []
    for _ in range(40):
        handle = make.call("attention_dropout", weights, 0.5, True, generator)
        make.compare(handle, False)
        handles.append(handle)
    make.property(lambda outcomes: some_of_both([outcomes[h.step] for h in handles]))


def some_of_both(outcomes):
    kept = sum(int((outcome != 0).sum()) for outcome in outcomes)
    total = sum(outcome.numel() for outcome in outcomes)
    if kept in (0, total):
        return (
            "one and the same draw each time: a generator's state has to move on from call to call",
            "每次抽到的都一样：generator 的状态要随调用往前走",
        )
    return None


def edge_same_generator_state(make):
    """equal generator states give equal results, whatever was drawn elsewhere in between

    generator 状态相同则结果相同，不管中间别处抽过什么
    """
    for k, shape in enumerate(_RANKS):
        weights = maps(make, *shape)
        first = drop(make, weights, 0.4, make.generator(11 + k))
        make.compare(make.call("attention_dropout", weights, 0.5, True), False)
        second = drop(make, weights, 0.4, make.generator(11 + k))
        make.property(lambda outcomes, a=first, b=second: equal(outcomes[a.step], outcomes[b.step]))


def edge_same_global_state(make):
    """without a generator, equal states of torch's global one give equal results

    不传 generator 时，torch 全局生成器状态相同则结果相同
    """
    for k, shape in enumerate(_RANKS):
        weights, handles = maps(make, *shape), []
        for _ in range(2):
            make.manual_seed(11 + k)
            handles.append(drop(make, weights, 0.4))
        make.property(lambda outcomes, h=handles: equal(*(outcomes[handle.step] for handle in h)))


def equal(first, second):
    if torch.equal(first.detach(), second.detach()):
        return None
    return (
        "two generators in the same state gave different results: some randomness comes from elsewhere",
        "两个状态相同的 generator 得到了不同的结果：有一部分随机数来自别处",
    )


def edge_state_moves_on(make):
    """the same generator again gives another mask, and so does the global one

    同一个 generator 再用一次就是另一个掩码，全局生成器也一样
    """
    for k, shape in enumerate(_RANKS):
        weights = maps(make, *shape)
        for generator in (make.generator(5 + k), None):
            first, second = drop(make, weights, 0.5, generator), drop(make, weights, 0.5, generator)
            make.property(lambda outcomes, a=first, b=second: differ(outcomes[a.step], outcomes[b.step]))


def edge_five_dimensions(make):
    """three leading dimensions: dropped, left alone, all dropped, and the gradient that belongs to it

    三个前导维度：按概率丢、一个不丢、全丢，梯度也要对应
    """
    weights = maps(make, 2, 1, 3, 4, 5)
    make.call("attention_dropout", weights, 1.0, True)
    make.call("attention_dropout", weights, 0.0, True)
    make.call("attention_dropout", weights, 0.3, False)
    drop(make, weights, 0.5)


def differ(first, second):
    if torch.equal(first.detach() != 0, second.detach() != 0):
        return (
            "the second call dropped exactly the same entries as the first",
            "第二次调用丢掉的位置与第一次完全相同",
        )
    return None


def random(make):
    """The statistics: how much is dropped, the mean, and that every entry is drawn on its own, at every rank."""
    p, flag = make.pick([0.5, 0.2, 0.73]), make.flag()
    for lead in ((6, 4), (24,), (), (6, 2, 2)):
        weights = maps(make, *lead, 32 if lead else 768, 32)
        generator = make.generator() if flag else None
        handles = [drop(make, weights, p, generator) for _ in range(4)]
        make.property(lambda outcomes, h=handles, w=weights: statistics(*as_maps(outcomes, h, w.detach()), p))
    rare(make, maps(make, 40, 64, 64), make.pick([0.002, 0.03]))


def edge_rarely_in_16_bits(make):
    """p = 0.002 in 16 bits: a draw that is as coarse rounds it up

    16 位、p = 0.002：同样粗糙的随机数会把它舍入上去
    """
    for dtype in (torch.bfloat16, torch.float16):
        coarse = torch.full((40, 64, 64), 1 / 64, dtype=dtype)
        rare(make, make.keep(coarse, dtype="fixed"), 0.002)


def as_maps(outcomes, handles, weights):
    """Results and weights as (batch, heads, queries, keys), whatever their rank."""
    return [outcomes[h.step].detach().reshape(6, 4, 32, 32) for h in handles], weights.reshape(6, 4, 32, 32)


def rare(make, weights, p):
    """A small p is that small: a coarse draw, such as one in 16 bits, rounds it up or down."""
    handle = drop(make, weights, p)
    make.property(lambda outcomes: share(outcomes[handle.step], p))


def share(outcome, p):
    rate, sigma = float((outcome == 0).double().mean()), (p * (1 - p) / outcome.numel()) ** 0.5
    if abs(rate - p) > 5 * sigma:
        return (
            f"{rate:.5f} of the entries were dropped where p = {p}: more than five standard deviations off",
            f"p = {p}，丢掉的比例却是 {rate:.5f}：偏差超过五个标准差",
        )
    return None


def statistics(outcomes, weights, p):
    kept = torch.stack([(outcome != 0).double() for outcome in outcomes])  # (draws, B, H, T, S)
    rate, sigma = 1.0 - float(kept.mean()), (p * (1 - p) / kept.numel()) ** 0.5
    if abs(rate - p) > 5 * sigma:
        return (
            f"{rate:.4f} of the entries were dropped where p = {p}: more than five standard deviations off",
            f"p = {p}，丢掉的比例却是 {rate:.4f}：偏差超过五个标准差",
        )
    ratio = torch.stack([(outcome / weights).double() for outcome in outcomes])
    if abs(float(ratio.mean()) - 1.0) > 5 * sigma / (1 - p):
        return (
            f"the weights were scaled by {float(ratio.mean()):.4f} on average; it must be 1",
            f"权重平均被放大到 {float(ratio.mean()):.4f} 倍，应为 1 倍",
        )
    return spread(kept, p) or togetherness(kept, p)


def spread(kept, p):
    """The number of entries dropped has to vary as independent draws do, neither less nor more."""
    groups = {
        ("call", "每次调用"): (1, 2, 3, 4),
        ("row", "每一行"): (4,),
        ("column", "每一列"): (3,),
        ("position", "每个位置"): (2,),
    }
    for (name, zh), dims in groups.items():
        counts = kept.sum(dims)
        n = kept.numel() // counts.numel()
        variance = float((counts - n * (1 - p)).square().mean()) / (n * p * (1 - p))
        slack = 6.0 * (2.0 / counts.numel()) ** 0.5 + 0.02
        low = 1e-4 if name == "call" else 1 - slack  # a few calls say only whether the number varies at all
        if not low < variance < 1 + slack + (8.0 if name == "call" else 0.0):
            return (
                f"the number of entries kept in a {name} does not vary as independent draws do",
                f"{zh}保留下来的个数，波动与独立抽取不符",
            )
    return None


def togetherness(kept, p):
    """Neighbours along any dimension are dropped independently of each other."""
    centred = kept - (1 - p)
    names = [("calls", "调用"), ("items of the batch", "序列"), ("heads", "头"), ("queries", "query"), ("keys", "key")]
    for dim, (name, zh) in enumerate(names):
        product = centred.narrow(dim, 1, kept.shape[dim] - 1) * centred.narrow(dim, 0, kept.shape[dim] - 1)
        if abs(float(product.mean())) > 6 * p * (1 - p) / product.numel() ** 0.5:
            return f"different {name} do not draw independently of each other", f"不同的{zh}之间不是独立抽取的"
    return None
