"""Forgets the 1e-6.
分母没加 1e-6。

symptom: 0/0 where every φ(k) is 0.
症状：φ(k) 全为 0 时 0/0。

cards: sparse-15
rung: solved
"""
import torch
import torch.nn.functional as F


def phi(x):
    return F.elu(x) + 1


def wide(x):
    return x.float() if x.element_size() == 2 else x


def read(q, S, z):
    return q @ S / (q @ z[..., None])


def linear_attention(q, k, v, causal, feature=phi):
    a, b, c = feature(wide(q)), feature(wide(k)), wide(v)
    if not causal:
        return read(a, b.mT @ c, b.sum(2)).to(q.dtype)
    S = (b[..., None] * c[..., None, :]).cumsum(2)
    z = b.cumsum(2)
    return read(a[..., None, :], S, z)[..., 0, :].to(q.dtype)


def linear_attention_step(state, q_t, k_t, v_t):
    a, b, c = phi(wide(q_t)), phi(wide(k_t)), wide(v_t)
    S = wide(state[0]) + b[..., None] * c[..., None, :]
    z = wide(state[1]) + b
    y = read(a[..., None, :], S, z)[..., 0, :]
    return y.to(q_t.dtype), (S.to(state[0].dtype), z.to(state[1].dtype))
