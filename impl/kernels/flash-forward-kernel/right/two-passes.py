"""Two walks over the keys: the first finds the lse, the second adds up values by exp(s − lse), with nothing to rescale."""

import torch
import triton
import triton.language as tl


@triton.jit
def scores_of(q, k_ptr, head, left, rows, T, S, d, CAUSAL: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr):
    keys, cols = left + tl.arange(0, BN), tl.arange(0, BD)
    at = (head * S + keys[None, :]) * d + cols[:, None]
    k = tl.load(k_ptr + at, mask=(keys[None, :] < S) & (cols[:, None] < d), other=0.0).to(tl.float32)
    limit = tl.where(CAUSAL, rows + (S - T), S - 1)
    seen = (keys[None, :] < S) & (keys[None, :] <= limit[:, None])
    return tl.where(seen, tl.dot(q, k), float("-inf"))


@triton.jit
def attend(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, T, S, d, scale,
    CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):
    head = tl.program_id(0)
    for top in range(tl.program_id(1) * BM, T, tl.num_programs(1) * BM):
        rows, cols = top + tl.arange(0, BM), tl.arange(0, BD)
        at = (head * T + rows[:, None]) * d + cols[None, :]
        inside = (rows[:, None] < T) & (cols[None, :] < d)
        q = tl.load(q_ptr + at, mask=inside, other=0.0).to(tl.float32) * scale
        end = tl.minimum(S, top + BM + S - T) if CAUSAL else S
        lse = tl.full([BM], float("-inf"), tl.float32)
        for left in range(0, end, BN):
            s = scores_of(q, k_ptr, head, left, rows, T, S, d, CAUSAL, BN, BD)
            top_score = tl.maximum(lse, tl.max(s, 1))
            shift = tl.where(top_score == float("-inf"), 0.0, top_score)
            total = tl.exp(lse - shift) + tl.sum(tl.exp(s - shift[:, None]), 1)
            lse = tl.where(total > 0, shift + tl.log(tl.where(total > 0, total, 1.0)), float("-inf"))
        shift = tl.where(lse == float("-inf"), 0.0, lse)
        out = tl.zeros([BM, BD], tl.float32)
        for left in range(0, end, BN):
            p = tl.exp(scores_of(q, k_ptr, head, left, rows, T, S, d, CAUSAL, BN, BD) - shift[:, None])
            keys = left + tl.arange(0, BN)
            place = (head * S + keys[:, None]) * d + cols[None, :]
            v = tl.load(v_ptr + place, mask=(keys[:, None] < S) & (cols[None, :] < d), other=0.0).to(tl.float32)
            out += tl.dot(p, v)
        tl.store(out_ptr + at, out.to(out_ptr.dtype.element_ty), mask=inside)
        tl.store(lse_ptr + head * T + rows, lse, mask=rows < T)


def flash_forward(q, k, v, causal=False):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    B, H, T, d = q.shape
    out = torch.empty(B, H, T, d, dtype=q.dtype, device=q.device)
    lse = torch.empty(B, H, T, dtype=torch.float32, device=q.device)
    BD = max(16, triton.next_power_of_2(d))
    attend[(B * H, 2)](q, k, v, out, lse, T, k.shape[2], d, d**-0.5, CAUSAL=causal, BM=64, BN=32, BD=BD)
    return out, lse
