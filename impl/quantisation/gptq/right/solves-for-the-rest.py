"""Solves for the best remaining columns after each rounding, from the original weights; static scales."""

import torch


def gptq(W, X, bits, group, damp=0.01):
    w, x = W.detach().double(), X.detach().double()
    gram = x.mT @ x
    H = gram + torch.diag(torch.full((len(gram),), damp, dtype=w.dtype, device=w.device)) * gram.diagonal().mean()
    top = 2 ** (bits - 1) - 1
    scales = (w.unflatten(1, (-1, group)).abs().amax(-1) / top).repeat_interleave(group, dim=1)
    scales = scales.masked_fill(scales == 0, 1.0)
    shift = torch.empty(len(w), 0, dtype=w.dtype, device=w.device)
    for j in range(w.shape[1]):
        now = w[:, j]
        if j:
            now = now - torch.linalg.solve(H[j:, j:], H[j:, :j] @ shift.T)[0]
        q = torch.clamp(torch.round(now / scales[:, j]), -top, top) * scales[:, j]
        shift = torch.cat([shift, (q - w[:, j])[:, None]], dim=1)
    return (w + shift).to(W.dtype)
