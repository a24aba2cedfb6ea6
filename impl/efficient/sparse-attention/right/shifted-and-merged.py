"""One pass per distance, merged as in an online softmax."""
import torch


def wide(x):
    return x if x.dtype == torch.float64 else x.to(torch.float32)


def sliding_window_attention(q, k, v, window, n_sink=0, causal=True):
    T = q.shape[-2]
    Q, K, V = wide(q) / q.shape[-1] ** 0.5, wide(k), wide(v)
    place = torch.arange(T, device=q.device)
    top = (Q * K).sum(-1, keepdim=True)
    total, mean = torch.ones_like(top), V

    def add(keys, values, seen):
        nonlocal top, total, mean
        s = (Q * keys).sum(-1, keepdim=True).masked_fill(~seen[:, None], -torch.inf)
        m = torch.maximum(top, s)
        old, new = total * (top - m).exp(), (s - m).exp()
        mean = (mean * old + values * new) / (old + new)
        top, total = m, old + new

    for distance in range(1, min(window, T)):
        add(K.roll(distance, -2), V.roll(distance, -2), place >= distance)
        if not causal:
            add(K.roll(-distance, -2), V.roll(-distance, -2), place < T - distance)
    for sink in range(min(n_sink, T)):
        gap = place - sink
        add(K[..., sink : sink + 1, :], V[..., sink : sink + 1, :], gap >= window if causal else gap.abs() >= window)
    return mean.to(q.dtype) if mean is not v else mean.clone()
