"""Ignores the gradient from above.
没有乘上游梯度。

symptom: Loss scaling and weights of several losses have no effect.
症状：loss scaling、多项损失的权重都不起作用。

cards: prec-03
rung: solved
"""

import torch


class Chunked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, target, chunk, ignore_index):
        wide = torch.promote_types(x.dtype, torch.float32)
        keep = target != ignore_index
        n = keep.sum().clamp(min=1)
        total = torch.zeros((), dtype=wide, device=x.device)
        for i in range(0, len(x), chunk):
            k = keep[i : i + chunk]
            logits = x[i : i + chunk].to(wide) @ w.to(wide).T
            t = target[i : i + chunk].masked_fill(~k, 0)[:, None]
            each = logits.logsumexp(-1) - logits.gather(1, t)[:, 0]
            total = total + (each * k).sum()
        ctx.save_for_backward(x, w, target, keep, n)
        ctx.chunk = chunk
        return (total / n).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        x, w, target, keep, n = ctx.saved_tensors
        chunk, wide = ctx.chunk, torch.promote_types(x.dtype, torch.float32)
        dx, dw = torch.zeros_like(x, dtype=wide), torch.zeros_like(w, dtype=wide)
        for i in range(0, len(x), chunk):
            k = keep[i : i + chunk]
            xs, ws = x[i : i + chunk].to(wide), w.to(wide)
            t = target[i : i + chunk].masked_fill(~k, 0)[:, None]
            slope = (xs @ ws.T).softmax(-1)
            slope.scatter_add_(1, t, torch.full_like(slope[:, :1], -1.0))
            slope = slope * k[:, None] * (1.0 / n)
            dx[i : i + chunk] = slope @ ws
            dw += slope.T @ xs
        return dx.to(x.dtype), dw.to(w.dtype), None, None, None


def linear_cross_entropy(x, w, target, chunk=1024, ignore_index=-100):
    return Chunked.apply(x, w, target, chunk, ignore_index)
