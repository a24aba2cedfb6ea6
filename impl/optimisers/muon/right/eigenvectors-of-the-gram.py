"""One eigendecomposition of the small Gram matrix; the polynomial acts on each singular value."""

import torch


@torch.no_grad()
def newton_schulz5(G, steps=5):
    if G.dim() != 2:
        raise ValueError("not a matrix")
    X = G.double()
    X = X / (X.square().sum().sqrt() + 1e-7)
    wide = X.shape[0] <= X.shape[1]
    values, vectors = torch.linalg.eigh(X @ X.T if wide else X.T @ X)
    square, gain = values.clamp(min=0), torch.ones_like(values)
    for _ in range(steps):  # sigma -> sigma * p(sigma^2), the gains multiply
        factor = 3.4445 + square * (-4.7750 + 2.0315 * square)
        gain, square = gain * factor, square * factor.square()
    lifted = (vectors * gain) @ vectors.T
    return (lifted @ X if wide else X @ lifted).to(G.dtype)


@torch.no_grad()
def muon_step(W, g, state, lr, momentum=0.95, nesterov=True):
    if W.dim() != 2:
        raise ValueError("not a matrix")
    kept = torch.float64 if W.dtype == torch.float64 else torch.float32
    grad = g.to(kept)
    old = state.get("buf")
    state["buf"] = grad + (0 if old is None else old * momentum)
    u = state["buf"] * momentum + grad if nesterov else state["buf"]
    O, I = W.shape
    factor = (O / I) ** 0.5 if O > I else 1.0
    return (W.to(kept) - newton_schulz5(u) * (lr * factor)).to(W.dtype)
