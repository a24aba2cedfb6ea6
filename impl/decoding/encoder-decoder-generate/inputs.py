"""A model that is a small function of all that it may see, and a small Transformer; calls and answers are both judged."""

from __future__ import annotations

import torch

AXES = {"src": "B S", "src_mask": "B S", "return": "B L"}
SIZES = {"B": (1, 4), "S": (1, 5, 40), "V": (4, 8), "n": (0, 6, 40)}
GRADIENTS = False

_STATES = 11  # what the toy decoder remembers: a number below this


def visible(src_mask, src):
    return torch.ones_like(src, dtype=torch.bool) if src_mask is None else src_mask


def check_ids(ids, V):
    if ids.is_floating_point() or ids.dim() != 2:
        raise TypeError(f"ids must be (B, t) integers, not {ids.dtype} of shape {list(ids.shape)}")
    if ids.device.type == "cpu" and bool(((ids < 0) | (ids >= V)).any()):
        raise ValueError(f"a token id outside 0 … {V - 1}")


def toy(table, eos, pad):
    """Logits by a state that all tokens, the memory and both masks change; `table` is (_STATES, V)."""

    def encoder(src, src_mask):
        each = (3 * src + torch.arange(1, src.shape[1] + 1, device=src.device)) % _STATES
        return {"each": each, "all": (each * visible(src_mask, src)).sum(1)}

    def decoder(ids, memory, src_mask, cache):
        check_ids(ids, table.shape[1])
        if cache is None:
            state = memory["all"] + 2 * (memory["each"] * visible(src_mask, memory["each"])).sum(1)
            ended = torch.zeros_like(state, dtype=torch.bool)
        else:
            state, ended = cache["state"], cache["ended"]
            if ids.device.type == "cpu" and bool((ended & (ids[:, 0] != pad)).any()):
                raise ValueError("a finished row was not fed pad")
            ended = ended | (ids[:, 0] == eos)
        for column in ids.unbind(1):
            state = (3 * state + column + 1) % _STATES
        return table.to(ids.device)[state][:, None], {"state": state, "ended": ended}

    return encoder, decoder


def transformer(make, V, d=8):
    """One layer on each side with random weights, positions and a cache of what was read."""
    w = [torch.randn(*s, generator=make.random) for s in [(V, d), (64, d), *[(d, d)] * 9, (d, V)]]

    def attend(x, past, seen, wq, wk, wv):
        scores = (x @ wq) @ (past @ wk).mT / d**0.5
        return x + scores.masked_fill(~seen[:, None], -torch.inf).softmax(-1) @ (past @ wv)

    def encoder(src, src_mask):
        x = w[0][src] + w[1][: src.shape[1]]
        return attend(x, x, visible(src_mask, src), *w[2:5])

    def decoder(ids, memory, src_mask, cache):
        check_ids(ids, V)
        start = 0 if cache is None else cache.shape[1]
        x = w[0][ids] + w[1][start : start + ids.shape[1]]
        past = x if cache is None else torch.cat([cache, x], dim=1)
        y = attend(x, past, visible(None, past[..., 0]), *w[5:8])
        return attend(y, memory, visible(src_mask, memory[..., 0]), *w[8:11]) @ w[11], past

    return encoder, decoder


def once_then_single_tokens(shape, step, decoding):
    """The encoder is called once, the decoder once for each token of the result, with one new token a row."""
    who, zh = ("decoder", "解码器") if decoding else ("encoder", "编码器")

    def holds(calls, outcomes):
        L = outcomes[step].shape[1]
        if len(calls) != L if decoding else len(calls) > 1 or (L and not calls):
            return f"{len(calls)} {who} calls for {L} tokens", f"生成 {L} 个 token，却调用了 {len(calls)} 次{zh}"
        for number, given in enumerate(calls, 1):
            if given[0] != shape or (decoding and (given[3] == "NoneType") is (number > 1)):
                due = f"tokens {shape}" + (
                    f" and {'the last cache' if number > 1 else 'cache None'}" if decoding else ""
                )
                return (
                    f"call {number} of the {who} must get {due}, not {given}",
                    f"第 {number} 次调用{zh}应传入 {due}，而不是 {given}",
                )
        return None

    return holds


def call(make, model, src, tokens, n, mask=None):
    """One translation, whose calls are judged; `tokens` are bos, eos and pad."""
    encoder, decoder = (make.callable(part) for part in model)
    handle = make.call("greedy_translate", src, encoder, decoder, *tokens, n, src_mask=mask)
    make.count(encoder, once_then_single_tokens([*src.shape], handle.step, False))
    make.count(decoder, once_then_single_tokens([len(src), 1], handle.step, True))


def case(make):
    B, S, V, n = make.sizes("B", "S", "V", "n")
    src, tokens = make.integers(0, V, B, S), make.pick([(0, 1, 2), (1, 2, 0), (3, 0, 3), (2, 2, 1), (0, 1, 1)])
    padded = torch.arange(S) < make.integers(1, S + 1, B, 1)
    mask = make.pick([padded, None, padded.flip(1)])
    kind = make.pick(["toy", "ties", "sixteen bits", "transformer"])
    if kind == "transformer" and make.profile != "meta":
        return call(make, transformer(make, V), src, tokens, n, mask)
    table = torch.randn(_STATES, V, generator=make.random)
    table = table.round() if kind == "ties" else table.bfloat16() if kind == "sixteen bits" else table
    return call(make, toy(table, *tokens[1:]), src, tokens, n, mask)


def edge_rows_that_end(make):
    """rows that end with their first token, early, late and never; pad is a word that the model may say

    有的行第一个 token 就结束，有的早，有的晚，有的一直不结束；pad 也是模型可能说出的词
    """
    src = torch.tensor([[1, 2, 3], [3, 0, 1], [0, 0, 2], [2, 3, 3]])
    for eos, pad, late in (
        (1, 2, []),
        (1, 2, [0, 2, 5, 6]),
        (1, 2, [1, 3, 4, 7, 9, 10]),
        (0, 3, [0, 2, 4, 6, 8]),
        (1, 2, range(_STATES)),
    ):
        table = torch.randn(_STATES, 4, generator=make.random)
        table[:, eos], table[list(late), eos], table[list(late), pad] = 9.0, -9.0, 8.0
        for n in (7, 2, 0):
            call(make, toy(table, eos, pad), src, (3, eos, pad), n)
