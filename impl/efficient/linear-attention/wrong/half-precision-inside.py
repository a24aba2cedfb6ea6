"""Sums 16-bit inputs in 16 bits.
16 位输入用 16 位累加。

symptom: bfloat16 sums stop after some hundred tokens.
症状：bfloat16 累加几百个 token 后不再变。

cards: prec-05, prec-07
rung: hardened
"""
import torch
import torch.nn.functional as F


def phi(x):
    return F.elu(x) + 1


def wide(x):
    return x


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
    S = wide(state[0]) + b[..., None] * c[..., None, :]
    z = wide(state[1]) + b
    y = read(a[..., None, :], S, z)[..., 0, :]
    return y.to(q_t.dtype), (S.to(state[0].dtype), z.to(state[1].dtype))
