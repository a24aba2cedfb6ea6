"""A model that is a small function of its tokens and its cache: greedy answers are exact, samples are counted."""

from __future__ import annotations

import math

import torch

AXES = {"ids": "B T", "return": "B T+n"}
SIZES = {"B": (1, 4), "T": (1, 5), "V": (3, 7), "n": (0, 6, 40)}
GRADIENTS = False
HARDENED = {"edge_temperature_almost_zero"}

_STATES = 11  # what the model remembers of the past: a number below this


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
        for number, given in enumerate(calls, 1):
            width, cache, zh = (1, "the cache", "缓存") if number > 1 else (T, "None", " None")
            if given[0] != [B, width] or (given[1] == "NoneType") is (number > 1):
                return (
                    f"model call {number} must pass tokens {[B, width]} and {cache}, not {given}",
                    f"第 {number} 次调用模型应传入 token {[B, width]} 和{zh}，而不是 {given}",
                )
        if len(calls) > new + 1 or (new and not calls):
            return f"{len(calls)} model calls for {new} new tokens", f"{new} 个新 token 却调用了 {len(calls)} 次模型"
        return None

    return holds


def call(make, table, ids, max_new, *args, model=model_over, **kwargs):
    """Generate with a new model and judge its calls."""
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
    dtype = make.pick([torch.float32, torch.float64, torch.bfloat16, torch.float16])
    kind = make.pick(["greedy", "the largest only", "nearly greedy", "greedy with ties"])
    generator = make.pick([None, make.generator()])
    if make.profile == "meta" or kind == "greedy":
        call(make, apart(make, V).to(dtype), ids, n, eos, make.pick([0.0, 0]), make.pick([None, 2, V]))
    elif kind == "greedy with ties":
        call(make, make.integers(0, 3, _STATES, V).float(), ids, n, eos, temperature=0.0, generator=generator)
    elif kind == "nearly greedy":
        call(make, apart(make, V), ids, n, eos, 1e-6, generator=generator)
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
    """A model whose logits depend on the position only: (positions, V). So the expected frequencies are known."""

    def model(ids, cache):
        start = 0 if cache is None else cache["seen"]
        t = ids.shape[1]
        return table[start : start + t].expand(ids.shape[0], t, -1), {"seen": start + t}

    return model


def random(make):
    T, V, n, temperature = 2, make.size(4, 6), 2, make.pick([1.0, 0.5, 2.0])
    top_k, other_k = make.pick([(2, 3), (3, None), (V - 1, 2)])
    row = torch.randperm(V, generator=make.random).double() * 0.4
    level = (row >= row.topk(2).values[-1]).double()  # two largest logits, equal: they share, however cold it is
    prompts = {count: make.integers(0, V, count, T) for count in (1000, 500, 40)}  # sound solutions may loop over rows

    def sample(rows, logits, *settings):
        table = torch.stack([logits.flip(0), *[logits] * (T + n - 1)]).float()
        return call(make, table, prompts[rows], n, None, *settings, model=by_length)

    for rows, logits, t, k, generator in (
        (1000, row, temperature, top_k, make.generator()),
        (1000, row, temperature, other_k, None),
        (500, row, 1.0, None, None),
        (500, level, 1e-6, None, None),
    ):
        cut = logits.masked_fill(logits < logits.topk(k or V).values[-1], -math.inf)

        def holds(out, rows=rows, due=(torch.softmax(cut / t, -1).tolist(),) * n):
            yield make.one_of(out[:, :T], prompts[rows])
            yield make.frequencies(out[:, T:], due, "first token", "second token")

        make.judge(holds, sample(rows, logits, t, k, generator))
    for promise in (make.repeats, make.moves_on):
        promise(lambda generator: sample(40, row, temperature, top_k, generator))
