"""Welford's running mean and sum of squares, of the distances from the first feature."""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide) - x[..., :1].to(wide)
    mean = torch.zeros_like(y[..., 0])
    squares = torch.zeros_like(mean)
    for n, value in enumerate(y.unbind(-1), start=1):
        delta = value - mean
        mean = mean + delta / n
        squares = squares + delta * (value - mean)
    sigma = (squares / y.shape[-1] + eps) ** 0.5
    return (gamma * (y - mean[..., None]) / sigma[..., None] + beta).to(x.dtype)
