"""Averages the means of the chunks.
对各块的均值再取平均。

symptom: A ragged or mostly ignored chunk weighs as much as a full one.
症状：不满的块、大半被忽略的块，权重和满块一样。

cards: opt-16
rung: solved
"""

import torch
import torch.nn.functional as F


class Chunked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, target, chunk, ignore_index):
        with torch.enable_grad():
            xs = x.detach().to(torch.promote_types(x.dtype, torch.float32)).requires_grad_()
            ws = w.detach().to(xs.dtype).requires_grad_()
            dx, dw, total = torch.zeros_like(xs), torch.zeros_like(ws), torch.zeros((), dtype=xs.dtype, device=x.device)
            starts = range(0, len(x), chunk)
            for i in starts:
                t = target[i : i + chunk]
                if not bool((t != ignore_index).any()):
                    continue
                loss = F.cross_entropy(xs[i : i + chunk] @ ws.T, t, ignore_index=ignore_index) / len(starts)
                gx, gw = torch.autograd.grad(loss, (xs, ws))
                dx, dw, total = dx + gx, dw + gw, total + loss.detach()
        ctx.save_for_backward(dx.to(x.dtype), dw.to(w.dtype))
        return total.to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        dx, dw = ctx.saved_tensors
        return dx * g, dw * g, None, None, None


def linear_cross_entropy(x, w, target, chunk=1024, ignore_index=-100):
    return Chunked.apply(x, w, target, chunk, ignore_index)
