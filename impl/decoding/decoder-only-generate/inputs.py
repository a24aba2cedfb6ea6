"""A model that is a small function of its tokens and its cache: greedy answers are exact, samples are counted."""

from __future__ import annotations

import math

import torch

AXES = {"ids": "B T", "return": "B T+n"}
SIXTEEN_BITS = "native"
GRADIENTS = False
_STATES = 11  # what the model remembers of the past: a number below this
# Sound solutions may loop over rows: what frequencies need, and no more.
_ROWS, _SOME_ROWS, _FEW_ROWS = 1000, 500, 40
_SIGMAS = 5.5
HARDENED = {"edge_temperature_almost_zero", "edge_float16_over_a_small_temperature"}


def model_over(table):
    """A causal model whose logits depend on the order of all tokens so far; table is (_STATES, V)."""

    def model(ids, cache):
        if ids.is_floating_point() or ids.dim() != 2:
            raise TypeError(f"ids must be (B, t) integers, not {ids.dtype} of shape {list(ids.shape)}")
        if ids.device.type == "cpu" and bool(((ids < 0) | (ids >= table.shape[1])).any()):
            raise ValueError(f"a token id outside 0 … {table.shape[1] - 1}")
        state = ids.new_zeros(ids.shape[0]) if cache is None else cache["state"]
        rows = []
        for column in ids.unbind(1):
            state = (3 * state + column + 1) % _STATES
            rows.append(table.to(ids.device)[state])
        return torch.stack(rows, dim=1), {"state": state, "seen": ids.shape[1] + (cache["seen"] if cache else 0)}

    return model


def prefill_then_single_tokens(B, T, step):
    """The first call passes the prompt and None, all later ones the newest token and the cache; none too many."""

    def holds(calls, outcomes):
        new = outcomes[step].shape[1] - T
        if not calls:
            return None if new == 0 else ("the model was never called", "从未调用模型")
        if calls[0] != [[B, T], "NoneType"]:
            return (
                f"the first call of the model must pass the prompt {[B, T]} and None, not {_said(calls[0])}",
                f"第一次调用模型应传入提示 {[B, T]} 和 None，而不是 {_said(calls[0])}",
            )
        for number, call in enumerate(calls[1:], 2):
            if call[0] != [B, 1] or call[1] == "NoneType":
                return (
                    f"call {number} of the model must pass one token {[B, 1]} and the cache, not {_said(call)}",
                    f"第 {number} 次调用模型应传入一个 token {[B, 1]} 和缓存，而不是 {_said(call)}",
                )
        if len(calls) > new + 1:
            return (
                f"{len(calls)} calls of the model for {new} new tokens",
                f"只生成 {new} 个新 token，却调用了 {len(calls)} 次模型",
            )
        return None

    return holds


def _said(call):
    return " and ".join("None" if part == "NoneType" else str(part) for part in call)


def call(make, table, ids, max_new, *args, **kwargs):
    """One generation with a model of its own, whose calls are judged."""
    model = make.callable(model_over(table))
    handle = make.call("generate", model, ids, max_new, *args, **kwargs)
    make.count(model, prefill_then_single_tokens(*ids.shape, handle.step))
    return handle


def apart(make, V):
    """Logits of which no two in a row are closer than 1."""
    order = torch.stack([torch.randperm(V, generator=make.random) for _ in range(_STATES)])
    return (order.double() - V / 2).float()


def tied(make, V):
    return make.integers(0, 3, _STATES, V).float()


def case(make):
    B, T, V, n = make.size(1, 4), make.size(1, 5), make.size(3, 7), make.size(0, 6)
    ids = make.integers(0, V, B, T)
    if make.profile == "meta":
        call(make, apart(make, V), ids, max(n, 1), temperature=0.0)
        return
    eos = make.pick([None, 0, 1, V - 1])
    kind = make.pick(["greedy", "greedy with ties", "nearly greedy", "the largest only"])
    if kind == "greedy":
        dtype = make.pick([torch.float32, torch.float64, torch.bfloat16, torch.float16])
        call(make, apart(make, V).to(dtype), ids, n, eos, make.pick([0.0, 0]), make.pick([None, 2, V]))
    elif kind == "greedy with ties":
        call(make, tied(make, V), ids, n, eos, temperature=0.0)
    elif kind == "nearly greedy":
        call(make, apart(make, V), ids, n, eos=eos, temperature=1e-6, generator=make.pick([None, make.generator()]))
    else:
        call(make, apart(make, V), ids, n, eos, make.pick([1.0, 0.3, 2.5]), top_k=1)


def edge_nothing_new(make):
    """max_new = 0: the prompt comes back, in memory of its own

    max_new = 0：返回提示，但有自己的内存
    """
    call(make, apart(make, 4), make.integers(0, 4, 2, 3), 0, None, 0.0)
    call(make, apart(make, 4), make.integers(0, 4, 2, 3), 0, 1)


