"""The formula as it stands, with I − β k kᵀ, by einsum."""

import torch


def delta_rule(q, k, v, beta, S0=None):
    up = torch.float64 if q.dtype == torch.float64 else torch.float32
    eye = torch.eye(k.shape[-1], dtype=up, device=k.device)
    state = S0.to(up) if S0 is not None else torch.zeros(*v.shape[:2], v.shape[-1], k.shape[-1], dtype=up, device=k.device)
    ys = []
    for qt, kt, vt, bt in zip(*(x.to(up).unbind(2) for x in (q, k, v, beta))):
        keep = eye - bt[..., None, None] * torch.einsum("bhi,bhj->bhij", kt, kt)
        write = torch.einsum("bh,bhv,bhk->bhvk", bt, vt, kt)
        state = torch.einsum("bhvi,bhij->bhvj", state, keep) + write
        ys.append(torch.einsum("bhvk,bhk->bhv", state, qt))
    return torch.stack(ys, dim=2).to(q.dtype), state.to(q.dtype)
