"""One gather of each query's keys, −inf for absent and repeated ones."""
import torch


def sliding_window_attention(q, k, v, window, n_sink=0, causal=True):
    B, H, T, d = q.shape
    here = torch.arange(T, device=q.device)[:, None]
    reach = min(window, T)
    step = torch.arange(1 - reach, 1 if causal else reach, device=q.device)
    near = here + step
    sink = torch.arange(min(n_sink, T), device=q.device).expand(T, -1)
    apart = (here - sink).abs() >= reach if not causal else (here - sink) >= reach
    index = torch.cat([near, sink], 1)
    seen = torch.cat([(near >= 0) & (near < T), apart], 1)
    index = index.clamp(0, T - 1)
    wide = torch.float32 if q.element_size() == 2 else q.dtype
    Q, K, V = q.to(wide), k.to(wide)[:, :, index], v.to(wide)[:, :, index]
    scores = torch.einsum("bhtd,bhtnd->bhtn", Q * d**-0.5, K)
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    return torch.einsum("bhtn,bhtnd->bhtd", weights, V).to(q.dtype)
