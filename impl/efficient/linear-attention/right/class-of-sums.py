"""Sums in an object; the causal form runs its steps."""
import torch


class Sums:
    def __init__(self, S, z):
        self.S, self.z = S, z

    def written(self, key, value):
        return Sums(self.S + key.unsqueeze(-1) * value.unsqueeze(-2), self.z + key)

    def read(self, query):
        weight = query / (torch.sum(query * self.z, dim=-1, keepdim=True) + 1e-6)
        return torch.matmul(weight.unsqueeze(-2), self.S).squeeze(-2)


def grow(x):
    return torch.maximum(x, torch.zeros_like(x)) + torch.minimum(x, torch.zeros_like(x)).exp()


def lift(x):
    return x if x.dtype in (torch.float32, torch.float64) else x.float()


def linear_attention(q, k, v, causal, feature=grow):
    a, b, c = feature(lift(q)), feature(lift(k)), lift(v)
    sums = Sums(c.new_zeros(b.shape[0], b.shape[1], b.shape[3], c.shape[3]), c.new_zeros(b.shape[0], b.shape[1], b.shape[3]))
    out = []
    for query, key, value in zip(a.unbind(2), b.unbind(2), c.unbind(2)):
        sums = sums.written(key, value)
        if causal:
            out.append(sums.read(query))
    if not causal:
        out = [sums.read(query) for query in a.unbind(2)]
    return torch.stack(out, 2).to(q.dtype)


def linear_attention_step(state, q_t, k_t, v_t):
    sums = Sums(*map(lift, state)).written(grow(lift(k_t)), lift(v_t))
    return sums.read(grow(lift(q_t))).to(q_t.dtype), (sums.S.to(state[0].dtype), sums.z.to(state[1].dtype))
