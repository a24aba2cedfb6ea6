"""A model that is a small function of its tokens and its cache: greedy answers are exact, samples are counted."""

from __future__ import annotations

import math

import torch

AXES = {"ids": "B T", "return": "B T+n"}
SIZES = {"B": (1, 4), "T": (1, 5), "V": (3, 7), "n": (0, 6, 40)}
GRADIENTS = False
HARDENED = {"edge_temperature_almost_zero"}

_STATES = 11  # what the model remembers of the past: a number below this
_ROWS, _SOME_ROWS, _FEW_ROWS, _SIGMAS = 1000, 500, 40, 5.5  # sound solutions may loop over rows


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
        for number, call in enumerate(calls, 1):
            given = " and ".join("None" if part == "NoneType" else str(part) for part in call)
            due, zh = f"the prompt {[B, T]} and None", f"提示 {[B, T]} 和 None"
            fits = call == [[B, T], "NoneType"]
            if number > 1:
                due, zh = f"one token {[B, 1]} and the cache", f"一个 token {[B, 1]} 和缓存"
                fits = call[0] == [B, 1] and call[1] != "NoneType"
            if not fits:
                return (
                    f"model call {number} must pass {due}, not {given}",
                    f"第 {number} 次调用模型应传入{zh}，而不是 {given}",
                )
        if len(calls) > new + 1:
            return f"{len(calls)} model calls for {new} new tokens", f"{new} 个新 token 却调用了 {len(calls)} 次模型"
        return None

    return holds


def call(make, table, ids, max_new, *args, model=model_over, **kwargs):
    """One generation with a model of its own, whose calls are judged."""
    judged = make.callable(model(table))
    handle = make.call("generate", judged, ids, max_new, *args, **kwargs)
    make.count(judged, prefill_then_single_tokens(*ids.shape, handle.step))
    return handle


def apart(make, V):
    """Logits of which no two in a row are closer than 1."""
    order = torch.stack([torch.randperm(V, generator=make.random) for _ in range(_STATES)])
    return (order.double() - V / 2).float()


def case(make):
    B, T, V, n = make.sizes("B", "T", "V", "n")
    ids, eos = make.integers(0, V, B, T), make.pick([None, 0, 1, V - 1])
    kind = make.pick(["greedy", "the largest only", "nearly greedy", "greedy with ties"])
    if make.profile == "meta" or kind == "greedy":
        dtype = make.pick([torch.float32, torch.float64, torch.bfloat16, torch.float16])
        call(make, apart(make, V).to(dtype), ids, n, eos, make.pick([0.0, 0]), make.pick([None, 2, V]))
    elif kind == "greedy with ties":
        call(
            make,
            make.integers(0, 3, _STATES, V).float(),
            ids,
            n,
            eos,
            temperature=0.0,
            generator=make.pick([None, make.generator()]),
        )
    elif kind == "nearly greedy":
        call(make, apart(make, V), ids, n, eos, 1e-6, generator=make.pick([None, make.generator()]))
    else:
        call(make, apart(make, V), ids, n, eos, make.pick([1.0, 0.3, 2.5]), top_k=1)


def edge_eos(make):
    """rows that end at once, early, or never; eos = 0; an eos in the prompt ends nothing, even as its last token

    有的行一开始就结束，有的早结束，有的一直不结束；eos = 0；提示里的 eos 不算结束，哪怕是最后一个 token
    """
    for V, eos, new, prompts, late in (
        (4, 2, 5, [[0, 1], [3, 3]], []),
        (5, 3, 7, [[0, 1, 4], [1, 1, 2], [2, 0, 0]], [2, 5, 8, 7]),
        (5, 3, 7, [[0, 1, 4], [1, 1, 2], [2, 0, 0]], [1, 3, 4, 6, 9, 10]),
        (4, 0, 6, [[1, 2], [2, 3], [3, 1]], [0, 2, 4, 6, 7]),
        (4, 2, 4, [[2, 2], [0, 2], [2, 1]], range(_STATES)),
    ):
        table = apart(make, V)
        table[:, eos] = 9.0  # spoken at once, but in the states `late`
        table[list(late), eos] = -9.0
        call(make, table, torch.tensor(prompts), new, eos, 0.0)


def edge_equal_or_close_logits(make):
    """the lowest id of equal logits, the largest of close ones; one row far above the others under top_k = 1

    logits 相等取最小的 id，只差末几位也取最大的那个；top_k = 1 时某一行远高于其他行
    """
    ids = make.integers(0, 5, 2, 2)
    table = 0.01 * apart(make, 5) + 10.0 * (torch.arange(_STATES) % 3)[:, None]
    for temperature in (1.0, 1e12):
        call(make, table, ids.repeat(2, 1), 8, None, temperature, 1)
    call(make, torch.tensor([[2.0, -1.0, 2.0, 2.0, 0.5]]).repeat(_STATES, 1), ids, 3, None, 0)
    for step, temperature in ((2.0**-20, 0.0), (2.0**-12, 1e-6)):
        call(make, 1.0 + apart(make, 5) * step, ids, 6, None, temperature)


