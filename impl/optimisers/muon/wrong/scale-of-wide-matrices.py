"""Scales by √max(1, I/O).
系数写成 √max(1, I/O)。

symptom: Wide matrices move too far, tall ones too little.
症状：宽矩阵走得太远，高矩阵走得太少。

cards: opt-12
rung: solved
"""

import torch


@torch.no_grad()
def newton_schulz5(G, steps=5):
    if G.dim() != 2:
        raise ValueError("Muon is for matrices")
    a, b, c = 3.4445, -4.7750, 2.0315
    X = G.to(torch.promote_types(G.dtype, torch.float32))
    X = X / (X.norm() + 1e-7)
    tall = G.shape[0] > G.shape[1]
    X = X.T if tall else X
    for _ in range(steps):
        A = X @ X.T
        X = a * X + (b * A + c * A @ A) @ X
    X = X.T if tall else X
    return X.to(G.dtype)


@torch.no_grad()
def muon_step(W, g, state, lr, momentum=0.95, nesterov=True):
    if W.dim() != 2:
        raise ValueError("Muon is for matrices")
    wide = torch.promote_types(W.dtype, torch.float32)
    g = g.to(wide)
    buf = momentum * state["buf"] + g if state else g.clone()
    state["buf"] = buf
    u = g + momentum * buf if nesterov else buf
    O, I = W.shape
    return (W.to(wide) - lr * max(1, I / O) ** 0.5 * newton_schulz5(u)).to(W.dtype)
