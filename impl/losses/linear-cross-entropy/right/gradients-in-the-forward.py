"""Both gradients are computed in the forward pass and scaled later."""

import torch
import torch.nn.functional as F


class Fused(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, target, chunk, ignore_index):
        up = torch.float64 if x.dtype == torch.float64 else torch.float32
        count = max(1, int((target != ignore_index).sum())) if x.device.type != "meta" else 1
        weight, grad_x, grad_w, loss = w.to(up), [], torch.zeros_like(w, dtype=up), 0.0
        for part, t in zip(x.split(chunk), target.split(chunk)):
            ignored, part = (t == ignore_index)[:, None], part.to(up)
            logp = F.log_softmax(part @ weight.mT, dim=-1)
            hot = F.one_hot(t.masked_fill(ignored[:, 0], 0), w.shape[0]).to(up)
            loss = loss - torch.where(ignored, 0.0, logp * hot).sum()
            slope = torch.where(ignored, 0.0, logp.exp() - hot) / count
            grad_x.append(slope @ weight)
            grad_w.addmm_(slope.T, part)
        ctx.save_for_backward(torch.cat(grad_x), grad_w)
        ctx.dtypes = x.dtype, w.dtype
        return (loss / count).to(x.dtype)

    @staticmethod
    def backward(ctx, upstream):
        found = zip(ctx.saved_tensors, ctx.dtypes)
        return *((upstream.to(grad.dtype) * grad).to(dtype) for grad, dtype in found), None, None, None


def linear_cross_entropy(x, w, target, chunk=1024, ignore_index=-100):
    return Fused.apply(x, w, target, chunk, ignore_index)
