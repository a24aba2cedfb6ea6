"""The unit triangular inverse as a product of powers; chunks padded to one size and prepared together."""

import torch
import torch.nn.functional as F


def gated_delta_rule(q, k, v, beta, log_decay, S0=None, chunk=64):
    (B, H, T, d), dv = q.shape, v.shape[-1]
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    C = min(chunk, T)
    N = -(-T // C)
    g = log_decay if log_decay.dim() == 4 else log_decay[..., None].expand(B, H, T, d)

    def cut(x):
        x = x.to(wide)
        return F.pad(x, (0, 0, 0, N * C - T)).view(B, H, N, C, x.shape[-1])

    Q, K, V, b, G = cut(q), cut(k), cut(v), cut(beta[..., None]), cut(g).cumsum(3)
    upper = torch.ones(C, C, device=q.device, dtype=torch.bool).triu(1)
    gap = (G[:, :, :, :, None] - G[:, :, :, None]).masked_fill(upper[..., None], -torch.inf).exp()
    kk = torch.einsum("bhnid,bhnjd,bhnijd->bhnij", K, K, gap)
    qk = torch.einsum("bhnid,bhnjd,bhnijd->bhnij", Q, K, gap)
    power = -(b * kk).tril(-1)
    inverse = torch.eye(C, dtype=wide, device=q.device) + power
    for _ in range(max(C - 1, 1).bit_length()):
        power = power @ power
        inverse = inverse + inverse @ power
    W, Y = inverse @ (b * K * G.exp()), inverse @ (b * V)
    S = torch.zeros(B, H, d, dv, dtype=wide, device=q.device) if S0 is None else S0.to(wide)
    out = []
    for n in range(N):
        U = Y[:, :, n] - W[:, :, n] @ S
        out.append((Q[:, :, n] * G[:, :, n].exp()) @ S + qk[:, :, n] @ U)
        last = G[:, :, n, -1:]
        S = last.exp().mT * S + (K[:, :, n] * (last - G[:, :, n]).exp()).mT @ U
    return torch.cat(out, 2)[:, :, :T].to(q.dtype), S
