"""The polynomial in the Gram matrix by Horner's rule; the sides exchanged by the branch taken."""

import torch


def newton_schulz5(G, steps=5):
    if G.ndim != 2:
        raise ValueError(f"expected a matrix, got shape {tuple(G.shape)}")
    with torch.no_grad():
        X = G.float() if G.dtype in (torch.float16, torch.bfloat16) else G.clone()
        X = X.div(torch.linalg.matrix_norm(X) + 1e-7)
        O, I = X.shape
        for _ in range(steps):
            gram = torch.mm(X, X.t()) if O <= I else torch.mm(X.t(), X)
            factor = torch.addmm(gram, gram, gram, beta=-4.7750, alpha=2.0315)
            factor.diagonal().add_(3.4445)
            X = factor @ X if O <= I else X @ factor
        return X.to(G.dtype)


def muon_step(W, g, state, lr, momentum=0.95, nesterov=True):
    if W.ndim != 2:
        raise ValueError("only matrices")
    with torch.no_grad():
        kind = torch.promote_types(W.dtype, torch.float32)
        if "buf" not in state:
            state["buf"] = torch.zeros(W.shape, dtype=kind, device=W.device)
        state["buf"].mul_(momentum).add_(g.to(kind))
        u = torch.add(g.to(kind), state["buf"], alpha=momentum) if nesterov else state["buf"]
        size = lr * max(1.0, W.shape[0] / W.shape[1]) ** 0.5
        return torch.sub(W.to(kind), newton_schulz5(u), alpha=size).to(W.dtype)
