"""Adds to the caller's state in place.
原地改了传进来的状态。

symptom: A second continuation sees the first's tokens.
症状：第二条续写看到第一条的 token。

cards: sparse-07
rung: solved
"""
import torch
import torch.nn.functional as F


def phi(x):
    return F.elu(x) + 1


def wide(x):
    return x.float() if x.element_size() == 2 else x


def read(q, S, z):
    return q @ S / (q @ z[..., None] + 1e-6)


def linear_attention(q, k, v, causal, feature=phi):
    a, b, c = feature(wide(q)), feature(wide(k)), wide(v)
    if not causal:
        return read(a, b.mT @ c, b.sum(2)).to(q.dtype)
    S = (b[..., None] * c[..., None, :]).cumsum(2)
    z = b.cumsum(2)
    return read(a[..., None, :], S, z)[..., 0, :].to(q.dtype)


def linear_attention_step(state, q_t, k_t, v_t):
    a, b, c = phi(wide(q_t)), phi(wide(k_t)), wide(v_t)
    S, z = state
    with torch.no_grad():
        S += b[..., None] * c[..., None, :]
        z += b
    return read(a[..., None, :], wide(S), wide(z))[..., 0, :].to(q_t.dtype), (S, z)