def edge_one_token_prompt(make):
    """a prompt of one token, and forty new ones

    提示只有一个 token，生成四十个新 token
    """
    call(make, apart(make, 5), make.integers(0, 5, 3, 1), 40, temperature=0.0)


def ending(make, V, eos, prompts, late):
    """A table with which the row in state `late` speaks eos last, and most others at once."""
    table = apart(make, V)
    table[:, eos] = 9.0
    for state in late:
        table[state, eos] = -9.0
    return table, torch.tensor(prompts)


def edge_eos_at_once(make):
    """every row begins with eos: one new column

    每一行的第一个新 token 就是 eos：只多出一列
    """
    table, ids = ending(make, 4, 2, [[0, 1], [3, 3]], [])
    call(make, table, ids, 5, 2, 0.0)


def edge_one_row_finishes_early(make):
    """a row that is done stays at eos while the others go on; nobody waits for max_new

    已结束的行停在 eos，其余的行继续；不会一直等到 max_new
    """
    table, ids = ending(make, 5, 3, [[0, 1, 4], [1, 1, 2], [2, 0, 0]], [2, 5, 8, 7])
    call(make, table, ids, 7, 3, 0.0)
    table, ids = ending(make, 5, 3, [[0, 1, 4], [1, 1, 2], [2, 0, 0]], [1, 3, 4, 6, 9, 10])
    call(make, table, ids, 7, 3, 0.0)


def edge_eos_zero(make):
    """eos = 0 is an eos

    eos = 0 也是 eos
    """
    table, ids = ending(make, 4, 0, [[1, 2], [2, 3], [3, 1]], [0, 2, 4, 6, 7])
    call(make, table, ids, 6, 0, 0.0)


def edge_eos_in_the_prompt(make):
    """an eos in the prompt ends nothing, even as its last token

    提示里的 eos 不算结束，哪怕它是最后一个 token
    """
    table, ids = ending(make, 4, 2, [[2, 2], [0, 2], [2, 1]], range(_STATES))
    call(make, table, ids, 4, 2, 0.0)


def edge_equal_logits(make):
    """temperature 0 and all logits equal: the lowest id

    temperature 为 0，logits 全部相等：取最小的 id
    """
    call(make, torch.zeros(_STATES, 5), make.integers(0, 5, 2, 2), 3, None, 0.0)
    table = torch.tensor([[0.5, 2.0, -1.0, 2.0, 2.0]]).repeat(_STATES, 1)
    call(make, table, make.integers(0, 5, 2, 2), 3, None, 0)


def edge_close_logits(make):
    """float32 logits that differ in their last digits only: the largest is the largest

    float32 的 logits 只有末几位不同：最大的就是最大的
    """
    for step, temperature in ((2.0**-20, 0.0), (2.0**-12, 1e-6)):
        call(make, 1.0 + apart(make, 5) * step, make.integers(0, 5, 2, 2), 6, None, temperature)


def edge_temperature_almost_zero(make):
    """temperature 1e-6 is no division by zero

    temperature 为 1e-6：不能出现除零
    """
    call(make, apart(make, 6), make.integers(0, 6, 3, 2), 4, None, 1e-6)


def edge_float16_over_a_small_temperature(make):
    """float16 logits over 1e-6 overflow in float16, and nothing else does

    float16 的 logits 除以 1e-6：只有在 float16 里算才会溢出
    """
    for temperature in (1e-6, 1e-4):
        table = (8.0 * apart(make, 5)).half()
        call(make, table, make.integers(0, 5, 2, 2), 4, None, temperature, make.pick([None, 2]))


def edge_rows_of_different_height(make):
    """top_k = 1 where the logits of one row lie far above those of the others, and however hot it is

    top_k = 1，某一行的 logits 远高于其他行，温度再高也一样
    """
    table = 0.01 * apart(make, 4) + 10.0 * (torch.arange(_STATES) % 3)[:, None]
    for temperature in (1.0, 1e12):
        call(make, table, make.integers(0, 4, 4, 3), 8, None, temperature, 1)


def edge_temperature_zero_with_generator(make):
    """temperature 0 with a generator and top_k

    temperature 为 0，同时给了 generator 和 top_k
    """
    call(make, apart(make, 6), make.integers(0, 6, 2, 3), 4, None, 0.0, 3, make.generator())


def edge_same_global_state(make):
    """without a generator, equal states of torch's global one give equal tokens

    不传 generator 时，torch 全局生成器状态相同则 token 相同
    """
    table, ids, handles = tied(make, 6), make.integers(0, 6, 4, 2), []
    for _ in range(2):
        make.manual_seed(5)
        handles.append(call(make, table, ids, 8))
        make.compare(handles[-1], False)

    def holds(outcomes):
        if torch.equal(*(outcomes[handle.step] for handle in handles)):
            return None
        return (
            "torch's global generator in the same state gave different tokens: some randomness comes from elsewhere",
            "torch 全局生成器状态相同，给出的 token 却不同：有一部分随机数来自别处",
        )

    make.property(holds)


