"""Logit and expert in one 64-bit key, so that one maximum a round settles value, place and ties; a fixed number of programs."""

import torch
import triton
import triton.language as tl


@triton.jit
def route(x_ptr, weights_ptr, indices_ptr, T, E, k, BT: tl.constexpr, BE: tl.constexpr):
    for start in range(tl.program_id(0) * BT, T, tl.num_programs(0) * BT):
        t, e = start + tl.arange(0, BT), tl.arange(0, BE)
        inside = (t[:, None] < T) & (e[None, :] < E)
        x = tl.load(x_ptr + t[:, None] * E + e[None, :], mask=inside, other=0.0).to(tl.float32) + 0.0
        bits = x.to(tl.int32, bitcast=True)
        ordered = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(tl.int64)  # floats in the order of integers
        lowest = -9223372036854775807
        keys = tl.where(inside, ordered * 4294967296 + (BE - 1 - e)[None, :], lowest)
        total = tl.zeros([BT], tl.float32)
        top = tl.zeros([BT], tl.float32)
        for turn in range(2 * k):
            if turn == k:
                keys = tl.where(inside, ordered * 4294967296 + (BE - 1 - e)[None, :], lowest)
            best = tl.max(keys, 1)
            keys = tl.where(keys == best[:, None], lowest, keys)
            number = (best >> 32).to(tl.int32)
            value = tl.where(number < 0, number ^ 0x7FFFFFFF, number).to(tl.float32, bitcast=True)
            value = tl.where(t < T, value, 0.0)
            top = tl.where(turn == 0, value, top)
            p = tl.exp(value - top)
            if turn < k:
                total += p
                expert = BE - 1 - (best & 0xFFFFFFFF)
                tl.store(indices_ptr + t * k + turn, expert, mask=t < T)
            else:
                tl.store(weights_ptr + t * k + turn - k, p / total, mask=t < T)


def topk_router(logits, k):
    logits = logits.contiguous()
    T, E = logits.shape
    weights = torch.empty(T, k, dtype=torch.float32, device=logits.device)
    indices = torch.empty(T, k, dtype=torch.int64, device=logits.device)
    route[(3,)](logits, weights, indices, T, E, k, BT=8, BE=triton.next_power_of_2(E))
    return weights, indices
