"""Cumulative outer products; φ by where on a clamped argument."""
import torch


def phi(x):
    return torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0)))


def wide(*tensors):
    return [t.to(torch.float32) if t.element_size() == 2 else t for t in tensors]


def linear_attention(q, k, v, causal, feature=phi):
    Q, K, V = wide(q, k, v)
    Q, K = feature(Q), feature(K)
    if causal:
        S = torch.einsum("bhtm,bhte->bhtme", K, V).cumsum(2)
        top = torch.einsum("bhtm,bhtme->bhte", Q, S)
        bottom = (Q * K.cumsum(2)).sum(-1, keepdim=True)
    else:
        top = torch.einsum("bhtm,bhme->bhte", Q, torch.einsum("bhsm,bhse->bhme", K, V))
        bottom = torch.einsum("bhtm,bhm->bht", Q, K.sum(2)).unsqueeze(-1)
    return (top / (bottom + 1e-6)).type_as(q)


def linear_attention_step(state, q_t, k_t, v_t):
    S, z, Q, K, V = wide(*state, q_t, k_t, v_t)
    Q, K = phi(Q), phi(K)
    S = torch.einsum("bhm,bhe->bhme", K, V).add(S)
    z = K + z
    y = torch.einsum("bhm,bhme->bhe", Q, S) / ((Q * z).sum(-1, keepdim=True) + 1e-6)
    return y.type_as(q_t), (S.type_as(state[0]), z.type_as(state[1]))
