"""An autograd function; backward recomputes tiles."""

import math
import torch
from torch import Tensor


def _tiles(T: int, S: int, bq: int, bk: int, causal: bool):
    """(query slice, key slice, needs a mask) of every tile in which something is visible."""
    for i in range(0, T, bq):
        ie = min(i + bq, T)
        for j in range(0, S, bk):
            je = min(j + bk, S)
            if not causal:
                yield slice(i, ie), slice(j, je), False
            elif j <= ie - 1 + S - T:
                yield slice(i, ie), slice(j, je), je - 1 > i + S - T


def _scores(q: Tensor, k: Tensor, rows: slice, cols: slice, masked: bool, shift: int) -> Tensor:
    s = torch.einsum("bhid,bhjd->bhij", q[:, :, rows], k[:, :, cols]) * q.shape[-1] ** -0.5
    if masked:
        i = torch.arange(rows.start, rows.stop, device=q.device)[:, None] + shift
        j = torch.arange(cols.start, cols.stop, device=q.device)[None, :]
        s = torch.where(j > i, torch.full_like(s, -torch.inf), s)
    return s


class _Flash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, bq, bk, causal):
        T, S = q.shape[2], k.shape[2]
        m = q.new_full(q.shape[:3], -torch.inf)
        l = q.new_zeros(q.shape[:3])
        o = q.new_zeros(*q.shape[:3], v.shape[3])
        for rows, cols, masked in _tiles(T, S, bq, bk, causal):
            s = _scores(q, k, rows, cols, masked, S - T)
            new = torch.maximum(m[:, :, rows], s.amax(-1))
            ref = new.masked_fill(new == -torch.inf, 0.0)
            p = torch.exp(s - ref[..., None])
            w = torch.exp(m[:, :, rows] - ref)
            l[:, :, rows] = l[:, :, rows] * w + p.sum(-1)
            o[:, :, rows] = o[:, :, rows] * w[..., None] + torch.einsum("bhij,bhjd->bhid", p, v[:, :, cols])
            m[:, :, rows] = new
        o = o / l.masked_fill(l == 0, 1.0)[..., None]
        lse = m + torch.log(l.masked_fill(l == 0, 1.0))
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.setting = (bq, bk, causal)
        return o, lse

    @staticmethod
    def backward(ctx, do, dlse):
        q, k, v, o, lse = ctx.saved_tensors
        bq, bk, causal = ctx.setting
        T, S = q.shape[2], k.shape[2]
        dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        delta = (do * o).sum(-1) - dlse
        scale = q.shape[-1] ** -0.5
        ref = lse.masked_fill(lse == -torch.inf, 0.0)
        for rows, cols, masked in _tiles(T, S, bq, bk, causal):
            p = torch.exp(_scores(q, k, rows, cols, masked, S - T) - ref[:, :, rows, None])
            g = do[:, :, rows]
            dv[:, :, cols] += torch.einsum("bhij,bhid->bhjd", p, g)
            ds = p * (torch.einsum("bhid,bhjd->bhij", g, v[:, :, cols]) - delta[:, :, rows, None]) * scale
            dq[:, :, rows] += torch.einsum("bhij,bhjd->bhid", ds, k[:, :, cols])
            dk[:, :, cols] += torch.einsum("bhij,bhid->bhjd", ds, q[:, :, rows])
        return dq, dk, dv, None, None, None


def flash_attention(
    q: Tensor, k: Tensor, v: Tensor, block_q: int = 64, block_k: int = 64, causal: bool = False
) -> tuple[Tensor, Tensor]:
    wide = q.dtype if q.dtype == torch.float64 else torch.float32
    plain = (t.to(wide).contiguous() for t in (q, k, v))
    out, lse = _Flash.apply(*plain, block_q, block_k, causal)
    return out.to(q.dtype), lse