def edge_two_models(make):
    """two models in turns do not meet

    两个模型交替调用，互不影响
    """
    ids = make.integers(0, 4, 2, 3)
    for _ in range(2):
        call(make, apart(make, 4), ids, 3, None, 0.0)


def by_length(table):
    """A model whose logits depend on the position only: (positions, V). So the due frequencies are known."""

    def model(ids, cache):
        start = 0 if cache is None else cache["seen"]
        t = ids.shape[1]
        return table[start : start + t].expand(ids.shape[0], t, -1), {"seen": start + t}

    return model


def random(make):
    T, V, n = 2, make.size(4, 6), 2
    temperature = make.pick([1.0, 0.5, 2.0])
    top_k, other_k = make.pick([(2, 3), (3, None), (V - 1, 2)])
    row = torch.randperm(V, generator=make.random).double() * 0.4
    table = torch.stack([row.flip(0), *[row] * (T + n - 1)]).float()
    due, other_due = (torch.softmax(kept(row, k) / temperature, dim=-1) for k in (top_k, other_k))
    prompts = {count: make.integers(0, V, count, T) for count in (_ROWS, _SOME_ROWS, _FEW_ROWS)}
    seed = int(make.real(1, 2**31))
    shared = make.generator(seed)

    def sample(rows, *settings, table=table, **named):
        model = make.callable(by_length(table))
        handle = make.call("generate", model, prompts[rows], n, None, *settings, **named)
        make.compare(handle, False)
        make.count(model, prefill_then_single_tokens(rows, T, handle.step))
        return handle.step

    level = (row >= row.topk(2).values[-1]).double()  # two largest logits, equal: they share, however cold it is
    judged = [
        (sample(_ROWS, temperature, top_k, make.generator(seed + 1)), _ROWS, due),
        (sample(_ROWS, temperature, other_k), _ROWS, other_due),
        (sample(_SOME_ROWS, top_k=None), _SOME_ROWS, torch.softmax(row, dim=-1)),
        (sample(_SOME_ROWS, 1e-6, table=level.float().expand(T + n, V)), _SOME_ROWS, level / 2),
    ]
    first, second = (sample(_FEW_ROWS, temperature, top_k, shared) for _ in range(2))
    free, again = (sample(_FEW_ROWS, temperature, other_k) for _ in range(2))
    repeated = sample(_FEW_ROWS, temperature, top_k, make.generator(seed))

    def holds(outcomes):
        for step, rows, shares in judged:
            complaint = frequencies(outcomes[step], prompts[rows], shares, n)
            if complaint:
                return complaint
        if not torch.equal(outcomes[first], outcomes[repeated]):
            return (
                "two generators in the same state give different tokens",
                "两个状态相同的 generator 给出了不同的 token",
            )
        if torch.equal(outcomes[first], outcomes[second]):
            return (
                "a second call with the same generator repeats the tokens of the first: its state has not advanced",
                "用同一个 generator 再调用一次，token 与第一次一样：它的状态没有往前走",
            )
        if torch.equal(outcomes[free], outcomes[again]):
            return (
                "two calls without a generator give the same tokens",
                "两次不带 generator 的调用给出了相同的 token",
            )
        return None

    make.property(holds)


def kept(row, top_k):
    return row if top_k is None else row.masked_fill(row < row.topk(top_k).values[-1], -math.inf)


def frequencies(out, ids, due, n):
    """Whether the new tokens of many rows follow `due` at every step, and two steps each other."""
    T = ids.shape[1]
    if out.dtype != ids.dtype or list(out.shape) != [len(ids), T + n] or not torch.equal(out[:, :T], ids):
        return (
            f"the result must be the prompt {list(ids.shape)} and {n} new columns of int64",
            f"返回值应是提示 {list(ids.shape)} 再加 {n} 列新的 int64",
        )
    new = out[:, T:]
    if bool(((new < 0) | (new >= len(due))).any()):
        return (
            "a token outside the vocabulary",
            "出现了词表之外的 token",
        )
    for step in range(n):
        for token, p in enumerate(due.tolist()):
            share = float((new[:, step] == token).double().mean())
            if abs(share - p) > _SIGMAS * math.sqrt(p * (1 - p) / len(ids)) + (4 / len(ids) if p else 0):
                return (
                    f"token {token} is drawn in {share:.1%} of the rows where {p:.1%} are due",
                    f"{share:.1%} 的行抽到了 token {token}，应为 {p:.1%}",
                )
    p = float((due * due).sum())
    share = float((new[:, 0] == new[:, 1]).double().mean())
    if abs(share - p) > _SIGMAS * math.sqrt(p * (1 - p) / len(ids)) + 4 / len(ids):
        return (
            f"two steps of equal distribution draw the same token in {share:.1%} of the rows where {p:.1%} are due",
            f"两步的分布相同，抽到同一个 token 的行占 {share:.1%}，应为 {p:.1%}",
        )
    return None