def edge_temperature_almost_zero(make):
    """temperature 1e-6 is no division by zero; float16 logits overflow there in float16, and nothing else does

    temperature 为 1e-6：不能出现除零；float16 的 logits 只有在 float16 里算才会溢出
    """
    ids, table = make.integers(0, 5, 2, 2), 8.0 * apart(make, 5)
    for temperature, top_k in ((1e-6, None), (1e-4, 2)):
        for logits in (table, table.half()):
            call(make, logits, ids, 4, None, temperature, top_k)


def by_length(table):
    """A model whose logits depend on the position only: (positions, V). So the due frequencies are known."""

    def model(ids, cache):
        start = 0 if cache is None else cache["seen"]
        t = ids.shape[1]
        return table[start : start + t].expand(ids.shape[0], t, -1), {"seen": start + t}

    return model


def random(make):
    T, V, n, temperature = 2, make.size(4, 6), 2, make.pick([1.0, 0.5, 2.0])
    top_k, other_k = make.pick([(2, 3), (3, None), (V - 1, 2)])
    row = torch.randperm(V, generator=make.random).double() * 0.4
    table = torch.stack([row.flip(0), *[row] * (T + n - 1)]).float()
    due, other_due = (
        torch.softmax(row.masked_fill(row < row.topk(k or V).values[-1], -math.inf) / temperature, -1)
        for k in (top_k, other_k)
    )
    prompts = {count: make.integers(0, V, count, T) for count in (_ROWS, _SOME_ROWS, _FEW_ROWS)}
    seed = int(make.real(1, 2**31))

    def sample(rows, *settings, table=table, **named):
        handle = call(make, table, prompts[rows], n, None, *settings, model=by_length, **named)
        make.compare(handle, False)
        return handle.step

    level = (row >= row.topk(2).values[-1]).double()  # two largest logits, equal: they share, however cold it is
    judged = [
        (sample(_ROWS, temperature, top_k, make.generator(seed + 1)), _ROWS, due),
        (sample(_ROWS, temperature, other_k), _ROWS, other_due),
        (sample(_SOME_ROWS, top_k=None), _SOME_ROWS, torch.softmax(row, dim=-1)),
        (sample(_SOME_ROWS, 1e-6, table=level.float().expand(T + n, V)), _SOME_ROWS, level / 2),
    ]
    first, second = (sample(_FEW_ROWS, temperature, top_k, g) for g in [make.generator(seed)] * 2)
    free, again = (sample(_FEW_ROWS, temperature, other_k) for _ in range(2))
    repeated = sample(_FEW_ROWS, temperature, top_k, make.generator(seed))
    make.manual_seed(seed)
    before = sample(_FEW_ROWS)
    make.manual_seed(seed)
    after = sample(_FEW_ROWS)
    equal = (
        "equal states, other tokens: some randomness comes from elsewhere",
        "状态相同，token 却不同：有随机数来自别处",
    )
    moved = (
        "a second call repeats the tokens of the first: no state moved on",
        "再调用一次 token 还一样：状态没有往前走",
    )
    pairs = [(first, repeated, True), (before, after, True), (first, second, False), (free, again, False)]

    def holds(outcomes):
        for step, rows, shares in judged:
            if found := frequencies(outcomes[step], prompts[rows], shares, n):
                return found
        wrong = (due for a, b, due in pairs if torch.equal(outcomes[a], outcomes[b]) is not due)
        return next((equal if due else moved for due in wrong), None)

    make.property(holds)


def frequencies(out, ids, due, n):
    """Whether the new tokens of many rows follow `due` at every step, and two steps each other."""
    T, rows = ids.shape[1], len(ids)
    new = out[:, T:]
    if out.dtype != ids.dtype or list(new.shape) != [rows, n] or not torch.equal(out[:, :T], ids):
        return f"the result must be the prompt and {n} new columns of int64", f"返回值应是提示再加 {n} 列新的 int64"
    if bool(((new < 0) | (new >= len(due))).any()):
        return "a token outside the vocabulary", "出现了词表之外的 token"
    judged = [
        (p, new[:, k] == token, *[f"token {token}"] * 2) for k in range(n) for token, p in enumerate(due.tolist())
    ]
    judged.append((float((due * due).sum()), new[:, 0] == new[:, 1], "equal tokens at two steps", "两步相同的 token"))
    for p, drawn, en, zh in judged:
        share = float(drawn.double().mean())
        if abs(share - p) > _SIGMAS * math.sqrt(p * (1 - p) / rows) + (4 / rows if p else 0):
            return f"{en}: in {share:.1%} of the rows where {p:.1%} are due", f"{zh} 占 {share:.1%}，应为 {p:.1%}"
    return None
